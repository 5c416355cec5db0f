//! The kinds that are kept and handed out, with nothing behind them: their defaults, and of some what
//! may be wrong with them.

use super::causes::{Causes, text};
use super::pod::default_template;
use super::pod_set as set;
use crate::json::{Map, Value, json};
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
        "CSIDriver" => {
            let spec = &mut object["spec"];
            for field in ["attachRequired", "podInfoOnMount"] {
                let attaches = field == "attachRequired";
                set(spec, field, attaches);
            }
            for field in ["storageCapacity", "requiresRepublish", "seLinuxMount"] {
                set(spec, field, false);
            }
            set(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
            set(spec, "volumeLifecycleModes", json!(["Persistent"]));
        }
        "ResourceClaim" => {
            for request in each(&mut object["spec"]["devices"], "requests") {
                if let Some(exactly) = request.get_mut("exactly") {
                    set(exactly, "allocationMode", "ExactCount");
                    if exactly["allocationMode"] == "ExactCount" {
                        set(exactly, "count", 1);
                    }
                }
            }
        }
        "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy" => {
            let spec = &mut object["spec"];
            set(spec, "failurePolicy", "Fail");
            if spec["matchConstraints"].is_object() {
                let matches = &mut spec["matchConstraints"];
                set(matches, "matchPolicy", "Equivalent");
                set(matches, "namespaceSelector", Map::new());
                set(matches, "objectSelector", Map::new());
                each(matches, "resourceRules").for_each(|rule| set(rule, "scope", "*"));
            }
        }
        "PriorityClass" => set(object, "preemptionPolicy", "PreemptLowerPriority"),
        _ => {}
    }
}

/// The highest number that is not kept for the system.
const HIGHEST: i64 = 1_000_000_000;

/// A class of priority.
pub(super) fn validate_priority(object: &Value, out: &mut Causes) {
    let name = crate::object::name(object);
    if name.starts_with("system-") {
        let why = format!(
            "priority class names with 'system-' prefix are reserved for system use only. error: \
             {name} is not a known system priority class"
        );
        out.forbidden("metadata.name", &why);
    } else if object["value"].as_i64().is_some_and(|value| value > HIGHEST) {
        let why = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        out.forbidden("value", &why);
    }
    let policy = text(object, "preemptionPolicy");
    if !matches!(policy, "PreemptLowerPriority" | "Never") {
        let known = &["PreemptLowerPriority", "Never"];
        out.not_supported("preemptionPolicy", &object["preemptionPolicy"], known);
    }
}

/// A Job, or what a CronJob makes; `path` leads to its spec.
pub(super) fn validate_job(spec: &Value, path: &str, out: &mut Causes) {
    for field in ["parallelism", "completions", "backoffLimit", "activeDeadlineSeconds"] {
        out.not_negative(format!("{path}.{field}"), &spec[field]);
    }
    // Always is what a template is given that says nothing.
    if !matches!(text(&spec["template"]["spec"], "restartPolicy"), "OnFailure" | "Never") {
        let why = "valid values: \"OnFailure\", \"Never\"";
        out.required(format!("{path}.template.spec.restartPolicy"), why);
    }
}

/// A CronJob: its schedule, and what it makes.
pub(super) fn validate_cron_job(object: &Value, out: &mut Causes) {
    let spec = &object["spec"];
    let schedule = text(spec, "schedule");
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if schedule.is_empty() {
        out.required("spec.schedule", "");
    } else if !schedule.starts_with('@') && fields.len() != 5 {
        let found = fields.len();
        let why = format!("expected exactly 5 fields, found {found}: [{}]", fields.join(" "));
        out.invalid("spec.schedule", &spec["schedule"], &why);
    }
    validate_job(&spec["jobTemplate"]["spec"], "spec.jobTemplate.spec", out);
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

    #[track_caller]
    fn refused(check: fn(&Value, &mut Causes), object: &Value, expect: &[&str]) {
        let mut out = Causes::default();
        check(object, &mut out);
        let found: Vec<String> = out
            .into_vec()
            .iter()
            .map(|cause| format!("{}: {}", cause.field, cause.message))
            .collect();
        assert_eq!(found, expect, "{object}");
    }

    #[test]
    fn what_is_wrong_with_a_class_or_a_schedule_is_told() {
        let class = |name: &str, value: i64, policy: &str| json!({"metadata": {"name": name}, "value": value, "preemptionPolicy": policy});
        refused(validate_priority, &class("a", HIGHEST, "Never"), &[]);
        refused(
            validate_priority,
            &class("a", HIGHEST + 1, "Never"),
            &["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
        );
        refused(
            validate_priority,
            &class("a", 1, "Often"),
            &["preemptionPolicy: Unsupported value: \"Often\": supported values: \
               \"PreemptLowerPriority\", \"Never\""],
        );
        let job = |schedule: &str, policy: &str| {
            let template = json!({"spec": {"restartPolicy": policy}});
            json!({"spec": {"schedule": schedule, "jobTemplate": {"spec": {"template": template}}}})
        };
        refused(validate_cron_job, &job("0 3 * * *", "Never"), &[]);
        refused(validate_cron_job, &job("@daily", "OnFailure"), &[]);
        refused(
            validate_cron_job,
            &job("sometimes", "Always"),
            &[
                "spec.schedule: Invalid value: \"sometimes\": expected exactly 5 fields, found 1: \
                 [sometimes]",
                "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: \
                 \"OnFailure\", \"Never\"",
            ],
        );
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
