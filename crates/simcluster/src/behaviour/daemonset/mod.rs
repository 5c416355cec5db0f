//! The DaemonSet controller.

pub mod backoff;
pub mod fit;
pub mod hands;
pub mod history;
pub mod keep;
pub mod pods;
pub mod roll;
pub mod status;

use std::collections::BTreeMap;

use jiff::Timestamp;

use self::backoff::Backoff;
use self::hands::{CONTROL, Hands};
use self::keep::{Place, Plan};
use super::{Behaviour, Change, Refusal, Step, View, Write, pod};
use crate::object::{self, DAEMONSETS, Key, NODES, Object};

const KIND: &str = "DaemonSet";
/// The annotation that counts the templates that a DaemonSet has had; kept by the server.
pub const GENERATION: &str = "deprecated.daemonset.template.generation";
/// At most so many Pods are made or deleted in one look.
pub const BURST: usize = 250;

/// The controller of DaemonSets, as it behaves in Kubernetes 1.36 with its default gates.
#[derive(Debug, Default)]
pub struct DaemonSets {
    backoff: Backoff,
}

impl Behaviour for DaemonSets {
    fn name(&self) -> &'static str {
        "daemonset-controller"
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        self.backoff.learn(change, &DAEMONSETS);
        hands::concerns(view, change, &DAEMONSETS, pod::matters)
    }

    fn refused(&self, key: &Key, refusal: &Refusal) -> Option<Write> {
        CONTROL.refused(key, refusal)
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, rng: &mut fastrand::Rng) -> Step {
        let (mut hands, current, old) = match Hands::open(view, key, now) {
            Ok(open) => open,
            Err(step) => return step,
        };
        let nodes: Vec<Object> = view.list(&NODES, None).cloned().collect();
        let mut places = hands.places(&nodes, current.hash());
        let counted = of_nodes(&nodes, &places);
        let bounds = hands.bounds(&counted);
        let mut plan = hands.keep(&counted, &self.backoff);
        if plan == Plan::default() && hands.set["spec"]["updateStrategy"]["type"] != "OnDelete" {
            // Nodes that want none and have none are not counted.
            places.retain(|_, place| place.fit.runs || !place.pods.is_empty());
            plan = roll::next(&places, bounds, true, now);
        }
        hands.carry_out(&plan, current.hash(), BURST, rng, |_| ());
        hands.write_status(status::of(hands.set, &counted, now));
        hands.prune(&old);
        hands.done(&counted)
    }
}

/// The places of nodes that there are.
pub fn of_nodes(nodes: &[Object], places: &BTreeMap<String, Place>) -> BTreeMap<String, Place> {
    nodes
        .iter()
        .filter_map(|node| places.get_key_value(object::name(node)))
        .map(|(name, place)| (name.clone(), place.clone()))
        .collect()
}
