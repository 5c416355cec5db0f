//! The status of a Rollout, as a value.
//!
//! The names are the interface: `kubectl kruise rollout`, Argo CD and scripts read them, and write two of
//! them: an approval is `currentStepState`, a jump is `nextStepIndex`.

use jiff::Timestamp;

use crate::front::batch_release::Change;
use crate::names::names;

/// What is remembered of a Rollout between two looks, and told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The generation that was read.
    pub observed_generation: i64,
    /// Where the Rollout is; `None` at birth.
    pub phase: Option<Phase>,
    /// Why, for people.
    pub message: String,
    /// In the order in which they last changed.
    pub conditions: Vec<Condition>,
    /// The release; `None` before the workload was seen.
    pub canary: Option<Canary>,
}

/// `status.canaryStatus`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Canary {
    /// Generation of the workload whose revision is released.
    pub observed_workload_generation: i64,
    /// Id of the release.
    pub observed_rollout_id: String,
    /// Hash of the plan that is followed.
    pub rollout_hash: String,
    /// The revision to go back to.
    pub stable_revision: String,
    /// The revision that is released.
    pub canary_revision: String,
    /// Value of the label that tells its Pods; empty until some may be there.
    pub pod_template_hash: String,
    /// Pods of the new revision.
    pub canary_replicas: u32,
    /// Those of them that are ready.
    pub canary_ready_replicas: u32,
    /// The step that is under way, from 1.
    pub current_step: u32,
    /// The step that comes next, -1 for none; any other number is a jump, or nonsense.
    pub next_step: i64,
    /// Where the step is.
    pub state: StepState,
    /// What is being given back; `None` before the end.
    pub finalising: Option<Finalising>,
    /// What the BatchRelease says.
    pub message: String,
    /// When the state last changed: pauses count from it.
    pub last_update: Option<Timestamp>,
}

names!(
    /// `status.phase`.
    Phase {
        /// The workload is not there, or not looked at yet.
        Initial,
        /// Nothing is released.
        Healthy,
        /// A release is under way.
        Progressing,
        /// Deleted; the workload is given back.
        Terminating,
        /// Disabled; the workload is given back.
        Disabling,
        /// Disabled; nothing is held.
        Disabled,
    }
);

names!(
    /// `currentStepState`. What is no state is read as the first: a step may begin again at any time.
    #[derive(Default)]
    StepState {
        /// Before anything of the step.
        #[default]
        BeforeStepUpgrade,
        /// Pods are updated.
        StepUpgrade,
        /// Passed through: traffic is not routed.
        StepTrafficRouting,
        /// Passed through: there are no metrics.
        StepMetricsAnalysis,
        /// Done, and waiting.
        StepPaused,
        /// Approved, by a user or by the clock.
        StepReady,
        /// All steps are done.
        Completed,
    }
);

names!(
    /// `finalisingStep`.
    Finalising {
        /// Of traffic; never reached here, but read.
        RestoreStableService,
        /// Of traffic.
        RouteTrafficToStable = "FinalisingStepRouteTrafficToStable",
        /// Of traffic.
        RouteTrafficToNew = "FinalisingStepRouteTrafficToNew",
        /// Of traffic.
        RemoveCanaryService,
        /// The BatchRelease lets the workload go.
        ResumeWorkload,
        /// The BatchRelease goes, and then the mark.
        ReleaseWorkloadControl,
        /// Of blue-green.
        WaitEndless,
        /// All is given back.
        End = "END",
    }
);

names!(
    /// `type` of a condition.
    ConditionKind {
        /// A release is under way; its reason says how far.
        Progressing,
        /// The last release came to its end.
        Succeeded,
        /// The Rollout is deleted.
        Terminating,
        /// A step makes no progress.
        Stuck,
        /// Something has to be mended before anything can go on.
        Blocked,
    }
);

