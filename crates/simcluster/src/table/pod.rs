//! The row of a Pod: what its containers add up to.

use jiff::Timestamp;

use super::age::since;
use crate::json::{Value, json};

pub(super) fn cells(pod: &Value, now: Timestamp) -> Vec<Value> {
    let status = &pod["status"];
    let statuses = status["containerStatuses"].as_array().map_or(&[][..], Vec::as_slice);
    let total = pod["spec"]["containers"].as_array().map_or(0, Vec::len);
    let ready = statuses.iter().filter(|one| one["ready"] == true && running(one)).count();
    vec![
        pod["metadata"]["name"].clone(),
        json!(format!("{ready}/{total}")),
        json!(summary(pod, statuses)),
        json!(restarts(statuses, now)),
        json!(since(&pod["metadata"]["creationTimestamp"], now)),
        or_none(&status["podIP"]),
        or_none(&pod["spec"]["nodeName"]),
        or_none(&status["nominatedNodeName"]),
        json!(gates(pod)),
    ]
}

fn or_none(value: &Value) -> Value {
    match value.as_str() {
        Some(text) if !text.is_empty() => value.clone(),
        _ => json!("<none>"),
    }
}

fn running(container: &Value) -> bool {
    !container["state"]["running"].is_null()
}

/// The most telling word: of a container that waits or has ended, else the phase.
fn summary(pod: &Value, statuses: &[Value]) -> String {
    let status = &pod["status"];
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let phase = text(&status["phase"]).unwrap_or_default();
    let mut reason = text(&status["reason"]).unwrap_or_else(|| phase.clone());
    let conditions = status["conditions"].as_array().into_iter().flatten();
    for condition in conditions {
        if condition["type"] == "PodScheduled" && condition["reason"] == "SchedulingGated" {
            "SchedulingGated".clone_into(&mut reason);
        }
    }
    for container in statuses.iter().rev() {
        let state = &container["state"];
        if let Some(waiting) = text(&state["waiting"]["reason"]) {
            reason = waiting;
        } else if let Some(ended) = text(&state["terminated"]["reason"]) {
            reason = ended;
        } else if !state["terminated"].is_null() {
            reason = match state["terminated"]["signal"].as_i64() {
                Some(signal) if signal != 0 => format!("Signal:{signal}"),
                _ => format!("ExitCode:{}", state["terminated"]["exitCode"]),
            };
        }
    }
    if reason == "Completed" && statuses.iter().any(|one| one["ready"] == true && running(one)) {
        "Running".clone_into(&mut reason);
    }
    if !pod["metadata"]["deletionTimestamp"].is_null() {
        return if status["reason"] == "NodeLost" {
            "Unknown".to_owned()
        } else if matches!(phase.as_str(), "Succeeded" | "Failed") {
            reason
        } else {
            "Terminating".to_owned()
        };
    }
    reason
}

fn restarts(statuses: &[Value], now: Timestamp) -> String {
    let count: i64 = statuses.iter().filter_map(|one| one["restartCount"].as_i64()).sum();
    let last = statuses
        .iter()
        .map(|one| &one["lastState"]["terminated"]["finishedAt"])
        .filter(|time| time.is_string())
        .max_by_key(|time| time.as_str());
    match last {
        Some(time) if count > 0 => format!("{count} ({} ago)", since(time, now)),
        _ => count.to_string(),
    }
}

fn gates(pod: &Value) -> String {
    let gates = pod["spec"]["readinessGates"].as_array().map_or(&[][..], Vec::as_slice);
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let conditions = pod["status"]["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    let met = gates.iter().filter(|gate| {
        conditions.iter().any(|c| c["type"] == gate["conditionType"] && c["status"] == "True")
    });
    format!("{}/{}", met.count(), gates.len())
}
