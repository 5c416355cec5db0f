//! What the controller says of a node that has fallen silent, and takes back when it speaks again.

use jiff::Timestamp;

use super::{UNREACHABLE, event, update};
use crate::behaviour::kubelet::status;
use crate::behaviour::scheduler::taints;
use crate::behaviour::{Step, View, Write, pod};
use crate::json::{Value, json};
use crate::object::{Key, Object, PODS};

const NODE_NOT_READY: &str = "NodeNotReady";

/// Says that a node is silent: in its status, by taints, and of its Pods that they are not ready.
pub(super) fn declare_lost(view: &dyn View, key: &Key, node: &Object, now: Timestamp) -> Step {
    if pod::condition(node, "Ready").is_some_and(|ready| ready["status"] == "Unknown") {
        return Step::default();
    }
    let mut tainted = Value::clone(node);
    let mut all = tainted["spec"]["taints"].as_array().cloned().unwrap_or_default();
    all.extend(taints(UNREACHABLE, now));
    tainted["spec"]["taints"] = all.into();
    let mut writes = vec![update(key, None, tainted)];
    for pod in view.list(&PODS, None).filter(|pod| pod["spec"]["nodeName"] == *key.name) {
        let mut unready = Value::clone(pod);
        if !pod::is_ready(pod) {
            continue;
        }
        // Nothing but the status: no reason, no message.
        pod::set_condition(&mut unready, "Ready", "False", "", "", now);
        let pod_key = Key::of(PODS, pod);
        writes.push(update(&pod_key, Some("status"), unready));
        writes.push(event(&pod_key, "Warning", NODE_NOT_READY, "Node is not ready".to_owned()));
    }
    let mut unknown = Value::clone(node);
    // Status comes last and without a resourceVersion: the taints have moved it on.
    unknown["metadata"].as_object_mut().expect("metadata is a map").remove("resourceVersion");
    let silent = ("NodeStatusUnknown", "Kubelet stopped posting node status.");
    set_ready(&mut unknown, "Unknown", silent, now);
    writes.push(update(key, Some("status"), unknown));
    let said = format!("Node {} status is now: NodeNotReady", key.name);
    writes.push(event(key, "Normal", NODE_NOT_READY, said));
    Step { writes, wake: None }
}

/// Takes all of that back.
pub(super) fn welcome_back(
    view: &dyn View,
    key: &Key,
    node: &Object,
    since: Timestamp,
    now: Timestamp,
) -> Step {
    let mut back = Value::clone(node);
    if let Some(taints) = back["spec"]["taints"].as_array_mut() {
        taints.retain(|taint| taint["key"] != UNREACHABLE);
    }
    if back["spec"]["taints"].as_array().is_some_and(Vec::is_empty) {
        back["spec"].as_object_mut().expect("it has taints").remove("taints");
    }
    let mut writes = Vec::new();
    if back["spec"] != node["spec"] {
        writes.push(update(key, None, back.clone()));
    }
    back["metadata"].as_object_mut().expect("metadata is a map").remove("resourceVersion");
    if set_ready(&mut back, "True", ("KubeletReady", "kubelet is posting ready status"), now) {
        writes.push(update(key, Some("status"), back));
        let said = format!("Node {} status is now: NodeReady", key.name);
        writes.push(event(key, "Normal", "NodeReady", said));
        writes.extend(heal(view, key, since, now));
    }
    Step { writes, wake: None }
}

/// What the kubelet of a node that is back says of the Pods that were marked meanwhile. Marks carry
/// no reason: they are told from other people's by their time.
fn heal(view: &dyn View, key: &Key, since: Timestamp, now: Timestamp) -> Vec<Write> {
    let marked = |pod: &&Object| {
        pod["spec"]["nodeName"] == *key.name
            && pod::is_true(pod, "ContainersReady")
            && pod::condition(pod, "Ready").is_some_and(|ready| {
                let declared = pod::time(&ready["lastTransitionTime"]);
                ready["status"] == "False"
                    && ready["reason"].is_null()
                    && declared.is_some_and(|at| at >= since)
            })
    };
    view.list(&PODS, None)
        .filter(marked)
        .map(|pod| {
            let mut healed = Value::clone(pod);
            pod::set_condition(&mut healed, "Ready", "True", "", "", now);
            status::set_ready(&mut healed, true, now);
            update(&Key::of(PODS, pod), Some("status"), healed)
        })
        .collect()
}

/// Sets a Node's Ready condition, which knows a heartbeat rather than a probe. Says whether its
/// status changed.
fn set_ready(
    node: &mut Value,
    status: &str,
    (reason, message): (&str, &str),
    now: Timestamp,
) -> bool {
    let before = pod::condition(node, "Ready").cloned().unwrap_or_default();
    if before["status"] == status {
        return false;
    }
    let mut after = json!({
        "type": "Ready", "status": status, "reason": reason, "message": message,
        "lastTransitionTime": pod::stamp(now),
    });
    after["lastHeartbeatTime"] = match &before["lastHeartbeatTime"] {
        // What a silent node said last stays.
        said @ Value::String(_) if status == "Unknown" => said.clone(),
        _ => pod::stamp(now).into(),
    };
    pod::put_condition(node, after);
    true
}
