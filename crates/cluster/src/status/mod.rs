//! Writes statuses, one file per front, each under the version that was read.

pub mod statefulset_rollout;
