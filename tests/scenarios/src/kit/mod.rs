//! What scenarios are told in: fixtures that read as sentences, a rollout that is watched, and a
//! diary of what became of its Pods.

mod diary;
mod fixture;
mod pod;
mod release;
mod steps;
mod web;

pub(crate) use diary::Diary;
pub(crate) use fixture::{Rollout, budget, rollout, set};
pub(crate) use pod::{Pod, pods, seconds};
pub(crate) use release::{Release, Workload};
pub(crate) use steps::{Steps, steps};
pub(crate) use web::{Web, condition, count, phase, reason};

/// Phases of a rollout.
pub(crate) const IN_PROGRESS: &str = "RolloutInProgress";
pub(crate) const PAUSED: &str = "RolloutPaused";
pub(crate) const DONE: &str = "RolloutDone";
pub(crate) const FAILED: &str = "RolloutFailed";
