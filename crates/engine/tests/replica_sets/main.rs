//! Sizing ReplicaSets: tables of single looks, and walks over a small Deployment with each write judged.

#[path = "../kubernetes/mod.rs"]
#[allow(dead_code, unused_imports, reason = "ReplicaSets and their Pods are a part of it")]
mod kubernetes;

mod fixture;
mod model;

mod sizes;
mod scaling;
mod walk;
