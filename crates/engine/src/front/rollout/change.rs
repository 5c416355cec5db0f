//! What may change under a release: its template, forth or back, and its plan. All of it is seen while
//! paused too.

use super::status::{ConditionKind, Reason, StepState};
use super::world::Workload;
use super::{Flow, Turn, progress};

/// Whether the template is another than the one that is released.
pub(super) fn changed(turn: &Turn<'_>, workload: &Workload) -> bool {
    let canary = turn.status.canary.as_ref();
    canary.is_some_and(|canary| !workload.is_at(&canary.canary_revision))
}

/// What follows from a change; `None` where nothing changed.
pub(super) fn seen(turn: &mut Turn<'_>, workload: &Workload) -> Option<Flow> {
    if changed(turn, workload) {
        let in_batches = turn.world.rollout.rollback_in_batch && workload.rolls_back_in_batches;
        return Some(match (workload.in_rollback, in_batches) {
            (true, false) => rolled_back(turn, workload),
            (true, true) => rolls_back(turn, workload),
            (false, _) => released_again(turn),
        });
    }
    let hash = &turn.world.rollout.hash;
    let canary = turn.status.canary.as_ref()?;
    (canary.rollout_hash != *hash).then(|| planned_again(turn, workload))
}

/// What follows where a change is taken back before its first step; `None` where it is not.
pub(super) fn taken_back(turn: &mut Turn<'_>, workload: &Workload) -> Option<Flow> {
    let canary = turn.status.canary.as_ref()?;
    // The release before this one has come further.
    let anchored = canary.state == StepState::BeforeStepUpgrade && canary.finalising.is_none();
    let in_batches = turn.world.rollout.rollback_in_batch && workload.rolls_back_in_batches;
    let back = anchored && workload.in_rollback && changed(turn, workload) && !in_batches;
    back.then(|| rolled_back(turn, workload))
}

/// Back to the stable revision, at once.
fn rolled_back(turn: &mut Turn<'_>, workload: &Workload) -> Flow {
    take(turn, workload);
    turn.tell("Progressing", false, "workload has been rollback, then rollout is canceled");
    let message = "The workload has been rolled back and the rollout process will be canceled";
    turn.go_on(Reason::Cancelling, message)
}

/// Back to the stable revision, through the steps.
fn rolls_back(turn: &mut Turn<'_>, workload: &Workload) -> Flow {
    take(turn, workload);
    let (next, hash, now) = (turn.after(1), turn.world.rollout.hash.clone(), turn.now);
    if let Some(canary) = &mut turn.status.canary {
        canary.current_step = 1;
        canary.next_step = next;
        canary.state = StepState::BeforeStepUpgrade;
        canary.rollout_hash = hash;
        canary.last_update = Some(now);
    }
    Flow::Again
}

/// Takes the template of now for what is released.
pub(super) fn take(turn: &mut Turn<'_>, workload: &Workload) {
    if let Some(canary) = &mut turn.status.canary {
        canary.canary_revision.clone_from(&workload.update_revision);
        canary.observed_workload_generation = workload.generation;
        canary.observed_rollout_id = workload.id(&workload.update_revision);
    }
}

/// Another change on top: the BatchRelease goes, without letting the workload go, and all begins again.
/// The old revision stays in the status until then, so that a crash in between changes nothing.
fn released_again(turn: &mut Turn<'_>) -> Flow {
    let message = "Workload is continuous release";
    if let Some(release) = turn.release() {
        turn.status.message = message.to_owned();
        return progress::delete(turn, release.deleting);
    }
    let text = "workload continuous publishing canaryRevision, then restart publishing";
    turn.tell("Progressing", false, text);
    turn.status.canary = None;
    turn.status.unsay(ConditionKind::Progressing);
    turn.go_on(Reason::Initializing, message)
}

/// Other steps: on with the first that is not behind what the batches allow already, the current one
/// before all others.
fn planned_again(turn: &mut Turn<'_>, workload: &Workload) -> Flow {
    let (steps, count) = (turn.steps(), turn.step_count());
    let allowed = turn.release().and_then(|release| {
        let batch = usize::try_from(release.plan.partition?).ok()?;
        Some(release.plan.batches.get(batch)?.of(workload.replicas))
    });
    let hash = turn.world.rollout.hash.clone();
    let Some(canary) = &mut turn.status.canary else { return Flow::Rest };
    canary.rollout_hash = hash;
    let current = canary.current_step.clamp(1, count.max(1));
    let size = |step: &u32| {
        let step = usize::try_from(*step - 1).ok().and_then(|index| steps.get(index));
        step.map_or(0, |step| step.replicas.of(workload.replicas))
    };
    let step = std::iter::once(current)
        .chain(1..=count)
        .find(|step| size(step) >= allowed.unwrap_or(0))
        .unwrap_or(count.max(1));
    go_to(turn, workload, step)
}

/// To this step, forwards or backwards. Where as many Pods are updated as it asks for, it only has to
/// be waited for.
pub(super) fn go_to(turn: &mut Turn<'_>, workload: &Workload, step: u32) -> Flow {
    let next = turn.after(step);
    let index = usize::try_from(step.saturating_sub(1)).unwrap_or(usize::MAX);
    let size = turn.steps().get(index).map(|step| step.replicas.of(workload.replicas));
    let (started, now) = (turn.release().is_some(), turn.now);
    let Some(canary) = &mut turn.status.canary else { return Flow::Rest };
    canary.current_step = step;
    canary.next_step = next;
    canary.last_update = Some(now);
    canary.state = if started && size == Some(canary.canary_replicas) {
        StepState::StepTrafficRouting
    } else {
        StepState::BeforeStepUpgrade
    };
    Flow::Again
}
