//! The Deployment controller.

pub mod bounds;
mod notes;
mod resize;
pub mod sets;
pub mod sizes;
pub mod status;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use self::bounds::Bounds;
use super::{Behaviour, Change, Refusal, Step, Verb, View, Write, own, pod};
use crate::json::Value;
use crate::object::{self, DEPLOYMENTS, Key, Object, PODS, REPLICASETS};

const COMPONENT: &str = "deployment-controller";
const KIND: &str = "Deployment";

/// The controller of Deployments, as it behaves in Kubernetes 1.36 with its default gates.
#[derive(Debug, Default)]
pub struct Deployments {
    /// Why the new ReplicaSet of a Deployment was refused.
    refused: Mutex<BTreeMap<Key, String>>,
}

impl Deployments {
    fn refusals(&self) -> MutexGuard<'_, BTreeMap<Key, String>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Behaviour for Deployments {
    fn name(&self) -> &'static str {
        COMPONENT
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        let collection = &change.key.collection;
        if *collection == DEPLOYMENTS {
            if change.after.is_none() {
                self.refusals().remove(&change.key);
            }
            return vec![change.key.clone()];
        }
        if *collection == REPLICASETS {
            let mut keys = own::owners(change, &DEPLOYMENTS, KIND);
            if let Some(set) = &change.after {
                keys.extend(own::takers(view, &DEPLOYMENTS, set));
            }
            return keys;
        }
        if *collection == PODS { waits_for_end(view, change) } else { Vec::new() }
    }

    fn refused(&self, key: &Key, refusal: &Refusal) -> Option<Write> {
        if refusal.verb != Verb::Create || refusal.key.collection != REPLICASETS {
            return None;
        }
        let (set, error) = (&refusal.key.name, &refusal.message);
        let message = format!("Failed to create new replica set \"{set}\": {error}");
        self.refusals().insert(key.clone(), message.clone());
        Some(event(key, "Warning", "ReplicaSetCreateError", message))
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, _: &mut fastrand::Rng) -> Step {
        let Some(deployment) = view.get(key) else { return Step::default() };
        let claimed = own::claim(view, &REPLICASETS, deployment, KIND, |_| true);
        if !claimed.writes.is_empty() {
            // The rest follows when they are known to be ours, or not.
            return Step { writes: claimed.writes, wake: None };
        }
        let mut sets = claimed.objects;
        sets::sort(&mut sets);
        let new = sets::position(deployment, &sets).map(|at| sets.remove(at));
        let look = Look {
            view,
            key,
            deployment,
            bounds: Bounds::of(deployment),
            refused: self.refusals().remove(key),
            new,
            old: sets,
            now,
            writes: Vec::new(),
        };
        look.step()
    }
}

/// Under Recreate the last Pod of an old template lets the new one begin.
fn waits_for_end(view: &dyn View, change: &Change) -> Vec<Key> {
    let Some(before) = &change.before else { return Vec::new() };
    if change.after.as_ref().is_some_and(|after| !pod::has_ended(after) || pod::has_ended(before)) {
        return Vec::new();
    }
    let mut keys = Vec::new();
    for set in own::owners(change, &REPLICASETS, "ReplicaSet") {
        let owner = view.get(&set).and_then(|set| object::controller(set));
        let Some(name) = owner.and_then(|owner| owner["name"].as_str()) else { continue };
        let key = Key::new(DEPLOYMENTS, &set.namespace, name);
        let recreates = |it: &&Object| it["spec"]["strategy"]["type"] == "Recreate";
        if view.get(&key).filter(recreates).is_some() {
            keys.push(key);
        }
    }
    keys
}

/// One look at one Deployment. Whatever is written on the way (a revision, a condition) ends it:
/// the change brings the next look.
struct Look<'a> {
    view: &'a dyn View,
    key: &'a Key,
    deployment: &'a Object,
    bounds: Bounds,
    /// What the last attempt to make the new set failed with.
    refused: Option<String>,
    new: Option<Object>,
    /// From the oldest to the newest.
    old: Vec<Object>,
    now: Timestamp,
    writes: Vec<Write>,
}

impl Look<'_> {
    fn step(mut self) -> Step {
        if object::is_terminating(self.deployment) {
            if self.noted() {
                self.write_count();
            }
            return self.end(None);
        }
        if self.pause() || !self.noted() {
            return self.end(None);
        }
        let paused = self.deployment["spec"]["paused"] == true;
        if paused || self.is_scaled() {
            self.scale();
            if paused {
                self.prune();
            }
            self.write_count();
            return self.end(None);
        }
        let go_on = if self.bounds.rolling { self.roll() } else { self.recreate() };
        if !go_on {
            return self.end(None);
        }
        let (new, old) = (self.new.as_ref(), &self.old);
        let status = status::rollout(self.deployment, new, old, self.now);
        let wake = status::wake(self.deployment, &status);
        self.write_status(status);
        self.end(wake)
    }

    fn end(self, wake: Option<Timestamp>) -> Step {
        Step { writes: self.writes, wake }
    }

    fn event(&mut self, message: String) {
        self.writes.push(event(self.key, "Normal", "ScalingReplicaSet", message));
    }

    fn write_count(&mut self) {
        let (new, old) = (self.new.as_ref(), &self.old);
        let status = status::count(self.deployment, new, old, self.now);
        self.write_status(status);
    }

    fn write_status(&mut self, status: Value) {
        self.writes.extend(Write::status(self.key, self.deployment, status));
    }
}

fn event(key: &Key, type_: &'static str, reason: &'static str, message: String) -> Write {
    Write::event(COMPONENT, key, type_, reason, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;
    use crate::store::Store;

    #[test]
    fn a_set_that_is_refused_is_spoken_of_and_tried_again() {
        let key = Key::new(DEPLOYMENTS, "ns", "web");
        let mut store = Store::new(10);
        let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {}});
        let spec = json!({
            "replicas": 1, "progressDeadlineSeconds": 600, "strategy": {"type": "RollingUpdate"},
            "selector": {"matchLabels": {"app": "web"}}, "template": template,
        });
        let meta = json!({"name": "web", "namespace": "ns", "uid": "u"});
        store.put(key.clone(), json!({"metadata": meta, "spec": spec, "status": {}}));
        let deployments = Deployments::default();
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let mut rng = fastrand::Rng::with_seed(0);
        let mut look = || deployments.step(&store, &key, now, &mut rng).writes;
        let first = look();
        let (Verb::Create, set) = first[0].target() else { panic!("{first:?}") };
        let message = "no more of these".to_owned();
        let refusal = Refusal { verb: Verb::Create, key: set.clone(), message };
        let said = deployments.refused(&key, &refusal);
        let Some(Write::Event { reason, message, .. }) = said else { panic!("{said:?}") };
        assert_eq!(reason, "ReplicaSetCreateError");
        let expect = format!("Failed to create new replica set \"{}\": no more of these", set.name);
        assert_eq!(message, expect);
        let again = look();
        let Write::Update { object, .. } = &again[0] else { panic!("{again:?}") };
        let shown = pod::condition(object, "Progressing").unwrap();
        assert_eq!((&shown["status"], &shown["message"]), (&json!("False"), &json!(expect)));
        assert_eq!(again[1].target(), (Verb::Create, set));
    }
}
