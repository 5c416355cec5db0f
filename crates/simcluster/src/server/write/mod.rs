//! Create and update: prepare, settle, store.

mod prepare;

use std::sync::Arc;

use jiff::Timestamp;

use crate::json::{Value, json};

pub(super) use self::prepare::{check_name, check_uid};
use super::{Inner, born, convert, meta};
use crate::apply::{self, Writer};
use crate::builtin;
use crate::conform;
use crate::error::ApiError;
use crate::kind::Kind;
use crate::object::{self, Key, Object};
use crate::server::options::WriteOptions;
use crate::server::part::{Part, only_part};

/// A write on its way: what will be stored if nothing objects.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Kind, in the version of the request.
    pub kind: Arc<Kind>,
    /// Where.
    pub key: Key,
    /// Which part.
    pub part: Part,
    /// What it was prepared against; `None` for a create.
    pub before: Option<Object>,
    /// What is to be stored.
    pub after: Value,
    /// For `Warning` headers.
    pub warnings: Vec<String>,
    /// managedFields are already right (an apply).
    pub tracked: bool,
}

/// What a request led to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The object as the answer shows it.
    pub object: Object,
    /// Whether it is new.
    pub created: bool,
    /// For `Warning` headers.
    pub warnings: Vec<String>,
}

impl Inner {
    /// POST in one go.
    pub fn create(
        &mut self,
        kind: &Arc<Kind>,
        namespace: &str,
        object: Value,
        options: &WriteOptions,
        now: Timestamp,
    ) -> Result<Outcome, ApiError> {
        let mut attempt = self.prepare_create(kind, namespace, object, options, now)?;
        self.settle(&mut attempt, options, now)?;
        self.store(attempt, options)
    }

    /// PUT in one go.
    pub fn update(
        &mut self,
        kind: &Arc<Kind>,
        key: &Key,
        part: Part,
        object: Value,
        options: &WriteOptions,
        now: Timestamp,
    ) -> Result<Outcome, ApiError> {
        let mut attempt = self.prepare_update(kind, key, part, object, now)?;
        self.settle(&mut attempt, options, now)?;
        self.store(attempt, options)
    }

    /// The stored object in the version of the request.
    pub(crate) fn shown_before(&mut self, attempt: &Attempt) -> Option<Object> {
        attempt.before.as_ref().map(|before| self.served(&attempt.kind, before))
    }

    /// The kind's own rules: which part may change, what a new object's status is, defaults.
    pub fn shape(&mut self, attempt: &mut Attempt) -> Result<(), ApiError> {
        let kind = attempt.kind.clone();
        if let Some(before) = self.shown_before(attempt) {
            only_part(&kind, attempt.part, &before, &mut attempt.after);
            meta::kept(&before, &mut attempt.after);
        }
        conform::default(&kind, &mut attempt.after);
        Ok(())
    }

