//! The numbers of a release, counted on its Pods.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::status::Status;
use super::terms::{planned, target, tolerated};
use super::world::{Body, Machinery, World};
use crate::account::is_available;
use crate::nature::Places;
use crate::world::Pod;

/// Pods at the update revision that are not going.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// All of them.
    pub(super) updated: u32,
    /// Those that are Ready.
    pub(super) ready: u32,
    /// Those that have been Ready for the user's minReadySeconds.
    pub(super) available: u32,
}

impl Count {
    pub(super) fn take(world: &World, body: &Body, now: Timestamp) -> Self {
        let mut count = Self::default();
        for pod in updated(world, body) {
            count.updated += 1;
            count.ready += u32::from(pod.ready_since.is_some());
            count.available += u32::from(is_available(pod, &body.workload, now));
        }
        count
    }
}

/// The Pods at the update revision that are not going, in the order of their names' numbers or of birth.
pub(super) fn updated<'a>(world: &'a World, body: &Body) -> Vec<&'a Pod> {
    let workload = &body.workload;
    let by_ordinal = matches!(body.machinery, Machinery::Pods { nature, .. } if nature.places == Places::Ordinals);
    let ordinals: BTreeSet<u32> = workload.ordinals().filter(|_| by_ordinal).collect();
    let mut pods: Vec<&Pod> = world
        .pods
        .iter()
        .filter(|pod| pod.deletion.is_none() && pod.revision == workload.update_revision)
        .filter(|pod| !by_ordinal || ordinals.contains(&pod.ordinal))
        .collect();
    if by_ordinal {
        // Moved from the highest down.
        pods.sort_by_key(|pod| std::cmp::Reverse(pod.ordinal));
    } else {
        pods.sort_by(|a, b| (a.created, &a.name).cmp(&(b.created, &b.name)));
    }
    pods
}

/// Why a batch is not ready yet; `None` when it is.
pub(super) fn unready(
    world: &World,
    status: &Status,
    body: &Body,
    count: Count,
    labelled: u32,
) -> Option<String> {
    let release = &world.release;
    let batch = status.current_batch;
    let desired = target(release, status, body, batch);
    let tolerated = tolerated(release, body, count.updated);
    let Count { updated, available, .. } = count;
    let planned = planned(release, body, batch).min(desired);
    if updated < desired {
        return Some(format!("{updated} of {desired} Pods run the new revision"));
    }
    if available.saturating_add(tolerated) < desired {
        let beside = match tolerated {
            0 => String::new(),
            n => format!(", {n} may be missing"),
        };
        return Some(format!(
            "{available} of {desired} Pods of the new revision are available{beside}"
        ));
    }
    if desired > 0 && available == 0 {
        return Some("no Pod of the new revision is available".to_owned());
    }
    if !release.rollout_id.is_empty() && labelled < planned {
        return Some(format!("{labelled} of {planned} Pods carry their batch's label"));
    }
    None
}

/// The Pod of the new revision to name when a batch does not get ready: one in trouble before others.
pub(super) fn worst(world: &World, body: &Body, now: Timestamp) -> Option<String> {
    let unready = updated(world, body)
        .into_iter()
        .filter(|pod| !is_available(pod, &body.workload, now))
        .min_by_key(|pod| pod.trouble.is_none())?;
    let name = &unready.name;
    Some(match &unready.trouble {
        Some(trouble) if trouble.message.is_empty() => {
            format!("Pod {name} is not ready: {}", trouble.reason)
        }
        Some(trouble) => {
            format!("Pod {name} is not ready: {}: {}", trouble.reason, trouble.message)
        }
        None if unready.ready_since.is_some() => {
            format!("Pod {name} is ready, but not for minReadySeconds")
        }
        None => format!("Pod {name} is not ready yet"),
    })
}
