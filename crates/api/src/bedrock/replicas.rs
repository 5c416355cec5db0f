//! Giving `replicas` up without scaling the set.
//!
//! A field that an apply owned and no longer names is removed, if nobody else owns it, and the API
//! server then fills in its default: a resource that stops naming `replicas`, so that an autoscaler
//! may have it, would scale its StatefulSet to one Pod. So another field manager takes the field at
//! its live value first.

use serde_json::{Value, json};

use super::desired::Desired;

/// The field manager that holds `replicas` while the resource does not name it.
pub const REPLICAS_MANAGER: &str = "sluice-replicas";

/// Whether `manager` owns `spec.replicas` by an apply, by the `metadata.managedFields` of the live
/// StatefulSet.
pub fn owns_replicas(managed_fields: &Value, manager: &str) -> bool {
    managed_fields.as_array().into_iter().flatten().any(|entry| {
        entry["manager"] == manager
            && entry["operation"] == "Apply"
            && entry.pointer("/fieldsV1/f:spec/f:replicas").is_some()
    })
}

/// What [`REPLICAS_MANAGER`] has to apply (forced) before the desired document, which names no
/// `replicas`, is applied by a manager that owns it. `None` when the document names it.
///
/// Carries the resourceVersion of the live object: an autoscaler that was faster is not undone, the
/// apply ends in a conflict and is tried again.
pub fn hand_over_replicas(desired: &Desired, live: &Value) -> Option<Value> {
    if desired.document().pointer("/spec/replicas").is_some() {
        return None;
    }
    let replicas = live.pointer("/spec/replicas")?;
    let metadata = &live["metadata"];
    Some(json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {
            "name": desired.name(),
            "namespace": desired.namespace(),
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        },
        "spec": {"replicas": replicas},
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bedrock::{StatefulsetRollout, desired};

    fn desired_with(spec: &Value) -> Desired {
        let rollout: StatefulsetRollout = serde_json::from_value(json!({
            "metadata": {"name": "web", "namespace": "default", "uid": "u-1"},
            "spec": {"statefulset": {"spec": spec}},
        }))
        .unwrap();
        desired(&rollout).unwrap()
    }

    #[test]
    fn replicas_are_handed_over_at_their_live_value() {
        let live = json!({
            "metadata": {"uid": "s-1", "resourceVersion": "42"},
            "spec": {"replicas": 7},
        });
        assert_eq!(
            hand_over_replicas(&desired_with(&json!({})), &live),
            Some(json!({
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {
                    "name": "web", "namespace": "default", "uid": "s-1", "resourceVersion": "42",
                },
                "spec": {"replicas": 7},
            }))
        );
        assert_eq!(hand_over_replicas(&desired_with(&json!({"replicas": 3})), &live), None);
    }

    #[test]
    fn only_an_apply_by_that_manager_owns_replicas() {
        let entry = |manager: &str, operation: &str, fields: Value| json!([{"manager": manager, "operation": operation, "fieldsV1": fields}]);
        let replicas = json!({"f:spec": {"f:replicas": {}}});
        assert!(owns_replicas(&entry("sluice", "Apply", replicas.clone()), "sluice"));
        assert!(!owns_replicas(&entry("sluice", "Update", replicas.clone()), "sluice"));
        assert!(!owns_replicas(&entry("kubectl", "Apply", replicas), "sluice"));
        assert!(!owns_replicas(&entry("sluice", "Apply", json!({"f:spec": {}})), "sluice"));
        assert!(!owns_replicas(&Value::Null, "sluice"));
    }
}
