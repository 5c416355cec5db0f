//! Advanced StatefulSets, those of Kruise: held and moved by their partition, several at once and in any
//! order if they say so; under OnDelete by eviction.

use std::collections::BTreeSet;

use engine::front::batch_release::{Body, Machinery};
use engine::nature::Nature;
use engine::world::Workload;
use jiff::SignedDuration;
use serde_json::Value;

use super::partition::ByPartition;
use super::status::{self, Named};
use super::units::Units;
use super::{Adapter, Claimed, Counted, Eye, Sight, engine, number, statefulset};

/// Advanced StatefulSets.
pub(super) const ADAPTER: Adapter = Adapter { eye: &AdvancedStatefulSets, hand: &HAND };

static HAND: ByPartition = ByPartition {
    within: Some("rollingUpdate"),
    units: Units::Count,
    pauses: true,
    on_delete: true,
    replicas: |object| number(&object["spec"]["replicas"], 1),
};

struct AdvancedStatefulSets;

impl Eye for AdvancedStatefulSets {
    fn body(&self, sight: &Sight<'_>, claimed: Claimed) -> Body {
        let nature = match unordered(sight.spec()) {
            true => Nature::UNORDERED_STATEFUL_SET,
            false => Nature::ADVANCED_STATEFUL_SET,
        };
        let machinery = Machinery::Pods { nature, saved: HAND.own(&sight.object) };
        status::body(&HAND, sight, workload(sight), &Named::of(sight), machinery, claimed)
    }

    fn read(&self, sight: &Sight<'_>, stable: Option<&str>) -> Counted {
        let named = Named::of(sight);
        let keeps = match unordered(sight.spec()) {
            true => status::as_many_as_unmoved(sight, &named.update),
            false => {
                // A partition counts those that there ought to be, whatever their ordinals.
                let workload = workload(sight);
                let above = |last: u32| {
                    let below = workload.ordinals().take_while(|ordinal| *ordinal <= last);
                    u32::try_from(below.count()).unwrap_or(u32::MAX)
                };
                status::above_unmoved(sight, &named.update, 0, above)
            }
        };
        status::read(&HAND, sight, named, stable, keeps)
    }
}

fn workload(sight: &Sight<'_>) -> Workload {
    let (spec, status) = (sight.spec(), &sight.seen.status);
    // Not where the others have it.
    let min_ready = number(&spec["updateStrategy"]["rollingUpdate"]["minReadySeconds"], 0);
    let strategy = HAND.strategy(&sight.object);
    Workload {
        first_ordinal: statefulset::first_ordinal(spec),
        reserved: reserved(spec),
        management: statefulset::management(spec),
        current_revision: status.current_revision.clone(),
        min_ready: SignedDuration::from_secs(min_ready.into()),
        ..engine(sight, number(&spec["replicas"], 1), strategy, &status.update_revision)
    }
}

/// Whether its Pods may move in any order.
fn unordered(spec: &Value) -> bool {
    !spec["updateStrategy"]["rollingUpdate"]["unorderedUpdate"].is_null()
}

/// The ordinals that are passed over: numbers, and ranges such as `3-5`.
fn reserved(spec: &Value) -> BTreeSet<u32> {
    let listed = spec["reserveOrdinals"].as_array().into_iter().flatten();
    let read = |one: &Value| match one.as_str() {
        Some(text) => {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            Some(first..=last)
        }
        None => one.as_u64().and_then(|one| u32::try_from(one).ok()).map(|one| one..=one),
    };
    // No set has more than so many; a range without end would be long.
    listed.filter_map(read).flat_map(|range| range.take(super::ABOVE_ALL as usize)).collect()
}
