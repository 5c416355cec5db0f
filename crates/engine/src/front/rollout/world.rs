//! What is seen of a Rollout: the resource, its workload, its BatchRelease.

use jiff::SignedDuration;

use crate::front::batch_release::{BatchState, Phase as ReleasePhase};
use crate::quantity::IntOrPercent;
use crate::world::Uid;

use super::status::{Reason, Status};

/// Everything that a decision about a Rollout may look at.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// The resource.
    pub rollout: Rollout,
    /// Its status, as read; a user may have written into it.
    pub status: Status,
    /// The workload that it names; `None` while there is none.
    pub workload: Option<Workload>,
    /// The BatchRelease of its name; `None` while there is none.
    pub release: Option<BatchRelease>,
    /// Who else releases workloads on this cluster, in words: the original's manager, while it runs.
    pub other_manager: Option<String>,
    /// The operator's.
    pub settings: Settings,
}

/// A Rollout as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollout {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// `metadata.generation`.
    pub generation: i64,
    /// Deletion is asked for.
    pub deleted: bool,
    /// Our finalizer stands on it.
    pub finalizer: bool,
    /// Kind and name of the workload, for messages.
    pub workload: String,
    /// `spec.disabled`.
    pub disabled: bool,
    /// `spec.strategy.paused`.
    pub paused: bool,
    /// Annotation `rollouts.kruise.io/rollback-in-batch`.
    pub rollback_in_batch: bool,
    /// The steps; or why there are none that could be followed.
    pub steps: Result<Vec<Step>, String>,
    /// `failureThreshold`; `None` for the workload's maxUnavailable.
    pub failure_threshold: Option<IntOrPercent>,
    /// Tells this plan from another: steps without pauses.
    pub hash: String,
    /// Annotation `rollouts.kruise.io/hash`, as it stands.
    pub marked_hash: Option<String>,
    /// What it asks for that is not served (traffic routing, canary style, blue-green), in words.
    pub not_served: Option<String>,
    /// The Rollout that leads the workload, where that is another: one whose release is under way or is
    /// being given back, else the oldest that is not disabled.
    pub rival: Option<String>,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Updated Pods at its end.
    pub replicas: IntOrPercent,
    /// What is waited for then.
    pub pause: Pause,
}

/// What is waited for at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Somebody's approval.
    Approval,
    /// So many seconds; none goes on at once.
    Seconds(u32),
}

/// A workload, whatever its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Why its kind cannot be released, in words; `None` where it can.
    pub unsupported: Option<String>,
    /// Whether its own strategy replaces all Pods at once, and no release has put that there.
    pub recreates: bool,
    /// Whether a roll back may go through the steps: StatefulSets and CloneSets.
    pub rolls_back_in_batches: bool,
    /// `metadata.generation`.
    pub generation: i64,
    /// `status.observedGeneration`.
    pub observed_generation: i64,
    /// Pods that are asked for.
    pub replicas: u32,
    /// Pods of the update revision.
    pub updated: u32,
    /// Pods of other revisions.
    pub old: u32,
    /// The revision to go back to; empty where none is known.
    pub stable_revision: String,
    /// The revision of the template: the same word for as long as the template is the same, so of a
    /// Deployment no hash that there is only once a ReplicaSet was made.
    pub update_revision: String,
    /// Value of the label that tells Pods of the update revision; empty while unknown.
    pub pod_template_hash: String,
    /// The template is back at the stable revision, and not all Pods are, or another one was to be released.
    pub in_rollback: bool,
    /// Annotation `rollouts.kruise.io/in-progressing` is there: a change is held.
    pub marked: bool,
    /// Something stands on it that a release leaves and nobody else: the user's strategy put aside, the
    /// label of the stable revision, control-info. What a living BatchRelease of somebody else left does
    /// not count.
    pub held: bool,
    /// Label `rollouts.kruise.io/rollout-id`.
    pub rollout_id: Option<String>,
    /// Label `rollouts.kruise.io/workload-type` is there.
    pub labelled: bool,
}

