//! Validation of metadata, the same for every kind.

use super::causes::{Causes, list, text, texts};
use super::{names, rbac};
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object;

const ANNOTATION_LIMIT: usize = 256 * 1024;
/// Those that need no domain before them.
const STANDARD_FINALIZERS: &[&str] = &["kubernetes", "orphan", "foregroundDeletion"];

/// The rule for names of a kind.
fn bad_name(kind: &Kind, name: &str) -> Vec<String> {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Namespace" | "Service") | ("apps", "StatefulSet") => names::bad_label(name),
        ("rbac.authorization.k8s.io", _) => rbac::bad_name(name).into_iter().collect(),
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
    out.not_negative("metadata.generation", &object["metadata"]["generation"]);
    common(object, out);
    finalizer_names(object, out);
    let validated = strategy(kind, None);
    if !validated.is_empty() && !validated.iter().all(|run| matches!(run, Run::Update)) {
        own_finalizers(object, out);
    }
}

/// One of the checks that metadata of a changed object goes through. Each kind has its own, and what two
/// of them find is told twice.
#[derive(Clone, Copy, Debug)]
enum Run {
    /// What must not change, labels, annotations and owners.
    Update,
    /// The same, and finalizers without a domain.
    CoreUpdate,
    /// What a new object goes through.
    CoreCreate,
    /// The same without what only the core knows of finalizers.
    Create,
}

/// What a kind checks by itself, beside what every one goes through: counted on the real server.
fn strategy(kind: &Kind, subresource: Option<&str>) -> &'static [Run] {
    use Run::{CoreCreate, CoreUpdate, Create, Update};
    if kind.custom.is_some() {
        return &[Update];
    }
    match (kind.group.as_str(), kind.kind.as_str(), subresource) {
        ("", "Event", _) | ("policy", "PodDisruptionBudget", _) => &[],
        ("coordination.k8s.io", ..) | ("apiextensions.k8s.io", ..) => &[Update],
        ("admissionregistration.k8s.io", ..) => &[Create],
        ("discovery.k8s.io", ..) => &[CoreCreate],
        (_, _, Some(_))
        | ("", "Service", _)
        | ("autoscaling" | "scheduling.k8s.io" | "networking.k8s.io" | "events.k8s.io", ..)
        | ("apps", "StatefulSet" | "Deployment" | "ReplicaSet" | "DaemonSet", _) => &[CoreUpdate],
        ("", "PersistentVolume", _) => &[CoreCreate, CoreCreate],
        _ => &[CoreUpdate, CoreCreate],
    }
}

/// Metadata of a changed object.
pub(super) fn validate_update(
    kind: &Kind,
    new: &Value,
    old: &Value,
    subresource: Option<&str>,
    out: &mut Causes,
) {
    // Every kind goes through these two.
    for run in [Run::Create, Run::Update].iter().chain(strategy(kind, subresource)) {
        if matches!(run, Run::Update | Run::CoreUpdate) {
            fixed(new, old, out);
        }
        common(new, out);
        if matches!(run, Run::Create | Run::CoreCreate) {
            finalizer_names(new, out);
        }
        if matches!(run, Run::CoreUpdate | Run::CoreCreate) {
            own_finalizers(new, out);
        }
    }
}

/// What must not change.
fn fixed(new: &Value, old: &Value, out: &mut Causes) {
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
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        if before[field] != after[field] && !after[field].is_null() {
            let path = format!("metadata.{field}");
            out.invalid(path, &after[field], "field is immutable");
        }
    }
}

/// Labels, annotations and owners.
fn common(object: &Value, out: &mut Causes) {
    let metadata = &object["metadata"];
    labels(metadata, "metadata.labels", out);
    annotations(metadata, "metadata.annotations", out);
    owners(metadata, out);
}

fn owners(metadata: &Value, out: &mut Causes) {
    let path = "metadata.ownerReferences";
    let mut controller: Option<String> = None;
    for owner in list(metadata, "ownerReferences") {
        let (version, kind) = (text(owner, "apiVersion"), text(owner, "kind"));
        // What has more than one slash is no version at all.
        if version.is_empty() || version.ends_with('/') || version.matches('/').count() > 1 {
            let shown = Value::from(version);
            out.invalid(format!("{path}.apiVersion"), &shown, "version must not be empty");
        }
        for field in ["kind", "name", "uid"] {
            if text(owner, field).is_empty() {
                out.invalid(format!("{path}.{field}"), &json!(""), "must not be empty");
            }
        }
        if version == "v1" && kind == "Event" {
            let why = "/v1, Kind=Event is disallowed from being an owner";
            out.push_text(path, &owner_in_go(owner), why);
        }
        if owner["controller"] == true {
            let name = format!("{kind}/{}", text(owner, "name"));
            if let Some(first) = &controller {
                let all = list(metadata, "ownerReferences");
                let all: Vec<String> = all.iter().map(owner_in_go).collect();
                out.push_text(
                    path,
                    &format!("[{}]", all.join(",")),
                    &format!(
                        "Only one reference can have Controller set to true. Found \"true\" in \
                         references for {first} and {name}"
                    ),
                );
            }
            controller = controller.or(Some(name));
        }
    }
}

/// An owner as the server shows it: the fields in the order of its struct.
fn owner_in_go(owner: &Value) -> String {
    let fields = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
    let given = fields.iter().filter_map(|field| Some((field, owner.get(*field)?)));
    let given: Vec<String> = given.map(|(field, value)| format!("\"{field}\":{value}")).collect();
    format!("{{{}}}", given.join(","))
}

/// The names of finalizers, and which of them exclude each other.
fn finalizer_names(object: &Value, out: &mut Causes) {
    let finalizers = list(&object["metadata"], "finalizers");
    for name in finalizers.iter().filter_map(Value::as_str) {
        out.named("metadata.finalizers", name, names::bad_label_key(name));
    }
    if ["orphan", "foregroundDeletion"].iter().all(|name| finalizers.iter().any(|f| f == name)) {
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        out.invalid("metadata.finalizers", &json!(finalizers), why);
    }
}

/// Finalizers without a domain are the core's own.
fn own_finalizers(object: &Value, out: &mut Causes) {
    for (index, finalizer) in list(&object["metadata"], "finalizers").iter().enumerate() {
        let name = finalizer.as_str().unwrap_or_default();
        if !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            out.invalid(format!("metadata.finalizers[{index}]"), finalizer, why);
        }
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
