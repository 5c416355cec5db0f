//! The DaemonSet controller.

pub mod backoff;
pub mod fit;
pub mod history;
pub mod keep;
pub mod pods;
pub mod roll;
pub mod status;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::Value;

use self::backoff::Backoff;
use self::fit::fit;
use self::history::Current;
use self::keep::{Place, Plan};
use super::deployment::bounds::scaled;
use super::{Behaviour, Change, Refusal, Step, Verb, View, Write, own, pod};
use crate::object::{self, CONTROLLER_REVISIONS, DAEMONSETS, Key, NODES, Object, PODS};

const COMPONENT: &str = "daemonset-controller";
const KIND: &str = "DaemonSet";
/// The annotation that counts the templates that a DaemonSet has had; kept by the server.
pub const GENERATION: &str = "deprecated.daemonset.template.generation";
/// At most so many Pods are made or deleted in one look.
const BURST: usize = 250;

/// The controller of DaemonSets, as it behaves in Kubernetes 1.36 with its default gates.
#[derive(Debug, Default)]
pub struct DaemonSets {
    backoff: Mutex<Backoff>,
}

impl DaemonSets {
    fn backoff(&self) -> MutexGuard<'_, Backoff> {
        self.backoff.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Behaviour for DaemonSets {
    fn name(&self) -> &'static str {
        COMPONENT
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        let collection = &change.key.collection;
        if *collection == DAEMONSETS {
            if let (Some(before), None) = (&change.before, &change.after) {
                self.backoff().forget(object::uid(before));
            }
            return vec![change.key.clone()];
        }
        if *collection == NODES {
            return of_node(view, change);
        }
        let matters =
            *collection == PODS && pod::matters(change.before.as_deref(), change.after.as_deref());
        if !matters && *collection != CONTROLLER_REVISIONS {
            return Vec::new();
        }
        let mut keys = own::owners(change, &DAEMONSETS, KIND);
        if let Some(object) = &change.after {
            keys.extend(own::takers(view, &DAEMONSETS, object));
        }
        keys
    }

    fn refused(&self, key: &Key, refusal: &Refusal) -> Option<Write> {
        let (reason, what) = match refusal.verb {
            _ if refusal.key.collection != PODS => return None,
            Verb::Create => ("FailedCreate", "creating"),
            Verb::Delete => ("FailedDelete", "deleting"),
            _ => return None,
        };
        let message = &refusal.message;
        // Where everything goes nothing is missed.
        let goes = message.contains("because it is being terminated");
        (!goes).then(|| event(key, "Warning", reason, format!("Error {what}: {message}")))
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, rng: &mut fastrand::Rng) -> Step {
        // What becomes of one that is being deleted is the garbage collector's business.
        let Some(set) = view.get(key).filter(|set| !object::is_terminating(set)) else {
            return Step::default();
        };
        let revisions = own::claim(view, &CONTROLLER_REVISIONS, set, KIND, |_| true);
        let pods = own::claim(view, &PODS, set, KIND, |_| true);
        let mut writes = revisions.writes;
        writes.extend(pods.writes);
        if !writes.is_empty() {
            // The rest follows when they are known to be ours, or not.
            return Step { writes, wake: None };
        }
        let (current, old) = history::current(set, &revisions.objects);
        let mut look = Look { key, set, now, pods: pods.objects, writes, wake: None };
        if !look.record(view, &current) {
            return Step { writes: look.writes, wake: None };
        }
        let nodes: Vec<Object> = view.list(&NODES, None).cloned().collect();
        look.update(&nodes, current.hash(), &mut self.backoff(), rng);
        look.prune(&old);
        Step { writes: look.writes, wake: look.wake }
    }
}

/// The DaemonSets to which a change of a node's labels or taints makes a difference.
fn of_node(view: &dyn View, change: &Change) -> Vec<Key> {
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
    let all = view.list(&DAEMONSETS, None).filter(concerned);
    all.map(|set| Key::of(DAEMONSETS, set)).collect()
}

/// One look at one DaemonSet.
struct Look<'a> {
    key: &'a Key,
    set: &'a Object,
    now: Timestamp,
    /// All that are its own, ended ones and those on their way out too.
    pods: Vec<Object>,
    writes: Vec<Write>,
    wake: Option<Timestamp>,
}

