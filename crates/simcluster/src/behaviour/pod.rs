//! What controllers read off a Pod (phase, readiness, availability) and how they stamp conditions.

use jiff::{SignedDuration, Timestamp};

use crate::json::{Value, json};
use crate::object;

/// `status.phase`, empty when absent.
pub fn phase(pod: &Value) -> &str {
    pod["status"]["phase"].as_str().unwrap_or_default()
}

/// A Pod of a template, in an owner's namespace and without a name: what is in the template's
/// metadata goes along.
pub fn of_template(template: &Value, owner: &Value, reference: &Value) -> Value {
    let mut metadata = json!({
        "namespace": object::namespace(owner), "ownerReferences": [reference],
        "generateName": format!("{}-", object::name(owner)),
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template["metadata"].get(field).filter(|value| !value.is_null()) {
            metadata[field] = value.clone();
        }
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})
}

/// Whether the Pod has come to an end: nothing of it runs any more.
pub fn has_ended(pod: &Value) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

/// Neither ended nor on its way out.
pub fn is_active(pod: &Value) -> bool {
    !has_ended(pod) && !object::is_terminating(pod)
}

/// One condition of an object's status.
pub fn condition<'a>(object: &'a Value, type_: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == type_)
}

/// Whether a condition is present and `True`.
pub fn is_true(object: &Value, type_: &str) -> bool {
    condition(object, type_).is_some_and(|condition| condition["status"] == "True")
}

/// Whether the Pod's Ready condition is `True`, whatever its phase.
pub fn is_ready(pod: &Value) -> bool {
    is_true(pod, "Ready")
}

/// Running and Ready, as the StatefulSet controller counts it (terminating Pods included).
pub fn is_running_and_ready(pod: &Value) -> bool {
    phase(pod) == "Running" && is_ready(pod)
}

/// When a ready Pod has been ready for `min_ready_seconds`; `None` when it is not ready.
pub fn available_at(pod: &Value, min_ready_seconds: i64) -> Option<Timestamp> {
    let ready = condition(pod, "Ready").filter(|ready| ready["status"] == "True")?;
    if min_ready_seconds == 0 {
        return Some(Timestamp::MIN);
    }
    time(&ready["lastTransitionTime"])?
        .checked_add(SignedDuration::from_secs(min_ready_seconds))
        .ok()
}

/// A time field, `None` when absent or unreadable.
pub fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// A time as the API writes `metav1.Time`: UTC, whole seconds.
pub fn stamp(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Sets a condition; `lastTransitionTime` moves only when the status does. Says whether anything
/// changed.
pub fn set_condition(
    object: &mut Value,
    type_: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: Timestamp,
) -> bool {
    set(object, (type_, status, reason, message), None, now)
}

/// The same, with the generation of the Pod that it was said of.
pub fn set_observed_condition(
    object: &mut Value,
    type_: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: Timestamp,
) -> bool {
    let generation = object["metadata"]["generation"].as_i64();
    set(object, (type_, status, reason, message), generation, now)
}

fn set(
    object: &mut Value,
    (type_, status, reason, message): (&str, &str, &str, &str),
    generation: Option<i64>,
    now: Timestamp,
) -> bool {
    let before = condition(object, type_).cloned();
    let since = match &before {
        Some(before) if before["status"] == status => before["lastTransitionTime"].clone(),
        _ => stamp(now).into(),
    };
    let mut after = json!({
        "type": type_, "status": status, "lastProbeTime": null, "lastTransitionTime": since,
    });
    if !reason.is_empty() {
        after["reason"] = reason.into();
    }
    if !message.is_empty() {
        after["message"] = message.into();
    }
    if let Some(generation) = generation {
        after["observedGeneration"] = generation.into();
    }
    let changed = before.as_ref() != Some(&after);
    if changed {
        put_condition(object, after);
    }
    changed
}

/// Replaces the condition of the same type, or appends it.
pub fn put_condition(object: &mut Value, after: Value) {
    if !object["status"]["conditions"].is_array() {
        object["status"]["conditions"] = json!([]);
    }
    let conditions = object["status"]["conditions"].as_array_mut().expect("made an array above");
    match conditions.iter_mut().find(|condition| condition["type"] == after["type"]) {
        Some(condition) => *condition = after,
        None => conditions.push(after),
    }
}

/// Whether a change of a Pod, from what it was to what it is, is worth a look.
pub type Matters = fn(Option<&Value>, Option<&Value>) -> bool;

/// Whether the change is one that workload and budget controllers look at: appearance, labels,
/// owner, phase, readiness, termination. Anything else (a binding, an address) leaves them alone.
pub fn matters(before: Option<&Value>, after: Option<&Value>) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return true;
    };
    let ready =
        |pod| condition(pod, "Ready").map(|ready| (&ready["status"], &ready["lastTransitionTime"]));
    before["metadata"]["uid"] != after["metadata"]["uid"]
        || before["metadata"]["labels"] != after["metadata"]["labels"]
        || before["metadata"]["ownerReferences"] != after["metadata"]["ownerReferences"]
        || object::is_terminating(before) != object::is_terminating(after)
        || phase(before) != phase(after)
        || ready(before) != ready(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_keeps_its_time_until_its_status_changes() {
        let early: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let late: Timestamp = "2026-01-01T00:01:00.9Z".parse().unwrap();
        let mut pod = json!({});
        assert!(set_condition(&mut pod, "Ready", "False", "ContainersNotReady", "", early));
        assert!(set_condition(&mut pod, "Ready", "False", "Other", "", late));
        assert_eq!(condition(&pod, "Ready").unwrap()["lastTransitionTime"], "2026-01-01T00:00:00Z");
        assert!(set_condition(&mut pod, "Ready", "True", "", "", late));
        assert_eq!(condition(&pod, "Ready").unwrap()["lastTransitionTime"], "2026-01-01T00:01:00Z");
        assert!(!set_condition(&mut pod, "Ready", "True", "", "", late));
    }

    #[test]
    fn a_ready_pod_is_available_only_after_min_ready_seconds() {
        let at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let mut pod = json!({});
        assert_eq!(available_at(&pod, 10), None);
        set_condition(&mut pod, "Ready", "True", "", "", at);
        assert_eq!(available_at(&pod, 0), Some(Timestamp::MIN));
        assert_eq!(available_at(&pod, 10), Some("2026-01-01T00:00:10Z".parse().unwrap()));
    }
}
