//! Which Pod belongs to which batch.
//!
//! Each batch has as many places as it adds Pods to those before. Pods that carry this release's id and a
//! batch that has a place keep it; the others get what is free, from the newest batch down: what was lost
//! and came again belongs to the batch that it came in.

use super::count::updated;
use super::decision::{Label, Mark};
use super::status::Status;
use super::terms::{planned, target};
use super::world::{Body, Marks, World};
use crate::world::Pod;

/// What is to be labelled now, and how many Pods carry their label.
pub(super) struct Labels {
    pub(super) missing: Vec<Label>,
    pub(super) carried: u32,
}

/// The labels of the batches up to the present one.
pub(super) fn labels(world: &World, status: &Status, body: &Body) -> Labels {
    let release = &world.release;
    let id = &release.rollout_id;
    let mut labels = Labels { missing: Vec::new(), carried: 0 };
    if id.is_empty() {
        return labels;
    }
    let mut places: Vec<u32> = Vec::new();
    let mut before = 0;
    for batch in 0..=status.current_batch {
        let pods = planned(release, body, batch).max(before);
        places.push(pods - before);
        before = pods;
    }
    let none = Marks::default();
    let marks = |pod: &Pod| world.marks.get(&pod.uid).unwrap_or(&none);
    let mut bare: Vec<&Pod> = Vec::new();
    for pod in updated(world, body) {
        let marks = marks(pod);
        let place = marks.batch.filter(|_| marks.rollout_id == *id).and_then(|batch| {
            places.get_mut(usize::try_from(batch.checked_sub(1)?).ok()?).filter(|left| **left > 0)
        });
        if let Some(left) = place {
            *left -= 1;
            labels.carried += 1;
        } else {
            bare.push(pod);
        }
    }
    // The last to move gets the newest batch; those that were there all along fill what is left, once all
    // have moved that are to.
    let stayed = |pod: &Pod| status.no_need_update.is_some() && marks(pod).no_need_update == *id;
    let there = status.no_need_update.unwrap_or(0);
    let pods = updated(world, body);
    let said = u32::try_from(pods.iter().filter(|pod| stayed(pod)).count()).unwrap_or(u32::MAX);
    // One that was updated in place since still says so of an earlier roll back under the same id.
    let moved = u32::try_from(pods.len()).unwrap_or(u32::MAX) - said.min(there);
    let due = target(release, status, body, status.current_batch).saturating_sub(there);
    let all_moved = moved >= due;
    bare.retain(|pod| all_moved || !stayed(pod));
    bare.reverse();
    bare.sort_by_key(|pod| stayed(pod));
    let mut free = (1..).zip(places).collect::<Vec<(u32, u32)>>();
    for pod in bare {
        let Some((batch, left)) = free.iter_mut().rev().find(|(_, left)| *left > 0) else { break };
        *left -= 1;
        let mark = Mark::Batch { rollout_id: id.clone(), batch: *batch };
        labels.missing.push(Label { name: pod.name.clone(), uid: pod.uid.clone(), mark });
    }
    labels
}

/// Pods that are where a roll back in batches is to bring them, and don't say so yet.
pub(super) fn no_need_update(world: &World, body: &Body) -> Vec<Label> {
    let id = &world.release.rollout_id;
    let says =
        |pod: &&Pod| world.marks.get(&pod.uid).is_some_and(|marks| marks.no_need_update == *id);
    updated(world, body)
        .into_iter()
        .filter(|pod| !id.is_empty() && !says(pod))
        .map(|pod| Label {
            name: pod.name.clone(),
            uid: pod.uid.clone(),
            mark: Mark::NoNeedUpdate { rollout_id: id.clone() },
        })
        .collect()
}
