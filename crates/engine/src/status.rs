//! The status of a `StatefulsetRollout`: all that a restart needs.

use jiff::Timestamp;

use crate::names::names;
use crate::world::{Applied, Build, Uid};

names!(
    /// Where a rollout stands: `status.phase`.
    Phase {
        /// Seen, nothing done yet.
        Pending = "RolloutPending",
        /// On its way.
        InProgress = "RolloutInProgress",
        /// Standing still because it was asked to, or because of a leak.
        Paused = "RolloutPaused",
        /// Reached what was asked for.
        Done = "RolloutDone",
        /// Given up; needs a change to go on.
        Failed = "RolloutFailed",
    }
);

impl Phase {
    /// Whether the rollout has come to an end.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

names!(
    /// Why a rollout stands where it stands: one word for conditions, events and metrics. What each
    /// means and what to do is in `docs/operations.md`.
    Reason {
        /// The StatefulSet is being created, or its first Pods come up.
        Creating,
        /// The StatefulSet's new spec is being applied.
        Applying,
        /// The StatefulSet controller has not yet seen the new spec.
        WaitingForController,
        /// The set is being brought to one revision before a partition can hold it.
        Settling,
        /// Pods are being moved.
        Evicting,
        /// Moved Pods are not yet available.
        WaitingForPods,
        /// `minPodEvictionIntervalSeconds` has not passed.
        WaitingForInterval,
        /// `pauseRequested` is true.
        PauseRequested,
        /// `versionLeak: Pause` met a leak.
        LeakFound,
        /// A partition no longer holds the old revision.
        HoldLost,
        /// What was asked for is reached.
        Completed,
        /// No progress for `progressDeadlineSeconds`.
        ProgressDeadlineExceeded,
        /// Somebody deleted the StatefulSet.
        StatefulSetDeleted,
        /// The API server refuses the StatefulSet.
        InvalidStatefulSet,
        /// The StatefulSet cannot be written for a reason that may pass.
        CannotWriteStatefulSet,
        /// The budget has no room.
        BudgetExhausted,
        /// The budget can never have room.
        BudgetNeverAllows,
        /// The budget's own controller cannot compute it, or has not yet.
        BudgetNotReady,
        /// More than one budget selects the Pods.
        AmbiguousBudget,
        /// Unready Pods use up the budget that their own eviction asks for.
        UnhealthyPodsHoldBudget,
        /// Under OrderedReady no Pod would come back above one that is not ready.
        LowerPodNotReady,
        /// Something other than a budget refuses the eviction.
        EvictionRefused,
        /// The API server is overloaded.
        ApiServerBusy,
        /// Service discovery cannot be reached.
        DiscoveryUnreachable,
        /// A service that was seen in this rollout is gone from service discovery.
        ServiceVanished,
        /// Another rollout owns the StatefulSet.
        OwnedByAnother,
        /// Pods are at several revisions, so no partition can hold them.
        CannotHold,
    }
);

impl Reason {
    /// Whether it is somebody else's turn: the rollout cannot move by waiting alone.
    pub fn blocks(self) -> bool {
        matches!(
            self,
            Self::BudgetExhausted
                | Self::BudgetNeverAllows
                | Self::BudgetNotReady
                | Self::AmbiguousBudget
                | Self::UnhealthyPodsHoldBudget
                | Self::LowerPodNotReady
                | Self::EvictionRefused
                | Self::ApiServerBusy
                | Self::DiscoveryUnreachable
                | Self::ServiceVanished
                | Self::OwnedByAnother
                | Self::CannotHold
                | Self::CannotWriteStatefulSet
                | Self::HoldLost
        )
    }
}

/// `status` as decisions read and write it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// `phase`; `None` before the first look.
    pub phase: Option<Phase>,
    /// `percentDeployed`: the percentage that this status speaks of.
    pub percent_requested: Option<u8>,
    /// `reason`, a sentence.
    pub reason: String,
    /// The word for it; in the condition `Progressing`.
    pub reason_code: Option<Reason>,
    /// `readyReplicas`.
    pub ready_replicas: u32,
    /// `readyReplicasRotor`: Pods that service discovery lists as passing.
    pub discovery_ready: Option<u32>,
    /// `paused`.
    pub paused: bool,
    /// `deleted`: the StatefulSet was deleted by somebody.
    pub deleted: bool,
    /// `Pods`, by ordinal; one row for each ordinal that the set ought to have.
    pub pods: Vec<PodRow>,
    /// `reconcileAfter`: when the next look is due at the latest. Stamped on writes only.
    pub reconcile_after: Option<Timestamp>,
    /// `lastUpdated`. Stamped on writes only.
    pub last_updated: Option<Timestamp>,
    /// `lastCallbackStageId`.
    pub last_callback_stage: String,
    /// `buildMetadata`.
    pub build: Build,
    /// `consulServices`: the named services that exist, or existed since this rollout began.
    pub consul_services: Vec<String>,
    /// `statefulsetName`; empty while there is none.
    pub workload_name: String,
    /// `statefulsetSpecCurrent`.
    pub spec_current: bool,
    /// `rolloutIdentity` that this status speaks of.
    pub identity: String,
    /// `observedGeneration`.
    pub observed_generation: i64,
    /// `conditions`.
    pub conditions: Vec<Condition>,
    /// `updateRevision`.
    pub update_revision: String,
    /// `stableRevision`: what the Pods ran when this rollout began.
    pub stable_revision: String,
    /// `replicas`.
    pub replicas: u32,
    /// `targetReplicas`.
    pub target_replicas: u32,
    /// `updatedReplicas`: Pods at the update revision, available or not.
    pub updated_replicas: u32,
    /// `availableReplicas`: Pods, of any revision, that are available by the set's minReadySeconds.
    pub available_replicas: u32,
    /// `leakedReplicas`.
    pub leaked_replicas: u32,
    /// `evicting`.
    pub evicting: Vec<Uid>,
    /// `lastEvictionTime`.
    pub last_eviction: Option<Timestamp>,
    /// `lastProgressTime`.
    pub last_progress: Option<Timestamp>,
    /// `progressedReplicas`: the progress that `lastProgressTime` speaks of.
    pub progressed: u32,
    /// `pausedSeconds`: how long the deadline's clock has stood still since the last progress.
    pub paused_seconds: i64,
    /// `stoppedSince`: since when it stands still now.
    pub stopped_since: Option<Timestamp>,
    /// `statefulsetHash`: hash of the StatefulSet that this status speaks of, applied or not.
    pub desired_hash: String,
    /// `statefulsetApplied`: what was last applied, and the generation that came of it.
    pub applied: Option<Applied>,
}

