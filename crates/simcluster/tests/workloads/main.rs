//! Deployments, ReplicaSets and DaemonSets on a whole cluster, with scheduler and kubelets.

mod daemonsets;
mod deployments;
mod lab;
mod replicasets;
