//! What is wrong with a ResourceQuota. Nothing here counts what it limits: where a cluster runs no
//! controller for it, none does.

use super::causes::{Causes, list};
use crate::json::Value;
use crate::types::Quantity;

/// Of which only whole ones are counted.
const COUNTED: &[&str] = &[
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];
const MEASURED: &[&str] = &[
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];

/// The spec of a quota.
pub(super) fn validate(object: &Value, out: &mut Causes) {
    let spec = &object["spec"];
    for (name, amount) in spec["hard"].as_object().into_iter().flatten() {
        let field = format!("spec.hard[{name}]");
        let value = Value::from(name.as_str());
        let counted = COUNTED.contains(&name.as_str());
        if !name.contains('/') && !counted && !MEASURED.contains(&name.as_str()) {
            let why = "must be a standard resource type or fully qualified";
            out.invalid(&*field, &value, why);
            out.invalid(&*field, &value, "must be a standard resource for quota");
        }
        let Some(of) = amount.as_str().and_then(Quantity::parse) else { continue };
        if of.is_negative() {
            out.invalid(&*field, amount, "must be greater than or equal to 0");
        }
        if (counted || name.starts_with("count/")) && !of.is_whole() {
            out.invalid(&*field, amount, "must be an integer");
        }
    }
    // Pods that ask for nothing can be counted and not measured.
    let scopes = list(spec, "scopes");
    let measured = spec["hard"].as_object().into_iter().flatten().any(|(name, _)| name != "pods");
    if scopes.iter().any(|scope| scope == "BestEffort") && measured {
        out.invalid("spec.scopes", &spec["scopes"], "unsupported scope applied to resource");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn only_what_can_be_counted_or_measured_is_limited() {
        fn check(spec: &Value, expect: &[&str]) {
            let mut out = Causes::default();
            validate(&json!({"spec": spec}), &mut out);
            let found: Vec<String> =
                out.into_vec().into_iter().map(|cause| cause.message).collect();
            assert_eq!(found, expect, "{spec}");
        }
        check(&json!({"hard": {"pods": "2", "requests.cpu": "0.5", "count/jobs.batch": "1"}}), &[]);
        check(
            &json!({"hard": {"nonsense": "1"}}),
            &[
                "Invalid value: \"nonsense\": must be a standard resource type or fully qualified",
                "Invalid value: \"nonsense\": must be a standard resource for quota",
            ],
        );
        check(&json!({"hard": {"pods": "500m"}}), &["Invalid value: \"500m\": must be an integer"]);
        check(
            &json!({"hard": {"cpu": "1"}, "scopes": ["BestEffort"]}),
            &["Invalid value: [\"BestEffort\"]: unsupported scope applied to resource"],
        );
        check(&json!({"hard": {"pods": "1"}, "scopes": ["BestEffort"]}), &[]);
    }
}
