//! The status of a Deployment: counts of its ReplicaSets, and the conditions that tell how far it is.

use jiff::{SignedDuration, Timestamp};

use super::bounds::Bounds;
use crate::behaviour::pod;
use crate::json::{Map, Value, json};
use crate::object::{self, Object};

/// `progressDeadlineSeconds` of a Deployment that may take for ever.
const NO_DEADLINE: i64 = i32::MAX as i64;
const PROGRESSING: &str = "Progressing";
const FAILURE: &str = "ReplicaFailure";

/// The seconds after which a rollout that does not move has failed, unless it may take for ever.
pub fn deadline(deployment: &Value) -> Option<i64> {
    deployment["spec"]["progressDeadlineSeconds"].as_i64().filter(|seconds| *seconds != NO_DEADLINE)
}

/// A condition as it begins.
pub fn condition(type_: &str, status: &str, reason: &str, message: &str, now: Timestamp) -> Value {
    let at = pod::stamp(now);
    json!({
        "type": type_, "status": status, "lastUpdateTime": at, "lastTransitionTime": at,
        "reason": reason, "message": message,
    })
}

/// The `Progressing` condition as it begins.
pub fn progressing(status: &str, reason: &str, message: &str, now: Timestamp) -> Value {
    condition(PROGRESSING, status, reason, message, now)
}

/// The reason of the `Progressing` condition.
pub fn progress_reason(deployment: &Value) -> Option<&str> {
    pod::condition(deployment, PROGRESSING)?["reason"].as_str()
}

fn find<'a>(status: &'a Value, type_: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|one| one["type"] == type_)
}

fn remove(status: &mut Value, type_: &str) {
    if let Some(all) = status["conditions"].as_array_mut() {
        all.retain(|one| one["type"] != type_);
        if all.is_empty() {
            status.as_object_mut().expect("a status is a map").remove("conditions");
        }
    }
}

/// Puts a condition at the end, unless one of the same status and reason is there. It keeps the
/// time of the last transition when the status stays.
pub fn set(status: &mut Value, mut condition: Value) {
    let type_ = condition["type"].as_str().unwrap_or_default().to_owned();
    if let Some(before) = find(status, &type_) {
        if before["status"] == condition["status"] && before["reason"] == condition["reason"] {
            return;
        }
        if before["status"] == condition["status"] {
            condition["lastTransitionTime"] = before["lastTransitionTime"].clone();
        }
    }
    remove(status, &type_);
    match status["conditions"].as_array_mut() {
        Some(all) => all.push(condition),
        None => status["conditions"] = json!([condition]),
    }
}

