//! The front of `StatefulsetRollout`: one target, by percent.
//!
//! A decision goes through the same questions in the same order: whose is the StatefulSet, does it
//! stand as asked, has its controller seen it, is what was asked for reached, given up, paused, and
//! else: which move comes next.

pub mod terms;
mod begin;
mod spec;
mod advance;
mod clock;
mod describe;

use jiff::Timestamp;

use crate::account::Account;
use crate::budget::{self, Hold};
use crate::decision::{Action, Decision};
use crate::front::report::conditions;
use crate::mover::{Mover, Scene};
use crate::status::{Phase, Reason, Status};
use crate::world::{Claim, VersionLeak, World};

use advance::{advance, still_lost};
use begin::begin;
use clock::{deadline, run_clock, too_early, wake};
use describe::{announce, describe_world};
use spec::{absent, applied, apply, apply_refused, caught_up, tried_again};
use terms::ground;

/// Decides about one rollout.
pub fn decide(world: &World, now: Timestamp) -> Decision {
    match begin(world, now) {
        Some(renewed) => step(&renewed, now),
        None => step(world, now),
    }
}

/// Where a rollout stands after one look.
struct Standing {
    phase: Phase,
    hold: Hold,
    action: Option<Action>,
}

impl Standing {
    fn new(phase: Phase, hold: Hold) -> Self {
        Self { phase, hold, action: None }
    }

    fn act(hold: Hold, action: Action) -> Self {
        Self { phase: Phase::InProgress, hold, action: Some(action) }
    }
}

fn step(world: &World, now: Timestamp) -> Decision {
    let ground = world.workload.as_ref().map(|workload| ground(world, workload));
    let account = ground.as_ref().map(|ground| Account::take(ground, now));
    let scene = ground.as_ref().zip(account.as_ref());
    let scene = scene.map(|(ground, account)| Scene { ground, account, now });
    let mut status = world.status.clone();
    describe_world(&mut status, world, account.as_ref(), now);
    let mut standing = stand(world, &status, scene.as_ref(), now);
    if let Some(hold) = tried_again(world, &standing) {
        standing.hold = hold;
    }
    run_clock(&mut status, account.as_ref(), &standing, now);
    if let Some(given_up) = deadline(world, &status, scene.as_ref(), &standing, now) {
        standing = given_up;
    }
    let mut early = too_early(world, now).filter(|_| standing.action.is_some());
    let busy = budget::busy(&world.outcome, now).filter(|_| standing.action.is_some());
    if let Some((until, hold)) = busy {
        early = Some(until);
        if !standing.phase.is_final() {
            standing.hold = hold;
        }
    }
    if early.is_some() {
        standing.action = None;
    }
    announce(&mut status, world, standing.action.as_ref(), now);
    status.paused = standing.phase == Phase::Paused;
    let given_up = standing.phase == Phase::Failed;
    status.deleted = given_up && standing.hold.reason == Reason::StatefulSetDeleted;
    status.phase = Some(standing.phase);
    status.reason.clone_from(&standing.hold.message);
    status.reason_code = Some(standing.hold.reason);
    status.conditions = conditions(world, &status, &standing.hold, now);
    let wake = wake(world, &status, account.as_ref(), &standing, early, now);
    status.reconcile_after = wake;
    status.last_updated = Some(now);
    Decision { status, action: standing.action, wake }
}

fn stand(world: &World, status: &Status, scene: Option<&Scene<'_>>, now: Timestamp) -> Standing {
    let rollout = &world.rollout;
    let before = world.status.phase.unwrap_or(Phase::Pending);
    if before == Phase::Failed {
        let reason = world.status.reason_code.unwrap_or(Reason::ProgressDeadlineExceeded);
        let mut standing = Standing::new(before, Hold::new(reason, world.status.reason.clone()));
        standing.action = given_up(world, scene);
        return standing;
    }
    if let Some(owner) = world.other_owner() {
        let message = format!(
            "StatefulSet {}/{} belongs to {owner}; delete that one, or name another StatefulSet",
            rollout.namespace, rollout.workload_name
        );
        let phase = if before.is_final() { before } else { Phase::Pending };
        return Standing::new(phase, Hold::new(Reason::OwnedByAnother, message));
    }
    if let Some(message) = world.taken() {
        let phase = if before.is_final() { before } else { Phase::Pending };
        return Standing::new(phase, Hold::new(Reason::OwnedByAnother, message));
    }
    if let Some(refused) = apply_refused(world).filter(|refused| refused.invalid) {
        let message = format!(
            "the API server refuses StatefulSet {}/{}: {}; correct spec.statefulset",
            rollout.namespace, rollout.workload_name, refused.message
        );
        return Standing::new(Phase::Failed, Hold::new(Reason::InvalidStatefulSet, message));
    }
    let (Some(workload), Some(scene)) = (&world.workload, scene) else {
        return absent(world, now);
    };
    if workload.terminating {
        let message =
            format!("StatefulSet {}/{} is being deleted", rollout.namespace, rollout.workload_name);
        return Standing::new(Phase::InProgress, Hold::new(Reason::StatefulSetDeleted, message));
    }
    let ours = applied(world).is_none_or(|applied| workload.generation >= applied.generation);
    let behind = !(ours || caught_up(world, now));
    // The partition that stands goes along with an apply: one that is about to change is not known.
    let known = !behind || rollout.version_leak != VersionLeak::Prevent;
    if let Some(standing) = apply(world, scene).filter(|_| known) {
        return still_lost(world, standing);
    }
    if behind || workload.observed_generation < workload.generation {
        let message = format!(
            "waiting for the StatefulSet controller to see generation {} of StatefulSet {}/{}",
            workload.generation, rollout.namespace, rollout.workload_name
        );
        let hold = Hold::new(Reason::WaitingForController, message);
        return still_lost(world, Standing::new(Phase::InProgress, hold));
    }
    advance(world, scene, status, before)
}

/// What is given up is not gone on with by the StatefulSet controller either.
fn given_up(world: &World, scene: Option<&Scene<'_>>) -> Option<Action> {
    let (workload, scene) = (world.workload.as_ref()?, scene?);
    let ours = workload.claim == Claim::Ours && !workload.terminating;
    let known = workload.observed_generation >= workload.generation;
    Mover::of(scene.ground).freeze(scene).filter(|_| ours && known)
}
