//! What a partition leaves to a workload's own controller, and how far that brings it: by counting, at
//! worst, and in another way than the engine does.

use engine::decision::Action as Motion;
use engine::front::batch_release::{Action, Body, Machinery, World};
use engine::nature::{First, Holds, Nature, Places};
use engine::world::{Pod, Strategy, Uid};

/// The update strategy that stands after a write.
pub(crate) fn strategy_after(body: &Body, action: &Action) -> Strategy {
    match action {
        Action::Move(Motion::Open { partition, .. }) => {
            Strategy::RollingUpdate { partition: *partition }
        }
        Action::Move(Motion::SetStrategy { strategy }) => *strategy,
        _ => body.workload.strategy,
    }
}

fn nature(body: &Body) -> Option<Nature> {
    match body.machinery {
        Machinery::Pods { nature, .. } => Some(nature),
        Machinery::Deployment(_) => None,
    }
}

/// The place of a Pod of an ordered set among those that there ought to be.
fn index(body: &Body, pod: &Pod) -> Option<usize> {
    body.workload.ordinals().position(|ordinal| ordinal == pod.ordinal)
}

/// How many Pods stay: at the update revision, and at others.
struct Staying<'a> {
    updated: usize,
    old: Vec<&'a Pod>,
}

fn staying<'a>(world: &'a World, body: &Body, nature: Nature, taken: &[Uid]) -> Staying<'a> {
    let stays = |pod: &&Pod| {
        let goes = pod.deletion.is_some()
            || world.outcome.accepted.contains(&pod.uid)
            || taken.contains(&pod.uid);
        !goes && (nature.places == Places::Names || index(body, pod).is_some())
    };
    let (updated, old): (Vec<&Pod>, Vec<&Pod>) = world
        .pods
        .iter()
        .filter(stays)
        .partition(|pod| pod.revision == body.workload.update_revision);
    Staying { updated: updated.len(), old }
}

/// The old Pods that the workload's own controller may replace under a strategy; where it is not known which,
/// ready ones.
pub(crate) fn open(world: &World, body: &Body, strategy: Strategy) -> Vec<Uid> {
    let (Strategy::RollingUpdate { partition }, Some(nature)) = (strategy, nature(body)) else {
        return Vec::new();
    };
    let Staying { mut old, .. } = staying(world, body, nature, &[]);
    if nature.holds == Holds::Lowest {
        old.retain(|pod| index(body, pod).is_some_and(|index| index >= partition as usize));
    } else {
        let kept = old.len();
        let (updated, coming) = come(world, body, &[], partition, nature);
        let open = (body.workload.replicas.saturating_sub(partition) as usize)
            .saturating_sub(updated + coming)
            .min(kept);
        // Those that have a successor already are no longer wanted.
        let open = match nature.holds {
            Holds::Any => open.max(kept.saturating_sub(partition as usize)),
            _ => open,
        };
        let unready_first = nature.first == First::Unready;
        old.sort_by_key(|pod| (pod.ready_since.is_some() == unready_first, pod.name.clone()));
        old.truncate(open);
    }
    old.iter().map(|pod| pod.uid.clone()).collect()
}

/// How many are updated, and how many will come up so, where Pods are counted alone.
fn come(
    world: &World,
    body: &Body,
    taken: &[Uid],
    partition: u32,
    nature: Nature,
) -> (usize, usize) {
    let Staying { updated, old } = staying(world, body, nature, taken);
    let replicas = body.workload.replicas as usize;
    let coming = replicas.saturating_sub(updated + old.len());
    let two = body.workload.current_revision != body.workload.update_revision;
    let back = match nature.holds {
        Holds::Any if two => (partition as usize).saturating_sub(old.len()).min(coming),
        _ => 0,
    };
    (updated, coming - back)
}

/// How many end up at the update revision if these are taken and nobody does anything more.
pub(crate) fn moved(world: &World, body: &Body, taken: &[Uid], strategy: Strategy) -> u32 {
    let Some(nature) = nature(body) else { return 0 };
    let (partition, two) = match strategy {
        Strategy::OnDelete => (0, false),
        Strategy::RollingUpdate { partition } => {
            (partition, body.workload.current_revision != body.workload.update_revision)
        }
    };
    let Staying { updated, old } = staying(world, body, nature, taken);
    let rolling = strategy != Strategy::OnDelete;
    let moved = if nature.holds == Holds::Lowest || !rolling {
        let replicas = body.workload.replicas as usize;
        let there = |pod: &&&Pod| index(body, pod).is_some_and(|index| index >= partition as usize);
        let open = old.iter().filter(there).count();
        let gone = (0..replicas).filter(|place| {
            let stays = |pod: &Pod| {
                index(body, pod) == Some(*place)
                    && pod.deletion.is_none()
                    && !world.outcome.accepted.contains(&pod.uid)
                    && !taken.contains(&pod.uid)
            };
            (!two || *place >= partition as usize) && !world.pods.iter().any(stays)
        });
        let gone = match nature.places {
            Places::Ordinals => gone.count(),
            Places::Names => replicas.saturating_sub(updated + old.len()),
        };
        updated + gone + if rolling { open } else { 0 }
    } else {
        let (updated, coming) = come(world, body, taken, partition, nature);
        let open = (body.workload.replicas.saturating_sub(partition) as usize)
            .saturating_sub(updated + coming);
        updated + coming + open.min(old.len())
    };
    u32::try_from(moved).unwrap_or(u32::MAX)
}