impl Workload {
    /// Its controller has seen the template, so that revisions and counts are of now.
    pub(super) fn seen(&self) -> bool {
        self.observed_generation >= self.generation
    }

    /// Every Pod runs the template.
    pub(super) fn promoted(&self) -> bool {
        self.seen() && self.old == 0 && self.updated >= self.replicas
    }

    /// Whether this is the revision of the template. The original calls that of a Deployment by the hash
    /// of its ReplicaSet as soon as there is one, and a release that it began goes on.
    pub(super) fn is_at(&self, revision: &str) -> bool {
        revision == self.update_revision
            || (!revision.is_empty() && revision == self.pod_template_hash)
    }

    /// The id of the release of this revision.
    pub(super) fn id(&self, revision: &str) -> String {
        match &self.rollout_id {
            Some(id) if !id.is_empty() => id.clone(),
            _ if self.in_rollback => format!("rollback-{revision}"),
            _ => revision.to_owned(),
        }
    }
}

/// The BatchRelease of a Rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchRelease {
    /// UID.
    pub uid: Uid,
    /// Whether this Rollout is its controlling owner.
    pub ours: bool,
    /// Deletion is asked for.
    pub deleting: bool,
    /// `metadata.generation`.
    pub generation: i64,
    /// `status.observedGeneration`.
    pub observed_generation: i64,
    /// What it is asked for.
    pub plan: ReleasePlan,
    /// The rest of its spec, workload and style, is as this front writes it.
    pub as_written: bool,
    /// `status.observedReleasePlanHash` is that of the spec.
    pub plan_seen: bool,
    /// `status.phase`.
    pub phase: Option<ReleasePhase>,
    /// `status.canaryStatus.batchState`; `None` before the first batch.
    pub batch_state: Option<BatchState>,
    /// `status.canaryStatus.currentBatch`, from 0.
    pub current_batch: u32,
    /// `status.canaryStatus.updatedReplicas`.
    pub updated: u32,
    /// `status.canaryStatus.updatedReadyReplicas`.
    pub updated_ready: u32,
    /// `status.observedRolloutID`.
    pub observed_rollout_id: String,
    /// `status.message`.
    pub message: String,
    /// That more Pods run the new revision than its batch asks for, in its words.
    pub surplus: Option<String>,
    /// Why it does not go on by itself, by its condition Progressing, where that is somebody else's turn.
    pub held: Option<(Reason, String)>,
}

/// What a Rollout asks of its BatchRelease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleasePlan {
    /// Updated Pods of each batch, those before included.
    pub batches: Vec<IntOrPercent>,
    /// The last batch that may go, from 0; `None` lets the workload go.
    pub partition: Option<u32>,
    /// The label of its Pods.
    pub rollout_id: String,
    /// Unready updated Pods that a batch may have.
    pub failure_threshold: Option<IntOrPercent>,
    /// How the workload is let go.
    pub policy: Option<Policy>,
    /// Annotation `rollouts.kruise.io/rollback-in-batch`.
    pub rollback_in_batch: bool,
    /// Annotation `sluice.dev/paused`: not even the batch that is under way goes on. The plan has no
    /// word for it.
    pub paused: bool,
}

/// `finalizingPolicy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The workload goes on by itself.
    WaitResume,
    /// The Rollout goes: the gate `KeepWorkloadPausedOnRolloutDeletion` freezes the workload.
    Immediate,
}

/// The operator's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long a release waits before its first step, so that a plan that is changed together with the
    /// workload, and arrives after it, counts from the first step on.
    pub initial_wait: SignedDuration,
    /// How long a step may make no progress before it is said to be stuck.
    pub stuck_after: SignedDuration,
    /// Gate `KeepWorkloadPausedOnRolloutDeletion`.
    pub freeze_on_deletion: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            initial_wait: SignedDuration::from_secs(3),
            stuck_after: SignedDuration::from_secs(600),
            freeze_on_deletion: false,
        }
    }
}
