//! Times: when a rollout is given up, how far apart actions are, when the next look is due.

use jiff::{SignedDuration, Timestamp};

use super::Standing;
use super::spec::apply_refused;
use crate::account::Account;
use crate::budget::Hold;
use crate::front::describe;
use crate::mover::{self, Scene};
use crate::status::{Phase, Reason, Status};
use crate::world::World;

/// The deadline's clock runs only while the rollout waits for Pods that it moved itself.
pub(super) fn run_clock(
    status: &mut Status,
    account: Option<&Account<'_>>,
    standing: &Standing,
    now: Timestamp,
) {
    let Some(account) = account else { return };
    let goes_on = status.phase.is_some_and(Phase::is_final) && !standing.phase.is_final();
    if goes_on || status.last_progress.is_none() {
        // As when a scaled set is to move more Pods: its clock starts here.
        status.last_progress = Some(now);
        status.progressed = 0;
        status.paused_seconds = 0;
    }
    let progress = account.moved().saturating_add(account.good());
    if progress > status.progressed {
        status.progressed = progress;
        status.last_progress = Some(now);
        status.paused_seconds = 0;
        status.stopped_since = None;
    }
    let waits = account.awaited() > 0 && standing.phase == Phase::InProgress;
    match (waits, status.stopped_since) {
        (true, Some(since)) => {
            status.paused_seconds += now.duration_since(since).as_secs().max(0);
            status.stopped_since = None;
        }
        (false, None) if !standing.phase.is_final() => status.stopped_since = Some(now),
        _ => {}
    }
    if standing.phase.is_final() {
        status.stopped_since = None;
    }
}

/// When the rollout is given up, if it waits that long.
fn deadline_at(world: &World, status: &Status) -> Option<Timestamp> {
    if status.stopped_since.is_some() {
        return None;
    }
    let stood_still = SignedDuration::from_secs(status.paused_seconds);
    let patience = world.rollout.progress_deadline.checked_add(stood_still)?;
    status.last_progress?.checked_add(patience).ok()
}

pub(super) fn deadline(
    world: &World,
    status: &Status,
    scene: Option<&Scene<'_>>,
    standing: &Standing,
    now: Timestamp,
) -> Option<Standing> {
    let account = scene?.account;
    if account.awaited() == 0 {
        return None;
    }
    if standing.phase != Phase::InProgress || standing.action.is_some() {
        return None;
    }
    deadline_at(world, status).filter(|at| *at <= now)?;
    let worst = account.worst().map(describe).unwrap_or_default();
    let message = format!(
        "no progress for {} s with {} of {} Pods not good; {worst}; roll back by applying the earlier \
         template, or try again with a new rolloutIdentity",
        world.rollout.progress_deadline.as_secs(),
        account.awaited(),
        account.replicas()
    );
    let hold = Hold::new(Reason::ProgressDeadlineExceeded, message);
    let action = super::given_up(world, scene);
    Some(Standing { phase: Phase::Failed, hold, action })
}

/// The next action comes no earlier than one interval after the last; a change of the rollout at once.
pub(super) fn too_early(world: &World, now: Timestamp) -> Option<Timestamp> {
    if world.rollout.generation != world.status.observed_generation {
        return None;
    }
    let pause = match apply_refused(world) {
        Some(_) => world.settings.slow,
        None => world.settings.interval,
    };
    let next = world.outcome.acted_at?.checked_add(pause).ok()?;
    (next > now).then_some(next)
}

pub(super) fn wake(
    world: &World,
    status: &Status,
    account: Option<&Account<'_>>,
    standing: &Standing,
    early: Option<Timestamp>,
    now: Timestamp,
) -> Option<Timestamp> {
    if standing.action.is_some() {
        return now.checked_add(world.settings.interval).ok();
    }
    if early.is_some() {
        return early;
    }
    let slow = now.checked_add(world.settings.slow).ok();
    if standing.phase.is_final() && standing.hold.reason != Reason::OwnedByAnother {
        return None;
    }
    let idle = account.is_none_or(|account| account.awaited() == 0);
    if standing.phase == Phase::Paused && idle {
        return None;
    }
    let ripe = account.into_iter().flat_map(|account| &account.slots).filter_map(|slot| {
        let workload = world.workload.as_ref()?;
        let since = slot.pod?.ready_since.filter(|_| !slot.available)?;
        since.checked_add(workload.min_ready).ok()
    });
    let next_pod = status.last_eviction.and_then(|at| {
        let interval = world.rollout.min_eviction_interval;
        (interval > SignedDuration::ZERO).then(|| at.checked_add(interval).ok())?
    });
    ripe.chain(next_pod)
        .chain(deadline_at(world, status))
        .chain(world.outcome.hold_until)
        .chain(mover::refusal_over(&world.outcome, &world.settings))
        .chain(slow)
        .filter(|at| *at > now)
        .min()
}
