//! Which nodes a DaemonSet wants a Pod on.

use crate::behaviour::affinity;
use crate::behaviour::scheduler::toleration;
use crate::json::{Value, json};
use crate::object;

/// What a node is to a DaemonSet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fit {
    /// A Pod is made there.
    pub runs: bool,
    /// One that is there may stay.
    pub keeps: bool,
}

const EFFECTS: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// The tolerations of a template with those that every daemon Pod gets: it stays on a node that is
/// cordoned, lost or under pressure.
pub fn tolerations(template: &Value) -> Vec<Value> {
    let spec = &template["spec"];
    let mut all: Vec<Value> = spec["tolerations"].as_array().cloned().unwrap_or_default();
    let network = ("node.kubernetes.io/network-unavailable", "NoSchedule");
    let network = (spec["hostNetwork"] == true).then_some(network);
    for (key, effect) in EFFECTS.into_iter().chain(network) {
        let wanted = json!({"key": key, "operator": "Exists", "effect": effect});
        let same = |one: &&mut Value| {
            ["key", "operator", "effect", "value"].iter().all(|&part| one[part] == wanted[part])
        };
        match all.iter_mut().find(same) {
            Some(one) => *one = wanted,
            None => all.push(wanted),
        }
    }
    all
}

/// What a node is to a DaemonSet of this template.
pub fn fit(template: &Value, node: &Value) -> Fit {
    let spec = &template["spec"];
    let pinned = spec["nodeName"].as_str().filter(|name| !name.is_empty());
    if pinned.is_some_and(|name| name != object::name(node)) || !affinity::asks_for(spec, node) {
        return Fit::default();
    }
    let pod = json!({"spec": {"tolerations": tolerations(template)}});
    let bars = |effects: &[&str]| {
        let taints = node["spec"]["taints"].as_array().into_iter().flatten();
        taints
            .filter(|taint| effects.iter().any(|&effect| taint["effect"] == effect))
            .any(|taint| toleration(&pod, taint).is_none())
    };
    Fit { runs: !bars(&["NoSchedule", "NoExecute"]), keeps: !bars(&["NoExecute"]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &Value, node: &Value, runs: bool, keeps: bool) {
        let mut node = node.clone();
        node["metadata"]["name"] = "node-1".into();
        assert_eq!(fit(template, &node), Fit { runs, keeps }, "{template} {node}");
    }

    fn tainted(key: &str, effect: &str) -> Value {
        json!({"spec": {"taints": [{"key": key, "effect": effect}]}})
    }

    #[test]
    fn a_cordoned_or_lost_node_is_no_obstacle() {
        check(&json!({}), &json!({}), true, true);
        for (key, effect) in EFFECTS {
            check(&json!({}), &tainted(key, effect), true, true);
        }
    }

    #[test]
    fn a_taint_of_another_kind_keeps_new_pods_off_and_may_turn_out_old_ones() {
        check(&json!({}), &tainted("gpu", "NoSchedule"), false, true);
        check(&json!({}), &tainted("gpu", "NoExecute"), false, false);
        check(&json!({}), &tainted("gpu", "PreferNoSchedule"), true, true);
        check(&json!({}), &tainted("node.kubernetes.io/not-ready", "NoSchedule"), false, true);
        let bears = json!({"spec": {"tolerations": [{"operator": "Exists"}]}});
        check(&bears, &tainted("gpu", "NoExecute"), true, true);
        check(
            &json!({}),
            &tainted("node.kubernetes.io/network-unavailable", "NoSchedule"),
            false,
            true,
        );
        let host = json!({"spec": {"hostNetwork": true}});
        check(&host, &tainted("node.kubernetes.io/network-unavailable", "NoSchedule"), true, true);
    }

    #[test]
    fn selector_and_name_choose_the_nodes() {
        let chosen = json!({"spec": {"nodeSelector": {"zone": "a"}}});
        check(&chosen, &json!({"metadata": {"labels": {"zone": "a"}}}), true, true);
        check(&chosen, &json!({"metadata": {"labels": {"zone": "b"}}}), false, false);
        check(&json!({"spec": {"nodeName": "node-2"}}), &json!({}), false, false);
    }

    #[test]
    fn a_toleration_of_the_template_is_widened_in_its_place() {
        let short = json!({"key": "node.kubernetes.io/not-ready", "operator": "Exists",
                           "effect": "NoExecute", "tolerationSeconds": 5});
        let all = tolerations(&json!({"spec": {"tolerations": [short]}}));
        assert_eq!(all.len(), 6);
        assert!(all[0].get("tolerationSeconds").is_none());
    }
}
