//! What a webhook decides: what is let in, what is held on its way in, and what its author ought to know.
//!
//! [`statefulset_rollout`] judges a `StatefulsetRollout` by what the cluster holds; [`workload`] holds the
//! change of a workload that a `Rollout` releases. A `Rollout` itself is judged by its own content alone,
//! in `api`.

pub mod statefulset_rollout;
pub mod workload;

pub use statefulset_rollout::{Admission, Verdict, admit};
