//! What ought to come by itself and does not.
//!
//! The condition Stuck stands while something is waited for. Its text says how far that has got, so that
//! the time of its last change is the time of the last progress: nothing else has to be remembered.

use jiff::SignedDuration;

use super::Turn;
use super::status::{ConditionKind, Reason};

/// Keeps the condition.
pub(super) fn note(turn: &mut Turn<'_>) {
    let Some(waits) = turn.waits.clone() else {
        turn.status.unsay(ConditionKind::Stuck);
        return;
    };
    let limit = turn.world.settings.stuck_after;
    let stuck = format!("no progress for {}: {waits}", words(limit));
    let (kind, now) = (ConditionKind::Stuck, turn.now);
    let before =
        turn.status.condition(kind).filter(|it| it.message == waits || it.message == stuck);
    match before {
        Some(condition) if condition.holds => (),
        Some(condition) => {
            let until = condition.updated.checked_add(limit).ok();
            if until.is_some_and(|until| until > now) {
                turn.wake_at(until);
                return;
            }
            turn.status.say(kind, true, Reason::ProgressDeadlineExceeded, stuck.clone(), now);
            turn.tell("Stuck", true, stuck);
        }
        None => {
            turn.status.say(kind, false, Reason::Waiting, waits, now);
            turn.wake_at(now.checked_add(limit).ok());
        }
    }
}

fn words(time: SignedDuration) -> String {
    match time.as_secs() {
        seconds if seconds % 60 == 0 => format!("{} minutes", seconds / 60),
        seconds => format!("{seconds} seconds"),
    }
}
