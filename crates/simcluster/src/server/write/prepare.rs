//! What will be stored if nothing objects, from what a request brings.

use std::sync::Arc;

use jiff::Timestamp;

use super::Attempt;
use crate::error::{ApiError, Cause};
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object::{self, CRDS, Key, NAMESPACES};
use crate::server::options::WriteOptions;
use crate::server::part::Part;
use crate::server::{Inner, meta};

impl Inner {
    /// A new object with its metadata, in a namespace that takes new content.
    pub fn prepare_create(
        &mut self,
        kind: &Arc<Kind>,
        namespace: &str,
        mut object: Value,
        _options: &WriteOptions,
        now: Timestamp,
    ) -> Result<Attempt, ApiError> {
        meta::place(kind, &mut object, namespace)?;
        if !object::resource_version(&object).is_empty() {
            return Err(ApiError::internal(
                "resourceVersion should not be set on objects to be created",
            ));
        }
        meta::born(kind, &mut object, &mut self.rng, now);
        let warning = meta::single_owners(&mut object, "");
        if kind.namespaced {
            self.check_namespace(kind, namespace, object::name(&object))?;
        }
        self.check_definition(kind)?;
        object["apiVersion"] = json!(kind.api_version());
        object["kind"] = json!(kind.kind);
        let key = Key::new(
            kind.collection(),
            if kind.namespaced { namespace } else { "" },
            object::name(&object),
        );
        Ok(Attempt {
            kind: kind.clone(),
            key,
            part: Part::Main,
            before: None,
            after: object,
            warnings: warning.into_iter().collect(),
            tracked: false,
        })
    }

    /// A kind that is being deleted takes no new objects.
    fn check_definition(&self, kind: &Kind) -> Result<(), ApiError> {
        let Some(custom) = &kind.custom else { return Ok(()) };
        let crd = self.store.find(&CRDS, "", &custom.crd);
        if crd.is_none_or(|crd| !object::is_terminating(crd)) {
            return Ok(());
        }
        Err(ApiError::new(
            405,
            "MethodNotAllowed",
            "create not allowed while custom resource definition is terminating",
        )
        .with_details(kind.details("")))
    }

    fn check_namespace(&self, kind: &Kind, namespace: &str, name: &str) -> Result<(), ApiError> {
        let Some(found) = self.store.find(&NAMESPACES, "", namespace) else {
            return Err(ApiError::new(
                404,
                "NotFound",
                format!("namespaces \"{namespace}\" not found"),
            )
            .with_details(json!({"name": namespace, "kind": "namespaces"})));
        };
        if object::is_terminating(found) {
            let why = format!(
                "unable to create new content in namespace {namespace} because it is being \
                 terminated"
            );
            return Err(ApiError::forbidden(kind, name, &why).with_causes(vec![Cause::new(
                "NamespaceTerminating",
                format!("namespace {namespace} is being terminated"),
                "metadata.namespace",
            )]));
        }
        Ok(())
    }

    /// A whole object over the stored one; fails if the writer read another version, or another object.
    pub fn prepare_update(
        &mut self,
        kind: &Arc<Kind>,
        key: &Key,
        part: Part,
        object: Value,
        now: Timestamp,
    ) -> Result<Attempt, ApiError> {
        let uid = object::uid(&object).to_owned();
        let mut attempt = self.prepare_change(kind, key, part, object, now)?;
        if let Some(before) = &attempt.before {
            check_uid(kind, key, before, &uid)?;
        }
        attempt.warnings.extend(meta::single_owners(&mut attempt.after, ""));
        Ok(attempt)
    }

    /// A changed object over the stored one; fails if the writer read another version.
    pub(in crate::server) fn prepare_change(
        &mut self,
        kind: &Arc<Kind>,
        key: &Key,
        part: Part,
        mut object: Value,
        now: Timestamp,
    ) -> Result<Attempt, ApiError> {
        meta::place(kind, &mut object, &key.namespace)?;
        check_name(&object, key)?;
        let Some(before) = self.store.find(&key.collection, &key.namespace, &key.name) else {
            if kind.group == "coordination.k8s.io" && part == Part::Main {
                // A PUT of a Lease may make it.
                return self.prepare_create(
                    kind,
                    &key.namespace,
                    object,
                    &WriteOptions::default(),
                    now,
                );
            }
            return Err(ApiError::not_found(kind, &key.name));
        };
        if object::resource_version(&object).is_empty() && !takes_unconditional_updates(kind) {
            let message = "Invalid value: 0: must be specified for an update";
            let cause = Cause::new("FieldValueInvalid", message, "metadata.resourceVersion");
            // Said of the resource, not of the kind.
            let mut named = Kind::clone(kind);
            named.kind.clone_from(&kind.plural);
            return Err(ApiError::invalid(&named, &key.name, vec![cause]));
        }
        let version = object::resource_version(&object);
        if !version.is_empty() && version.parse::<u64>().is_err() {
            let why = format!("strconv.ParseUint: parsing \"{version}\": invalid syntax");
            return Err(ApiError::new(500, "", why));
        }
        if !version.is_empty() && version != object::resource_version(before) {
            return Err(ApiError::stale(kind, &key.name));
        }
        object["apiVersion"] = json!(kind.api_version());
        object["kind"] = json!(kind.kind);
        Ok(Attempt {
            kind: kind.clone(),
            key: key.clone(),
            part,
            before: Some(before.clone()),
            after: object,
            warnings: Vec::new(),
            tracked: false,
        })
    }
}

/// Whether a PUT may come without a resourceVersion.
fn takes_unconditional_updates(kind: &Kind) -> bool {
    kind.custom.is_none()
        && !matches!(
            kind.group.as_str(),
            "policy"
                | "coordination.k8s.io"
                | "apiextensions.k8s.io"
                | "admissionregistration.k8s.io"
        )
}

/// An object calls itself what its URL calls it.
pub(in crate::server) fn check_name(object: &Value, key: &Key) -> Result<(), ApiError> {
    let (given, name) = (object::name(object), &key.name);
    if given == name {
        return Ok(());
    }
    Err(ApiError::bad_request(if given.is_empty() {
        format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )
    } else {
        format!("the name of the object ({given}) does not match the name on the URL ({name})")
    }))
}

/// The UID in an object is a precondition.
pub(in crate::server) fn check_uid(
    kind: &Kind,
    key: &Key,
    before: &Value,
    uid: &str,
) -> Result<(), ApiError> {
    if !uid.is_empty() && uid != object::uid(before) {
        let place = if kind.custom.is_none() && kind.group != "apiextensions.k8s.io" {
            kind.plural.clone()
        } else {
            format!("{}/{}", kind.group, kind.plural)
        };
        let namespace = if kind.namespaced { format!("/{}", key.namespace) } else { String::new() };
        return Err(ApiError::conflict(
            kind,
            &key.name,
            &format!(
                "StorageError: invalid object, Code: 4, Key: /registry/{place}{namespace}/{}, \
                 ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in \
                 precondition: {uid}, UID in object meta: {}",
                key.name,
                object::uid(before)
            ),
        ));
    }
    Ok(())
}
