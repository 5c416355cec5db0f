//! Validation of the statuses that controllers write.

use super::causes::{Causes, list, text};
use super::names;
use crate::json::Value;
use crate::kind::Kind;

/// What a kind's status has to keep to.
struct Rules {
    /// Numbers that are not below zero, in the order in which that is checked.
    counted: &'static [&'static str],
    /// The first is no more than the second, which is called this.
    bounded: &'static [(&'static str, &'static str, &'static str)],
}

const STATEFULSET: Rules = Rules {
    counted: &[
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ],
    bounded: &[
        ("readyReplicas", "replicas", "status.replicas"),
        ("currentReplicas", "replicas", "status.replicas"),
        ("updatedReplicas", "replicas", "status.replicas"),
        ("availableReplicas", "replicas", "status.replicas"),
        ("availableReplicas", "readyReplicas", "status.readyReplicas"),
    ],
};

const DEPLOYMENT: Rules = Rules {
    counted: &[
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ],
    bounded: &[
        ("updatedReplicas", "replicas", "status.replicas"),
        ("readyReplicas", "replicas", "status.replicas"),
        ("availableReplicas", "replicas", "status.replicas"),
        ("availableReplicas", "readyReplicas", "readyReplicas"),
    ],
};

const REPLICASET: Rules = Rules {
    counted: &[
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "terminatingReplicas",
        "observedGeneration",
    ],
    bounded: &[
        ("fullyLabeledReplicas", "replicas", "status.replicas"),
        ("readyReplicas", "replicas", "status.replicas"),
        ("availableReplicas", "replicas", "status.replicas"),
        ("availableReplicas", "readyReplicas", "readyReplicas"),
    ],
};

const DAEMONSET: Rules = Rules {
    counted: &[
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ],
    bounded: &[],
};

const BUDGET: Rules = Rules {
    counted: &["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"],
    bounded: &[],
};

const AUTOSCALER: Rules = Rules { counted: &["currentReplicas", "desiredReplicas"], bounded: &[] };

/// What is wrong with the status of a changed object.
pub(super) fn validate_update(kind: &Kind, new: &Value, old: &Value, out: &mut Causes) {
    let rules = match (kind.group.as_str(), kind.kind.as_str()) {
        ("apps", "StatefulSet") => STATEFULSET,
        ("apps", "Deployment") => DEPLOYMENT,
        ("apps", "ReplicaSet") => REPLICASET,
        ("apps", "DaemonSet") => DAEMONSET,
        ("policy", "PodDisruptionBudget") => BUDGET,
        ("autoscaling", "HorizontalPodAutoscaler") => AUTOSCALER,
        _ => return,
    };
    let status = &new["status"];
    if kind.kind == "PodDisruptionBudget" {
        conditions(status, out);
    }
    for field in rules.counted {
        out.not_negative(format!("status.{field}"), &status[field]);
    }
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    for (field, bound, called) in rules.bounded {
        if number(field) > number(bound) {
            let why = format!("cannot be greater than {called}");
            out.invalid(format!("status.{field}"), &Value::from(number(field)), &why);
        }
    }
    if matches!(kind.kind.as_str(), "StatefulSet" | "Deployment") {
        let collisions = |object: &Value| object["status"]["collisionCount"].as_i64();
        // None at all is fewer than 0.
        if collisions(new) < collisions(old) {
            let now = Value::from(collisions(new).unwrap_or(0));
            out.invalid("status.collisionCount", &now, "cannot be decremented");
        }
    }
}

/// Conditions in the form that all newer kinds share.
fn conditions(status: &Value, out: &mut Causes) {
    for (index, condition) in list(status, "conditions").iter().enumerate() {
        let path = |field: &str| format!("status.conditions[{index}].{field}");
        let type_ = text(condition, "type");
        if type_.is_empty() {
            out.required(path("type"), "");
        } else {
            out.named(path("type"), type_, names::bad_label_key(type_));
        }
        if !matches!(text(condition, "status"), "True" | "False" | "Unknown") {
            let known = &["False", "True", "Unknown"];
            out.not_supported(path("status"), &condition["status"], known);
        }
        if condition["lastTransitionTime"].is_null() {
            out.required(path("lastTransitionTime"), "");
        }
        if text(condition, "reason").is_empty() {
            out.required(path("reason"), "");
        }
    }
}
