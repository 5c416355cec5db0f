//! Validation of metadata, the same for every kind.

use serde_json::{Value, json};

use super::causes::{Causes, list, text, texts};
use super::{names, rbac};
use crate::kind::Kind;
use crate::object;

const ANNOTATION_LIMIT: usize = 256 * 1024;
/// Those that need no domain before them.
const STANDARD_FINALIZERS: &[&str] = &["kubernetes", "orphan", "foregroundDeletion"];

/// The rule for names of a kind.
fn bad_name(kind: &Kind, name: &str) -> Option<String> {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Namespace") | ("apps", "StatefulSet") => names::bad_label(name),
        ("", "Service") => names::bad_service_name(name),
        ("rbac.authorization.k8s.io", _) => rbac::bad_name(name),
        _ => names::bad_subdomain(name),
    }
}

/// Metadata of a new object.
pub(super) fn validate(kind: &Kind, object: &Value, out: &mut Causes) {
    let name = object::name(object);
    if let Some(prefix) = object["metadata"]["generateName"].as_str().filter(|p| !p.is_empty()) {
        // The suffix makes up for what may follow a dash.
        let whole = format!("{prefix}a");
        out.named("metadata.generateName", prefix, bad_name(kind, &whole));
    }
    if name.is_empty() {
        out.required("metadata.name", "name or generateName is required");
    } else {
        out.named("metadata.name", name, bad_name(kind, name));
    }
    common(object, out);
}

/// Metadata of a changed object. The real server goes through it twice, so every cause is there
/// twice.
pub(super) fn validate_update(new: &Value, old: &Value, out: &mut Causes) {
    for _ in 0..2 {
        once(new, old, out);
    }
}

fn once(new: &Value, old: &Value, out: &mut Causes) {
    let (before, after) = (&old["metadata"], &new["metadata"]);
    if !before["deletionTimestamp"].is_null() {
        let fresh: Vec<String> = list(after, "finalizers")
            .iter()
            .filter(|finalizer| !list(before, "finalizers").contains(finalizer))
            .map(Value::to_string)
            .collect();
        if !fresh.is_empty() {
            let fresh = fresh.join(", ");
            out.forbidden(
                "metadata.finalizers",
                &format!(
                    "no new finalizers can be added if the object is being deleted, found new \
                     finalizers []string{{{fresh}}}"
                ),
            );
        }
    }
    for field in ["name", "namespace", "uid", "creationTimestamp"] {
        if before[field] != after[field] && !after[field].is_null() {
            let path = format!("metadata.{field}");
            out.invalid(path, &after[field], "field is immutable");
        }
    }
    common(new, out);
}

fn common(object: &Value, out: &mut Causes) {
    let metadata = &object["metadata"];
    labels(metadata, "metadata.labels", out);
    annotations(metadata, "metadata.annotations", out);
    let mut controllers = Vec::new();
    for owner in list(metadata, "ownerReferences") {
        let path = "metadata.ownerReferences";
        for (field, why) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            if text(owner, field).is_empty() {
                out.invalid(format!("{path}.{field}"), &json!(""), why);
            }
        }
        if owner["controller"] == true {
            controllers.push(owner);
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let (first, second) = (text(first, "name"), text(second, "name"));
        out.invalid(
            "metadata.ownerReferences",
            &metadata["ownerReferences"],
            &format!(
                "Only one reference can have Controller set to true. Found \"true\" in references \
                 for {first} and {second}"
            ),
        );
    }
    for (index, finalizer) in list(metadata, "finalizers").iter().enumerate() {
        let name = finalizer.as_str().unwrap_or_default();
        let bad = names::bad_label_key(name);
        if bad.is_none() && !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            out.invalid(format!("metadata.finalizers[{index}]"), finalizer, why);
        }
        out.named("metadata.finalizers", name, bad);
    }
}

/// Keys and values of labels; `path` names the map.
pub(super) fn labels(metadata: &Value, path: &str, out: &mut Causes) {
    for (key, value) in texts(metadata, "labels") {
        out.named(path, key, names::bad_label_key(key));
        out.named(path, value, names::bad_label_value(value));
    }
}

/// Keys of annotations and their size in all; `path` names the map.
pub(super) fn annotations(metadata: &Value, path: &str, out: &mut Causes) {
    let mut size = 0;
    for (key, value) in texts(metadata, "annotations") {
        out.named(path, key, names::bad_label_key(&key.to_lowercase()));
        size += key.len() + value.len();
    }
    if size > ANNOTATION_LIMIT {
        out.too_long(path, ANNOTATION_LIMIT);
    }
}

/// A LabelSelector; `path` names it.
pub(super) fn selector(selector: &Value, path: &str, out: &mut Causes) {
    for (key, value) in texts(selector, "matchLabels") {
        let path = format!("{path}.matchLabels");
        out.named(path.clone(), key, names::bad_label_key(key));
        out.named(path, value, names::bad_label_value(value));
    }
    for (index, expression) in list(selector, "matchExpressions").iter().enumerate() {
        let path = format!("{path}.matchExpressions[{index}]");
        let (operator, values) = (text(expression, "operator"), list(expression, "values"));
        match operator {
            "In" | "NotIn" if values.is_empty() => out.required(
                format!("{path}.values"),
                "must be specified when `operator` is 'In' or 'NotIn'",
            ),
            "In" | "NotIn" => {}
            "Exists" | "DoesNotExist" if !values.is_empty() => out.forbidden(
                format!("{path}.values"),
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
            "Exists" | "DoesNotExist" => {}
            other => out.invalid(
                format!("{path}.operator"),
                &json!(other),
                "not a valid selector operator",
            ),
        }
        let key = text(expression, "key");
        out.named(format!("{path}.key"), key, names::bad_label_key(key));
        for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
            let path = format!("{path}.values[{index}]");
            out.named(path, value, names::bad_label_value(value));
        }
    }
}
