//! The group `rollouts.kruise.io`, from outside: what a cluster is told, and what manifests go through.

#![allow(clippy::unwrap_used)]

mod admitted;
mod convert;
mod definitions;
mod round_trip;
mod validate;
