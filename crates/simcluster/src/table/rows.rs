//! The rows of the built-in kinds.

use jiff::Timestamp;

use super::age::since;
use super::{node, others, pod};
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::selector::LabelSelector;

pub(super) fn cells(kind: &Kind, object: &Value, now: Timestamp) -> Vec<Value> {
    let name = object["metadata"]["name"].clone();
    let age = json!(since(&object["metadata"]["creationTimestamp"], now));
    let (spec, status) = (&object["spec"], &object["status"]);
    let template = &spec["template"]["spec"];
    let (containers, images) = (each(template, "name"), each(template, "image"));
    let count = |value: &Value| json!(value.as_i64().unwrap_or_default());
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod") => pod::cells(object, now),
        ("", "Node") => node::cells(object, now),
        ("apps", "StatefulSet") => vec![name, ready(object), age, containers, images],
        ("apps", "Deployment") => vec![
            name,
            ready(object),
            count(&status["updatedReplicas"]),
            count(&status["availableReplicas"]),
            age,
            containers,
            images,
            selector(spec),
        ],
        ("apps", "ReplicaSet") => vec![
            name,
            count(&spec["replicas"]),
            count(&status["replicas"]),
            count(&status["readyReplicas"]),
            age,
            containers,
            images,
            selector(spec),
        ],
        ("apps", "DaemonSet") => vec![
            name,
            count(&status["desiredNumberScheduled"]),
            count(&status["currentNumberScheduled"]),
            count(&status["numberReady"]),
            count(&status["updatedNumberScheduled"]),
            count(&status["numberAvailable"]),
            labels(&template["nodeSelector"]),
            age,
            containers,
            images,
            selector(spec),
        ],
        ("apps", "ControllerRevision") => {
            vec![name, controller(object), count(&object["revision"]), age]
        }
        ("policy", "PodDisruptionBudget") => vec![
            name,
            amount(&spec["minAvailable"]),
            amount(&spec["maxUnavailable"]),
            count(&status["disruptionsAllowed"]),
            age,
        ],
        ("", "Namespace") => vec![name, status["phase"].clone(), age],
        ("", "ConfigMap") => vec![name, entries(object), age],
        ("", "Secret") => vec![name, object["type"].clone(), entries(object), age],
        ("", "Service") => service(object, name, age),
        ("", "PersistentVolumeClaim") => vec![
            name,
            status["phase"].clone(),
            json!(spec["volumeName"].as_str().unwrap_or_default()),
            json!(status["capacity"]["storage"].as_str().unwrap_or_default()),
            json!(access_modes(&status["accessModes"])),
            json!(spec["storageClassName"].as_str().unwrap_or_default()),
            json!(spec["volumeAttributesClassName"].as_str().unwrap_or("<unset>")),
            age,
            json!(spec["volumeMode"].as_str().unwrap_or("<unset>")),
        ],
        (_, "Event") => event(object, now),
        (_, "Lease") => vec![name, spec["holderIdentity"].clone(), age],
        (_, "CustomResourceDefinition" | "Role" | "ClusterRole") => {
            vec![name, object["metadata"]["creationTimestamp"].clone()]
        }
        (_, "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") => {
            vec![name, json!(object["webhooks"].as_array().map_or(0, Vec::len)), age]
        }
        (_, "RoleBinding" | "ClusterRoleBinding") => binding(object, name, age),
        _ => others::cells(kind, object, now).unwrap_or_else(|| vec![name, age]),
    }
}

fn binding(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |kind: &str| {
        let subjects = object["subjects"].as_array().into_iter().flatten();
        let ours = subjects.filter(|subject| subject["kind"] == kind);
        let named = ours.map(|subject| match kind {
            "ServiceAccount" => {
                format!("{}/{}", text(&subject["namespace"]), text(&subject["name"]))
            }
            _ => text(&subject["name"]),
        });
        json!(named.collect::<Vec<_>>().join(", "))
    };
    let role = &object["roleRef"];
    let role = format!("{}/{}", text(&role["kind"]), text(&role["name"]));
    vec![name, json!(role), age, of("User"), of("Group"), of("ServiceAccount")]
}

fn ready(object: &Value) -> Value {
    let ready = object["status"]["readyReplicas"].as_i64().unwrap_or_default();
    let wanted = object["spec"]["replicas"].as_i64().unwrap_or_default();
    json!(format!("{ready}/{wanted}"))
}

