//! A Node that is lost and comes back, and one that is deleted, with Pods on it. The slowest of all:
//! the real controllers wait most of a minute before they believe it.

use serde_json::{Value, json};

use super::{PODS, SETS, WEB, budget, web};
use crate::step::{Step, delete, delete_with, evict, merge, post};

const NODES: &str = "/api/v1/nodes";
/// A Node of the sequence's own: whatever becomes of it concerns no other.
const NODE: &str = "/api/v1/nodes/$ns";
const LOST: &str = "simcluster.sluice.dev/lost";

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![("a Node is lost and back", lost()), ("a Node is deleted", deleted())]
}

/// With two Pods of `web` on it, which bear its loss for some seconds only.
fn begin() -> Vec<Step> {
    let mut set = web(2, json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}));
    let soon = |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3});
    set["spec"]["template"]["spec"]["nodeSelector"] = json!({"own": "$ns"});
    set["spec"]["template"]["spec"]["tolerations"] = json!([
        {"key": "own", "operator": "Equal", "value": "$ns"},
        soon("node.kubernetes.io/unreachable"), soon("node.kubernetes.io/not-ready"),
    ]);
    let room = json!({"cpu": "64", "memory": "256Gi", "pods": "1000"});
    let node = json!({
        "metadata": {"name": "$ns", "labels": {"own": "$ns"}},
        "spec": {"taints": [{"key": "own", "value": "$ns", "effect": "NoSchedule"}]},
        "status": {"allocatable": room, "capacity": room, "conditions": [{
            "type": "Ready", "status": "True", "reason": "KubeletReady",
            "message": "kubelet is posting ready status",
            "lastHeartbeatTime": "2026-01-01T00:00:00Z",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }]},
    });
    vec![
        quietly(post(NODES, node)),
        Step::Until(NODE.to_owned(), "/spec/taints/1", Value::Null, 30),
        post(SETS, set),
        budget("budget", "web", json!({"maxUnavailable": 1})),
        Step::Rest,
    ]
}

fn quietly(step: Step) -> Step {
    Step::Quiet(Box::new(step))
}

fn cut_off(value: Value) -> Step {
    quietly(merge(NODE, json!({"metadata": {"annotations": {LOST: value}}})))
}

fn gone(ordinal: u32) -> Step {
    let pod = format!("{PODS}/web-{ordinal}");
    Step::Until(pod, "/metadata/deletionGracePeriodSeconds", json!(30), 120)
}

fn lost() -> Vec<Step> {
    let taint = |value: Value| Step::Until(NODE.to_owned(), "/spec/taints/1/key", value, 120);
    let mut out = begin();
    out.extend([
        cut_off(json!("true")),
        // Nobody has noticed yet.
        Step::Rest,
        delete(format!("{PODS}/web-1")),
        taint(json!("node.kubernetes.io/unreachable")),
        gone(0),
        gone(1),
        Step::Rest,
        evict("web-0", Value::Null),
        merge(WEB, json!({"spec": {"template": {"metadata": {"labels": {"more": "1"}}}}})),
        Step::Rest,
        delete_with(format!("{PODS}/web-1"), json!({"gracePeriodSeconds": 0})),
        Step::Until(format!("{PODS}/web-1"), "/metadata/labels/more", json!("1"), 30),
        Step::Rest,
        cut_off(Value::Null),
        taint(Value::Null),
        Step::Until(WEB.to_owned(), "/status/readyReplicas", json!(2), 60),
        Step::Rest,
        delete(WEB),
        Step::Rest,
        quietly(delete(NODE)),
    ]);
    out
}

fn deleted() -> Vec<Step> {
    let mut out = begin();
    out.extend([
        quietly(delete(NODE)),
        Step::Rest,
        // The Pods go by themselves; those that come after them fit nowhere.
        Step::Until(WEB.to_owned(), "/status/readyReplicas", Value::Null, 120),
        Step::Until(format!("{PODS}/web-0"), "/status/phase", json!("Pending"), 30),
        Step::Rest,
        merge(WEB, json!({"spec": {"template": {"spec": {"nodeSelector": null}}}})),
        Step::Rest,
        delete(format!("{PODS}/web-0")),
        Step::Rest,
        delete(WEB),
        Step::Rest,
    ]);
    out
}
