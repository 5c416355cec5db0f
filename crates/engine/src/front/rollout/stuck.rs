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
    let same = |text: &str| text == waits || text.starts_with(&stuck);
    match turn.status.condition(kind).filter(|it| same(&it.message)) {
        Some(condition) if condition.holds => (),
        Some(condition) => {
            let until = condition.updated.checked_add(limit).ok();
            if until.is_some_and(|until| until > now) {
                turn.wake_at(until);
                return;
            }
            let text = format!("{stuck}{}", remedy(turn));
            turn.status.say(kind, true, Reason::ProgressDeadlineExceeded, text.clone(), now);
            turn.tell("Stuck", true, text);
        }
        None => {
            turn.status.say(kind, false, Reason::Waiting, waits, now);
            turn.wake_at(now.checked_add(limit).ok());
        }
    }
}

/// Where to look: the BatchRelease knows why.
fn remedy(turn: &Turn<'_>) -> String {
    let rollout = &turn.world.rollout;
    let (namespace, name) = (&rollout.namespace, &rollout.name);
    match turn.release() {
        Some(release) if !release.message.is_empty() => {
            format!("; BatchRelease {namespace}/{name} says: {}", release.message)
        }
        Some(_) => format!("; see BatchRelease {namespace}/{name}"),
        None => format!("; see {}", rollout.workload),
    }
}

fn words(time: SignedDuration) -> String {
    match time.as_secs() {
        seconds if seconds % 60 == 0 => format!("{} minutes", seconds / 60),
        seconds => format!("{seconds} seconds"),
    }
}
