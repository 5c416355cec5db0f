//! Preparing: the workload is taken over, and what it is a release of is written down.

use jiff::Timestamp;

use super::begin::restart;
use super::count::Count;
use super::decision::Action;
use super::labels::no_need_update;
use super::motion::Motion;
use super::standing::{Remark, Standing};
use super::status::{Phase, Status};
use super::take;
use super::world::{Body, World};

/// Takes the workload over; `None` when that is done and the first batch may begin.
pub(super) fn prepare(
    world: &World,
    status: &mut Status,
    body: &Body,
    now: Timestamp,
) -> Option<Standing> {
    let name = &world.release.workload_name;
    let motion = Motion::new(world, status, body, 0, now);
    if let Some(action) = take::missing(body, motion.account(), true) {
        let message = format!("taking over {} {name} and holding its Pods", world.release.kind);
        return Some(Standing::act(Remark::on("TakingOver", message), action));
    }
    let back = world.release.rollback_in_batches
        && status.stable(body) == Some(&body.workload.update_revision);
    if back {
        let pods = no_need_update(world, body);
        if !pods.is_empty() {
            let message = format!("marking {} Pods that need no update", pods.len());
            return Some(Standing::act(Remark::on("Labelling", message), Action::Label { pods }));
        }
    }
    status.no_need_update = back.then(|| Count::take(world, body, now).updated);
    status.phase = Some(Phase::Progressing);
    status.update_revision.clone_from(&body.workload.update_revision);
    status.stable_revision = status.stable(body).cloned().unwrap_or_default();
    restart(status, 0);
    None
}
