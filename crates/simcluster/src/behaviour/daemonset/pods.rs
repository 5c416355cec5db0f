//! The Pods of a DaemonSet: how one is made for a node, and which node one is for.

use std::collections::BTreeMap;

use super::GENERATION;
use super::fit::tolerations;
use super::hands::CONTROL;
use super::history::HASH;
use super::keep::Seen;
use crate::behaviour::pod;
use crate::json::{Value, json};
use crate::object::{self, Object};

/// The label of a Pod with the number of templates that its DaemonSet had had.
const TEMPLATE: &str = "pod-template-generation";

/// A Pod for a node. The scheduler binds it: an affinity to the node's name leaves no choice.
pub fn build(set: &Value, node: &str, hash: &str, rng: &mut fastrand::Rng) -> Value {
    let mut template = set["spec"]["template"].clone();
    if let Some(generation) = generation(set) {
        template["metadata"]["labels"][TEMPLATE] = generation.into();
    }
    template["metadata"]["labels"][HASH] = hash.into();
    template["spec"]["tolerations"] = tolerations(&template).into();
    let named = json!([{"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": [node]},
    ]}]);
    template["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        ["nodeSelectorTerms"] = named;
    CONTROL.build(set, &template, rng)
}

fn generation(set: &Value) -> Option<&str> {
    object::annotation(set, GENERATION).filter(|text| text.parse::<i64>().is_ok())
}

/// The node that a Pod is on, or is to be bound to.
pub fn node(pod: &Value) -> Option<&str> {
    if let Some(node) = pod["spec"]["nodeName"].as_str().filter(|name| !name.is_empty()) {
        return Some(node);
    }
    let affinity = &pod["spec"]["affinity"]["nodeAffinity"];
    let terms = &affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
    let fields = terms.as_array()?.iter().flat_map(|term| term["matchFields"].as_array());
    let named = fields.flatten().find(|one| one["key"] == "metadata.name")?;
    named["values"].get(0)?.as_str()
}

/// Sorts Pods by node: those that are bound first, then the oldest.
pub fn by_node(pods: &[Object]) -> BTreeMap<String, Vec<Object>> {
    let mut out: BTreeMap<String, Vec<Object>> = BTreeMap::new();
    for pod in pods {
        if let Some(node) = node(pod) {
            out.entry(node.to_owned()).or_default().push(pod.clone());
        }
    }
    for pods in out.values_mut() {
        pods.sort_by(|a, b| order(a).cmp(&order(b)));
    }
    out
}

fn order(pod: &Value) -> (bool, &str, &str) {
    let created = pod["metadata"]["creationTimestamp"].as_str().unwrap_or_default();
    (!pod["spec"]["nodeName"].is_string(), created, object::name(pod))
}

/// What counts of a Pod for what is done next.
pub fn seen(set: &Value, pod: &Value, hash: &str) -> Seen {
    let seconds = set["spec"]["minReadySeconds"].as_i64().unwrap_or(0);
    let same_template =
        generation(set).is_some_and(|wanted| object::label(pod, TEMPLATE) == Some(wanted));
    Seen {
        name: object::name(pod).to_owned(),
        updated: same_template || object::label(pod, HASH) == Some(hash),
        ready: pod::is_ready(pod),
        available_at: pod::available_at(pod, seconds),
        terminating: object::is_terminating(pod),
        failed: pod::phase(pod) == "Failed",
        succeeded: pod::phase(pod) == "Succeeded",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_made_for_one_node_and_can_bear_its_troubles() {
        let set = json!({
            "metadata": {"name": "agent", "namespace": "ns", "uid": "u",
                         "annotations": {GENERATION: "3"}},
            "spec": {"template": {"metadata": {"labels": {"app": "agent"}}, "spec": {}}},
        });
        let pod = build(&set, "node-1", "abc", &mut fastrand::Rng::with_seed(0));
        assert_eq!(node(&pod), Some("node-1"));
        assert_eq!(pod["metadata"]["labels"], json!({"app": "agent", HASH: "abc", TEMPLATE: "3"}));
        assert_eq!(pod["spec"]["tolerations"].as_array().unwrap().len(), 6);
        assert!(seen(&set, &pod, "other").updated);
    }
}
