//! The steps: update, wait, go on.

use jiff::SignedDuration;

use crate::quantity::IntOrPercent;

use super::status::{Canary, Reason, StepState};
use super::world::{Pause, Step, Workload};
use super::{Flow, Turn, change, release};

/// Where the step goes from here.
pub(super) fn next(turn: &mut Turn<'_>, workload: &Workload) -> Flow {
    if let Some(flow) = jump(turn, workload) {
        return flow;
    }
    let Some(canary) = &turn.status.canary else { return Flow::Rest };
    let (index, state) = (canary.current_step, canary.state);
    let Some(step) = usize::try_from(index - 1).ok().and_then(|at| turn.steps().get(at)) else {
        return Flow::Rest;
    };
    match state {
        StepState::BeforeStepUpgrade => enter(turn, StepState::StepUpgrade),
        StepState::StepUpgrade => {
            stands(turn, index, "upgrade workload to new version");
            if let Some(flow) = release::reach(turn, workload) {
                return flow;
            }
            let text = format!("upgrade step({index}) canary pods with new versions done");
            turn.tell("Progressing", false, text);
            enter(turn, StepState::StepTrafficRouting)
        }
        StepState::StepTrafficRouting => enter(turn, StepState::StepMetricsAnalysis),
        StepState::StepMetricsAnalysis => enter(turn, StepState::StepPaused),
        StepState::StepPaused => paused(turn, workload, index, *step),
        StepState::StepReady => ready(turn, workload, index),
        StepState::Completed => Flow::Again,
    }
}

/// Another `nextStepIndex` than the one that follows is a jump there; one that cannot be is put right.
fn jump(turn: &mut Turn<'_>, workload: &Workload) -> Option<Flow> {
    let count = turn.step_count();
    let canary = turn.status.canary.as_mut()?;
    canary.current_step = canary.current_step.clamp(1, count.max(1));
    let (current, asked) = (canary.current_step, canary.next_step);
    let expected = turn.after(current);
    if asked == expected {
        return None;
    }
    let to = u32::try_from(asked).ok().filter(|step| (1..=count).contains(step));
    if let Some(step) = to {
        turn.tell("Jumped", false, format!("from step {current} to step {step}, as asked for"));
        return Some(change::go_to(turn, workload, step));
    }
    if let Some(canary) = &mut turn.status.canary {
        canary.next_step = expected;
    }
    None
}

fn enter(turn: &mut Turn<'_>, state: StepState) -> Flow {
    let now = turn.now;
    if let Some(canary) = &mut turn.status.canary {
        canary.state = state;
        canary.last_update = Some(now);
    }
    Flow::Again
}

fn stands(turn: &mut Turn<'_>, index: u32, what: &str) {
    let count = turn.step_count();
    turn.stands(Reason::InRolling, format!("Rollout is in step({index}/{count}), and {what}"));
}

/// Waits for approval or for the clock, but for the end of a plan that ends with all Pods.
fn paused(turn: &mut Turn<'_>, workload: &Workload, index: u32, step: Step) -> Flow {
    let last = index == turn.step_count();
    if last && step.replicas == IntOrPercent::ALL {
        return enter(turn, StepState::StepReady);
    }
    let since = turn.status.canary.as_ref().and_then(|canary| canary.last_update);
    match step.pause {
        Pause::Seconds(0) => return enter(turn, StepState::StepReady),
        Pause::Seconds(seconds) => {
            let what = format!("wait duration({seconds} seconds) to enter the next step");
            stands(turn, index, &what);
            let pause = SignedDuration::from_secs(i64::from(seconds));
            let until = since.and_then(|since| since.checked_add(pause).ok());
            if until.is_none_or(|until| until <= turn.now) {
                return enter(turn, StepState::StepReady);
            }
            turn.wake_at(until);
        }
        Pause::Approval => {
            stands(turn, index, "you need manually confirm to enter the next step");
        }
    }
    // Its id may change, or somebody delete it.
    release::keep(turn, workload).unwrap_or(Flow::Rest)
}

/// Approved. What was approved before its Pods were ready goes on when they are: an approval skips the
/// pause, and nothing else.
fn ready(turn: &mut Turn<'_>, workload: &Workload, index: u32) -> Flow {
    if let Some(flow) = release::reach(turn, workload) {
        stands(turn, index, "goes on when its Pods are ready");
        return flow;
    }
    if index >= turn.step_count() {
        return enter(turn, StepState::Completed);
    }
    let next = turn.after(index + 1);
    if let Some(canary) = &mut turn.status.canary {
        let Canary { current_step, next_step, .. } = canary;
        (*current_step, *next_step) = (index + 1, next);
    }
    enter(turn, StepState::BeforeStepUpgrade)
}
