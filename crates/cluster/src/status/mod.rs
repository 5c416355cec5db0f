//! Writes statuses, one file per front, each under the version that was read.

pub mod batch_release;
pub mod rollout;
pub mod statefulset_rollout;
