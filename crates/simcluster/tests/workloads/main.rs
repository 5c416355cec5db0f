//! Deployments, ReplicaSets and DaemonSets on a whole cluster, with scheduler and kubelets.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail where they stand")]

mod daemonsets;
mod deployments;
#[allow(dead_code, reason = "each test binary uses a part of it")]
mod lab;
mod replicasets;
