//! What is read of kinds that are held by a partition and whose status names their revisions.

use std::collections::BTreeMap;

use engine::front::batch_release::{Body, Machinery};
use engine::world::{Pod, Workload};

use super::partition::ByPartition;
use super::{ABOVE_ALL, Claimed, Counted, Hand, Sight, number};

/// Revisions, as the Pods are labelled with them.
pub(super) struct Named {
    /// That of the template.
    pub(super) update: String,
    /// That of the status, before it.
    pub(super) current: String,
}

impl Named {
    /// As the status has them.
    pub(super) fn of(sight: &Sight<'_>) -> Self {
        let status = &sight.seen.status;
        Self { update: status.update_revision.clone(), current: status.current_revision.clone() }
    }
}

/// What a decision about its release looks at.
pub(super) fn body(
    by: &ByPartition,
    sight: &Sight<'_>,
    workload: Workload,
    named: &Named,
    machinery: Machinery,
    claimed: Claimed,
) -> Body {
    let stable = stable(by, sight, named, None);
    Body {
        workload,
        // A status of the original names it by its ControllerRevision, which is what its Pods carry.
        also_called: Vec::new(),
        stable_revision: Some(stable).filter(|it| !it.is_empty()),
        control: claimed.control,
        in_progressing: claimed.in_progressing,
        max_unavailable: by.max_unavailable(&sight.object),
        stopped: by.stopped(&sight.object),
        spoilt: by.spoilt(&sight.object),
        machinery,
    }
}

/// What a Rollout reads of it; `keeps` is the partition that keeps what has not moved.
pub(super) fn read(
    by: &ByPartition,
    sight: &Sight<'_>,
    named: Named,
    stable_before: Option<&str>,
    keeps: u32,
) -> Counted {
    let status = &sight.seen.status;
    let stands = if by.rolls(&sight.object) { by.partition(&sight.object) } else { 0 };
    Counted {
        replicas: number(&sight.spec()["replicas"], 1),
        updated: status.updated_replicas,
        old: status.replicas.saturating_sub(status.updated_replicas),
        stable: stable(by, sight, &named, stable_before),
        hash: named.update.clone(),
        partition: keeps.max(stands),
        update: named.update,
    }
}

/// What it ran before. Under OnDelete the status never says so: then as it was when the release began, else
/// what most of the Pods run that have not moved.
fn stable(by: &ByPartition, sight: &Sight<'_>, named: &Named, before: Option<&str>) -> String {
    if by.rolls(&sight.object) {
        return named.current.clone();
    }
    before.map_or_else(|| most(sight.ran(), &named.update), str::to_owned)
}

/// The revision of most Pods that are not at the update revision; that one where there are none.
fn most<'a>(ran: impl Iterator<Item = &'a str>, update: &str) -> String {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for revision in ran.filter(|it| *it != update && !it.is_empty()) {
        *counts.entry(revision).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or(update, |(revision, _)| revision).to_owned()
}

/// The partition of ordinals that holds what has not moved, and nothing else; above all before anything has.
/// `above` is the partition that holds an ordinal and all below, `none` the one that holds nothing.
pub(super) fn above_unmoved(
    sight: &Sight<'_>,
    update: &str,
    none: u32,
    above: impl Fn(u32) -> u32,
) -> u32 {
    if all_unmoved(sight, update) {
        return ABOVE_ALL;
    }
    unmoved(sight, update).map(|pod| above(pod.ordinal)).max().unwrap_or(none)
}

/// The same as a number of Pods.
pub(super) fn as_many_as_unmoved(sight: &Sight<'_>, update: &str) -> u32 {
    if all_unmoved(sight, update) {
        return ABOVE_ALL;
    }
    u32::try_from(unmoved(sight, update).count()).unwrap_or(ABOVE_ALL)
}

fn unmoved<'a>(sight: &'a Sight<'_>, update: &'a str) -> impl Iterator<Item = &'a Pod> {
    let pods = sight.pods.iter().map(|seen| &seen.pod);
    pods.filter(move |pod| pod.revision != update && pod.deletion.is_none())
}

fn all_unmoved(sight: &Sight<'_>, update: &str) -> bool {
    unmoved(sight, update).count() == sight.pods.len()
}
