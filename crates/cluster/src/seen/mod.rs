//! The kinds that are watched, each reduced to what decisions look at.
//!
//! One file per kind, same shape: the type with its decoding, then what is read from it. [`resource`]
//! has those that are served, and [`workload`] what they release, of whichever kind: one type does for all.

pub mod meta;
pub mod spec;
pub mod resource;
pub mod workload;
pub mod replica_set;
pub mod revision;
pub mod pod;
pub mod budget;

pub use budget::BudgetSeen;
pub use pod::PodSeen;
pub use replica_set::ReplicaSetSeen;
pub use resource::{Resource, Served};
pub use revision::RevisionSeen;
pub use workload::WorkloadSeen;
