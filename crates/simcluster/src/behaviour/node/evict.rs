//! How Pods leave nodes: for a taint that they do not tolerate, or by force.

use jiff::{SignedDuration, Timestamp};

use super::{event, update};
use crate::behaviour::scheduler::toleration;
use crate::behaviour::{Step, Write, pod};
use crate::json::Value;
use crate::object::{self, Key, Object};

/// The taint by which somebody promises that a node is off.
pub(super) const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// Why a Pod is taken away.
fn set_disrupted(pod: &mut Value, reason: &str, why: &str, now: Timestamp) {
    pod::set_observed_condition(pod, "DisruptionTarget", "True", reason, why, now);
}

/// Evicts a Pod from a tainted node when its toleration ends, also one that somebody has deleted.
pub(super) fn pod_step(key: &Key, pod: &Object, node: &Value, now: Timestamp) -> Step {
    let taints = || node["spec"]["taints"].as_array().into_iter().flatten();
    if object::is_terminating(pod) && taints().any(|taint| taint["key"] == OUT_OF_SERVICE) {
        return force_delete(key, pod, "DeletionByPodGC", "PodGC: node is out of service", now);
    }
    if object::is_terminating(pod) && pod::condition(pod, "DisruptionTarget").is_some() {
        return Step::default();
    }
    let due = taints()
        .filter(|taint| taint["effect"] == "NoExecute")
        .filter_map(|taint| leaves_at(pod, taint, now))
        .min();
    match due {
        None => Step::default(),
        Some(due) if due > now => Step { writes: Vec::new(), wake: Some(due) },
        Some(_) => {
            let mut going = Value::clone(pod);
            let reason = "DeletionByTaintManager";
            let why = "Taint manager: deleting due to NoExecute taint";
            set_disrupted(&mut going, reason, why, now);
            let message = format!("Marking for deletion Pod {}/{}", key.namespace, key.name);
            Step {
                writes: vec![
                    event(key, "Normal", "TaintManagerEviction", message),
                    update(key, Some("status"), going),
                    delete(key, pod, None),
                ],
                wake: None,
            }
        }
    }
}

/// When a Pod has to leave for a NoExecute taint; `None` when it may stay for ever.
fn leaves_at(pod: &Value, taint: &Value, now: Timestamp) -> Option<Timestamp> {
    // People's taints carry no time: those count from the look that finds them.
    let added = pod::time(&taint["timeAdded"]).unwrap_or(now);
    match toleration(pod, taint) {
        None => Some(added),
        Some(toleration) => {
            let seconds = toleration["tolerationSeconds"].as_i64()?;
            added.checked_add(SignedDuration::from_secs(seconds)).ok()
        }
    }
}

/// Ends a Pod that no kubelet will end.
pub(super) fn force_delete(
    key: &Key,
    pod: &Object,
    reason: &str,
    why: &str,
    now: Timestamp,
) -> Step {
    let mut going = Value::clone(pod);
    going["status"]["phase"] = "Failed".into();
    set_disrupted(&mut going, reason, why, now);
    Step { writes: vec![update(key, Some("status"), going), delete(key, pod, Some(0))], wake: None }
}

fn delete(key: &Key, pod: &Value, grace_period_seconds: Option<i64>) -> Write {
    Write::Delete { key: key.clone(), uid: Some(object::uid(pod).to_owned()), grace_period_seconds }
}
