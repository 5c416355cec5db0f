//! What a look starts from: a plan that has changed, a batch to begin again, a release to be ended.

use super::status::{BatchState, Phase, Status};
use super::terms::last_batch;
use super::world::World;

/// The status before anything is done about it.
pub(super) fn begin(world: &World) -> Status {
    let (release, mut status) = (&world.release, world.status.clone());
    status.observed_generation = release.generation;
    if status.phase == Some(Phase::Completed) {
        return status;
    }
    let ends = release.deleted || release.batch_partition.is_none();
    if ends {
        status.phase = Some(Phase::Finalizing);
    }
    let phase = *status.phase.get_or_insert(Phase::Preparing);
    let other_plan = !status.plan_hash.is_empty() && status.plan_hash != release.plan_hash;
    if other_plan && phase == Phase::Progressing {
        // Another id: every batch is gone through again, for its labels.
        let same_id = status.observed_rollout_id == release.rollout_id;
        let allowed = release.batch_partition.unwrap_or(0);
        let batch = if same_id { allowed } else { 0 };
        restart(&mut status, batch);
    }
    status.current_batch = status.current_batch.min(last_batch(release));
    status.plan_hash.clone_from(&release.plan_hash);
    status.observed_rollout_id.clone_from(&release.rollout_id);
    status
}

/// Begins a batch.
pub(super) fn restart(status: &mut Status, batch: u32) {
    status.current_batch = batch;
    status.batch_state = Some(BatchState::Upgrading);
    status.batch_ready_time = None;
    status.last_progress = None;
    status.progressed = 0;
}
