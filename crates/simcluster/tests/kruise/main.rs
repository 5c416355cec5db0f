//! Kruise's workloads do what was recorded of the original.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail where they stand")]

#[allow(dead_code, reason = "each test binary uses a part of it")]
#[path = "../client/mod.rs"]
mod client;
#[allow(dead_code, reason = "each test binary uses a part of it")]
#[path = "../workloads/lab.rs"]
mod lab;

mod clone_sets;
mod daemon_set_walks;
mod daemon_sets;
mod definitions;
mod cloned;
mod replay;
mod stateful_set_walks;
mod stateful_sets;
mod walks;
