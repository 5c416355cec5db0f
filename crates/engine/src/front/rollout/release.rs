//! The BatchRelease that a release stands on: what is asked of it, and what it says.

use crate::front::report::pods;

use super::status::StepState;
use super::world::{BatchRelease, ReleasePlan, Workload};
use super::{Action, BatchState, Flow, ReleasePhase, Turn, progress};

/// What the current step asks for.
fn wanted(turn: &Turn<'_>, workload: &Workload) -> Option<ReleasePlan> {
    let rollout = &turn.world.rollout;
    let canary = turn.status.canary.as_ref()?;
    let rollout_id = canary.observed_rollout_id.clone();
    // What began as a roll back ends as one, though nothing is left to roll back by then, or was already when
    // it was seen.
    let to_stable = canary.canary_revision == canary.stable_revision;
    let began = turn.release().is_some_and(|it| {
        it.plan.rollback_in_batch && it.plan.rollout_id == rollout_id && !it.deleting
    });
    let back = workload.in_rollback || began || (to_stable && !canary.stable_revision.is_empty());
    Some(ReleasePlan {
        batches: turn.steps().iter().map(|step| step.replicas).collect(),
        partition: Some(canary.current_step.saturating_sub(1)),
        rollout_id,
        failure_threshold: rollout.failure_threshold,
        policy: None,
        rollback_in_batch: rollout.rollback_in_batch && workload.rolls_back_in_batches && back,
        paused: false,
    })
}

/// Has the BatchRelease be as the current step asks; `None` where it is.
pub(super) fn keep(turn: &mut Turn<'_>, workload: &Workload) -> Option<Flow> {
    let wanted = wanted(turn, workload)?;
    let Some(release) = turn.release() else { return Some(turn.act(Action::Create(wanted))) };
    // One that lets the workload go cannot be held back any more.
    let over = matches!(release.phase, Some(ReleasePhase::Finalizing | ReleasePhase::Completed));
    if release.deleting || over {
        return Some(progress::delete(turn, release.deleting));
    }
    (!release.as_written || release.plan != wanted).then(|| turn.act(Action::Update(wanted)))
}

/// Has the current step be reached; `None` where it is, and its Pods are ready.
pub(super) fn reach(turn: &mut Turn<'_>, workload: &Workload) -> Option<Flow> {
    if let Some(flow) = keep(turn, workload) {
        return Some(flow);
    }
    let release = turn.release()?;
    let step = turn.status.canary.as_ref()?.current_step;
    let seen = release.plan_seen && release.observed_generation >= release.generation;
    let there = release.batch_state == Some(BatchState::Ready)
        && release.current_batch.saturating_add(1) >= step;
    if seen && there {
        return None;
    }
    let (updated, ready, count) = (release.updated, release.updated_ready, turn.step_count());
    let text = format!("step {step}/{count}: {} updated, {ready} of them ready", pods(updated));
    Some(turn.wait(text))
}

/// Has the batch that is under way stop where it is.
pub(super) fn pause(turn: &mut Turn<'_>) -> Flow {
    match turn.release() {
        Some(release) if !release.plan.paused && !release.deleting => {
            turn.act(Action::Update(ReleasePlan { paused: true, ..release.plan.clone() }))
        }
        _ => Flow::Rest,
    }
}

/// Takes over what the BatchRelease says.
pub(super) fn read(turn: &mut Turn<'_>, workload: &Workload) {
    let Some(release) = turn.release() else { return };
    let Some(canary) = &mut turn.status.canary else { return };
    canary.canary_replicas = release.updated;
    canary.canary_ready_replicas = release.updated_ready;
    canary.message = message(release);
    // Before the first batch no Pod has the label.
    let begun = canary.state != StepState::BeforeStepUpgrade || canary.current_step > 1;
    let known = !workload.pod_template_hash.is_empty();
    if begun && known && workload.is_at(&canary.canary_revision) {
        canary.pod_template_hash.clone_from(&workload.pod_template_hash);
    }
}

/// In the original's words. While a batch is not ready, why not; a ready one has nothing to add but that it
/// has got further than it was asked to.
fn message(release: &BatchRelease) -> String {
    let BatchRelease { batch_state, observed_rollout_id, current_batch, message, .. } = release;
    let ready = *batch_state == Some(BatchState::Ready);
    let (step, state) =
        (current_batch.saturating_add(1), batch_state.map(BatchState::name).unwrap_or_default());
    let mut text =
        format!("BatchRelease is at state {state}, rollout-id {observed_rollout_id}, step {step}");
    let why = Some(message).filter(|message| !ready && !message.is_empty());
    for more in why.into_iter().chain(&release.surplus) {
        text.push_str(", ");
        text.push_str(more);
    }
    text
}
