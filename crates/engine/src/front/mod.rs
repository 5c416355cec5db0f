//! Fronts: how far a rollout may be at this moment, and the words of one served interface.

mod report;
pub mod rollout;
pub mod statefulset_rollout;
pub mod batch_release;

pub use report::describe;
pub(crate) use report::pods;

/// What is told of a release in batches, as an Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// CamelCase word.
    pub reason: String,
    /// Whether a person ought to look.
    pub warning: bool,
    /// A sentence.
    pub text: String,
}
