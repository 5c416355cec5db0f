//! The scheduler: binds each Pod to a node that is ready, takes it and is not cordoned.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::{Behaviour, Change, Step, View, Write, affinity, pod};
use crate::json::{Value, json};
use crate::object::{self, Key, NODES, Object, PODS};

const COMPONENT: &str = "default-scheduler";

/// Binds to the node with the fewest Pods; chance, drawn from the seed, decides among equals.
/// Resources and preferences are not weighed.
#[derive(Debug, Default)]
pub struct Scheduler {
    /// Where each Pod is, as heard from every change, and how many are on each node.
    placed: Mutex<(BTreeMap<Key, String>, BTreeMap<String, usize>)>,
}

impl Scheduler {
    fn placed(&self) -> MutexGuard<'_, (BTreeMap<Key, String>, BTreeMap<String, usize>)> {
        self.placed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn learn(&self, change: &Change) {
        let mut placed = self.placed();
        let (pods, counts) = &mut *placed;
        if let Some(node) = pods.remove(&change.key)
            && let Some(count) = counts.get_mut(&node)
        {
            *count -= 1;
        }
        let node = change.after.as_ref().and_then(|pod| pod["spec"]["nodeName"].as_str());
        if let Some(node) = node {
            pods.insert(change.key.clone(), node.to_owned());
            *counts.entry(node.to_owned()).or_default() += 1;
        }
    }

    fn choose<'a>(&self, fit: &[&'a Object], rng: &mut fastrand::Rng) -> Option<&'a str> {
        let placed = self.placed();
        let load = |node: &Object| placed.1.get(object::name(node)).copied().unwrap_or(0);
        let least = fit.iter().map(|node| load(node)).min()?;
        let emptiest: Vec<_> = fit.iter().filter(|node| load(node) == least).collect();
        Some(object::name(emptiest[rng.usize(0..emptiest.len())]))
    }
}

impl Behaviour for Scheduler {
    fn name(&self) -> &'static str {
        "kube-scheduler"
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        if change.key.collection == PODS {
            self.learn(change);
            let waits = change.after.as_deref().is_some_and(waits);
            return if waits { vec![change.key.clone()] } else { Vec::new() };
        }
        let node = |node: &Object| (node["spec"].clone(), pod::is_ready(node));
        let same = change.before.as_ref().map(node) == change.after.as_ref().map(node);
        if change.key.collection != NODES || change.after.is_none() || same {
            return Vec::new();
        }
        view.list(&PODS, None).filter(|pod| waits(pod)).map(|pod| Key::of(PODS, pod)).collect()
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, rng: &mut fastrand::Rng) -> Step {
        let Some(pod) = view.get(key).filter(|pod| waits(pod)) else { return Step::default() };
        let nodes: Vec<&Object> = view.list(&NODES, None).collect();
        let fit: Vec<&Object> =
            nodes.iter().copied().filter(|node| refuses(node, pod).is_none()).collect();
        let mut object = Value::clone(pod);
        let event = |type_, reason, message| Write::event(COMPONENT, key, type_, reason, message);
        let Some(node) = self.choose(&fit, rng) else {
            let message = unschedulable(&nodes, pod);
            let reason = "Unschedulable";
            let (type_, no) = ("PodScheduled", "False");
            if !pod::set_observed_condition(&mut object, type_, no, reason, &message, now) {
                return Step::default();
            }
            let update = Write::Update { key: key.clone(), subresource: Some("status"), object };
            return Step {
                writes: vec![update, event("Warning", "FailedScheduling", message)],
                wake: None,
            };
        };
        object["spec"]["nodeName"] = node.into();
        pod::set_condition(&mut object, "PodScheduled", "True", "", "", now);
        let message = format!("Successfully assigned {}/{} to {node}", key.namespace, key.name);
        let bind = Write::Update { key: key.clone(), subresource: Some("binding"), object };
        Step { writes: vec![bind, event("Normal", "Scheduled", message)], wake: None }
    }
}

/// Ours to bind, not bound, not gated, not on its way out.
fn waits(pod: &Value) -> bool {
    pod["spec"]["schedulerName"].as_str().is_none_or(|name| name == COMPONENT)
        && !pod["spec"]["nodeName"].is_string()
        && !object::is_terminating(pod)
        && pod["spec"]["schedulingGates"].as_array().is_none_or(Vec::is_empty)
}

