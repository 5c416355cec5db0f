//! Whether the StatefulSet stands as asked, and the write that makes it so.

use jiff::Timestamp;

use super::Standing;
use crate::budget::Hold;
use crate::decision::Action;
use crate::mover::{self, Scene, partition};
use crate::status::{Phase, Reason};
use crate::world::{Applied, ApplyRefused, Claim, Strategy, VersionLeak, World};

/// What was last applied to this StatefulSet, by the latest word.
pub(super) fn applied(world: &World) -> Option<&Applied> {
    let words = [&world.outcome.applied, &world.status.applied];
    let this = |applied: &&Applied| world.workload.as_ref().is_none_or(|w| w.uid == applied.uid);
    words.into_iter().flatten().find(this)
}

/// Whether the caches must have seen our last write by now. What they hold is older than that write
/// only because the cluster was set back to an earlier state.
pub(super) fn caught_up(world: &World, now: Timestamp) -> bool {
    world.outcome.acted_at.is_none_or(|at| now.duration_since(at) >= world.settings.slow)
}

pub(super) fn apply_refused(world: &World) -> Option<&ApplyRefused> {
    world.outcome.apply_refused.as_ref().filter(|r| r.hash == world.rollout.desired_hash)
}

/// That a write to the StatefulSet is tried again. It is cheap and may help; the pace is that of
/// `too_early`.
pub(super) fn tried_again(world: &World, standing: &Standing) -> Option<Hold> {
    let refused = apply_refused(world).filter(|_| !standing.phase.is_final())?;
    let writes = match standing.action.as_ref()? {
        Action::Apply { .. } | Action::SetStrategy { .. } | Action::Open { .. } => true,
        Action::Evict { .. } | Action::Delete { .. } => false,
    };
    let (namespace, name) = (&world.rollout.namespace, &world.rollout.workload_name);
    let message = format!("StatefulSet {namespace}/{name} cannot be written: {}", refused.message);
    writes.then(|| Hold::new(Reason::CannotWriteStatefulSet, message))
}

/// No StatefulSet: it is created, unless somebody deleted it.
pub(super) fn absent(world: &World, now: Timestamp) -> Standing {
    let rollout = &world.rollout;
    let place = format!("{}/{}", rollout.namespace, rollout.workload_name);
    let was_there =
        !world.status.workload_name.is_empty() && world.status.phase != Some(Phase::Pending);
    let made = world.outcome.applied.as_ref().is_some_and(|a| a.hash == rollout.desired_hash);
    // One that was seen since is not on its way: somebody deleted it.
    let seen = world.status.workload_name == rollout.workload_name;
    if made && !seen && !caught_up(world, now) {
        let message = format!("StatefulSet {place} was created and is not seen yet");
        return Standing::new(Phase::InProgress, Hold::new(Reason::Creating, message));
    }
    if was_there {
        let message = format!(
            "StatefulSet {place} was deleted; it is created again when the rollout's spec or \
             rolloutIdentity changes"
        );
        return Standing::new(Phase::Failed, Hold::new(Reason::StatefulSetDeleted, message));
    }
    let strategy = match rollout.version_leak {
        VersionLeak::Prevent => Strategy::RollingUpdate { partition: 0 },
        _ => Strategy::OnDelete,
    };
    let hold = Hold::new(Reason::Creating, format!("creating StatefulSet {place}"));
    Standing::act(hold, Action::Apply { strategy })
}

/// The apply that is due, if one is.
pub(super) fn apply(world: &World, scene: &Scene<'_>) -> Option<Standing> {
    let rollout = &world.rollout;
    let (workload, account) = (scene.ground.facts.workload, scene.account);
    let prevent = rollout.version_leak == VersionLeak::Prevent;
    let known = applied(world);
    let asked = known.is_none_or(|a| a.hash != rollout.desired_hash);
    let drifted = !workload.matches && known.is_none_or(|a| a.generation < workload.generation);
    let unclaimed = workload.claim == Claim::Free;
    let strategy_drifted = !prevent && workload.strategy != Strategy::OnDelete;
    if !(asked || drifted || unclaimed || strategy_drifted) {
        return None;
    }
    let place = format!("{}/{}", rollout.namespace, rollout.workload_name);
    let hold = Hold::new(Reason::Applying, format!("applying the spec of StatefulSet {place}"));
    if strategy_drifted {
        return Some(Standing::act(hold, partition::LET_GO));
    }
    if !prevent {
        return Some(Standing::act(hold, Action::Apply { strategy: Strategy::OnDelete }));
    }
    if workload.matches {
        // Nothing of it changes.
        return Some(Standing::act(hold, Action::Apply { strategy: workload.strategy }));
    }
    let grows = rollout.replicas.is_some_and(|replicas| replicas > workload.replicas);
    if workload.template_matches && !grows {
        // There is nothing to hold that is not held: drawn up above Pods that have moved, the partition
        // would bring a lost one of them back at the old revision.
        let strategy = mover::keep(scene.ground, account);
        return Some(Standing::act(hold, Action::Apply { strategy }));
    }
    Some(match partition::hold(scene.ground, rollout.replicas, account) {
        partition::Hand::Apply(strategy) => Standing::act(hold, Action::Apply { strategy }),
        partition::Hand::First(action) => {
            let message = if action == partition::LET_GO {
                format!("letting go of the partition of StatefulSet {place}, which holds nothing")
            } else {
                format!("settling StatefulSet {place} before its partition can hold it")
            };
            Standing::act(Hold::new(Reason::Settling, message), action)
        }
        partition::Hand::Wait(hold) => Standing::new(Phase::InProgress, hold),
    })
}
