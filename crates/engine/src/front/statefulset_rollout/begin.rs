//! What begins a new rollout: a change of percent, StatefulSet or identity, and nothing else.

use jiff::Timestamp;

use crate::status::Phase;
use crate::world::World;

/// A change of percent, StatefulSet or identity begins a new rollout: the clocks start again, what was
/// given up is taken up again. `None` where nothing begins.
pub(super) fn begin(world: &World, now: Timestamp) -> Option<World> {
    let (rollout, status) = (&world.rollout, &world.status);
    let template = status.desired_hash != rollout.desired_hash;
    let identity = status.identity != rollout.identity;
    let percent = status.percent_requested != Some(rollout.percent.get());
    let recreate = status.deleted && status.observed_generation != rollout.generation;
    let first = status.phase.is_none();
    let foreign = world.workload.as_ref().is_some_and(|workload| {
        workload.observed_generation >= workload.generation
            && !status.update_revision.is_empty()
            && workload.update_revision != status.update_revision
    });
    if !(first || template || identity || percent || recreate || foreign) {
        return None;
    }
    let mut renewed = world.clone();
    let asked = first || template || identity || percent || recreate;
    if asked {
        // What was refused before is asked for again.
        renewed.outcome.apply_refused = None;
    }
    let status = &mut renewed.status;
    if asked || status.phase.is_some_and(|phase| phase == Phase::Done) {
        status.phase = Some(Phase::Pending);
        status.reason_code = None;
    }
    if asked && one_revision(world, &status.update_revision) {
        status.stable_revision.clone_from(&status.update_revision);
    }
    if asked && world.workload.is_none() && !status.workload_name.is_empty() {
        // Whatever was there is not missed: it is to be created, and what was applied went with it.
        status.workload_name.clear();
        renewed.outcome.applied = None;
    }
    if identity {
        for row in &mut status.pods {
            row.leaked = false;
        }
    }
    status.deleted = false;
    status.consul_services.clear();
    status.desired_hash.clone_from(&rollout.desired_hash);
    status.identity.clone_from(&rollout.identity);
    status.percent_requested = Some(rollout.percent.get());
    status.last_progress = Some(now);
    status.progressed = 0;
    status.paused_seconds = 0;
    status.stopped_since = None;
    Some(renewed)
}

/// Whether all Pods run this revision: what came before it is no longer stable.
fn one_revision(world: &World, revision: &str) -> bool {
    !world.pods.is_empty() && world.pods.iter().all(|pod| pod.revision == revision)
}
