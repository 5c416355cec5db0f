//! The hands of a controller of DaemonSets: what it finds on which node, makes, deletes and writes
//! down. The native controller and Kruise's do all of this alike.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::backoff::Backoff;
use super::fit::fit;
use super::history::{self, Current};
use super::keep::{Place, Plan};
use super::{KIND, keep, pods};
use crate::behaviour::pod::Matters;
use crate::behaviour::pod_control::PodControl;
use crate::behaviour::share::scaled;
use crate::behaviour::statefulset::revision;
use crate::behaviour::{Change, Step, View, Write, own, pod};
use crate::json::Value;
use crate::object::{self, CONTROLLER_REVISIONS, Collection, Key, NODES, Object, PODS};

/// Who makes and deletes the Pods, and speaks.
pub const CONTROL: PodControl = PodControl { component: "daemonset-controller", kind: KIND };

/// The DaemonSets of a collection that have to be looked at again because of a change; of a Pod,
/// because of one that matters.
pub fn concerns(view: &dyn View, change: &Change, sets: &Collection, matters: Matters) -> Vec<Key> {
    let collection = &change.key.collection;
    if collection == sets {
        return vec![change.key.clone()];
    }
    if *collection == NODES {
        return of_node(view, change, sets);
    }
    let matters = *collection == PODS && matters(change.before.as_deref(), change.after.as_deref());
    if !matters && *collection != CONTROLLER_REVISIONS {
        return Vec::new();
    }
    let mut keys = own::owners(change, sets, KIND);
    if let Some(object) = &change.after {
        keys.extend(own::takers(view, sets, object));
    }
    keys
}

/// The DaemonSets to which a change of a node's labels or taints makes a difference.
fn of_node(view: &dyn View, change: &Change, sets: &Collection) -> Vec<Key> {
    let seen = |node: &Object| (node["metadata"]["labels"].clone(), node["spec"]["taints"].clone());
    let Some(node) = &change.after else { return Vec::new() };
    if change.before.as_ref().is_some_and(|before| seen(before) == seen(node)) {
        return Vec::new();
    }
    let concerned = |set: &&Object| {
        let fit = fit(&set["spec"]["template"], node);
        let mut pods = view.controlled_by(&PODS, object::uid(set));
        let there = pods.any(|pod| pod["spec"]["nodeName"] == *object::name(node));
        let astray = set["status"]["numberMisscheduled"].as_i64().unwrap_or(0) > 0;
        (fit.runs && !there) || (there && (!fit.keeps || astray))
    };
    let all = view.list(sets, None).filter(concerned);
    all.map(|set| Key::of(sets.clone(), set)).collect()
}

/// How many nodes may be without an available Pod, or with one too many, in a rolling update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// `maxSurge`.
    pub surge: usize,
    /// `maxUnavailable`.
    pub unavailable: usize,
    /// How many nodes want a Pod.
    pub desired: usize,
}

/// The hands, at one look at one DaemonSet.
pub struct Hands<'a> {
    /// Its key.
    pub key: &'a Key,
    /// The DaemonSet.
    pub set: &'a Object,
    /// `spec.updateStrategy.rollingUpdate`.
    pub rolling: Value,
    /// The time of the look.
    pub now: Timestamp,
    /// All Pods that are its own, ended ones and those on their way out too.
    pub pods: Vec<Object>,
    /// What has been done so far.
    pub writes: Vec<Write>,
    /// When to look again though nothing changed.
    pub wake: Option<Timestamp>,
}

