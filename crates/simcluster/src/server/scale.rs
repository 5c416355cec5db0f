//! `/scale`: one number of an object, as autoscaling/v1.

use std::sync::Arc;

use jiff::Timestamp;

use super::write::{check_name, check_uid};
use super::{Inner, decode, meta};
use crate::body::Body;
use crate::error::{ApiError, Cause};
use crate::json::{Value, json};
use crate::kind::{Kind, ScalePaths};
use crate::object::{self, Key};
use crate::selector::LabelSelector;
use crate::server::options::WriteOptions;
use crate::server::part::Part;
use crate::server::patch::{Patch, PatchType};
use crate::server::write::Attempt;

/// How a Scale is written.
#[derive(Clone, Debug)]
pub enum How {
    /// PUT.
    Replace(Body),
    /// PATCH.
    Patch(Patch),
}

/// The Scale of an object.
pub fn of(kind: &Kind, object: &Value) -> Result<Value, ApiError> {
    let paths = paths(kind)?;
    let number = |path: &str| object.pointer(&pointer(path)).and_then(Value::as_i64);
    let mut out = json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {
            "name": object::name(object),
            "namespace": object::namespace(object),
            "uid": object::uid(object),
            "resourceVersion": object::resource_version(object),
            "creationTimestamp": object["metadata"]["creationTimestamp"],
        },
        "spec": {},
        "status": {"replicas": number(&paths.status_replicas).unwrap_or(0)},
    });
    if let Some(replicas) = number(&paths.spec_replicas).filter(|&replicas| replicas != 0) {
        out["spec"]["replicas"] = json!(replicas);
    }
    let selector = match object.pointer(&pointer(&paths.selector)) {
        Some(Value::String(text)) => text.to_string(),
        Some(selector @ Value::Object(_)) => LabelSelector::text(selector),
        _ => String::new(),
    };
    if !selector.is_empty() {
        out["status"]["selector"] = json!(selector);
    }
    Ok(out)
}

fn paths(kind: &Kind) -> Result<&ScalePaths, ApiError> {
    kind.scale.as_ref().ok_or_else(ApiError::no_such_resource)
}

/// `.spec.replicas` → `/spec/replicas`.
fn pointer(path: &str) -> String {
    path.replace('.', "/")
}

/// What somebody applies of the object behind a Scale: its name and the number.
fn applied(kind: &Kind, key: &Key, scale: &Value) -> Result<Value, ApiError> {
    let path = pointer(&paths(kind)?.spec_replicas);
    let mut inner = scale["spec"]["replicas"].clone();
    for field in path.rsplit('/').filter(|field| !field.is_empty()) {
        inner = json!({field: inner});
    }
    let mut object = json!({
        "apiVersion": kind.api_version(), "kind": kind.kind, "metadata": {"name": key.name},
    });
    for (field, value) in inner.as_object().into_iter().flatten() {
        object[field] = value.clone();
    }
    Ok(object)
}

/// The Scale that is wanted, and what to warn about.
fn read(
    inner: &Inner,
    how: &How,
    current: &Value,
    options: &WriteOptions,
) -> Result<(Value, Vec<String>), ApiError> {
    let kind = Kind::behind("autoscaling", "v1", "Scale");
    match how {
        How::Replace(body) => {
            decode::check_other(inner, &kind, &body.value)?;
            decode::read(&kind, body, options)
        }
        How::Patch(patch) => decode::read_patched(&kind, current, patch, options),
    }
}

/// The server notes no time of an apply that came through a Scale.
fn timeless(mut attempt: Attempt) -> Attempt {
    let entries = attempt.after["metadata"]["managedFields"].as_array_mut();
    for entry in entries.into_iter().flatten() {
        if entry["subresource"] == "scale" && entry["operation"] == "Apply" {
            entry.as_object_mut().expect("an entry is a map").remove("time");
        }
    }
    attempt
}

/// Conflicts are told as those of the Scale.
fn as_scale(kind: &Kind, mut error: ApiError) -> ApiError {
    let (own, scale) = (format!("using {}", kind.api_version()), "using autoscaling/v1");
    error.message = error.message.replace(&own, scale);
    for cause in &mut error.causes {
        cause.message = cause.message.replace(&own, scale);
    }
    error
}

impl Inner {
    /// A PUT or PATCH of `/scale`, as a change of the object behind it.
    pub fn prepare_scale(
        &mut self,
        kind: &Arc<Kind>,
        key: &Key,
        how: &How,
        options: &WriteOptions,
        now: Timestamp,
    ) -> Result<Attempt, ApiError> {
        if let How::Patch(patch) = how
            && patch.type_ == PatchType::Apply
        {
            let applied = applied(kind, key, patch.value())?;
            let attempt = self.prepare_apply(kind, key, Part::Scale, &applied, options, now);
            return attempt.map(timeless).map_err(|error| as_scale(kind, error));
        }
        let before = self.get(kind, key)?;
        let shown = self.served(kind, &before);
        let current = of(kind, &shown)?;
        let (mut scale, warnings) = read(self, how, &current, options)?;
        meta::place(&Kind::behind("autoscaling", "v1", "Scale"), &mut scale, &key.namespace)?;
        check_name(&scale, key)?;
        check_uid(kind, key, &before, object::uid(&scale))?;
        let version = object::resource_version(&scale);
        if !version.is_empty() && version != object::resource_version(&before) {
            return Err(ApiError::stale(kind, &key.name));
        }
        let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(0);
        // A custom object has its own rules about that.
        if replicas < 0 && kind.custom.is_none() {
            let message = format!("Invalid value: {replicas}: must be greater than or equal to 0");
            return Err(ApiError::invalid(
                &Kind::behind("autoscaling", "v1", "Scale"),
                &key.name,
                vec![Cause::new("FieldValueInvalid", message, "spec.replicas")],
            ));
        }
        let mut after = (*shown).clone();
        let path = pointer(&paths(kind)?.spec_replicas);
        let (parent, leaf) = path.rsplit_once('/').unwrap_or(("", "replicas"));
        if let Some(parent) = after.pointer_mut(parent).filter(|parent| parent.is_object()) {
            parent[leaf] = json!(replicas);
        }
        Ok(Attempt {
            kind: kind.clone(),
            key: key.clone(),
            part: Part::Scale,
            before: Some(before),
            after,
            warnings,
            tracked: false,
        })
    }
}
