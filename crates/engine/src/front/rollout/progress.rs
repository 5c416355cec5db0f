//! A release, by the reason of the condition Progressing.

use super::finalise::{self, Why};
use super::status::{Canary, ConditionKind, Phase, Reason, StepState};
use super::world::Workload;
use super::{Action, Flow, Turn, change, release, step};

/// Where the release goes from here.
pub(super) fn next(turn: &mut Turn<'_>, workload: &Workload) -> Flow {
    let before = turn.status.condition(ConditionKind::Progressing).map(|it| it.reason);
    match before {
        Some(Reason::Initializing) => initialise(turn, workload),
        Some(Reason::Finalising) => complete(turn, workload),
        Some(Reason::Cancelling) => cancel(turn, workload),
        Some(Reason::Completed) => {
            turn.status.phase = Some(Phase::Healthy);
            Flow::Again
        }
        _ if turn.status.canary.is_none() => {
            turn.go_on(Reason::Initializing, "Rollout is in Progressing")
        }
        _ => roll(turn, workload, before == Some(Reason::Paused)),
    }
}

/// Anchors the release to what is there, at its first step.
fn initialise(turn: &mut Turn<'_>, workload: &Workload) -> Flow {
    if !workload.marked {
        return hold_again(turn);
    }
    if let Some(release) = turn.release() {
        // Of a release before this one.
        return delete(turn, release.deleting);
    }
    if let Some(flow) = change::taken_back(turn, workload) {
        return flow;
    }
    let fresh = Canary {
        observed_workload_generation: workload.generation,
        observed_rollout_id: workload.id(&workload.update_revision),
        rollout_hash: turn.world.rollout.hash.clone(),
        stable_revision: workload.stable_revision.clone(),
        canary_revision: workload.update_revision.clone(),
        current_step: 1,
        next_step: turn.after(1),
        state: StepState::BeforeStepUpgrade,
        last_update: turn.status.canary.as_ref().and_then(|canary| canary.last_update),
        ..Canary::default()
    };
    if turn.status.canary.as_ref() != Some(&fresh) {
        turn.status.canary = Some(Canary { last_update: Some(turn.now), ..fresh });
    }
    let since = turn.status.condition(ConditionKind::Progressing).map(|it| it.updated);
    let until = since.and_then(|at| at.checked_add(turn.world.settings.initial_wait).ok());
    if until.is_some_and(|until| until > turn.now) {
        turn.wake_at(until);
        return Flow::Rest;
    }
    turn.go_on(Reason::InRolling, "Rollout is in Progressing")
}

/// Goes through the steps, unless something else has come.
fn roll(turn: &mut Turn<'_>, workload: &Workload, was_paused: bool) -> Flow {
    release::read(turn, workload);
    if let Some(flow) = change::seen(turn, workload) {
        return flow;
    }
    if !workload.marked {
        return hold_again(turn);
    }
    if turn.world.rollout.paused {
        let message = "Rollout has been paused, you can resume it by kube-cli";
        turn.stands(Reason::Paused, message.to_owned());
        return release::pause(turn);
    }
    if was_paused {
        return turn.go_on(Reason::InRolling, "Rollout is in Progressing");
    }
    if turn.status.canary.as_ref().is_some_and(|canary| canary.state == StepState::Completed) {
        let message = "Rollout has been completed and some closing work is being done";
        return turn.go_on(Reason::Finalising, message);
    }
    step::next(turn, workload)
}

/// All steps are done. What the last of them left over goes on by itself, and is awaited.
fn complete(turn: &mut Turn<'_>, workload: &Workload) -> Flow {
    let held = turn.release().is_some_and(|it| it.plan.partition.is_some() && !it.deleting);
    if held && change::changed(turn, workload) {
        // Another change before this one was let go: letting go would let that one go too.
        return turn.go_on(Reason::InRolling, "Rollout is in Progressing");
    }
    end(turn, workload, Why::Succeeded)
}

fn cancel(turn: &mut Turn<'_>, workload: &Workload) -> Flow {
    end(turn, workload, Why::RolledBack)
}

fn end(turn: &mut Turn<'_>, workload: &Workload, why: Why) -> Flow {
    if !finalise::give_back(turn, why) {
        return Flow::Rest;
    }
    if !workload.promoted() && !change::changed(turn, workload) {
        let (updated, replicas) = (workload.updated, workload.replicas);
        return turn.wait(format!("{updated} of {replicas} Pods run what was released"));
    }
    let succeeded = why == Why::Succeeded;
    turn.go_on(
        Reason::Completed,
        if succeeded {
            "Rollout progressing has been completed"
        } else {
            "Rollout progressing has been canceled"
        },
    );
    turn.status.say(ConditionKind::Succeeded, succeeded, Reason::None, "", turn.now);
    turn.status.phase = Some(Phase::Healthy);
    if workload.marked {
        // The next change is there already.
        turn.wake_at(Some(turn.now));
    }
    Flow::Rest
}

/// Somebody took the mark away, and with it what protects the release: a replace of the whole object.
fn hold_again(turn: &mut Turn<'_>) -> Flow {
    let text = format!(
        "the annotation of the release was removed from {}: it is put back",
        turn.world.rollout.workload
    );
    turn.tell("MarkRemoved", true, text);
    turn.act(Action::Hold)
}

/// Has the BatchRelease gone, or going.
pub(super) fn delete(turn: &mut Turn<'_>, deleting: bool) -> Flow {
    match turn.release() {
        Some(release) if !deleting => turn.act(Action::Delete(release.uid.clone())),
        _ => turn.wait("the BatchRelease is to go".to_owned()),
    }
}
