//! The status of a ReplicaSet, counted from its Pods.

use jiff::Timestamp;

use crate::behaviour::pod;
use crate::json::{Map, Text, Value, json};
use crate::object::{self, Object};

/// What a count came to.
#[derive(Debug)]
pub struct Counted {
    /// The whole status.
    pub status: Value,
    /// When the next ready Pod will have been ready for long enough.
    pub wake: Option<Timestamp>,
}

/// Counts active Pods, `gone` that are on their way out, and says what the last attempt to make or
/// delete some failed with.
pub fn of(
    set: &Value,
    pods: &[Object],
    gone: usize,
    failed: Option<&str>,
    now: Timestamp,
) -> Counted {
    let spec = &set["spec"];
    let min_ready_seconds = spec["minReadySeconds"].as_i64().unwrap_or(0);
    let ready: Vec<Timestamp> =
        pods.iter().filter_map(|pod| pod::available_at(pod, min_ready_seconds)).collect();
    let labels = spec["template"]["metadata"]["labels"].as_object();
    let labelled = |pod: &&Object| {
        let has = |(key, value): (&Text, &Value)| pod["metadata"]["labels"].get(key) == Some(value);
        labels.is_none_or(|labels| labels.iter().all(has))
    };
    let mut status = Map::new();
    status.insert("replicas".to_owned(), pods.len().into());
    let counts = [
        ("fullyLabeledReplicas", pods.iter().filter(labelled).count()),
        ("readyReplicas", ready.len()),
        ("availableReplicas", ready.iter().filter(|at| **at <= now).count()),
    ];
    for (field, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        status.insert(field.to_owned(), count.into());
    }
    status.insert("terminatingReplicas".to_owned(), gone.into());
    status.insert("observedGeneration".to_owned(), object::generation(set).into());
    let mut conditions: Vec<Value> =
        set["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let known = conditions.iter().any(|one| one["type"] == "ReplicaFailure");
    match failed {
        None => conditions.retain(|one| one["type"] != "ReplicaFailure"),
        Some(message) if !known => {
            let wanted = spec["replicas"].as_u64().unwrap_or(1);
            let few = (pods.len() as u64) < wanted;
            conditions.push(json!({
                "type": "ReplicaFailure", "status": "True",
                "lastTransitionTime": pod::stamp(now),
                "reason": if few { "FailedCreate" } else { "FailedDelete" },
                "message": message,
            }));
        }
        Some(_) => {}
    }
    if !conditions.is_empty() {
        status.insert("conditions".to_owned(), conditions.into());
    }
    let wake = ready.into_iter().filter(|at| *at > now).min();
    Counted { status: status.into(), wake }
}