impl Status {
    /// Whether writing `self` over `old` would tell anybody anything.
    pub fn says_more_than(&self, old: &Self) -> bool {
        let stamped = Self {
            reconcile_after: old.reconcile_after,
            last_updated: old.last_updated,
            ..self.clone()
        };
        stamped != *old
    }
}

/// One row of `status.Pods`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRow {
    /// Name.
    pub name: String,
    /// UID of the present Pod, or of the last one under this name.
    pub uid: Uid,
    /// Node; empty in short rows.
    pub node: String,
    /// Revision.
    pub revision: String,
    /// Version label or image tag.
    pub version: String,
    /// Ready by Kubernetes.
    pub ready: bool,
    /// Passing in service discovery; `None` where it is not asked.
    pub discovery_ready: Option<bool>,
    /// Where it stands.
    pub state: PodState,
    /// Since when, for Pods in motion or in trouble.
    pub since: Option<Timestamp>,
    /// Came back at the update revision though no step released it.
    pub leaked: bool,
}

names!(
    /// Where a Pod stands in its rollout: `status.Pods[].state`.
    PodState {
        /// At an old revision, and available.
        Old,
        /// At an old revision, and not available.
        OldUnready,
        /// We are about to evict it, or have.
        Evicting,
        /// Going, but not because of us.
        Terminating,
        /// Gone because of us, its successor not yet seen.
        Recreating,
        /// Gone for another reason, or never there.
        Missing,
        /// At the update revision, coming up.
        Starting,
        /// At the update revision, and in trouble.
        Broken,
        /// At the update revision, and good.
        Updated,
    }
);

/// A standard Kubernetes condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Which.
    pub kind: ConditionKind,
    /// `True` or `False`; a condition that is not known is absent.
    pub holds: bool,
    /// CamelCase word.
    pub reason: String,
    /// A sentence.
    pub message: String,
    /// When `holds` last changed.
    pub since: Timestamp,
    /// The rollout's generation that it speaks of.
    pub observed_generation: i64,
}

names!(
    /// The conditions of a rollout: `conditions[].type`.
    ConditionKind {
        /// Whether the rollout goes on by itself, has got there, or has not failed.
        Progressing,
        /// Whether every Pod of the set is available.
        Available,
        /// Whether something else has to happen first.
        Blocked,
        /// Whether Pods run a revision that no step released.
        Leaked,
        /// Whether the rollout names services, a channel or a callback that this operator cannot serve.
        NotGated,
    }
);
