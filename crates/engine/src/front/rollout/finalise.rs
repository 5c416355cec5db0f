//! The end of a release: the workload is given back.
//!
//! The BatchRelease lets it go, then it goes itself, and the mark is the last that goes: until then the
//! webhook holds what a user changes.

use super::status::Finalising;
use super::world::Policy;
use super::{Action, ReleasePhase, Turn, change, progress};

/// Why it is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// All steps are done.
    Succeeded,
    /// It runs the stable revision again.
    RolledBack,
    /// `disabled: true`.
    Disabled,
    /// The Rollout goes.
    Deleted,
}

/// Gives the workload back, one write at a time; whether that is done. It is read off what is there, not
/// off the status.
pub(super) fn give_back(turn: &mut Turn<'_>, why: Why) -> bool {
    let policy = if why == Why::Deleted { Policy::Immediate } else { Policy::WaitResume };
    let freeze = why == Why::Deleted && turn.world.settings.freeze_on_deletion;
    if let Some(release) = turn.release() {
        let done = release.phase == Some(ReleasePhase::Completed) || turn.workload().is_none();
        if done || release.deleting {
            at(turn, Finalising::ReleaseWorkloadControl);
            progress::delete(turn, release.deleting);
            return false;
        }
        warn(turn, why, freeze);
        at(turn, Finalising::ResumeWorkload);
        if release.plan.partition.is_some() {
            turn.act(Action::Promote(policy));
        } else {
            turn.wait("the BatchRelease is to let the workload go".to_owned());
        }
        return false;
    }
    let end = matches!(why, Why::Succeeded | Why::RolledBack);
    if let Some(workload) = turn.led().filter(|it| it.marked || (it.held && !freeze))
        // A mark that another change has set already is not this release's.
        && !(end && change::changed(turn, workload))
    {
        warn(turn, why, freeze);
        at(turn, Finalising::ReleaseWorkloadControl);
        turn.act(Action::Release { freeze });
        return false;
    }
    at(turn, Finalising::End);
    true
}

fn at(turn: &mut Turn<'_>, step: Finalising) {
    if let Some(canary) = &mut turn.status.canary {
        canary.finalising = Some(step);
    }
}

/// Who ends a release half-way has the workload's own controller go on with it: told with the first step
/// of the end.
fn warn(turn: &mut Turn<'_>, why: Why, freeze: bool) {
    let step = turn.status.canary.as_ref().and_then(|canary| canary.finalising);
    if matches!(step, Some(Finalising::ResumeWorkload | Finalising::ReleaseWorkloadControl)) {
        return;
    }
    let Some(workload) = turn.workload().filter(|workload| workload.old > 0) else { return };
    let (old, replicas, name) = (workload.old, workload.replicas, &turn.world.rollout.workload);
    let text = match why {
        Why::Succeeded | Why::RolledBack => return,
        _ if freeze && !workload.in_rollback => format!(
            "{old} of {replicas} Pods of {name} run the old revision and stay there: it is left held"
        ),
        Why::Disabled | Why::Deleted => format!(
            "{old} of {replicas} Pods of {name} run the old revision: its own controller updates them from \
             here on, without steps"
        ),
    };
    turn.tell("WorkloadReleased", true, text);
}