    /// The last word before storage: generation, validation, managedFields.
    pub fn settle(
        &mut self,
        attempt: &mut Attempt,
        options: &WriteOptions,
        now: Timestamp,
    ) -> Result<(), ApiError> {
        let before = self.shown_before(attempt);
        let forgets = before.as_ref().is_some_and(|before| {
            object::is_terminating(before) && !object::is_terminating(&attempt.after)
        });
        self.shape(attempt)?;
        let kind = attempt.kind.clone();
        if before.is_some() && attempt.part == Part::Main && kind.plural == "pods" {
            // Who writes a Pod without the tolerations that every Pod has is given them again.
            builtin::admit(&kind, &mut attempt.after);
        }
        if before.is_none() {
            // What admission gives a new object is nobody's, and looked at like all else.
            note(attempt, None, options, now);
            let namespace = attempt.key.namespace.clone();
            self.give(&kind, &namespace, &mut attempt.after, &options.user)?;
        }
        let after = &mut attempt.after;
        let causes = match &before {
            None => conform::validate(&kind, after),
            Some(before) => {
                let counted = kind.counts_generations() && attempt.part != Part::Binding;
                let noted = attempt.part == Part::Main
                    && builtin::counts_annotations(&kind)
                    && before["metadata"].get("annotations")
                        != after["metadata"].get("annotations");
                if counted && (noted || meta::spec_changed(&kind, before, after)) {
                    after["metadata"]["generation"] = json!(object::generation(before) + 1);
                }
                let apart = matches!(attempt.part, Part::Status | Part::Ephemeral | Part::Resize);
                let part = apart.then(|| attempt.part.as_str());
                conform::validate_update(&kind, after, before, part)
            }
        };
        if !causes.is_empty() {
            // Both groups of Events are validated as the core one, which shows.
            let mut named = (*kind).clone();
            if kind.plural == "events" {
                named.group.clear();
            }
            return Err(ApiError::invalid(&named, object::name(after), causes));
        }
        match &before {
            None => self.refuse(&kind, &attempt.key.namespace, after)?,
            Some(before) => note(attempt, Some(before), options, now),
        }
        let after = &mut attempt.after;
        if forgets && !attempt.tracked {
            apply::forget_deletion(after);
        }
        if attempt.part == Part::Main {
            attempt.warnings.extend(builtin::warnings(&kind, before.as_deref(), after));
        }
        builtin::drop_gated(&kind, before.as_deref(), after);
        builtin::count(&kind, before.as_deref(), after);
        if let Some(before) = &before {
            apply::keep_times(before, after);
        }
        if before.is_none() {
            // After the writers are noted: nobody owns what the registry fills in.
            born::prepare(&kind, after);
            builtin::admit(&kind, after);
        }
        Ok(())
    }

    /// Stores an attempt, unless the object is no longer the one that it was prepared against.
    pub fn store(&mut self, attempt: Attempt, options: &WriteOptions) -> Result<Outcome, ApiError> {
        let Attempt { kind, key, before, after, warnings, .. } = attempt;
        let after = convert::stored(&kind, after);
        let current = self.store.find(&key.collection, &key.namespace, &key.name);
        let Some(before) = before else {
            if let Some(current) = current {
                let mut error = ApiError::already_exists(&kind, &key.name);
                if object::is_terminating(current) {
                    error.message = format!("object is being deleted: {}", error.message);
                }
                return Err(error);
            }
            let object = if options.dry_run { Arc::new(after) } else { self.put(key, after) };
            return Ok(Outcome { object, created: true, warnings });
        };
        match current {
            None => return Err(ApiError::not_found(&kind, &key.name)),
            Some(current) if !Arc::ptr_eq(current, &before) => {
                return Err(ApiError::stale(&kind, &key.name));
            }
            Some(_) => {}
        }
        if after == *before {
            return Ok(Outcome { object: before, created: false, warnings });
        }
        if options.dry_run {
            return Ok(Outcome { object: Arc::new(after), created: false, warnings });
        }
        // The last finalizer of an object that waits for nothing else takes the object with it.
        if may_go(&after) && !may_go(&before) {
            self.take(&key);
            return Ok(Outcome { object: Arc::new(after), created: false, warnings });
        }
        let object = self.put(key, after);
        Ok(Outcome { object, created: false, warnings })
    }
}

/// Notes who writes what. A binding goes past the registry: nobody owns the node's name.
fn note(attempt: &mut Attempt, before: Option<&Value>, options: &WriteOptions, now: Timestamp) {
    if attempt.tracked || attempt.part == Part::Binding {
        return;
    }
    let writer = Writer {
        manager: &options.manager,
        api_version: &attempt.kind.api_version(),
        subresource: (attempt.part != Part::Main).then(|| attempt.part.as_str()),
        now,
    };
    apply::track(&attempt.kind, before, &mut attempt.after, &writer);
}

/// Whether a deleted object has nothing left to wait for.
fn may_go(object: &Value) -> bool {
    object::is_terminating(object)
        && object["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0) == 0
        && meta::finalizers(object).is_empty()
        && !holds_namespace(object)
}

/// A namespace has a second list of finalizers, in its spec.
pub(super) fn holds_namespace(object: &Value) -> bool {
    object["kind"] == "Namespace"
        && object["spec"]["finalizers"].as_array().is_some_and(|all| !all.is_empty())
}
