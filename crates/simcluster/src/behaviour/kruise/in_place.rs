//! Updating a Pod in place: its gate is closed, its images are replaced, its gate is opened again.
//!
//! The API takes a Pod's status and the rest of it in two writes, each of which moves its version
//! on: so closing the gate is one look and replacing the images the next.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::lifecycle;
use crate::behaviour::kubelet::status;
use crate::behaviour::statefulset::replica::REVISION_LABEL;
use crate::behaviour::statefulset::revision;
use crate::behaviour::{Write, pod};
use crate::json::{Text, Value, json};
use crate::object::{self, Key, Object, PODS};

/// The readiness gate, and the condition behind it.
pub const GATE: &str = "InPlaceUpdateReady";
/// The annotation that keeps what an update began with.
pub const STATE: &str = "apps.kruise.io/inplace-update-state";
/// Why the gate is closed during an update.
const BEGUN: &str = "StartInPlaceUpdate";
/// The label with the hash alone, beside the one with the revision.
pub const HASH_LABEL: &str = "pod-template-hash";

/// Gives the spec of a Pod that is about to be made the gate.
pub fn add_gate(spec: &mut Value) {
    let gate = json!({"conditionType": GATE});
    match spec["readinessGates"].as_array_mut() {
        Some(gates) if gates.contains(&gate) => {}
        Some(gates) => gates.push(gate),
        None => spec["readinessGates"] = json!([gate]),
    }
}

/// Whether a Pod of one template can become one of another: images, labels and annotations may
/// differ, nothing else.
fn is_possible(old: &Value, new: &Value) -> bool {
    without_images(old) == without_images(new)
}

fn without_images(template: &Value) -> Value {
    let mut spec = template["spec"].clone();
    for container in spec["containers"].as_array_mut().into_iter().flatten() {
        container["image"].take();
    }
    spec
}

/// Whether the gate is closed for an update.
pub fn is_closed(pod: &Value) -> bool {
    pod::condition(pod, GATE)
        .is_some_and(|gate| gate["status"] == "False" && gate["reason"] == BEGUN)
}

/// Whether the gate has been closed for an update whose images have not been replaced yet.
pub fn is_begun(pod: &Value) -> bool {
    is_closed(pod) && lifecycle::state(pod) != lifecycle::UPDATING
}

/// Whether the gate says nothing against counting the Pod as ready.
pub fn lets_pass(pod: &Value) -> bool {
    pod::condition(pod, GATE).is_none_or(|gate| gate["status"] == "True")
}

/// The write that brings a Pod's update forward, if there is one, and whether it is one of the update
/// itself: that of a Pod whose gate is closed is carried out before anything else, if the Pod is not
/// at the new revision already. Those that are complete are let back to work.
pub fn proceed(
    pod: &Object,
    updated: bool,
    update: impl FnOnce() -> Option<Write>,
    now: Timestamp,
) -> Option<(bool, Write)> {
    let begun = is_closed(pod) && !updated;
    match begun.then(update).flatten() {
        Some(write) => Some((true, write)),
        None => refresh(pod, now).map(|write| (false, write)),
    }
}

/// The next write of an update from the template of one revision to that of another. The Pod is
/// labelled with the hash that the revision itself is labelled with, else with its name. `None` where
/// another Pod has to be made.
pub fn update(pod: &Object, old: &Value, new: &Value, now: Timestamp) -> Option<Write> {
    let (before, template) = (revision::template(old), revision::template(new));
    if !is_possible(before, template) {
        return None;
    }
    let mut object = Value::clone(pod);
    let key = Key::of(PODS, pod);
    if has_gate(pod) && !is_closed(pod) {
        pod::set_condition(&mut object, GATE, "False", BEGUN, "", now);
        let running = pod::is_true(pod, "ContainersReady");
        status::set_ready(&mut object, running, now);
        return Some(Write::Update { key, subresource: Some("status"), object });
    }
    let replaced = replace_images(&mut object, template);
    replace_metadata(&mut object, &before["metadata"], &template["metadata"]);
    let revision = object::label(new, REVISION_LABEL).unwrap_or_else(|| object::name(new));
    mark(&mut object, revision);
    let state = json!({
        "revision": revision, "updateTimestamp": pod::stamp(now),
        "lastContainerStatuses": last_statuses(&object, &replaced),
        "updateImages": !replaced.is_empty(),
        "containerBatchesRecord": [{"timestamp": pod::stamp(now), "containers": replaced}],
    });
    object["metadata"]["annotations"][STATE] = state.to_string().into();
    if !lifecycle::state(pod).is_empty() {
        lifecycle::set(&mut object, lifecycle::UPDATING, now);
    }
    Some(Write::Update { key, subresource: None, object })
}

/// What a controller says of an update to a revision.
pub fn said(pod: &Value, revision: &str) -> String {
    format!("successfully update pod {} in-place(revision {revision})", object::name(pod))
}

