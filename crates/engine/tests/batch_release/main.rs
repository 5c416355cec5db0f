//! The promises of a `BatchRelease`, as tables of single looks and as walks over a small cluster.

#[path = "../kubernetes/mod.rs"]
mod kubernetes;

mod fixture;
mod said;
mod model;
mod held;
mod judge;

mod begin;
mod statefulset;
mod daemonset;
mod deployment;
mod clones;
mod advanced;
mod daemons;
mod ready;
mod labels;
mod pause;
mod scaling;
mod rollback;
mod finish;
mod degraded;
mod telling;
mod odd;
mod walk;
mod lead;
mod led;
