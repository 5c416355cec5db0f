//! DELETE: preconditions, grace, finalizers, propagation.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{Inner, meta};
use crate::error::ApiError;
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object::{self, Key, Object};
use crate::server::options::DeleteOptions;
use crate::server::write::holds_namespace;

/// What a delete led to.
#[derive(Clone, Debug)]
pub enum Deleted {
    /// Marked, not gone yet; or gone, of a kind that answers with the object.
    Object(Object),
    /// Gone.
    Gone(Object),
}

impl Inner {
    /// DELETE of one object.
    pub fn delete(
        &mut self,
        kind: &Arc<Kind>,
        key: &Key,
        options: &DeleteOptions,
        now: Timestamp,
    ) -> Result<Deleted, ApiError> {
        let Some(before) = self.store.find(&key.collection, &key.namespace, &key.name).cloned()
        else {
            return Err(ApiError::not_found(kind, &key.name));
        };
        check(kind, &before, options)?;
        let mut after = (*before).clone();
        add_propagation(&mut after, options.propagation.as_deref());
        let grace = grace(kind, &before, options);
        let held = !meta::finalizers(&after).is_empty()
            || holds_namespace(&after)
            || kind.plural == "customresourcedefinitions";
        if kind.plural == "customresourcedefinitions" {
            hold(&mut after, "customresourcecleanup.apiextensions.k8s.io");
        }
        if grace == 0 && !held {
            if !options.dry_run {
                self.take(key);
            }
            // The kinds whose registry answers with the object rather than with a Status.
            let shown = matches!(
                kind.plural.as_str(),
                "pods" | "services" | "serviceaccounts" | "persistentvolumeclaims"
            );
            if kind.plural == "pods" {
                mark(kind, &before, &mut after, grace, now);
                return Ok(Deleted::Object(Arc::new(after)));
            }
            return Ok(if shown { Deleted::Object(before) } else { Deleted::Gone(before) });
        }
        if !mark(kind, &before, &mut after, grace, now) || options.dry_run {
            return Ok(Deleted::Object(if options.dry_run { Arc::new(after) } else { before }));
        }
        Ok(Deleted::Object(self.put(key.clone(), after)))
    }
}

fn check(kind: &Kind, before: &Value, options: &DeleteOptions) -> Result<(), ApiError> {
    let name = object::name(before);
    let refuse = |why: String| {
        let what = kind.qualified();
        let mut details = kind.details(name);
        details["kind"] = json!(kind.kind);
        ApiError::new(
            409,
            "Conflict",
            format!("Operation cannot be fulfilled on {what} \"{name}\": {why}"),
        )
        .with_details(details)
    };
    if let Some(uid) = &options.uid
        && uid != object::uid(before)
    {
        return Err(refuse(format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The \
             object might have been deleted and then recreated",
            object::uid(before)
        )));
    }
    if let Some(version) = &options.resource_version
        && version != object::resource_version(before)
    {
        return Err(refuse(format!(
            "the ResourceVersion in the precondition ({version}) does not match the \
             ResourceVersion in record ({}). The object might have been modified",
            object::resource_version(before)
        )));
    }
    Ok(())
}

/// Seconds that the object has; only Pods that a kubelet runs have any.
fn grace(kind: &Kind, before: &Value, options: &DeleteOptions) -> i64 {
    if kind.plural != "pods" || !kind.group.is_empty() {
        return 0;
    }
    let phase = before["status"]["phase"].as_str().unwrap_or_default();
    if before["spec"]["nodeName"].as_str().unwrap_or_default().is_empty()
        || matches!(phase, "Succeeded" | "Failed")
    {
        return 0;
    }
    options
        .grace_period_seconds
        .or_else(|| before["spec"]["terminationGracePeriodSeconds"].as_i64())
        .unwrap_or(30)
        .max(0)
}

fn hold(after: &mut Value, finalizer: &str) {
    if !meta::finalizers(after).contains(&finalizer) {
        match after["metadata"]["finalizers"].as_array_mut() {
            Some(all) => all.push(json!(finalizer)),
            None => after["metadata"]["finalizers"] = json!([finalizer]),
        }
    }
}

fn add_propagation(after: &mut Value, policy: Option<&str>) {
    let (add, drop) = match policy {
        Some("Foreground") => (Some("foregroundDeletion"), "orphan"),
        Some("Orphan") => (Some("orphan"), "foregroundDeletion"),
        _ => return,
    };
    if let Some(all) = after["metadata"]["finalizers"].as_array_mut() {
        all.retain(|finalizer| finalizer != drop);
    }
    if let Some(add) = add {
        hold(after, add);
    }
}

/// Writes the marks of a deletion; false when they say nothing new.
fn mark(kind: &Kind, before: &Value, after: &mut Value, grace: i64, now: Timestamp) -> bool {
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let old_grace = before["metadata"]["deletionGracePeriodSeconds"].as_i64();
    if object::is_terminating(before) {
        // A second delete can only shorten the grace.
        if let Some(old) = old_grace
            && grace < old
            && let Some(at) = before["metadata"]["deletionTimestamp"].as_str()
            && let Ok(at) = at.parse::<Timestamp>()
        {
            let sooner = at.saturating_sub(SignedDuration::from_secs(old - grace));
            after["metadata"]["deletionTimestamp"] = json!(sooner.unwrap_or(at).to_string());
            after["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        }
        return *after != *before;
    }
    let at = now.saturating_add(SignedDuration::from_secs(grace)).unwrap_or(now);
    after["metadata"]["deletionTimestamp"] = json!(at.to_string());
    match kind.plural.as_str() {
        // These two have registries of their own, which know no grace and no generation.
        "namespaces" => after["status"]["phase"] = json!("Terminating"),
        "customresourcedefinitions" => {
            let condition = json!({
                "type": "Terminating",
                "status": "True",
                "lastTransitionTime": now.to_string(),
                "reason": "InstanceDeletionPending",
                "message": "CustomResourceDefinition marked for deletion; CustomResource deletion \
                            will begin soon",
            });
            match after["status"]["conditions"].as_array_mut() {
                Some(all) => all.push(condition),
                None => after["status"]["conditions"] = json!([condition]),
            }
        }
        _ => {
            after["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
            if let Some(generation) = before["metadata"]["generation"].as_i64() {
                after["metadata"]["generation"] = json!(generation + 1);
            }
        }
    }
    true
}
