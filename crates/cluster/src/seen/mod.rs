//! The kinds that are watched, each reduced to what decisions look at.
//!
//! One file per kind, same shape: the type with its decoding, then what is read from it.

pub mod budget;
pub mod meta;
pub mod pod;
pub mod rollout;
pub mod statefulset;

pub use budget::BudgetSeen;
pub use pod::PodSeen;
pub use rollout::RolloutSeen;
pub use statefulset::StatefulSetSeen;