impl<'a> Hands<'a> {
    /// Takes over what is nobody's and lets go of what is not its own; with that the look ends, and
    /// the rest follows when it is known to be so. Else the hands, its revision of today, recorded,
    /// and the older ones.
    ///
    /// Of one that is being deleted they leave everything alone: what becomes of it is the garbage collector's
    /// business.
    pub fn open(
        view: &'a dyn View,
        key: &'a Key,
        now: Timestamp,
    ) -> Result<(Self, Current, Vec<Object>), Step> {
        let Some(set) = view.get(key).filter(|set| !object::is_terminating(set)) else {
            return Err(Step::default());
        };
        let revisions = own::claim(view, &CONTROLLER_REVISIONS, set, KIND, |_| true);
        let pods = own::claim(view, &PODS, set, KIND, |_| true);
        let mut writes = revisions.writes;
        writes.extend(pods.writes);
        if !writes.is_empty() {
            return Err(Step { writes, wake: None });
        }
        let (current, old) = history::current(set, &revisions.objects);
        let rolling = set["spec"]["updateStrategy"]["rollingUpdate"].clone();
        let mut hands = Self { key, set, rolling, now, pods: pods.objects, writes, wake: None };
        if !hands.record(view, &current) {
            return Err(Step { writes: hands.writes, wake: None });
        }
        Ok((hands, current, old))
    }

    /// Brings the history up to date; says whether the look can go on.
    fn record(&mut self, view: &dyn View, current: &Current) -> bool {
        match current {
            Current::Known(_) => {}
            Current::Raised(object) => self.writes.push(Write::Update {
                key: Key::of(CONTROLLER_REVISIONS, object),
                subresource: None,
                object: object.clone(),
            }),
            Current::New(object) => {
                if view.get(&Key::of(CONTROLLER_REVISIONS, object)).is_some() {
                    self.write_status(revision::collided(self.set));
                    return false;
                }
                let object = object.clone();
                self.writes.push(Write::Create { collection: CONTROLLER_REVISIONS, object });
            }
        }
        true
    }

    /// The bounds of its rolling update. Percentages are rounded up; if both come to nothing, one
    /// Pod may be unavailable.
    pub fn bounds(&self, places: &BTreeMap<String, Place>) -> Bounds {
        let desired = places.values().filter(|place| place.fit.runs).count();
        let whole = i64::try_from(desired).unwrap_or(i64::MAX);
        let count =
            |field: &str| usize::try_from(scaled(&self.rolling[field], whole, true)).unwrap_or(0);
        let (surge, unavailable) = (count("maxSurge"), count("maxUnavailable"));
        let stuck = desired > 0 && surge == 0 && unavailable == 0;
        Bounds { surge, unavailable: if stuck { 1 } else { unavailable }, desired }
    }

    /// Every node, and every name of a node that Pods are still for.
    pub fn places(&self, nodes: &[Object], hash: &str) -> BTreeMap<String, Place> {
        let mut out: BTreeMap<String, Place> = BTreeMap::new();
        for node in nodes {
            let place = Place { fit: fit(&self.set["spec"]["template"], node), pods: Vec::new() };
            out.insert(object::name(node).to_owned(), place);
        }
        let gone = |pod: &Object| object::is_terminating(pod) && pod::has_ended(pod);
        let mut pods = self.pods.clone();
        pods.retain(|pod| !gone(pod));
        for (node, pods) in pods::by_node(&pods) {
            let seen = pods.iter().map(|pod| pods::seen(self.set, pod, hash));
            out.entry(node).or_default().pods.extend(seen);
        }
        out
    }

    /// What is missing on these nodes and what is too many, and what has come to an end. With surge
    /// a node may have two Pods for a while.
    pub fn keep(&mut self, places: &BTreeMap<String, Place>, backoff: &Backoff) -> Plan {
        let surges = scaled(&self.rolling["maxSurge"], 1, true) > 0;
        let mut plan = Plan::default();
        for (name, place) in places {
            keep::keep(name, place, surges, self.now, &mut plan);
        }
        self.ended(&mut plan, backoff);
        plan.delete.extend(self.unbound_without_node(places));
        plan
    }

