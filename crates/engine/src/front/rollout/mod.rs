//! The front of `Rollout`: the steps of a release, and what a user may say in between.
//!
//! It moves nothing itself. How far the workload may be it writes into a `BatchRelease`, whose front has
//! the Pods moved. One look goes through as many states as can be left at once; what stands in the status
//! is where something is waited for, a write, Pods, a clock or a user. Every state is read off what is
//! there, so that a look after a crash goes on from wherever the last one got to.

mod world;
mod status;
mod decision;
mod phase;
mod progress;
mod change;
mod step;
mod release;
mod finalise;
mod stuck;
mod held;
mod tell;

pub use crate::front::batch_release::{BatchState, Change, Phase as ReleasePhase};
pub use decision::{Action, Decision};
pub use status::{Canary, Condition, ConditionKind, Finalising, Phase, Reason, Status, StepState};
pub use world::{
    BatchRelease, Pause, Policy, ReleasePlan, Rollout, Settings, Step, Workload, World,
};

use jiff::Timestamp;

use crate::front::Notice;

/// Decides about one Rollout.
pub fn decide(world: &World, now: Timestamp) -> Decision {
    let mut turn = Turn {
        world,
        now,
        status: world.status.clone(),
        action: None,
        told: Vec::new(),
        wake: None,
        waits: None,
    };
    if let Some(manager) = &world.other_manager {
        phase::stand_aside(&mut turn, manager);
        tell::news(&mut turn);
        return Decision { status: turn.status, action: None, told: turn.told, wake: None };
    }
    turn.status.observed_generation = world.rollout.generation;
    // Each state is entered once or twice at most.
    for _ in 0..40 {
        if phase::next(&mut turn) == Flow::Rest {
            break;
        }
    }
    stuck::note(&mut turn);
    held::note(&mut turn);
    phase::upkeep(&mut turn);
    tell::news(&mut turn);
    Decision { status: turn.status, action: turn.action, told: turn.told, wake: turn.wake }
}

/// Whether another state follows at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Again,
    Rest,
}

/// One look, as far as it has got.
struct Turn<'a> {
    world: &'a World,
    now: Timestamp,
    status: Status,
    action: Option<Action>,
    told: Vec<Notice>,
    wake: Option<Timestamp>,
    /// What is waited for that ought to come by itself, and how far it has got.
    waits: Option<String>,
}

impl<'a> Turn<'a> {
    fn act(&mut self, action: Action) -> Flow {
        self.action = Some(action);
        Flow::Rest
    }

    /// Rests until something that ought to come by itself.
    fn wait(&mut self, what: String) -> Flow {
        self.waits = Some(what);
        Flow::Rest
    }

    /// Looks again at this time, or earlier where that is wanted already.
    fn wake_at(&mut self, at: Option<Timestamp>) {
        self.wake = match (self.wake, at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    fn tell(&mut self, reason: &str, warning: bool, text: impl Into<String>) {
        let (reason, text) = (reason.to_owned(), text.into());
        self.told.push(Notice { reason, warning, text });
    }

    /// Enters a phase.
    fn enter(&mut self, phase: Phase, message: &str) -> Flow {
        self.status.phase = Some(phase);
        message.clone_into(&mut self.status.message);
        Flow::Again
    }

    /// Goes on to another reason of the condition Progressing.
    fn go_on(&mut self, reason: Reason, message: &str) -> Flow {
        message.clone_into(&mut self.status.message);
        let holds = reason != Reason::Completed;
        self.status.say(ConditionKind::Progressing, holds, reason, message, self.now);
        Flow::Again
    }

    /// Says where the release stands, in the status and in its condition.
    fn stands(&mut self, reason: Reason, message: String) {
        self.status.say(ConditionKind::Progressing, true, reason, message.clone(), self.now);
        self.status.message = message;
    }

    fn workload(&self) -> Option<&'a Workload> {
        self.world.workload.as_ref()
    }

    /// The workload, unless another Rollout leads it: its mark is that one's.
    fn led(&self) -> Option<&'a Workload> {
        self.workload().filter(|_| self.world.rollout.rival.is_none())
    }

    /// The BatchRelease, if it is this Rollout's.
    fn release(&self) -> Option<&'a BatchRelease> {
        self.world.release.as_ref().filter(|release| release.ours)
    }

    /// The steps; none where they cannot be followed, which is asked for before.
    fn steps(&self) -> &'a [Step] {
        self.world.rollout.steps.as_deref().unwrap_or_default()
    }

    fn step_count(&self) -> u32 {
        u32::try_from(self.steps().len()).unwrap_or(u32::MAX)
    }

    /// The step after this one, -1 for none.
    fn after(&self, step: u32) -> i64 {
        if step < self.step_count() { i64::from(step) + 1 } else { -1 }
    }
}
