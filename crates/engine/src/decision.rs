//! What a decision says: the next status, at most one action, and when to look again.

use jiff::Timestamp;

use crate::status::Status;
use crate::world::{Strategy, Uid};

/// What comes out of one look at a [`World`](crate::world::World).
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The next status. It is written, if it says more than the last, **before** the action, under
    /// the resourceVersion that was read.
    pub status: Status,
    /// What to do then. Doing part of it is normal: the next look sees how far it got.
    pub action: Option<Action>,
    /// When to look again though nothing happens; `None` when nothing will.
    pub wake: Option<Timestamp>,
}

/// One typed batch of writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Server-side apply of the StatefulSet that is asked for, with this update strategy in the
    /// same write; creates it if it isn't there.
    Apply {
        /// The strategy.
        strategy: Strategy,
    },
    /// Change the update strategy alone and leave the template as it is.
    SetStrategy {
        /// The strategy.
        strategy: Strategy,
    },
    /// Lower the partition, so that the Pods at or above it come back at the update revision. They are
    /// evicted at a later look: a StatefulSet controller that has not seen the partition would bring
    /// them back as they were, only to replace them again.
    Open {
        /// The new partition.
        partition: u32,
        /// The same as a percentage, where the workload takes one: it keeps its share when scaled.
        percent: Option<u32>,
    },
    /// Evict Pods one after another through the Eviction API, each with its UID as precondition;
    /// stop at the first refusal for want of budget.
    Evict {
        /// In this order.
        pods: Vec<Victim>,
    },
    /// Delete unready Pods whose eviction the budget refuses, each with its UID and resourceVersion
    /// as preconditions: one that has become ready since is left alone.
    Delete {
        /// In this order.
        pods: Vec<Victim>,
    },
}

impl Action {
    /// One word for logs and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Apply { .. } => "apply",
            Self::SetStrategy { .. } => "set-strategy",
            Self::Open { .. } => "open",
            Self::Evict { .. } => "evict",
            Self::Delete { .. } => "delete",
        }
    }

    /// The Pods that the action disturbs.
    pub fn victims(&self) -> &[Victim] {
        match self {
            Self::Evict { pods } | Self::Delete { pods } => pods,
            Self::Apply { .. } | Self::SetStrategy { .. } | Self::Open { .. } => &[],
        }
    }
}

/// A Pod that is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Victim {
    /// Name.
    pub name: String,
    /// UID: a successor of the same name is not meant.
    pub uid: Uid,
    /// resourceVersion that was read.
    pub resource_version: String,
}