/// Counts the sets and says whether enough Pods are available.
pub fn count(deployment: &Value, new: Option<&Object>, old: &[Object], now: Timestamp) -> Value {
    let bounds = Bounds::of(deployment);
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    let sum =
        |of: &dyn Fn(&Value) -> i64| -> i64 { old.iter().chain(new).map(|set| of(set)).sum() };
    let available = sum(&|set| number(&set["status"]["availableReplicas"]));
    let wanted = sum(&|set| number(&set["spec"]["replicas"]));
    let counts = [
        ("observedGeneration", object::generation(deployment)),
        ("replicas", sum(&|set| number(&set["status"]["replicas"]))),
        ("updatedReplicas", new.map_or(0, |set| number(&set["status"]["replicas"]))),
        ("readyReplicas", sum(&|set| number(&set["status"]["readyReplicas"]))),
        ("availableReplicas", available),
        ("unavailableReplicas", (wanted - available).max(0)),
    ];
    let mut status = Map::new();
    for (field, count) in counts.into_iter().filter(|(_, count)| *count != 0) {
        status.insert(field.to_owned(), count.into());
    }
    let unknown = |set: &Object| {
        number(&set["status"]["observedGeneration"]) != 0
            && set["status"]["terminatingReplicas"].is_null()
    };
    if !old.iter().chain(new).any(unknown) {
        let going = sum(&|set| number(&set["status"]["terminatingReplicas"]));
        status.insert("terminatingReplicas".to_owned(), going.into());
    }
    for field in ["collisionCount", "conditions"] {
        if let Some(value) = deployment["status"].get(field) {
            status.insert(field.to_owned(), value.clone());
        }
    }
    let mut status = Value::Object(status);
    let (answer, reason, message) = if available >= bounds.fewest() {
        ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    set(&mut status, condition("Available", answer, reason, message, now));
    status
}

/// Whether all wanted Pods are of the new template and available, and no others are left.
pub fn is_complete(deployment: &Value, status: &Value) -> bool {
    let wanted = deployment["spec"]["replicas"].as_i64().unwrap_or(1);
    let count = |field: &str| status[field].as_i64().unwrap_or(0);
    ["updatedReplicas", "replicas", "availableReplicas"].iter().all(|field| count(field) == wanted)
        && count("observedGeneration") >= object::generation(deployment)
}

/// Whether anything has moved between two statuses.
fn has_moved(before: &Value, after: &Value) -> bool {
    let count = |status: &Value, field: &str| status[field].as_i64().unwrap_or(0);
    let old = |status: &Value| count(status, "replicas") - count(status, "updatedReplicas");
    let more = |field: &str| count(after, field) > count(before, field);
    more("updatedReplicas")
        || old(after) < old(before)
        || more("readyReplicas")
        || more("availableReplicas")
}

/// Counts the sets, and says how the rollout goes.
pub fn rollout(deployment: &Value, new: Option<&Object>, old: &[Object], now: Timestamp) -> Value {
    let mut status = count(deployment, new, old, now);
    let before = &deployment["status"];
    let Some(seconds) = deadline(deployment) else {
        remove(&mut status, PROGRESSING);
        failures(&mut status, new, old);
        return status;
    };
    let current = find(before, PROGRESSING);
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    let done = number("replicas") == number("updatedReplicas")
        && current.is_some_and(|current| current["reason"] == "NewReplicaSetAvailable");
    let what = match new {
        Some(set) => format!("ReplicaSet \"{}\"", object::name(set)),
        None => format!("Deployment \"{}\"", object::name(deployment)),
    };
    if done {
        // Nothing is being rolled out.
    } else if is_complete(deployment, &status) {
        let message = format!("{what} has successfully progressed.");
        set(&mut status, progressing("True", "NewReplicaSetAvailable", &message, now));
    } else if has_moved(before, &status) {
        let message = format!("{what} is progressing.");
        let mut moved = progressing("True", "ReplicaSetUpdated", &message, now);
        if let Some(current) = current.filter(|current| current["status"] == "True") {
            moved["lastTransitionTime"] = current["lastTransitionTime"].clone();
        }
        remove(&mut status, PROGRESSING);
        set(&mut status, moved);
    } else if timed_out(current, seconds, now) {
        let message = format!("{what} has timed out progressing.");
        set(&mut status, progressing("False", "ProgressDeadlineExceeded", &message, now));
    }
    failures(&mut status, new, old);
    status
}

fn timed_out(current: Option<&Value>, seconds: i64, now: Timestamp) -> bool {
    match current.and_then(|current| current["reason"].as_str()) {
        None | Some("NewReplicaSetAvailable") => false,
        Some("ProgressDeadlineExceeded") => true,
        Some(_) => current
            .and_then(|current| pod::time(&current["lastUpdateTime"]))
            .and_then(|at| at.checked_add(SignedDuration::from_secs(seconds)).ok())
            .is_some_and(|end| end < now),
    }
}

/// When a rollout that does not move will have taken too long.
pub fn wake(deployment: &Value, status: &Value) -> Option<Timestamp> {
    let seconds = deadline(deployment)?;
    let current = find(status, PROGRESSING)?;
    if is_complete(deployment, status) || current["reason"] == "ProgressDeadlineExceeded" {
        return None;
    }
    pod::time(&current["lastUpdateTime"])?
        .checked_add(SignedDuration::from_secs(seconds.saturating_add(1)))
        .ok()
}

/// What the new set, or else an old one, fails with.
fn failures(status: &mut Value, new: Option<&Object>, old: &[Object]) {
    let failure = new.into_iter().chain(old).find_map(|set| pod::condition(set, FAILURE));
    let Some(failure) = failure else { return remove(status, FAILURE) };
    let mut condition = failure.clone();
    condition["lastUpdateTime"] = condition["lastTransitionTime"].clone();
    set(status, condition);
}
