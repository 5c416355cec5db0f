//! What a decision about a `BatchRelease` says: the next status, at most one action, and when to look
//! again.

use jiff::Timestamp;

use super::status::Status;
use super::world::Rolling;
use crate::decision::Action as Motion;
use crate::mover::replica_sets::Write;
use crate::world::{Strategy, Uid};

/// What comes out of one look at a [`World`](super::World).
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The next status. It is written **before** the action, under the resourceVersion that was read, if
    /// it says where the release stands; see [`Status::change`].
    pub status: Status,
    /// What to do then. Doing part of it is normal: the next look sees how far it got.
    pub action: Option<Action>,
    /// When to look again though nothing happens; `None` when nothing will.
    pub wake: Option<Timestamp>,
}

/// One typed batch of writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Put our finalizer on the release.
    AddFinalizer,
    /// Take our finalizer off the release.
    RemoveFinalizer,
    /// One write to the workload: our control-info, what is kept of the user's own fields, and what
    /// holds the Pods. Each time the same, so that it may be repeated.
    Take {
        /// The user's own, to be kept in an annotation; `None` where it is kept already, or where there
        /// is nothing to keep.
        keep: Option<Original>,
        /// What holds the Pods.
        held: Held,
    },
    /// One write to the workload: the user's own fields back, and all our marks off, control-info with
    /// them. The in-progressing mark stays: it is the Rollout's.
    Release {
        /// The user's own; `None` leaves the workload as held as it is, and what is kept beside it.
        restore: Option<Original>,
    },
    /// A write of the mover of Pods: `SetStrategy`, `Open`, `Evict` or `Delete`.
    Move(Motion),
    /// A write of the mover of ReplicaSets.
    Size(Write),
    /// Label Pods, one PATCH each.
    Label {
        /// In this order.
        pods: Vec<Label>,
    },
}

impl Action {
    /// One word for logs and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::AddFinalizer => "add-finalizer",
            Self::RemoveFinalizer => "remove-finalizer",
            Self::Take { .. } => "take",
            Self::Release { .. } => "release",
            Self::Move(motion) => motion.name(),
            Self::Size(_) => "size",
            Self::Label { .. } => "label",
        }
    }
}

/// The user's own fields, which a release changes while it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Original {
    /// `updateStrategy` of a StatefulSet or DaemonSet; of a DaemonSet the type alone.
    Strategy(Strategy),
    /// A Deployment's `strategy` of type RollingUpdate with these bounds, and not paused.
    Rolling(Rolling),
}

/// What holds the Pods of a workload where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing has to be written.
    AsItIs,
    /// The update strategy of a StatefulSet or DaemonSet.
    Strategy(Strategy),
    /// A Deployment's `paused: true` and type Recreate.
    Paused,
}

/// Labels for a Pod; its UID is a precondition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Name of the Pod.
    pub name: String,
    /// UID of the Pod.
    pub uid: Uid,
    /// What it is given.
    pub mark: Mark,
}

/// What a Pod is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `rollouts.kruise.io/rollout-id` and `rollouts.kruise.io/rollout-batch-id`.
    Batch {
        /// The rollout id.
        rollout_id: String,
        /// The batch, from 1.
        batch: u32,
    },
    /// `rollouts.kruise.io/no-need-update`.
    NoNeedUpdate {
        /// The rollout id.
        rollout_id: String,
    },
}
