//! A workload and its Pods.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::Uid;

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
