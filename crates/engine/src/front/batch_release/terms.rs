//! How far a release may be: the Pods of its batch, and what account, budget and movers may do for it.

use jiff::SignedDuration;

use super::status::Status;
use super::world::{Body, Machinery, Release, World};
use crate::ground::{Facts, Ground, Memory, Remedies, Terms};
use crate::nature::{Holds, Nature, Replaced};
use crate::quantity::IntOrPercent;
use crate::world::{Discovery, Strategy, UnhealthyPods};

const REMEDIES: Remedies = Remedies {
    unready: ", or delete the Pod",
    locked_in: "; delete the Pods above it by hand, or roll back",
    cannot_hold: "roll back",
};

/// How many Pods a batch comes to by now, as it is labelled: its own and those of the batches before.
pub(super) fn planned(release: &Release, body: &Body, batch: u32) -> u32 {
    step(release, batch).map_or(0, |step| share(step, body, body.workload.replicas))
}

/// How many Pods ought to run the update revision in a batch: what needs no update does so already, and
/// the batch is of the others.
pub(super) fn target(release: &Release, status: &Status, body: &Body, batch: u32) -> u32 {
    let replicas = body.workload.replicas;
    let done = status.no_need_update.unwrap_or(0).min(replicas);
    let rest = step(release, batch).map_or(0, |step| share(step, body, replicas - done));
    done + rest
}

fn share(step: IntOrPercent, body: &Body, pods: u32) -> u32 {
    match body.machinery {
        Machinery::Deployment(_) => step.of_deployment(pods),
        Machinery::Pods { .. } => step.of(pods),
    }
}

fn step(release: &Release, batch: u32) -> Option<IntOrPercent> {
    release.batches.get(usize::try_from(batch).ok()?).copied()
}

/// The last batch that there is.
pub(super) fn last_batch(release: &Release) -> u32 {
    u32::try_from(release.batches.len()).unwrap_or(u32::MAX).saturating_sub(1)
}

/// How many of the updated Pods may be unready: `failureThreshold` of them, parts counting as a whole one;
/// without it the workload's `maxUnavailable` of them, parts not counting.
pub(super) fn tolerated(release: &Release, body: &Body, updated: u32) -> u32 {
    match (release.failure_threshold, body.max_unavailable) {
        (Some(threshold), _) => threshold.of(updated),
        (None, Some(max_unavailable)) => max_unavailable.of_rounded_down(updated),
        (None, None) => 0,
    }
}

/// The ground of a release over Pods that are moved one by one.
pub(super) fn ground<'a>(
    world: &'a World,
    status: &'a Status,
    body: &'a Body,
    nature: Nature,
    target: u32,
) -> Ground<'a> {
    let facts = Facts {
        nature,
        namespace: &world.release.namespace,
        name: &world.release.workload_name,
        workload: &body.workload,
        pods: &world.pods,
        costs: &world.costs,
        budgets: &world.budgets,
        discovery: &Discovery::NotAsked,
        outcome: &world.outcome,
        settings: &world.settings,
    };
    let quota = body.max_unavailable.map_or(1, |max| max.of_rounded_down(body.workload.replicas));
    let rolling = matches!(body.workload.strategy, Strategy::RollingUpdate { .. });
    let step = step(&world.release, status.current_batch);
    let terms = Terms {
        target,
        all: false,
        held: rolling && nature.holds != Holds::Nothing,
        share: true,
        unhealthy_pods: UnhealthyPods::Report,
        interval: SignedDuration::ZERO,
        unbudgeted: quota.max(1),
        percent: match step {
            Some(IntOrPercent::Percent(percent)) => Some(percent),
            _ => None,
        },
        own_pace: nature.replaced == Replaced::OneByOne && nature.holds == Holds::Lowest,
        // Of what we evict; what its own controller replaces that one counts.
        most: nature.loses().then_some(quota.max(1)),
        tolerated: tolerated(&world.release, body, status.updated),
        services: &[],
        remedies: REMEDIES,
    };
    let memory = Memory {
        rows: None,
        announced: &status.evicting,
        last_eviction: status.last_eviction,
        stable_revision: &status.stable_revision,
        services_seen: &[],
    };
    Ground { facts, terms, memory }
}
