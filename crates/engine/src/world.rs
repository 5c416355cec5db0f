//! What is, as plain values: everything a decision may look at.
//!
//! Nothing here is fetched on demand. Whoever builds a [`World`] has read it all from caches that
//! belong to one moment, and says how old the facts are that come from elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::quantity::Percent;
use crate::status::Status;

/// A UID as the API server gives it; the only safe identity of a Pod, since StatefulSets reuse names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(pub String);

impl From<&str> for Uid {
    fn from(uid: &str) -> Self {
        Self(uid.to_owned())
    }
}

impl std::fmt::Display for Uid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Everything that one decision about one `StatefulsetRollout` looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// What is asked for.
    pub rollout: Rollout,
    /// The status as it was last read; the decision writes it under the resourceVersion of this.
    pub status: Status,
    /// The StatefulSet under that name, if there is one.
    pub workload: Option<Workload>,
    /// Its Pods: those whose controller reference has the workload's UID. Any order.
    pub pods: Vec<Pod>,
    /// Another living rollout that names the same StatefulSet and came first: `KIND/NAME`.
    pub rival: Option<String>,
    /// The disruption budgets whose selector matches the workload's Pod template.
    pub budgets: Vec<Budget>,
    /// What service discovery says, or why it is not asked.
    pub discovery: Discovery,
    /// What came of the last action, as far as it is known in this process.
    pub outcome: Outcome,
    /// How the operator is set.
    pub settings: Settings,
}

impl World {
    /// Whose the StatefulSet is, if it is not ours: who claims it, or who came first.
    pub fn other_owner(&self) -> Option<&str> {
        match self.workload.as_ref().map(|workload| &workload.claim) {
            Some(Claim::Other { owner }) => Some(owner),
            Some(Claim::Ours) => None,
            Some(Claim::Free) | None => self.rival.as_deref(),
        }
    }
}

/// How the operator is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Least time between two actions of one rollout.
    pub interval: SignedDuration,
    /// Longest time between two looks at a rollout that is not finished.
    pub slow: SignedDuration,
    /// Whether a channel can be written to; a rollout that names one is told when not.
    pub channel_configured: bool,
    /// Whether callbacks can be sent.
    pub callback_configured: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            interval: SignedDuration::from_secs(2),
            slow: SignedDuration::from_secs(30),
            channel_configured: false,
            callback_configured: false,
        }
    }
}

/// A `StatefulsetRollout`: what the user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollout {
    /// Namespace of the rollout, its StatefulSet and its Pods.
    pub namespace: String,
    /// Name of the rollout.
    pub name: String,
    /// UID of the rollout.
    pub uid: Uid,
    /// `metadata.generation`.
    pub generation: i64,
    /// Name of the StatefulSet.
    pub workload_name: String,
    /// How much of the set is to run the new revision.
    pub percent: Percent,
    /// Whether to stand still.
    pub pause_requested: bool,
    /// A new value starts the rollout again.
    pub identity: String,
    /// Least time between two evictions of ready Pods; zero for none.
    pub min_eviction_interval: SignedDuration,
    /// How long Pods may take without progress.
    pub progress_deadline: SignedDuration,
    /// What to do with an unready Pod whose eviction the budget refuses.
    pub unhealthy_pods: UnhealthyPods,
    /// What to do about Pods that come back at a revision that no step released.
    pub version_leak: VersionLeak,
    /// Hash of the StatefulSet that is asked for, without its update strategy.
    pub desired_hash: String,
    /// `replicas` of the StatefulSet, absent when somebody else (an autoscaler) owns it.
    pub replicas: Option<u32>,
    /// Slack channel to tell, if any.
    pub channel: Option<String>,
    /// Stage to call back, if any.
    pub callback_stage: Option<String>,
    /// Services that have to see a Pod, in the order given.
    pub services: Vec<String>,
    /// Where the template comes from, shown in status and messages.
    pub build: Build,
}

