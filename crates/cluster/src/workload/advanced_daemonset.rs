//! Advanced DaemonSets, those of Kruise: held and moved by their partition, a count of Pods or a part of them;
//! under OnDelete by eviction.

use engine::front::batch_release::{Body, Machinery};
use engine::nature::Nature;
use serde_json::Value;

use super::partition::ByPartition;
use super::units::Units;
use super::{Adapter, Claimed, Counted, Eye, Hand, Sight, number, revisions, status};

/// Advanced DaemonSets.
pub(super) const ADAPTER: Adapter = Adapter { eye: &AdvancedDaemonSets, hand: &HAND };

static HAND: ByPartition = ByPartition {
    within: Some("rollingUpdate"),
    units: Units::Down,
    pauses: true,
    on_delete: true,
    replicas: scheduled,
};

struct AdvancedDaemonSets;

impl Eye for AdvancedDaemonSets {
    fn body(&self, sight: &Sight<'_>, claimed: Claimed) -> Body {
        let object = &sight.object;
        let saved = HAND.own(object);
        let machinery = Machinery::Pods { nature: Nature::ADVANCED_DAEMON_SET, saved };
        let (strategy, most) = (HAND.strategy(object), HAND.max_unavailable(object));
        let spoilt = HAND.spoilt(&sight.object);
        let body = revisions::body(sight, strategy, most, machinery, claimed, spoilt);
        Body { stopped: HAND.stopped(&sight.object), ..body }
    }

    fn read(&self, sight: &Sight<'_>, stable: Option<&str>) -> Counted {
        let update = revisions::update(sight).unwrap_or_default();
        let stands = if HAND.rolls(&sight.object) { HAND.partition(&sight.object) } else { 0 };
        let keeps = status::as_many_as_unmoved(sight, &update).max(stands);
        revisions::read(sight, stable, keeps)
    }

    /// Those that its status speaks of, as nobody asks for a number.
    fn replicas(&self, old: &Value, _new: &Value) -> u32 {
        scheduled(old)
    }
}

fn scheduled(object: &Value) -> u32 {
    number(&object["status"]["desiredNumberScheduled"], 0)
}
