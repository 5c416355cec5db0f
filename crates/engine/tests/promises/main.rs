//! The promises of the decisions, as tables of single looks and as walks over a small cluster.

#[path = "../kubernetes/mod.rs"]
#[allow(dead_code, reason = "only StatefulSets have a StatefulsetRollout")]
mod kubernetes;

mod fixture;
mod judge;
mod model;

mod target;
mod order;
mod group;
mod budgets;
mod interval;
mod unhealthy;
mod deadline;
mod pause;
mod spec;
mod begin;
mod leak;
mod prevent;
mod discovery;
mod waking;
mod telling;
mod admission;
mod planning;
mod stories;
mod walk;
