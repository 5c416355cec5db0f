//! Puts worlds together from the caches, one file per front: nothing is fetched, nothing is decided.

pub mod batch_release;
pub mod orphans;
pub mod rollout;
pub mod statefulset_rollout;