/// Where a template comes from: the annotations `slack.com/bedrock.git.*` and the version label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// Version label or image tag.
    pub version: String,
    /// Git branch.
    pub branch: String,
    /// Git commit.
    pub commit: String,
    /// Git origin.
    pub origin: String,
}

/// `spec.unhealthyPods`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnhealthyPods {
    /// Name the budget and its remedy.
    #[default]
    Report,
    /// Delete the Pod, with its UID and resourceVersion as preconditions.
    Replace,
}

/// `spec.versionLeak`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionLeak {
    /// Do as if nothing were wrong.
    Ignore,
    /// Count and tell.
    #[default]
    Report,
    /// Count, tell and stop.
    Pause,
    /// Hold the old revision by a partition, so that nothing leaks.
    Prevent,
}

/// A StatefulSet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// UID.
    pub uid: Uid,
    /// `metadata.generation`.
    pub generation: i64,
    /// `status.observedGeneration`: the revisions below speak of this generation.
    pub observed_generation: i64,
    /// `spec.replicas`.
    pub replicas: u32,
    /// `spec.ordinals.start`.
    pub first_ordinal: u32,
    /// `spec.reserveOrdinals`: those that are passed over.
    pub reserved: BTreeSet<u32>,
    /// `spec.podManagementPolicy`.
    pub management: PodManagement,
    /// `spec.updateStrategy`.
    pub strategy: Strategy,
    /// `spec.minReadySeconds`.
    pub min_ready: SignedDuration,
    /// `status.updateRevision`.
    pub update_revision: String,
    /// `status.currentRevision`; never taken for "the old version", see `mover::partition`.
    pub current_revision: String,
    /// Whether every field that the rollout asks for stands in the live object.
    pub matches: bool,
    /// Whether the Pod template that the rollout asks for stands in the live object.
    pub template_matches: bool,
    /// Whose rollout the StatefulSet is, by its annotation.
    pub claim: Claim,
    /// Whether it is being deleted.
    pub terminating: bool,
}

impl Workload {
    /// The ordinals that it ought to have, ascending.
    pub fn ordinals(&self) -> impl Iterator<Item = u32> + use<'_> {
        let replicas = usize::try_from(self.replicas).unwrap_or(usize::MAX);
        let all = self.first_ordinal..=u32::MAX;
        all.filter(|ordinal| !self.reserved.contains(ordinal)).take(replicas)
    }
}

/// Whose rollout a StatefulSet is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nobody's, or that of a rollout that no longer exists.
    Free,
    /// This rollout's.
    Ours,
    /// Another living rollout's: its kind and name.
    Other {
        /// `StatefulsetRollout/NAME` or `Rollout/NAME`.
        owner: String,
    },
}

/// `spec.podManagementPolicy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodManagement {
    /// Pods come up one after another; a missing one waits for all lower ordinals.
    OrderedReady,
    /// Pods come up together.
    Parallel,
}

/// `spec.updateStrategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// A Pod that goes comes back at the update revision.
    OnDelete,
    /// A Pod below the partition comes back at the current revision; the StatefulSet controller
    /// itself replaces those at or above it, asking no budget.
    RollingUpdate {
        /// How many of the lowest Pods are held.
        partition: u32,
    },
}

/// A Pod of the workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    /// Name; used again by its successor.
    pub name: String,
    /// UID.
    pub uid: Uid,
    /// resourceVersion that was read: a guarded delete carries it.
    pub resource_version: String,
    /// The number at the end of the name.
    pub ordinal: u32,
    /// Node, once scheduled.
    pub node: Option<String>,
    /// Label `controller-revision-hash`.
    pub revision: String,
    /// Version label or image tag of this Pod.
    pub version: String,
    /// `status.phase`.
    pub phase: PodPhase,
    /// Since when it is Ready; `None` when it is not.
    pub ready_since: Option<Timestamp>,
    /// `metadata.creationTimestamp`.
    pub created: Timestamp,
    /// `metadata.deletionTimestamp`: when its grace period ends, once it is being deleted.
    pub deletion: Option<Timestamp>,
    /// `metadata.finalizers`: while there is one, a Pod that is being deleted stays.
    pub finalizers: Vec<String>,
    /// Why it does not come up, as its containers and conditions say.
    pub trouble: Option<Trouble>,
}

