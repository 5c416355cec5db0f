//! The controller of Advanced DaemonSets.

pub mod roll;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{ADVANCED_DAEMONSETS, in_place};
use crate::behaviour::daemonset::backoff::Backoff;
use crate::behaviour::daemonset::hands::{self, CONTROL, Hands};
use crate::behaviour::daemonset::history::HASH;
use crate::behaviour::daemonset::keep::{Place, Plan};
use crate::behaviour::daemonset::{self, BURST, status};
use crate::behaviour::share::scaled;
use crate::behaviour::{Behaviour, Change, Refusal, Step, View, Write, select};
use crate::json::Value;
use crate::object::{self, Key, NODES, Object};

/// The annotation of one whose Pods are made step by step, as its partition is lowered.
const STEP_BY_STEP: &str = "daemonset.kruise.io/progressive-create-pod";

/// The controller of Advanced DaemonSets.
#[derive(Debug, Default)]
pub struct AdvancedDaemonSets {
    backoff: Backoff,
}

impl Behaviour for AdvancedDaemonSets {
    fn name(&self) -> &'static str {
        super::MANAGER
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        self.backoff.learn(change, &ADVANCED_DAEMONSETS);
        hands::concerns(view, change, &ADVANCED_DAEMONSETS, in_place::matters)
    }

    fn refused(&self, key: &Key, refusal: &Refusal) -> Option<Write> {
        CONTROL.refused(key, refusal)
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, rng: &mut fastrand::Rng) -> Step {
        let (mut hands, current, old) = match Hands::open(view, key, now) {
            Ok(open) => open,
            Err(step) => return step,
        };
        if hands.rolling["rollingUpdateType"] == "Surging" && hands.rolling["maxSurge"].is_null() {
            // What the older word for it means.
            hands.rolling["maxSurge"] = 1.into();
        }
        let nodes: Vec<Object> = view.list(&NODES, None).cloned().collect();
        let hash = current.hash().to_owned();
        let places = daemonset::of_nodes(&nodes, &hands.places(&nodes, &hash));
        let revisions = old.iter().map(|one| &**one).chain([current.object()]).collect();
        let (begun, written) = (BTreeSet::new(), BTreeSet::new());
        let mut look = Look { hands, nodes, hash, revisions, begun, written };
        look.refresh();
        look.act(&places, &self.backoff, rng);
        look.hands.prune(&old);
        look.hands.done(&places)
    }
}

/// One look at one DaemonSet.
struct Look<'a> {
    hands: Hands<'a>,
    nodes: Vec<Object>,
    /// The hash of today's template.
    hash: String,
    /// All revisions, that of today last.
    revisions: Vec<&'a Value>,
    /// The Pods whose gate has been closed for an update that this look carries out.
    begun: BTreeSet<String>,
    /// The Pods that have been written in this look: a second write would meet a newer version.
    written: BTreeSet<String>,
}

