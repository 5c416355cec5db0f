//! Leases, as leader election uses them.

use serde_json::json;

use crate::step::{Step, get, merge, post, put};

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/$ns/leases";
const A: &str = "/apis/coordination.k8s.io/v1/namespaces/$ns/leases/a";

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    let lease = |spec| {
        json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"},
            "spec": spec,
        })
    };
    let held = json!({
        "holderIdentity": "one", "leaseDurationSeconds": 15, "leaseTransitions": 1,
        "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-01T00:00:00.000000Z",
    });
    let mut versioned = lease(held.clone());
    versioned["metadata"]["resourceVersion"] = format!("$rv({A})").into();
    let steps = vec![
        put(A, lease(held.clone())),
        get(A),
        post(LEASES, lease(held.clone())),
        put(A, lease(held)),
        put(A, versioned),
        put(A, lease(json!({"holderIdentity": "", "leaseDurationSeconds": 1}))),
        merge(A, json!({"spec": {"holderIdentity": ""}})),
        merge(A, json!({"spec": {"holderIdentity": null}})),
        merge(A, json!({"spec": {"leaseDurationSeconds": 0}})),
        merge(A, json!({"spec": {"leaseTransitions": -1}})),
        merge(A, json!({"spec": {"renewTime": "2026-01-01T00:00:00Z"}})),
        merge(A, json!({"spec": {"renewTime": "soon"}})),
        merge(A, json!({"spec": {"preferredHolder": "two"}})),
        merge(A, json!({"spec": {"strategy": "OldestEmulationVersion"}})),
        get(A),
        get(LEASES),
    ];
    vec![("leases", steps)]
}
