//! What holds the Pods of a step back: the BatchRelease says it, and who looks at the Rollout alone is to know
//! it too.

use super::Turn;
use super::status::{ConditionKind, Phase, Reason};

/// Keeps the condition Blocked, as far as it speaks of the BatchRelease, and the message beside it.
pub(super) fn note(turn: &mut Turn<'_>) {
    let of_release = |status: &super::Status| {
        status.condition(ConditionKind::Blocked).is_some_and(|it| it.reason.is_of_release())
    };
    let (was, held) = (of_release(&turn.world.status), why(turn));
    if held.is_none() && of_release(&turn.status) {
        turn.status.unsay(ConditionKind::Blocked);
    }
    let stands = turn.status.condition(ConditionKind::Progressing).map(|it| it.message.clone());
    let stands = stands.filter(|_| turn.status.phase == Some(Phase::Progressing));
    if let Some(stands) = stands.filter(|_| was || held.is_some()) {
        let beside = held.iter().map(|(_, why)| format!("; {why}"));
        turn.status.message = stands + &beside.collect::<String>();
    }
    if let Some((reason, why)) = held {
        turn.status.say(ConditionKind::Blocked, true, reason, why, turn.now);
    }
}

/// Only while something is waited for of it, and of what is asked for now.
fn why(turn: &Turn<'_>) -> Option<(Reason, String)> {
    turn.waits.as_ref()?;
    let release = turn.release()?;
    let seen = release.plan_seen && release.observed_generation >= release.generation;
    release.held.clone().filter(|_| seen)
}
