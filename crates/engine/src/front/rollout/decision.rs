//! What is decided about a Rollout: the next status, at most one write, what to tell, when to look again.

use jiff::Timestamp;

use crate::front::Notice;
use crate::world::Uid;

use super::status::Status;
use super::world::{Policy, ReleasePlan};

/// What comes out of one look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The next status. It is written **before** the action and under the resourceVersion that was read,
    /// if it says where the release stands; see [`Status::change`]. What a user wrote in between is seen
    /// at the next look, not lost.
    pub status: Status,
    /// What to do then.
    pub action: Option<Action>,
    /// What is new, as Events of the Rollout, once the status is written.
    pub told: Vec<Notice>,
    /// When to look again though nothing happens.
    pub wake: Option<Timestamp>,
}

/// One write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Put our finalizer on the Rollout, and the hash of its plan beside it.
    Adopt,
    /// Bring the hash of the plan on the Rollout up to date.
    MarkHash,
    /// Take our finalizer off the Rollout, once the server itself, not a cache that may be late, says that
    /// the workload has no mark and is not held, and that the BatchRelease is gone: nobody looks at them
    /// afterwards.
    Forget,
    /// Put the label on the workload by which the webhooks select.
    Label,
    /// Hold a change that no webhook held: mark the workload, and stop whatever has not moved, as
    /// admission would have done.
    Hold,
    /// Create the BatchRelease, owned by the Rollout.
    Create(ReleasePlan),
    /// Write the whole spec and our annotations of the BatchRelease.
    Update(ReleasePlan),
    /// Have the BatchRelease let the workload go: no partition, and this policy.
    Promote(Policy),
    /// Delete the BatchRelease of this UID.
    Delete(Uid),
    /// Give the workload back, under the resourceVersion that was read: whatever of a release still holds
    /// it, and with the same write, or after it, the mark.
    Release {
        /// The mark and what is ours alone: what is held stays held.
        freeze: bool,
    },
}

impl Action {
    /// One word for logs and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Adopt => "adopt",
            Self::MarkHash => "mark-hash",
            Self::Forget => "forget",
            Self::Label => "label",
            Self::Hold => "hold",
            Self::Create(_) => "create-release",
            Self::Update(_) => "update-release",
            Self::Promote(_) => "promote-release",
            Self::Delete(_) => "delete-release",
            Self::Release { .. } => "release",
        }
    }
}
