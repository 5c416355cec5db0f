//! What a `StatefulsetRollout` lets account, budget and movers do: its terms, from its spec and status.

use std::collections::BTreeMap;

use crate::ground::{Facts, Ground, Memory, Remedies, Terms};
use crate::nature::Nature;
use crate::world::{Uid, VersionLeak, Workload, World};

/// By ordinal alone: a StatefulSet's Pods go by nothing that they ask for themselves.
static NO_COSTS: BTreeMap<Uid, i32> = BTreeMap::new();

const REMEDIES: Remedies = Remedies {
    unready: ", or unhealthyPods: Replace in the rollout",
    locked_in: "; with percent 100, or versionLeak Report, it is moved first",
    cannot_hold: "set percent to 100, or versionLeak to Report for this rollout",
};

/// The ground of a rollout over its StatefulSet.
pub fn ground<'a>(world: &'a World, workload: &'a Workload) -> Ground<'a> {
    let World { rollout, status, .. } = world;
    let facts = Facts {
        nature: Nature::STATEFUL_SET,
        namespace: &rollout.namespace,
        name: &rollout.workload_name,
        workload,
        pods: &world.pods,
        costs: &NO_COSTS,
        budgets: &world.budgets,
        discovery: &world.discovery,
        outcome: &world.outcome,
        settings: &world.settings,
    };
    let terms = Terms {
        target: rollout.percent.of(workload.replicas),
        all: rollout.percent.is_all(),
        held: rollout.version_leak == VersionLeak::Prevent,
        share: false,
        unhealthy_pods: rollout.unhealthy_pods,
        interval: rollout.min_eviction_interval,
        unbudgeted: 1,
        percent: None,
        own_pace: false,
        most: None,
        tolerated: 0,
        services: &rollout.services,
        remedies: REMEDIES,
    };
    let memory = Memory {
        rows: Some(&status.pods),
        announced: &status.evicting,
        last_eviction: status.last_eviction,
        stable_revision: &status.stable_revision,
        services_seen: &status.consul_services,
    };
    Ground { facts, terms, memory }
}