impl Look<'_> {
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
                    // Another template has this hash, or somebody else this name.
                    let mut status = self.set["status"].clone();
                    let collisions = status["collisionCount"].as_i64().unwrap_or(0) + 1;
                    status["collisionCount"] = collisions.into();
                    self.write_status(status);
                    return false;
                }
                let object = object.clone();
                self.writes.push(Write::Create { collection: CONTROLLER_REVISIONS, object });
            }
        }
        true
    }

    fn update(
        &mut self,
        nodes: &[Object],
        hash: &str,
        backoff: &mut Backoff,
        rng: &mut fastrand::Rng,
    ) {
        let mut places = self.places(nodes, hash);
        let counted: BTreeMap<String, Place> = nodes
            .iter()
            .filter_map(|node| places.get_key_value(object::name(node)))
            .map(|(name, place)| (name.clone(), place.clone()))
            .collect();
        let (surge, unavailable, desired) = self.bounds(&counted);
        let surges = scaled(&self.rolling()["maxSurge"], 1, true) > 0;
        let mut plan = Plan::default();
        for (name, place) in &counted {
            keep::keep(name, place, surges, self.now, &mut plan);
        }
        self.ended(&mut plan, backoff);
        plan.delete.extend(self.unbound_without_node(&counted));
        if plan == Plan::default() && self.set["spec"]["updateStrategy"]["type"] != "OnDelete" {
            // Nodes that want none and have none are not counted.
            places.retain(|_, place| place.fit.runs || !place.pods.is_empty());
            plan = if surge == 0 {
                roll::replace(&places, unavailable, self.now)
            } else {
                roll::surge(&places, surge, desired, self.now)
            };
        }
        self.carry_out(&plan, hash, rng);
        let status = status::of(self.set, &counted, self.now);
        if status != self.set["status"] {
            self.write_status(status);
        }
        let seen = counted.values().flat_map(|place| &place.pods);
        let soon = seen.filter_map(|pod| pod.available_at).filter(|at| *at > self.now).min();
        self.wake = soon.into_iter().chain(self.wake).min();
    }

    fn rolling(&self) -> &Value {
        &self.set["spec"]["updateStrategy"]["rollingUpdate"]
    }

    /// Surge, unavailable and the number of nodes that want a Pod. Percentages of both are rounded
    /// up; if both come to nothing, one Pod may be unavailable.
    fn bounds(&self, places: &BTreeMap<String, Place>) -> (usize, usize, usize) {
        let desired = places.values().filter(|place| place.fit.runs).count();
        let whole = i64::try_from(desired).unwrap_or(i64::MAX);
        let count =
            |field: &str| usize::try_from(scaled(&self.rolling()[field], whole, true)).unwrap_or(0);
        let (surge, unavailable) = (count("maxSurge"), count("maxUnavailable"));
        let stuck = desired > 0 && surge == 0 && unavailable == 0;
        (surge, if stuck { 1 } else { unavailable }, desired)
    }

    /// Every node, and every name of a node that Pods are still for.
    fn places(&self, nodes: &[Object], hash: &str) -> BTreeMap<String, Place> {
        let mut out: BTreeMap<String, Place> = BTreeMap::new();
        for node in nodes {
            let place = Place { fit: fit(&self.set["spec"]["template"], node), pods: Vec::new() };
            out.insert(object::name(node).to_owned(), place);
        }
        let gone = |pod: &Object| {
            object::is_terminating(pod) && matches!(pod::phase(pod), "Failed" | "Succeeded")
        };
        let mut pods = self.pods.clone();
        pods.retain(|pod| !gone(pod));
        for (node, pods) in pods::by_node(&pods) {
            let seen = pods.iter().map(|pod| pods::seen(self.set, pod, hash));
            out.entry(node).or_default().pods.extend(seen);
        }
        out
    }

    /// Pods that have come to an end go, failed ones after a while.
    fn ended(&mut self, plan: &mut Plan, backoff: &mut Backoff) {
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
            self.writes.push(event(self.key, "Warning", "FailedDaemonPod", message));
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
            self.writes.push(event(self.key, "Normal", "SucceededDaemonPod", message));
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

    fn carry_out(&mut self, plan: &Plan, hash: &str, rng: &mut fastrand::Rng) {
        for node in plan.create.iter().take(BURST) {
            let object = pods::build(self.set, node, hash, rng);
            let message = format!("Created pod: {}", object::name(&object));
            self.writes.push(Write::Create { collection: PODS, object });
            self.writes.push(event(self.key, "Normal", "SuccessfulCreate", message));
        }
        for name in plan.delete.iter().take(BURST) {
            let pod = self.pods.iter().find(|pod| object::name(pod) == name);
            self.writes.push(Write::Delete {
                key: Key::new(PODS, &self.key.namespace, name),
                uid: pod.map(|pod| object::uid(pod).to_owned()),
                grace_period_seconds: None,
            });
            let message = format!("Deleted pod: {name}");
            self.writes.push(event(self.key, "Normal", "SuccessfulDelete", message));
        }
    }

    fn prune(&mut self, old: &[Object]) {
        let live = |hash: &str| {
            self.pods.iter().any(|pod| object::label(pod, history::HASH) == Some(hash))
        };
        let limit = self.set["spec"]["revisionHistoryLimit"].as_u64().unwrap_or(10);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        for revision in history::surplus(old, live, limit) {
            self.writes.push(Write::Delete {
                key: Key::of(CONTROLLER_REVISIONS, &revision),
                uid: Some(object::uid(&revision).to_owned()),
                grace_period_seconds: None,
            });
        }
    }

    fn write_status(&mut self, status: Value) {
        let mut object = Value::clone(self.set);
        object["status"] = status;
        let key = self.key.clone();
        self.writes.push(Write::Update { key, subresource: Some("status"), object });
    }
}

fn event(key: &Key, type_: &'static str, reason: &'static str, message: String) -> Write {
    Write::Event { regarding: key.clone(), type_, reason, message, component: COMPONENT }
}