/// Why a node does not take a Pod.
fn refuses(node: &Value, pod: &Value) -> Option<String> {
    if object::is_terminating(node) {
        return Some("node(s) were terminating".to_owned());
    }
    if !affinity::asks_for(&pod["spec"], node) {
        return Some("node(s) didn't match Pod's node affinity/selector".to_owned());
    }
    let cordon = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
    if node["spec"]["unschedulable"] == true && !tolerates(pod, &cordon) {
        return Some("node(s) were unschedulable".to_owned());
    }
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    let mut taints =
        taints.filter(|taint| matches!(taint["effect"].as_str(), Some("NoSchedule" | "NoExecute")));
    if let Some(taint) = taints.find(|taint| !tolerates(pod, taint)) {
        let (key, value) = (text(taint, "key"), text(taint, "value"));
        return Some(format!("node(s) had untolerated taint {{{key}: {value}}}"));
    }
    // A node without any condition is one that nobody has looked after yet: taken for ready.
    let ready = pod::condition(node, "Ready");
    ready.filter(|ready| ready["status"] != "True").map(|_| "node(s) were not ready".to_owned())
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// The toleration of a Pod for a taint, if it has one.
pub(super) fn toleration<'a>(pod: &'a Value, taint: &Value) -> Option<&'a Value> {
    pod["spec"]["tolerations"].as_array()?.iter().find(|toleration| {
        let effect = text(toleration, "effect");
        let key = text(toleration, "key");
        let exists = toleration["operator"] == "Exists";
        (effect.is_empty() || effect == text(taint, "effect"))
            && (key == text(taint, "key") || (key.is_empty() && exists))
            && (exists || text(toleration, "value") == text(taint, "value"))
    })
}

fn tolerates(pod: &Value, taint: &Value) -> bool {
    toleration(pod, taint).is_some()
}

fn unschedulable(nodes: &[&Object], pod: &Value) -> String {
    if nodes.is_empty() {
        return "no nodes available to schedule pods".to_owned();
    }
    let mut reasons: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for node in nodes {
        *reasons.entry(refuses(node, pod).unwrap_or_default()).or_default() += 1;
    }
    let reasons: Vec<String> =
        reasons.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    format!("0/{} nodes are available: {}.", nodes.len(), reasons.join(", "))
}

/// A NoExecute and a NoSchedule taint under one key.
pub(super) fn taints(key: &str, now: Timestamp) -> [Value; 2] {
    let added = pod::stamp(now);
    [
        json!({"key": key, "effect": "NoSchedule", "timeAdded": added}),
        json!({"key": key, "effect": "NoExecute", "timeAdded": added}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    fn step(node: &Value, pod: &Value) -> Step {
        let mut store = Store::new(100);
        let mut node = node.clone();
        node["metadata"]["name"] = "node-1".into();
        store.put(Key::of(NODES, &node), node);
        let key = Key::new(PODS, "ns", "p");
        store.put(key.clone(), pod.clone());
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        Scheduler::default().step(&store, &key, now, &mut fastrand::Rng::with_seed(0))
    }

    fn pod() -> Value {
        json!({"metadata": {"name": "p", "namespace": "ns"}, "spec": {}})
    }

    fn check_refused(node: &Value, why: &str) {
        let step = step(node, &pod());
        let Write::Update { subresource: Some("status"), object, .. } = &step.writes[0] else {
            panic!("{step:?}")
        };
        let condition = pod::condition(object, "PodScheduled").unwrap();
        assert_eq!(condition["reason"], "Unschedulable");
        assert_eq!(condition["message"], format!("0/1 nodes are available: 1 {why}."));
    }

    #[test]
    fn a_pod_is_bound_and_the_event_says_where() {
        let step = step(&json!({}), &pod());
        let Write::Update { subresource: Some("binding"), object, .. } = &step.writes[0] else {
            panic!("{step:?}")
        };
        assert_eq!(object["spec"]["nodeName"], "node-1");
        assert!(pod::is_true(object, "PodScheduled"));
        let Write::Event { message, .. } = &step.writes[1] else { panic!("{step:?}") };
        assert_eq!(message, "Successfully assigned ns/p to node-1");
    }

    #[test]
    fn cordoned_tainted_and_unready_nodes_take_no_pod() {
        check_refused(&json!({"spec": {"unschedulable": true}}), "node(s) were unschedulable");
        check_refused(
            &json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}),
            "node(s) had untolerated taint {a: }",
        );
        check_refused(
            &json!({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}),
            "node(s) were not ready",
        );
    }

    #[test]
    fn a_tolerated_taint_is_no_obstacle() {
        let node = json!({"spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}});
        let mut pod = pod();
        pod["spec"]["tolerations"] = json!([{"key": "a", "operator": "Exists"}]);
        assert!(matches!(
            step(&node, &pod).writes[0],
            Write::Update { subresource: Some("binding"), .. }
        ));
    }

    #[test]
    fn gated_and_terminating_pods_are_not_bound() {
        let mut gated = pod();
        gated["spec"]["schedulingGates"] = json!([{"name": "g"}]);
        assert!(step(&json!({}), &gated).writes.is_empty());
        let mut going = pod();
        going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        assert!(step(&json!({}), &going).writes.is_empty());
    }
}
