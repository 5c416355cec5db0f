//! The front of `BatchRelease`: batch after batch, with or without a Rollout.
//!
//! A decision goes through the same questions in the same order: is the release over, can its workload be
//! served, whose is it, is it being given back, has its controller seen it, is it still the revision that
//! this is a release of; and else, by phase: is it taken over and held, and which write does its batch
//! need next.

pub mod world;
pub mod status;
pub mod decision;
mod begin;
mod terms;
mod count;
mod labels;
mod standing;
mod motion;
mod take;
mod prepare;
mod advance;
mod finish;
mod clock;
mod describe;
mod tell;

use jiff::Timestamp;

use crate::front::report::pods;
pub use decision::{Action, Decision, Held, Label, Mark, Original};
pub use status::{BatchState, Change, Condition, ConditionKind, Phase, Status};
pub use take::{is_held, original};
pub use tell::news;
pub use world::{Body, Control, Deployment, Machinery, Marks, Release, Rolling, Target, World};

use advance::advance;
use begin::begin;
use clock::{gate, run_clock, wake};
use count::Count;
use describe::{announce, conditions};
use finish::{completed, finish};
use motion::Motion;
use prepare::prepare;
use standing::{Remark, Standing};
use terms::target;

/// Decides about one release.
pub fn decide(world: &World, now: Timestamp) -> Decision {
    let mut status = begin(world);
    let mut standing = stand(world, &mut status, now);
    let early = gate(world, &mut standing, now);
    announce(&mut status, world, standing.action.as_ref(), now);
    run_clock(&mut status, world, &standing, now);
    status.message.clone_from(&standing.remark.message);
    status.conditions = conditions(world, &status, &standing, now);
    let wake = wake(world, &status, &standing, early, now);
    Decision { status, action: standing.action, wake }
}

fn stand(world: &World, status: &mut Status, now: Timestamp) -> Standing {
    let release = &world.release;
    let phase = status.phase.unwrap_or(Phase::Preparing);
    if phase == Phase::Completed {
        let message = world.status.message.clone();
        let remark = Remark::rest("Completed", message);
        return match release.deleted && release.finalizer {
            true => Standing::act(remark, Action::RemoveFinalizer),
            false => Standing::new(remark),
        };
    }
    if !release.finalizer && !release.deleted {
        return Standing::act(Remark::on("Beginning", "begins"), Action::AddFinalizer);
    }
    match served(world, phase) {
        Ok(body) => go(world, status, body, phase, now),
        // What cannot be served needs not be given back.
        Err(remark) if phase == Phase::Finalizing => completed(status, remark.message),
        Err(remark) => Standing::new(remark),
    }
}

/// The workload, if it can be served, and is ours or free.
fn served(world: &World, phase: Phase) -> Result<&Body, Remark> {
    let release = &world.release;
    let name = format!("{} {}/{}", release.kind, release.namespace, release.workload_name);
    match &world.target {
        Target::Unsupported => {
            let message = format!("{name} is not of a kind that can be released in batches");
            Err(Remark::degraded("UnsupportedWorkload", message))
        }
        Target::Missing => {
            let message = format!("{name} does not exist; the release goes on when it is back");
            Err(Remark::degraded("WorkloadNotFound", message))
        }
        Target::Found(body) if body.workload.terminating => {
            Err(Remark::degraded("WorkloadNotFound", format!("{name} is being deleted")))
        }
        Target::Found(body) => match (&body.control, wrong(release)) {
            (Control::Other { owner }, _) => {
                let message = format!("{name} belongs to {owner}; delete that one first");
                Err(Remark::degraded("OwnedByAnother", message))
            }
            // However wrong a plan may have become, what was taken is given back.
            (Control::Ours, Some(_)) if phase == Phase::Finalizing => Ok(body),
            (_, Some(remark)) => Err(remark),
            (Control::Free | Control::Ours, None) => Ok(body),
        },
    }
}

/// What is wrong with what is asked for.
fn wrong(release: &Release) -> Option<Remark> {
    if let Some(style) = &release.other_style {
        let message = format!(
            "rollingStyle {style} is not served: only batches by partition are; set it to Partition"
        );
        return Some(Remark::degraded("UnsupportedStyle", message));
    }
    // Where it is let go, nothing is asked for.
    release.batch_partition?;
    if let Some(error) = &release.plan_error {
        let message = format!("releasePlan cannot be followed: {error}");
        return Some(Remark::degraded("InvalidPlan", message));
    }
    release.batches.is_empty().then(|| {
        let message = "releasePlan.batches is empty: there is nothing to release";
        Remark::degraded("NoBatches", message)
    })
}

/// The workload is there, and ours to move.
fn go(world: &World, status: &mut Status, body: &Body, phase: Phase, now: Timestamp) -> Standing {
    let seen = body.workload.observed_generation >= body.workload.generation;
    let count = Count::take(world, body, now);
    if seen {
        (status.updated, status.updated_ready) = (count.updated, count.ready);
        status.observed_replicas = Some(body.workload.replicas);
    }
    if phase == Phase::Finalizing {
        return finish(world, status, body, now);
    }
    if !seen {
        let message = format!(
            "waiting for the controller of {} {} to see generation {}",
            world.release.kind, world.release.workload_name, body.workload.generation
        );
        return Standing::new(Remark::on("WaitingForController", message));
    }
    let other = phase == Phase::Progressing && !body.is_at(&status.update_revision);
    let turns_back = world.release.rollback_in_batches
        && status.no_need_update.is_none()
        && status.stable(body) == Some(&body.workload.update_revision);
    if other && !turns_back {
        return superseded(world, status, body, now);
    }
    if phase == Phase::Progressing && !other {
        // Begun by another manager, it goes on under our word for it.
        status.update_revision.clone_from(&body.workload.update_revision);
    }
    if phase == Phase::Preparing || other {
        status.phase = Some(Phase::Preparing);
        if let Some(standing) = prepare(world, status, body, now) {
            return standing;
        }
    }
    let standing = advance(world, status, body, count, now);
    surplus(world, status, body, standing)
}

/// The template is no longer the one that this is a release of: nothing of it moves, and whoever changed it
/// replaces this release.
fn superseded(world: &World, status: &mut Status, body: &Body, now: Timestamp) -> Standing {
    let release = &world.release;
    let message = format!(
        "{} {} is at revision {} by now, and this is a release of {}: what has not moved stays, until \
         another release takes over; a Rollout sees to that by itself, without one delete this BatchRelease \
         and create another",
        release.kind, release.workload_name, body.workload.update_revision, status.update_revision
    );
    let seen = status.clone();
    let motion = Motion::new(world, &seen, body, 0, now);
    status.batch_state = Some(BatchState::Upgrading);
    status.batch_ready_time = None;
    let mut standing = Standing::new(Remark::held("TemplateChanged", message));
    standing.action = motion.freeze().map(|(_, action)| action);
    standing
}

/// More Pods have moved than the batch asks for: they are counted, and none is turned back.
fn surplus(world: &World, status: &Status, body: &Body, mut standing: Standing) -> Standing {
    let target = target(&world.release, status, body, status.current_batch);
    let more = status.updated.saturating_sub(target);
    standing.surplus = (more > 0).then(|| {
        format!(
            "{} more than the {target} of batch {} run the new revision; none is turned back",
            pods(more),
            status.current_batch + 1
        )
    });
    standing
}