names!(
    /// `reason` of a condition.
    Reason {
        /// A release begins.
        Initializing,
        /// Steps are gone through.
        InRolling,
        /// `paused: true`.
        Paused,
        /// All steps are done, the workload is given back.
        Finalising,
        /// Rolled back, the workload is given back.
        Cancelling,
        /// It has come to its end.
        Completed,
        /// Deletion is under way.
        InTerminating,
        /// Ended by `disabled: true`.
        Disabled,
        /// Something is waited for, and not for long.
        Waiting,
        /// Something has been waited for too long.
        ProgressDeadlineExceeded,
        /// The Rollout asks for what is not served.
        NotServed,
        /// The plan cannot be followed.
        InvalidPlan,
        /// Another Rollout is there for the workload.
        WorkloadTaken,
        /// The workload is of a kind that cannot be released.
        UnsupportedWorkload,
        /// The original's manager runs.
        OtherManager,
        /// A BatchRelease of this name belongs to somebody else.
        ReleaseTaken,
        /// Of the BatchRelease: the budget has no room.
        BudgetExhausted,
        /// Of the BatchRelease: the budget can never have room.
        BudgetNeverAllows,
        /// Of the BatchRelease: the budget's own controller has not computed it.
        BudgetNotReady,
        /// Of the BatchRelease: more than one budget selects the Pods.
        AmbiguousBudget,
        /// Of the BatchRelease: unready Pods use up the budget that their own eviction asks for.
        UnhealthyPodsHoldBudget,
        /// Of the BatchRelease: under OrderedReady no Pod would come back above one that is not ready.
        LowerPodNotReady,
        /// Of the BatchRelease: something other than a budget refuses the eviction.
        EvictionRefused,
        /// Of the BatchRelease: the API server is overloaded.
        ApiServerBusy,
        /// Of the BatchRelease: what it would write on the workload is refused.
        CannotWriteWorkload,
        /// Of the BatchRelease: somebody has paused the workload itself.
        WorkloadPaused,
        /// Of the BatchRelease: another one has the workload.
        OwnedByAnother,
        /// None: of a condition that has no reason.
        None = "",
    }
);

impl Reason {
    /// The one by which a BatchRelease says that it waits for somebody else.
    pub fn of_release(word: &str) -> Option<Self> {
        Self::of(word).filter(|reason| reason.is_of_release())
    }

    /// Whether it is the BatchRelease that says it: the release stands where it stands, and its Pods wait
    /// for somebody else.
    pub fn is_of_release(self) -> bool {
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
                | Self::CannotWriteWorkload
                | Self::WorkloadPaused
                | Self::OwnedByAnother
        )
    }

    /// Whether it mostly passes by itself, and so may come and go with every Pod.
    pub(super) fn passes(self) -> bool {
        matches!(self, Self::BudgetExhausted | Self::BudgetNotReady | Self::ApiServerBusy)
    }
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// `type`.
    pub kind: ConditionKind,
    /// `status`.
    pub holds: bool,
    /// `reason`.
    pub reason: Reason,
    /// `message`.
    pub message: String,
    /// `lastUpdateTime`: when anything of it changed.
    pub updated: Timestamp,
    /// `lastTransitionTime`: when `status` changed.
    pub since: Timestamp,
}

impl Status {
    /// What writing `self` over `old` would tell.
    pub fn change(&self, old: &Self) -> Change {
        if self == old {
            return Change::None;
        }
        let told = |status: &Self| -> Vec<(ConditionKind, bool, Reason)> {
            let waits = |it: &&Condition| it.kind == ConditionKind::Stuck && !it.holds;
            let told = status.conditions.iter().filter(|it| !waits(it));
            told.map(|it| (it.kind, it.holds, it.reason)).collect()
        };
        let mut same = Self { conditions: old.conditions.clone(), ..self.clone() };
        if let (Some(canary), Some(old)) = (&mut same.canary, &old.canary) {
            canary.canary_replicas = old.canary_replicas;
            canary.canary_ready_replicas = old.canary_ready_replicas;
            canary.message.clone_from(&old.message);
            canary.observed_workload_generation = old.observed_workload_generation;
        }
        if same != *old || told(self) != told(old) { Change::Standing } else { Change::Numbers }
    }

    /// The condition of this kind.
    pub fn condition(&self, kind: ConditionKind) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// Says a condition; where nothing of it is new, it stays as it is, else it moves to the end.
    pub(super) fn say(
        &mut self,
        kind: ConditionKind,
        holds: bool,
        reason: Reason,
        message: impl Into<String>,
        now: Timestamp,
    ) {
        let message = message.into();
        let before = self.condition(kind);
        if before.is_some_and(|c| (c.holds, c.reason, &c.message) == (holds, reason, &message)) {
            return;
        }
        let since = before.filter(|c| c.holds == holds).map_or(now, |c| c.since);
        self.unsay(kind);
        self.conditions.push(Condition { kind, holds, reason, message, updated: now, since });
    }

    /// Takes a condition away.
    pub(super) fn unsay(&mut self, kind: ConditionKind) {
        self.conditions.retain(|condition| condition.kind != kind);
    }
}
