//! What is, as plain values: everything that a decision about a `BatchRelease` may look at.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::status::Status;
use crate::mover::replica_sets::ReplicaSet;
use crate::nature::Nature;
use crate::quantity::IntOrPercent;
use crate::world::{Budget, Outcome, Pod, Settings, Strategy, Uid, Workload};

/// Everything that one decision looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// What is asked for.
    pub release: Release,
    /// The status as it was last read; the decision writes it under the resourceVersion of this.
    pub status: Status,
    /// The workload that it names.
    pub target: Target,
    /// The Pods of the workload, in any order; of a Deployment those of all its ReplicaSets.
    pub pods: Vec<Pod>,
    /// What these Pods carry for a release. A Pod without an entry carries nothing.
    pub marks: BTreeMap<Uid, Marks>,
    /// The annotation `controller.kubernetes.io/pod-deletion-cost` of those Pods that have one.
    pub costs: BTreeMap<Uid, i32>,
    /// The disruption budgets whose selector matches the workload's Pods.
    pub budgets: Vec<Budget>,
    /// What came of the last action.
    pub outcome: Outcome,
    /// Whether a write of this process to the workload, its ReplicaSets or its Pods is not yet in the
    /// caches that this world was made of. Lost in a crash, with the caches.
    pub unseen: bool,
    /// The gate `KeepWorkloadPausedOnRolloutDeletion`: a release that ends before it is through leaves its
    /// workload held.
    pub keep_paused: bool,
    /// How the operator is set.
    pub settings: Settings,
}

/// A `BatchRelease`: what is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Namespace of the release, its workload and its Pods.
    pub namespace: String,
    /// Name of the release.
    pub name: String,
    /// UID of the release: who the workload's control-info names.
    pub uid: Uid,
    /// `metadata.generation`.
    pub generation: i64,
    /// `workloadRef.kind`.
    pub kind: String,
    /// `workloadRef.name`.
    pub workload_name: String,
    /// `releasePlan.batches[].canaryReplicas`: Pods at the new revision, each number with those before.
    pub batches: Vec<IntOrPercent>,
    /// `releasePlan.batchPartition`: the last batch that may be, from 0. `None`: let the workload go.
    pub batch_partition: Option<u32>,
    /// `releasePlan.rolloutID`; empty: Pods are not labelled.
    pub rollout_id: String,
    /// `releasePlan.failureThreshold`.
    pub failure_threshold: Option<IntOrPercent>,
    /// Hash of the whole plan, an opaque word.
    pub plan_hash: String,
    /// Why the plan cannot be followed; `batches` is empty then.
    pub plan_error: Option<String>,
    /// A rolling style that is not by partition: `Canary` or `BlueGreen`, as it stands there.
    pub other_style: Option<String>,
    /// Annotation `rollouts.kruise.io/rollback-in-batch`.
    pub rollback_in_batches: bool,
    /// Annotation `sluice.dev/paused`: what has not moved stays where it is.
    pub paused: bool,
    /// Whether `releasePlan.finalizingPolicy` is `Immediate`, or absent: it ends before it is through.
    pub immediate: bool,
    /// Whether the release is being deleted.
    pub deleted: bool,
    /// Whether our finalizer stands on it.
    pub finalizer: bool,
    /// How long a batch may take without progress before it is called stuck.
    pub progress_deadline: SignedDuration,
}

/// The workload that a release names.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Its kind is not one that can be released.
    Unsupported,
    /// There is none of that name.
    Missing,
    /// There it is.
    Found(Box<Body>),
}

/// A workload, of whatever kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// What all kinds have: UID, generations, replicas (of a DaemonSet `desiredNumberScheduled`),
    /// minReadySeconds, revisions. `update_revision` is the label `controller-revision-hash` or
    /// `pod-template-hash` of the Pods at the newest template: of a Deployment that has no ReplicaSet for
    /// it yet, the hash that it will be created with. The strategy of a Deployment, and what a
    /// `StatefulsetRollout` asks (`claim`, `matches`), say nothing here.
    pub workload: Workload,
    /// What another manager may have called the update revision in a status that it left: the full name of
    /// a ControllerRevision, the label `controller-revision-hash` that it gave a Deployment's Pods.
    pub also_called: Vec<String>,
    /// What the workload ran before this release, where its status or a mark on it tells.
    pub stable_revision: Option<String>,
    /// Whose release it is.
    pub control: Control,
    /// Whether it carries `rollouts.kruise.io/in-progressing`: a Rollout goes on with it.
    pub in_progressing: bool,
    /// The user's own `maxUnavailable`, where the live object has one.
    pub max_unavailable: Option<IntOrPercent>,
    /// Whether somebody has told its own controller in mid-release to stand still.
    pub stopped: bool,
    /// The annotation that the user's own strategy was put aside in, where it cannot be read any more.
    pub spoilt: Option<String>,
    /// What moves its Pods.
    pub machinery: Machinery,
}

impl Body {
    /// Whether this is a word for the revision of the template.
    pub(super) fn is_at(&self, revision: &str) -> bool {
        self.workload.update_revision == revision
            || self.also_called.iter().any(|other| other == revision)
    }
}

/// Whose release a workload is, by the annotation `batchrelease.rollouts.kruise.io/control-info`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// Nobody's, or that of a release that no longer exists.
    Free,
    /// This release's.
    Ours,
    /// Another living release's: its name.
    Other {
        /// `BatchRelease/NAME`.
        owner: String,
    },
}

/// What moves the Pods of a workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Machinery {
    /// One by one: by a partition, or by eviction where it is `OnDelete`.
    Pods {
        /// What tells its kind from others.
        nature: Nature,
        /// The user's strategy, from before it was held; where the kind has no partition, that says nothing.
        saved: Option<Strategy>,
    },
    /// A Deployment: by the sizes of its ReplicaSets, held by `paused` and type Recreate.
    Deployment(Deployment),
}

/// What only a Deployment has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// `spec.paused`.
    pub paused: bool,
    /// Whether its type is Recreate. Paused as well, its own controller leaves it alone.
    pub recreate: bool,
    /// `strategy.rollingUpdate`, while its type is RollingUpdate.
    pub rolling: Option<Rolling>,
    /// The user's, from before it was held.
    pub saved: Option<Rolling>,
    /// The ReplicaSet of the newest template; `None` until it is created.
    pub new: Option<ReplicaSet>,
    /// All others.
    pub old: Vec<ReplicaSet>,
    /// Name of the ReplicaSet that is known to be stable.
    pub stable: Option<String>,
}

/// `strategy.rollingUpdate` of a Deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rolling {
    /// `maxSurge`.
    pub max_surge: IntOrPercent,
    /// `maxUnavailable`.
    pub max_unavailable: IntOrPercent,
}

impl Default for Rolling {
    /// What the API server fills in.
    fn default() -> Self {
        let quarter = IntOrPercent::Percent(25);
        Self { max_surge: quarter, max_unavailable: quarter }
    }
}

/// What a Pod carries for a release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Label `rollouts.kruise.io/rollout-id`.
    pub rollout_id: String,
    /// Label `rollouts.kruise.io/rollout-batch-id`, from 1; `None` where it is no number.
    pub batch: Option<u32>,
    /// Label `rollouts.kruise.io/no-need-update`: the rollout id that it was said for.
    pub no_need_update: String,
}