/// Labels a Pod with its revision.
pub fn mark(object: &mut Value, revision: &str) {
    let labels = &mut object["metadata"]["labels"];
    labels[REVISION_LABEL] = revision.into();
    labels[HASH_LABEL] = revision.rsplit('-').next().unwrap_or_default().into();
}

/// The names of the containers that got another image.
fn replace_images(object: &mut Value, template: &Value) -> Vec<String> {
    let mut replaced = Vec::new();
    for container in template["spec"]["containers"].as_array().into_iter().flatten() {
        let of_pod = object["spec"]["containers"].as_array_mut().into_iter().flatten();
        let same = of_pod.into_iter().find(|one| one["name"] == container["name"]);
        let Some(same) = same.filter(|one| one["image"] != container["image"]) else { continue };
        same["image"] = container["image"].clone();
        replaced.extend(container["name"].as_str().map(str::to_owned));
    }
    replaced
}

/// Labels and annotations follow the template; others stay.
fn replace_metadata(object: &mut Value, old: &Value, new: &Value) {
    for map in ["labels", "annotations"] {
        let names = |of: &Value| -> BTreeSet<String> {
            of[map]
                .as_object()
                .into_iter()
                .flat_map(|map| map.keys().map(Text::to_string))
                .collect()
        };
        let (before, after) = (names(old), names(new));
        if !object["metadata"][map].is_object() {
            object["metadata"][map] = json!({});
        }
        let Some(held) = object["metadata"][map].as_object_mut() else { continue };
        for name in before.difference(&after) {
            held.remove(name);
        }
        for name in after.iter().filter(|name| old[map].get(*name) != new[map].get(*name)) {
            held.insert(name.clone(), new[map][name].clone());
        }
    }
}

/// Which images the containers ran before: when they have others, the update is done.
fn last_statuses(object: &Value, replaced: &[String]) -> Value {
    let mut last = json!({});
    for status in object["status"]["containerStatuses"].as_array().into_iter().flatten() {
        let name = status["name"].as_str().unwrap_or_default();
        if replaced.iter().any(|one| one == name) {
            last[name] = json!({"imageID": status["imageID"]});
        }
    }
    last
}

fn state(pod: &Value) -> Value {
    let text = object::annotation(pod, STATE).unwrap_or("{}");
    serde_json::from_str(text).unwrap_or_default()
}

/// Whether the containers whose images were replaced run with the new ones.
pub fn is_complete(pod: &Value) -> bool {
    let state = state(pod);
    let Some(last) = state["lastContainerStatuses"].as_object() else { return true };
    let containers = || pod["spec"]["containers"].as_array().into_iter().flatten();
    last.iter().all(|(name, before)| {
        let statuses = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
        let Some(status) = statuses.into_iter().find(|one| one["name"] == **name) else {
            return false;
        };
        let wanted = containers().find(|one| one["name"] == **name);
        let runs = status["state"]["running"].is_object()
            && wanted.is_some_and(|one| one["image"] == status["image"]);
        status["imageID"] != before["imageID"] || runs
    })
}

/// The write that brings gate and state label of a Pod forward, if there is one: the gate of a new
/// Pod and of one that has been updated is opened, and then the label says that it is at work.
pub fn refresh(pod: &Object, now: Timestamp) -> Option<Write> {
    let complete = is_complete(pod);
    if complete && has_gate(pod) && !pod::is_true(pod, GATE) {
        let mut object = Value::clone(pod);
        pod::set_condition(&mut object, GATE, "True", "", "", now);
        let subresource = Some("status");
        return Some(Write::Update { key: Key::of(PODS, pod), subresource, object });
    }
    let done = match lifecycle::state(pod) {
        lifecycle::PREPARING_NORMAL => true,
        lifecycle::UPDATING => complete,
        _ => false,
    };
    done.then(|| {
        let mut object = Value::clone(pod);
        lifecycle::set(&mut object, lifecycle::NORMAL, now);
        Write::Update { key: Key::of(PODS, pod), subresource: None, object }
    })
}

/// Whether a Pod has the gate.
pub fn has_gate(pod: &Value) -> bool {
    let gates = pod["spec"]["readinessGates"].as_array();
    gates.is_some_and(|gates| gates.iter().any(|gate| gate["conditionType"] == GATE))
}

/// Whether a change of a Pod is one that a controller which updates in place looks at.
pub fn matters(before: Option<&Value>, after: Option<&Value>) -> bool {
    let (Some(old), Some(new)) = (before, after) else { return true };
    let gate = |pod| pod::condition(pod, GATE).map(|gate| &gate["status"]);
    let images = |pod: &Value| -> Vec<(Value, bool)> {
        let statuses = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
        let image = |one: &Value| (one["imageID"].clone(), one["state"]["running"].is_object());
        statuses.map(image).collect()
    };
    pod::matters(before, after)
        || object::generation(old) != object::generation(new)
        || gate(old) != gate(new)
        || (!is_complete(old) && images(old) != images(new))
}
