//! Kruise's workloads do what was recorded of the original.

#[allow(dead_code, reason = "each test binary uses a part of it")]
#[path = "../workloads/lab.rs"]
mod lab;

mod clone_sets;
mod daemon_sets;
mod replay;
mod stateful_sets;