impl Look<'_> {
    fn spec(&self) -> &Value {
        &self.hands.set["spec"]
    }

    fn works_in_place(&self) -> bool {
        self.hands.rolling["rollingUpdateType"] == "InPlaceIfPossible"
    }

    /// Brings updates in place forward.
    fn refresh(&mut self) {
        let step = |pod: &Object| {
            let updated = object::label(pod, HASH) == Some(&self.hash);
            let update = || self.in_place(pod);
            let (begun, write) = in_place::proceed(pod, updated, update, self.hands.now)?;
            Some((object::name(pod).to_owned(), begun, write))
        };
        let stays = |pod: &&Object| !object::is_terminating(pod);
        let steps: Vec<(String, bool, Write)> =
            self.hands.pods.iter().filter(stays).filter_map(step).collect();
        for (name, begun, write) in steps {
            if begun {
                self.begun.insert(name.clone());
            }
            self.written.insert(name);
            self.hands.writes.push(write);
        }
    }

    /// The next write that updates a Pod in place, where it can be done.
    fn in_place(&self, pod: &Object) -> Option<Write> {
        if !self.works_in_place() || !in_place::has_gate(pod) {
            return None;
        }
        let hash = object::label(pod, HASH)?;
        let old = self.revisions.iter().find(|one| object::label(one, HASH) == Some(hash))?;
        in_place::update(pod, old, self.revisions.last()?, self.hands.now)
    }

    fn act(
        &mut self,
        places: &BTreeMap<String, Place>,
        backoff: &Backoff,
        rng: &mut fastrand::Rng,
    ) {
        let rolls = self.spec()["updateStrategy"]["type"] != "OnDelete";
        let mut plan = self.hands.keep(places, backoff);
        let partition = self.hands.rolling["partition"].clone();
        if rolls && scaled(&partition, 100, true) > 0 && self.goes_step_by_step() {
            plan.create.truncate(roll::makes(places, &partition));
        }
        let kept = plan == Plan::default();
        if kept && rolls && self.hands.rolling["paused"] != true {
            plan = self.roll(places, &partition);
        }
        let in_place = self.works_in_place();
        let dress = |pod: &mut Value| {
            if in_place {
                in_place::add_gate(&mut pod["spec"]);
            }
        };
        let burst = self.burst();
        self.hands.carry_out(&plan, &self.hash, burst, rng, dress);
        self.write_status(places, kept);
    }

    fn goes_step_by_step(&self) -> bool {
        object::annotation(self.hands.set, STEP_BY_STEP) == Some("true")
            || self.spec()["scaleStrategy"]["partitionedScaling"] == true
    }

    fn burst(&self) -> usize {
        let desired = self.hands.set["status"]["desiredNumberScheduled"].as_i64().unwrap_or(0);
        let burst = &self.spec()["burstReplicas"];
        if burst.is_null() {
            return BURST;
        }
        usize::try_from(scaled(burst, desired, false)).unwrap_or(0)
    }

    /// The next step of the rolling update. What can be updated in place is not deleted.
    fn roll(&mut self, places: &BTreeMap<String, Place>, partition: &Value) -> Plan {
        let selector = &self.hands.rolling["selector"];
        let selects = |name: &str| {
            let node = self.nodes.iter().find(|node| object::name(node) == name);
            node.is_some_and(|node| select::selects(selector, &node["metadata"]["labels"]))
        };
        let mut seen = places.clone();
        seen.retain(|_, place| place.fit.runs || !place.pods.is_empty());
        // An update takes two writes. Between them its Pod is down, and counts as a new one does.
        let pods = seen.values_mut().flat_map(|place| &mut place.pods);
        for pod in pods.filter(|pod| self.begun.contains(&pod.name)) {
            pod.updated = true;
        }
        let selects: Option<&dyn Fn(&str) -> bool> =
            if selector.is_object() { Some(&selects) } else { None };
        let chosen = roll::chosen(&seen, partition, selects);
        let bounds = self.hands.bounds(places);
        let mut plan = daemonset::roll::next(&chosen, bounds, false, self.hands.now);
        if bounds.surge == 0 && self.works_in_place() {
            plan.delete.retain(|name| !self.update(name));
        }
        plan.delete.retain(|name| !self.written.contains(name));
        plan
    }

    /// Updates a Pod in place if it can be done; says whether that is so.
    fn update(&mut self, name: &str) -> bool {
        if self.written.contains(name) {
            return true;
        }
        let pod = self.hands.pods.iter().find(|pod| object::name(pod) == name);
        let Some(write) = pod.and_then(|pod| self.in_place(pod)) else { return false };
        self.written.insert(name.to_owned());
        self.hands.writes.push(write);
        let message = format!("successfully update pod {name} in-place");
        self.hands.say("SuccessfulUpdatePodInPlace", message);
        true
    }

    /// The generation is noted when the nodes have what they need, so not in a look that makes Pods
    /// or clears some away.
    fn write_status(&mut self, places: &BTreeMap<String, Place>, kept: bool) {
        let mut status = status::of(self.hands.set, places, self.hands.now);
        status["daemonSetHash"] = self.hash.clone().into();
        if status["updatedNumberScheduled"].is_null() {
            status["updatedNumberScheduled"] = 0.into();
        }
        let before = &self.hands.set["status"]["observedGeneration"];
        match status.as_object_mut() {
            Some(status) if !kept && before.is_null() => {
                status.remove("observedGeneration");
            }
            Some(status) if !kept => {
                status.insert("observedGeneration".to_owned(), before.clone());
            }
            _ => {}
        }
        self.hands.write_status(status);
    }
}
