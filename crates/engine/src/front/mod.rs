//! Fronts: how far a rollout may be at this moment, and the words of one served interface.

mod report;
pub mod rollout;
pub mod statefulset_rollout;
pub mod batch_release;

pub use report::describe;
pub(crate) use report::pods;
