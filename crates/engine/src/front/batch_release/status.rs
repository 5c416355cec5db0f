//! The status of a `BatchRelease`: all that a restart needs.

use jiff::Timestamp;

use super::world::Body;
use crate::names::names;
use crate::world::Uid;

names!(
    /// `status.phase`; `Initial` and others of earlier versions are none.
    Phase {
        /// The workload is being taken over and held.
        Preparing,
        /// Batch after batch, as far as `batchPartition` allows.
        Progressing,
        /// The workload is being given back.
        Finalizing,
        /// It has been given back; nothing is done any more.
        Completed,
    }
);

names!(
    /// `status.canaryStatus.batchState`.
    BatchState {
        /// Pods of the batch are still to be moved or labelled.
        Upgrading,
        /// All have moved, and not enough are ready.
        Verifying,
        /// The batch is as wanted.
        Ready,
    }
);

/// `status` as decisions read and write it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// `phase`; `None` before the first look.
    pub phase: Option<Phase>,
    /// `message`, a sentence.
    pub message: String,
    /// `canaryStatus.batchState`.
    pub batch_state: Option<BatchState>,
    /// `canaryStatus.currentBatch`, from 0.
    pub current_batch: u32,
    /// `canaryStatus.batchReadyTime`.
    pub batch_ready_time: Option<Timestamp>,
    /// `canaryStatus.updatedReplicas`.
    pub updated: u32,
    /// `canaryStatus.updatedReadyReplicas`.
    pub updated_ready: u32,
    /// `canaryStatus.noNeedUpdateReplicas`.
    pub no_need_update: Option<u32>,
    /// `stableRevision`.
    pub stable_revision: String,
    /// `updateRevision`: the revision that this release is of.
    pub update_revision: String,
    /// `observedGeneration`.
    pub observed_generation: i64,
    /// `observedRolloutID`.
    pub observed_rollout_id: String,
    /// `observedWorkloadReplicas`; `None` is -1.
    pub observed_replicas: Option<u32>,
    /// `observedReleasePlanHash`.
    pub plan_hash: String,
    /// `conditions`.
    pub conditions: Vec<Condition>,
    /// `evicting`: UIDs of Pods whose eviction is about to be asked for, or was.
    pub evicting: Vec<Uid>,
    /// `lastEvictionTime`.
    pub last_eviction: Option<Timestamp>,
    /// `lastProgressTime`: when the batch last got on; `None` while nothing is waited for.
    pub last_progress: Option<Timestamp>,
    /// `progressedReplicas`: the progress that `lastProgressTime` speaks of.
    pub progressed: u32,
}

impl Status {
    /// What the workload ran before this release: as it was noted when the release began, and before that
    /// what the workload says now.
    pub(super) fn stable<'a>(&'a self, body: &'a Body) -> Option<&'a String> {
        let noted = Some(&self.stable_revision).filter(|noted| !noted.is_empty());
        noted.or(body.stable_revision.as_ref())
    }

    /// What writing `self` over `old` would tell.
    pub fn change(&self, old: &Self) -> Change {
        if self == old {
            return Change::None;
        }
        let announces = self.evicting.iter().any(|uid| !old.evicting.contains(uid));
        let ready = |status: &Self| status.batch_state == Some(BatchState::Ready);
        let same = Self {
            message: old.message.clone(),
            batch_state: old.batch_state,
            updated: old.updated,
            updated_ready: old.updated_ready,
            conditions: old.conditions.clone(),
            evicting: old.evicting.clone(),
            last_progress: old.last_progress,
            progressed: old.progressed,
            ..self.clone()
        };
        let said = self.conditions.iter().map(Condition::said);
        let told = said.eq(old.conditions.iter().map(Condition::said));
        if announces || same != *old || ready(self) != ready(old) || !told {
            return Change::Standing;
        }
        Change::Numbers
    }

    /// The condition of a kind, if it is known.
    pub fn condition(&self, kind: ConditionKind) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == kind)
    }
}

/// How much a new status says that the old one did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Nothing: it is not written.
    None,
    /// Counts, sentences, and what a batch is at. Nothing depends on them, so that a release of many Pods may write them once
    /// in a few seconds, and act before.
    Numbers,
    /// Where the release stands, or which Pods are about to go: it is written before anything is done.
    Standing,
}

/// One of `status.conditions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Which.
    pub kind: ConditionKind,
    /// `True` or `False`.
    pub holds: bool,
    /// CamelCase word.
    pub reason: String,
    /// A sentence.
    pub message: String,
    /// `lastTransitionTime`: when `holds` last changed.
    pub since: Timestamp,
    /// `lastUpdateTime`: when reason or message last changed.
    pub updated: Timestamp,
}

impl Condition {
    /// What of it is more than a sentence: of a release that goes on, not what it is at just now.
    fn said(&self) -> (ConditionKind, bool, &str) {
        let word = match self.kind {
            ConditionKind::Progressing if self.holds => "",
            _ => self.reason.as_str(),
        };
        (self.kind, self.holds, word)
    }
}

names!(
    /// The conditions of a release: `conditions[].type`.
    ConditionKind {
        /// Whether it goes on by itself.
        Progressing,
        /// Whether a batch has taken too long without progress.
        Stuck,
        /// Whether it cannot do its work at all until somebody changes something.
        Degraded,
        /// Whether more Pods run the new revision than the batch asks for.
        Surplus,
        /// Whether the user's own strategy, which was put aside, is lost.
        StrategyLost,
    }
);