pub(super) fn each(template: &Value, field: &str) -> Value {
    let containers = template["containers"].as_array().into_iter().flatten();
    let all: Vec<&str> = containers.filter_map(|container| container[field].as_str()).collect();
    json!(all.join(","))
}

pub(super) fn selector(spec: &Value) -> Value {
    json!(label_selector(&spec["selector"]))
}

pub(super) fn label_selector(value: &Value) -> String {
    let text = LabelSelector::text(value);
    if text.is_empty() { "<none>".to_owned() } else { text }
}

pub(super) fn labels(map: &Value) -> Value {
    let all: Vec<String> = map
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    json!(if all.is_empty() { "<none>".to_owned() } else { all.join(",") })
}

fn controller(object: &Value) -> Value {
    match crate::object::controller(object) {
        Some(owner) => {
            let text = |field: &str| owner[field].as_str().unwrap_or_default();
            let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
            let dot = if group.is_empty() { "" } else { "." };
            let kind = text("kind").to_lowercase();
            json!(format!("{kind}{dot}{group}/{}", text("name")))
        }
        None => json!("<none>"),
    }
}

fn amount(value: &Value) -> Value {
    match value {
        Value::Null => json!("N/A"),
        Value::String(_) => value.clone(),
        other => json!(other.to_string()),
    }
}

fn entries(object: &Value) -> Value {
    let count = |field: &str| object[field].as_object().map_or(0, crate::json::Map::len);
    json!(count("data") + count("binaryData"))
}

fn service(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let spec = &object["spec"];
    let ports: Vec<String> = spec["ports"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|port| {
            let node = port["nodePort"].as_i64().map(|node| format!(":{node}")).unwrap_or_default();
            format!("{}{node}/{}", port["port"], port["protocol"].as_str().unwrap_or("TCP"))
        })
        .collect();
    let external = match spec["type"].as_str() {
        Some("LoadBalancer") => "<pending>",
        Some("ExternalName") => spec["externalName"].as_str().unwrap_or("<none>"),
        _ => "<none>",
    };
    let ports = if ports.is_empty() { "<none>".to_owned() } else { ports.join(",") };
    vec![
        name,
        spec["type"].clone(),
        json!(spec["clusterIP"].as_str().unwrap_or("<none>")),
        json!(external),
        json!(ports),
        age,
        labels(&spec["selector"]),
    ]
}

pub(super) fn access_modes(modes: &Value) -> String {
    let modes = modes.as_array().into_iter().flatten().filter_map(Value::as_str);
    let short = modes.map(|mode| match mode {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        other => other,
    });
    short.collect::<Vec<_>>().join(",")
}

/// An Event of either group: the fields have two names.
fn event(object: &Value, now: Timestamp) -> Vec<Value> {
    let first = |fields: &[&str]| {
        fields.iter().map(|field| &object[*field]).find(|value| !value.is_null()).cloned()
    };
    let about = first(&["involvedObject", "regarding"]).unwrap_or(Value::Null);
    let seen = first(&["lastTimestamp", "deprecatedLastTimestamp", "eventTime"]);
    let series = object["series"]["lastObservedTime"].clone();
    let last = if series.is_null() { seen.unwrap_or(Value::Null) } else { series };
    let begun = first(&["firstTimestamp", "deprecatedFirstTimestamp", "eventTime"]);
    let source = first(&["reportingComponent", "reportingController"])
        .filter(|source| source != "")
        .or_else(|| object["source"].get("component").cloned());
    let count = first(&["count", "deprecatedCount"]).filter(|count| count != 0);
    let kind = about["kind"].as_str().unwrap_or_default().to_lowercase();
    vec![
        json!(since(&last, now)),
        object["type"].clone(),
        object["reason"].clone(),
        json!(format!("{kind}/{}", about["name"].as_str().unwrap_or_default())),
        json!(about["fieldPath"].as_str().unwrap_or_default()),
        source.unwrap_or_else(|| json!("")),
        first(&["message", "note"]).unwrap_or_else(|| json!("")),
        json!(since(&begun.unwrap_or(Value::Null), now)),
        count.unwrap_or_else(|| json!(1)),
        object["metadata"]["name"].clone(),
    ]
}
