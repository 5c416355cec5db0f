//! Finalizing: the workload is given back.
//!
//! Usually that is one write: the user's own fields back, our marks off, and the workload's own controller
//! does the rest. Where the user's own strategy is `OnDelete` nobody would, so that what has not moved is
//! moved first; so are broken Pods, which the controller of a StatefulSet would wait for. A release that is
//! being deleted waits for nothing.

use jiff::Timestamp;

use super::decision::{Action, Original};
use super::motion::{Motion, Next};
use super::standing::{Remark, Standing};
use super::status::{Phase, Status};
use super::take::{is_held, original};
use super::world::{Body, Control, World};
use crate::world::Strategy;

/// Gives the workload back, or says that it is.
pub(super) fn finish(world: &World, status: &mut Status, body: &Body, now: Timestamp) -> Standing {
    let release = &world.release;
    let name = format!("{} {}", release.kind, release.workload_name);
    // Taken away by somebody else in mid-release, our name says nothing.
    let ours = body.control == Control::Ours || world.status.phase == Some(Phase::Progressing);
    // A Rollout that replaces one release by another holds the workload all the while.
    let replaced = release.batch_partition.is_some() && body.in_progressing;
    // Held half-way back, a workload would be at two revisions for good.
    let back = status.stable(body) == Some(&body.workload.update_revision);
    // Held for the release that comes next: its template would go out without steps.
    let released = &status.update_revision;
    let other = !released.is_empty() && !body.is_at(released);
    // What goes back half-way is a roll back, and goes at once; once all had moved it is another release.
    let at_once = back && (!through(world, released) || original(body) == ON_DELETE);
    let changed = body.in_progressing && other && !at_once;
    if replaced || changed || (world.keep_paused && release.immediate && !back) {
        if body.control != Control::Ours {
            return completed(status, format!("{name} is let go as it is held"));
        }
        let message = format!("letting {name} go as it is held");
        let action = Action::Release { restore: None };
        return Standing::act(Remark::on("LettingGo", message), action);
    }
    if !ours && !is_held(body) {
        return completed(status, format!("{name} is given back"));
    }
    // What bears no name of ours and a Rollout's mark is the Rollout's: what we wrote to it would be taken
    // for somebody who lets go of it.
    if body.control == Control::Free && body.in_progressing {
        return completed(status, format!("{name} is its Rollout's to give back"));
    }
    let restore = original(body);
    if !release.deleted
        && let Some(standing) = first(world, status, body, restore, now)
    {
        return standing;
    }
    let message = format!("giving {name} back with its own strategy");
    let action = Action::Release { restore: Some(restore) };
    Standing::act(Remark::on("GivingBack", message), action)
}

/// The user's own strategy by which nobody moves a Pod.
const ON_DELETE: Original = Original::Strategy(Strategy::OnDelete);

/// Whether every Pod runs what was released.
fn through(world: &World, released: &str) -> bool {
    world.pods.iter().all(|pod| pod.revision == released && pod.deletion.is_none())
}

/// What nobody would move once the workload is given back.
fn first(
    world: &World,
    status: &Status,
    body: &Body,
    restore: Original,
    now: Timestamp,
) -> Option<Standing> {
    if body.workload.observed_generation < body.workload.generation {
        let message = format!(
            "waiting for the controller of {} {} to see generation {}",
            world.release.kind, world.release.workload_name, body.workload.generation
        );
        return Some(Standing::new(Remark::on("WaitingForController", message)));
    }
    let motion = Motion::new(world, status, body, body.workload.replicas, now);
    if restore != ON_DELETE {
        return match motion.broken() {
            Next::Act(remark, action) => Some(Standing::act(remark, action)),
            Next::Wait(remark) => Some(Standing::new(remark)),
            Next::Rest => None,
        };
    }
    match motion.advance() {
        Next::Act(remark, action) => Some(Standing::act(remark, action)),
        Next::Wait(remark) if motion.moved() < body.workload.replicas => {
            Some(Standing::new(remark))
        }
        Next::Wait(_) | Next::Rest => None,
    }
}

/// Nothing is left to do.
pub(super) fn completed(status: &mut Status, message: String) -> Standing {
    status.phase = Some(Phase::Completed);
    Standing::new(Remark::rest("Completed", message))
}
