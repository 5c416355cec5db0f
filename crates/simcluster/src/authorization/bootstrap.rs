//! The ClusterRoles that every cluster has, as far as anybody leans on them: those for people, and
//! what everybody may.

use crate::json::Value;

/// ClusterRoles and their bindings, as a Kubernetes 1.36 makes them when it starts.
pub fn objects() -> Vec<Value> {
    serde_json::from_str(include_str!("bootstrap.json")).expect("the list is JSON")
}