/// `status.phase` of a Pod, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodPhase {
    /// Not all containers have started; evicting it asks no budget.
    Pending,
    /// Running, ready or not.
    Running,
    /// Succeeded or Failed; evicting it asks no budget.
    Finished,
}

/// Why a Pod does not come up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// CamelCase, as Kubernetes gives it: `ImagePullBackOff`, `CrashLoopBackOff`, `Unschedulable`.
    pub reason: String,
    /// The message that goes with it, may be empty.
    pub message: String,
}

/// A PodDisruptionBudget that selects the workload's Pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Name.
    pub name: String,
    /// Its limit as the user wrote it: `maxUnavailable: 30%`; [`Budget::NO_LIMIT`] where there is none.
    pub limit: String,
    /// Whether its status speaks of its spec.
    pub observed: bool,
    /// `status.disruptionsAllowed`.
    pub allowed: u32,
    /// `status.currentHealthy`.
    pub current_healthy: u32,
    /// `status.desiredHealthy`.
    pub desired_healthy: u32,
    /// `status.expectedPods`.
    pub expected: u32,
    /// Whether `unhealthyPodEvictionPolicy` is `AlwaysAllow`.
    pub always_allow_unhealthy: bool,
    /// Why its controller cannot compute it (`DisruptionAllowed` is false, reason `SyncFailed`).
    pub sync_failed: Option<String>,
}

impl Budget {
    /// The limit of one that has none. Kubernetes takes it, and never allows a disruption then.
    pub const NO_LIMIT: &str = "neither minAvailable nor maxUnavailable";
}

/// What service discovery says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// The rollout names no service.
    NotAsked,
    /// It names some, but this operator has no service discovery: it gates nothing, and says so.
    NotConfigured,
    /// A reading.
    Read {
        /// When it was taken.
        at: Timestamp,
        /// The named services that exist.
        services: Vec<String>,
        /// Pods that every existing service lists as passing, by name.
        passing: BTreeSet<String>,
    },
    /// It cannot be reached.
    Unreachable {
        /// Since when.
        since: Timestamp,
        /// What was said.
        message: String,
    },
}

/// What came of the actions of this process, as far as it is not yet seen in the caches. All of it
/// can be lost in a crash: without it a decision repeats a write that is safe to repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// When the last action was taken.
    pub acted_at: Option<Timestamp>,
    /// The last successful apply.
    pub applied: Option<Applied>,
    /// Pods whose eviction or deletion was accepted and that have not been seen going.
    pub accepted: BTreeSet<Uid>,
    /// Pods whose eviction was refused in the last action.
    pub refused: BTreeMap<Uid, Refusal>,
    /// The last write to the StatefulSet was refused.
    pub apply_refused: Option<ApplyRefused>,
    /// The API server asked to be left alone until then.
    pub hold_until: Option<Timestamp>,
}

/// A StatefulSet as it was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// UID of the StatefulSet: another one of the same name knows nothing of it.
    pub uid: Uid,
    /// Hash of what was asked for.
    pub hash: String,
    /// The StatefulSet's generation that the API server answered with.
    pub generation: i64,
}

/// Why an eviction was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The budget has no room (429 with the cause `DisruptionBudget`).
    Budget(String),
    /// The server is busy (429 without it).
    Overloaded,
    /// More than one budget selects the Pod (500).
    AmbiguousBudget(String),
    /// A webhook or a permission forbids it; the server's words.
    Policy(String),
    /// It is another Pod by now, or gone: nothing to do.
    Gone,
    /// The batch was stopped before its turn came.
    NotTried,
}

/// Why a write to the StatefulSet was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyRefused {
    /// Hash of what was asked for.
    pub hash: String,
    /// Whether trying again cannot help until the rollout is changed (422).
    pub invalid: bool,
    /// The server's words.
    pub message: String,
}
