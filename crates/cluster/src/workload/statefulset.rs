//! StatefulSets: held and moved by their partition; under OnDelete by eviction.

use engine::front::batch_release::{Body, Machinery};
use engine::nature::Nature;
use engine::world::{Claim, PodManagement, Workload};
use serde_json::Value;

use super::partition::ByPartition;
use super::status::{self, Named};
use super::units::Units;
use super::{Adapter, Claimed, Counted, Eye, Sight, engine, number};

/// StatefulSets.
pub(super) const ADAPTER: Adapter = Adapter { eye: &StatefulSets, hand: &HAND };

static HAND: ByPartition = ByPartition {
    within: Some("rollingUpdate"),
    units: Units::Count,
    pauses: false,
    on_delete: true,
    replicas: |object| number(&object["spec"]["replicas"], 1),
};

struct StatefulSets;

impl Eye for StatefulSets {
    fn body(&self, sight: &Sight<'_>, claimed: Claimed) -> Body {
        let saved = HAND.own(&sight.object);
        let machinery = Machinery::Pods { nature: Nature::STATEFUL_SET, saved };
        status::body(&HAND, sight, workload(sight), &Named::of(sight), machinery, claimed)
    }

    fn read(&self, sight: &Sight<'_>, stable: Option<&str>) -> Counted {
        let named = Named::of(sight);
        let first = first_ordinal(sight.spec());
        let keeps = status::above_unmoved(sight, &named.update, first, |ordinal| ordinal + 1);
        status::read(&HAND, sight, named, stable, keeps)
    }
}

/// The user's own strategy, where it was put aside.
#[cfg(test)]
pub(super) fn own(live: &Value) -> Option<engine::world::Strategy> {
    HAND.own(live)
}

/// The engine's notion of one that a `StatefulsetRollout` rolls out, given what only others know.
pub(crate) fn rolled_out(sight: &Sight<'_>, drift: &[String], claim: Claim) -> Workload {
    Workload {
        matches: drift.is_empty(),
        template_matches: !drift.iter().any(|path| path.starts_with("spec.template")),
        claim,
        ..workload(sight)
    }
}

fn workload(sight: &Sight<'_>) -> Workload {
    let spec = sight.spec();
    let strategy = HAND.strategy(&sight.object);
    let status = &sight.seen.status;
    Workload {
        first_ordinal: first_ordinal(spec),
        management: management(spec),
        current_revision: status.current_revision.clone(),
        ..engine(sight, number(&spec["replicas"], 1), strategy, &status.update_revision)
    }
}

/// The ordinal that they begin at.
pub(super) fn first_ordinal(spec: &Value) -> u32 {
    number(&spec["ordinals"]["start"], 0)
}

/// Whether one waits for the other.
pub(super) fn management(spec: &Value) -> PodManagement {
    match spec["podManagementPolicy"].as_str() {
        Some("Parallel") => PodManagement::Parallel,
        _ => PodManagement::OrderedReady,
    }
}
