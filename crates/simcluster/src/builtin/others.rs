//! Defaults of the kinds that are kept and handed out, with nothing behind them. What is wrong with
//! one of them is not looked for.

use serde_json::{Map, Value, json};

use super::causes::text;
use super::pod::default_template;
use super::pod_set as set;
use crate::kind::Kind;

fn each<'a>(object: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> {
    object.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Fills in the defaults of such a kind.
pub(super) fn default(kind: &Kind, object: &mut Value) {
    match kind.kind.as_str() {
        "Endpoints" => {
            for subset in each(object, "subsets") {
                each(subset, "ports").for_each(|port| set(port, "protocol", "TCP"));
            }
        }
        "EndpointSlice" => {
            for port in each(object, "ports") {
                set(port, "name", "");
                set(port, "protocol", "TCP");
            }
        }
        "LimitRange" => each(&mut object["spec"], "limits").for_each(limit),
        "PodTemplate" => default_template(&mut object["template"]),
        "ReplicationController" => replication(object),
        "PersistentVolume" => {
            let spec = &mut object["spec"];
            set(spec, "persistentVolumeReclaimPolicy", "Retain");
            set(spec, "volumeMode", "Filesystem");
            if spec["hostPath"].is_object() {
                set(&mut spec["hostPath"], "type", "");
            }
        }
        "Job" => job(&mut object["spec"]),
        "CronJob" => {
            let spec = &mut object["spec"];
            set(spec, "concurrencyPolicy", "Allow");
            set(spec, "suspend", false);
            set(spec, "successfulJobsHistoryLimit", 3);
            set(spec, "failedJobsHistoryLimit", 1);
            set(spec, "jobTemplate", Map::new());
            set(&mut spec["jobTemplate"], "spec", Map::new());
            // Counts and limits of a Job are left to the Job.
            set(&mut spec["jobTemplate"], "metadata", Map::new());
            pods(&mut spec["jobTemplate"]["spec"]["template"]);
        }
        "NetworkPolicy" => {
            for field in ["ingress", "egress"] {
                for rule in each(&mut object["spec"], field) {
                    each(rule, "ports").for_each(|port| set(port, "protocol", "TCP"));
                }
            }
            let egress = object["spec"]["egress"].is_array();
            let types = if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
            set(&mut object["spec"], "policyTypes", types);
        }
        "StorageClass" => {
            set(object, "reclaimPolicy", "Delete");
            set(object, "volumeBindingMode", "Immediate");
        }
        "PriorityClass" => set(object, "preemptionPolicy", "PreemptLowerPriority"),
        _ => {}
    }
}

/// What a Container gets that says nothing, of what it may have at most.
fn limit(limit: &mut Value) {
    if text(limit, "type") != "Container" {
        return;
    }
    for (from, to) in [("max", "default"), ("default", "defaultRequest"), ("min", "defaultRequest")]
    {
        let given = limit[from].as_object().cloned().unwrap_or_default();
        for (resource, amount) in given {
            set(limit, to, Map::new());
            set(&mut limit[to], &resource, amount);
        }
    }
}

fn replication(object: &mut Value) {
    let labels = object["spec"]["template"]["metadata"]["labels"].clone();
    set(&mut object["spec"], "replicas", 1);
    if labels.is_object() {
        set(&mut object["spec"], "selector", labels.clone());
        set(&mut object["metadata"], "labels", labels);
    }
    default_template(&mut object["spec"]["template"]);
}

fn job(spec: &mut Value) {
    if spec["completions"].is_null() && spec["parallelism"].is_null() {
        set(spec, "completions", 1);
    }
    set(spec, "parallelism", 1);
    set(spec, "backoffLimit", 6);
    set(spec, "completionMode", "NonIndexed");
    set(spec, "suspend", false);
    let failed = spec["podFailurePolicy"].is_object();
    set(spec, "podReplacementPolicy", if failed { "Failed" } else { "TerminatingOrFailed" });
    pods(&mut spec["template"]);
}

/// A Pod template; its metadata is there even when it is empty.
fn pods(template: &mut Value) {
    set(template, "metadata", Map::new());
    default_template(template);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Registry;

    #[track_caller]
    fn check(group: &str, version: &str, plural: &str, mut object: Value, expect: &Value) {
        let registry = Registry::built_in();
        default(registry.find(group, version, plural).expect("built in"), &mut object);
        assert_eq!(object, *expect, "{plural}");
    }

    #[test]
    fn defaults_are_those_of_the_real_server() {
        check(
            "",
            "v1",
            "limitranges",
            json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}}),
            &json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"},
                "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}}]}}),
        );
        check(
            "networking.k8s.io",
            "v1",
            "networkpolicies",
            json!({"spec": {"podSelector": {}, "egress": [{"ports": [{"port": 1}]}]}}),
            &json!({"spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"],
                "egress": [{"ports": [{"port": 1, "protocol": "TCP"}]}]}}),
        );
        check(
            "scheduling.k8s.io",
            "v1",
            "priorityclasses",
            json!({"value": 1}),
            &json!({"value": 1, "preemptionPolicy": "PreemptLowerPriority"}),
        );
    }
}
