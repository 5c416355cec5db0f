//! Times: what an action waits for, when a batch is called stuck, when the next look is due.

use jiff::{SignedDuration, Timestamp};

use super::decision::Action;
use super::standing::{Course, Remark, Standing};
use super::status::{BatchState, Phase, Status};
use super::world::{Release, Target, World};
use crate::budget;
use crate::decision::Action as Motion;
use crate::mover;

/// Holds an action back that comes too early, and says until when.
pub(super) fn gate(world: &World, standing: &mut Standing, now: Timestamp) -> Option<Timestamp> {
    let action = standing.action.as_ref()?;
    let until = if let Some((until, hold)) = budget::busy(&world.outcome, now) {
        standing.remark = Remark::from(hold);
        Some(until)
    } else if let Some(refused) = world.outcome.apply_refused.as_ref().filter(|_| writes(action)) {
        let Release { kind, workload_name, .. } = &world.release;
        let message = format!("{kind} {workload_name} cannot be written: {}", refused.message);
        standing.remark = Remark::degraded("CannotWriteWorkload", message);
        after(world.outcome.acted_at, world.settings.slow, now)
    } else {
        unseen(world, now)
    };
    if until.is_some() {
        standing.action = None;
    }
    until
}

/// Whether it is a write that may have been refused for what it says; evictions are refused Pod by Pod.
fn writes(action: &Action) -> bool {
    !matches!(action, Action::Move(Motion::Evict { .. } | Motion::Delete { .. }))
}

/// So long after something, if that is still to come.
fn after(at: Option<Timestamp>, pause: SignedDuration, now: Timestamp) -> Option<Timestamp> {
    at?.checked_add(pause).ok().filter(|at| *at > now)
}

/// What was written is not in the caches: what it would be decided on is of before. After a while it must
/// be, or the cluster was set back to an earlier state.
fn unseen(world: &World, now: Timestamp) -> Option<Timestamp> {
    after(world.outcome.acted_at.filter(|_| world.unseen), world.settings.slow, now)
}

/// Whether the release waits for something that it may wait for too long.
fn awaits(status: &Status, standing: &Standing) -> bool {
    let goes_on = matches!(status.phase, Some(Phase::Progressing | Phase::Finalizing));
    let ready = status.batch_state == Some(BatchState::Ready);
    let paused = standing.remark.is_paused() || standing.remark.word == "TemplateChanged";
    goes_on && !paused && !(ready && status.phase == Some(Phase::Progressing))
}

/// The clock runs while a batch is not ready, and starts again with each Pod that gets on.
pub(super) fn run_clock(status: &mut Status, world: &World, standing: &Standing, now: Timestamp) {
    if !awaits(status, standing) {
        status.last_progress = None;
        status.progressed = 0;
        return;
    }
    let progress = status.updated.saturating_add(status.updated_ready);
    let first = status.last_progress.is_none() || world.status.phase != status.phase;
    if first || progress > status.progressed {
        status.progressed = progress;
        status.last_progress = Some(now);
    }
}

/// When the batch is called stuck, if nothing gets on until then.
pub(super) fn stuck_at(world: &World, status: &Status) -> Option<Timestamp> {
    status.last_progress?.checked_add(world.release.progress_deadline).ok()
}

pub(super) fn wake(
    world: &World,
    status: &Status,
    standing: &Standing,
    early: Option<Timestamp>,
    now: Timestamp,
) -> Option<Timestamp> {
    let soon = now.checked_add(world.settings.interval).ok();
    let slow = now.checked_add(world.settings.slow).ok();
    if standing.action.is_some() || standing.again {
        return soon;
    }
    if early.is_some() {
        return early.min(slow);
    }
    match standing.remark.course {
        Course::Rest => return None,
        Course::Degraded => return slow,
        Course::On | Course::Held => {}
    }
    if standing.remark.is_paused() {
        return None;
    }
    let ripe = world.pods.iter().filter_map(|pod| {
        let Target::Found(body) = &world.target else { return None };
        pod.ready_since?.checked_add(body.workload.min_ready).ok()
    });
    ripe.chain(stuck_at(world, status))
        .chain(world.outcome.hold_until)
        .chain(mover::refusal_over(&world.outcome, &world.settings))
        .chain(slow)
        .filter(|at| *at > now)
        .min()
}