    /// Pods that have come to an end go, failed ones after a while.
    fn ended(&mut self, plan: &mut Plan, backoff: &Backoff) {
        for name in std::mem::take(&mut plan.failed) {
            let Some(pod) = self.pods.iter().find(|pod| object::name(pod) == name) else {
                continue;
            };
            let node = pods::node(pod).unwrap_or_default();
            let observed = self.set["status"]["observedGeneration"].as_i64().unwrap_or(0);
            let place = format!("{}/{observed}/{node}", object::uid(self.set));
            if let Some(until) = backoff.next(&place, self.now) {
                self.wake = self.wake.into_iter().chain([until]).min();
                continue;
            }
            let namespace = &self.key.namespace;
            let message = format!(
                "Found failed daemon pod {namespace}/{name} on node {node}, will try to kill it"
            );
            self.writes.push(CONTROL.event(self.key, "Warning", "FailedDaemonPod", message));
            plan.delete.push(name);
        }
        for name in std::mem::take(&mut plan.succeeded) {
            let Some(pod) = self.pods.iter().find(|pod| object::name(pod) == name) else {
                continue;
            };
            let (namespace, node) = (&self.key.namespace, pods::node(pod).unwrap_or_default());
            let message = format!(
                "Found succeeded daemon pod {namespace}/{name} on node {node}, will try to delete it"
            );
            self.writes.push(CONTROL.event(self.key, "Normal", "SucceededDaemonPod", message));
            plan.delete.push(name);
        }
    }

    /// Pods that wait for a node that is gone: nobody else clears them away.
    fn unbound_without_node(&self, places: &BTreeMap<String, Place>) -> Vec<String> {
        let lost = self.pods.iter().filter(|pod| {
            !pod["spec"]["nodeName"].is_string()
                && pods::node(pod).is_some_and(|node| !places.contains_key(node))
        });
        lost.map(|pod| object::name(pod).to_owned()).collect()
    }

    /// Makes and deletes Pods, at most `burst` of each. `dress` may change a new one first.
    pub fn carry_out(
        &mut self,
        plan: &Plan,
        hash: &str,
        burst: usize,
        rng: &mut fastrand::Rng,
        dress: impl Fn(&mut Value),
    ) {
        for node in plan.create.iter().take(burst) {
            let mut object = pods::build(self.set, node, hash, rng);
            dress(&mut object);
            self.writes.extend(CONTROL.create(self.key, object));
        }
        for name in plan.delete.iter().take(burst) {
            let pod = self.pods.iter().find(|pod| object::name(pod) == name);
            self.writes.extend(pod.into_iter().flat_map(|pod| CONTROL.delete(self.key, pod)));
        }
    }

    /// An Event about the DaemonSet.
    pub fn say(&mut self, reason: &'static str, message: String) {
        self.writes.push(CONTROL.event(self.key, "Normal", reason, message));
    }

    /// Deletes the revisions above the history limit that no Pod is of.
    pub fn prune(&mut self, old: &[Object]) {
        let live = |hash: &str| {
            self.pods.iter().any(|pod| object::label(pod, history::HASH) == Some(hash))
        };
        let limit = self.set["spec"]["revisionHistoryLimit"].as_u64().unwrap_or(10);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        for revision in history::surplus(old, live, limit) {
            let key = Key::of(CONTROLLER_REVISIONS, &revision);
            self.writes.push(Write::delete(key, &revision));
        }
    }

    /// Writes the status if it says anything new.
    pub fn write_status(&mut self, status: Value) {
        self.writes.extend(Write::status(self.key, self.set, status));
    }

    /// The end of the look: it is taken again when the next of these Pods becomes available.
    pub fn done(self, places: &BTreeMap<String, Place>) -> Step {
        let seen = places.values().flat_map(|place| &place.pods);
        let soon = seen.filter_map(|pod| pod.available_at).filter(|at| *at > self.now).min();
        Step { writes: self.writes, wake: soon.into_iter().chain(self.wake).min() }
    }
}
