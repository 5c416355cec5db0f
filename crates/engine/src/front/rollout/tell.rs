//! What is told besides: what is new in the status, as Events.

use super::Turn;
use super::phase::NOT_FOUND;
use super::status::{Canary, ConditionKind, Phase, Reason, Status, StepState};

/// Adds what follows from the status before and after.
pub(super) fn news(turn: &mut Turn<'_>) {
    let (old, new) = (&turn.world.status, turn.status.clone());
    let began = |reason: Reason| is(&new, reason) && !is(old, reason);
    if began(Reason::Paused) {
        turn.tell("Paused", false, new.message.clone());
    }
    if is(old, Reason::Paused) && is(&new, Reason::InRolling) {
        turn.tell("Resumed", false, "Rollout goes on");
    }
    if began(Reason::Completed) {
        let done = new.condition(ConditionKind::Succeeded).is_some_and(|it| it.holds);
        let word = if done { "Completed" } else { "Canceled" };
        turn.tell(word, false, new.message.clone());
    }
    if let (Some(before), Some(after)) = (&old.canary, &new.canary)
        && approved(before, after)
    {
        turn.tell("Approved", false, format!("step {} is approved", before.current_step));
    }
    for (phase, word) in [(Phase::Disabled, "Disabled"), (Phase::Disabling, "Disabling")] {
        if new.phase == Some(phase) && old.phase != Some(phase) {
            turn.tell(word, false, new.message.clone());
        }
    }
    let blocked = |status: &Status| status.condition(ConditionKind::Blocked).cloned();
    if let Some(now) = blocked(&new).filter(|now| !now.reason.passes())
        && blocked(old).is_none_or(|before| before.reason != now.reason)
    {
        turn.tell(now.reason.name(), true, now.message);
    }
    let gone = |status: &Status| status.message == NOT_FOUND;
    if gone(&new) && !gone(old) {
        let name = &turn.world.rollout.workload;
        let text = format!("{name} is not there; what is known of its release is kept");
        turn.tell("WorkloadNotFound", true, text);
    }
}

fn is(status: &Status, reason: Reason) -> bool {
    status.condition(ConditionKind::Progressing).is_some_and(|it| it.reason == reason)
}

/// Somebody wrote `StepReady`, and the step is left now.
fn approved(before: &Canary, after: &Canary) -> bool {
    before.state == StepState::StepReady
        && before.canary_revision == after.canary_revision
        && (after.state != StepState::StepReady || after.current_step != before.current_step)
}
