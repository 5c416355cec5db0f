//! The Deployment controller.

pub mod bounds;
pub mod sets;
pub mod sizes;
pub mod status;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::{Value, json};

use self::bounds::Bounds;
use self::sizes::{Resize, Size};
use super::{Behaviour, Change, Refusal, Step, Verb, View, Write, own, pod};
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

    /// Says that the Deployment is paused, or resumed. Of one that has failed nothing is said.
    fn pause(&mut self) -> bool {
        let reason = status::progress_reason(self.deployment);
        if status::deadline(self.deployment).is_none() || reason == Some("ProgressDeadlineExceeded")
        {
            return false;
        }
        let paused = self.deployment["spec"]["paused"] == true;
        let (reason, message) = match (paused, reason == Some("DeploymentPaused")) {
            (true, false) => ("DeploymentPaused", "Deployment is paused"),
            (false, true) => ("DeploymentResumed", "Deployment is resumed"),
            _ => return false,
        };
        let mut status = self.deployment["status"].clone();
        status::set(&mut status, status::progressing("Unknown", reason, message, self.now));
        self.write_status(status);
        true
    }

    /// Brings the notes up to date that the Deployment and its new set keep of each other; says
    /// whether they were already.
    fn noted(&mut self) -> bool {
        let Some(new) = self.new.clone() else { return true };
        let mut set = Value::clone(&new);
        sets::annotate(self.deployment, &mut set, self.next_revision());
        let seconds = |object: &Value| object["spec"]["minReadySeconds"].as_i64().unwrap_or(0);
        let wanted = seconds(self.deployment);
        if seconds(&set) != wanted {
            set["spec"]["minReadySeconds"] = wanted.into();
        }
        if set != *new {
            let key = Key::of(REPLICASETS, &set);
            self.writes.push(Write::Update { key, subresource: None, object: set });
            return false;
        }
        let revision = object::annotation(&new, sets::REVISION).unwrap_or_default();
        let known = object::annotation(self.deployment, sets::REVISION) == Some(revision);
        let silent = status::deadline(self.deployment).is_some()
            && status::progress_reason(self.deployment).is_none();
        if known && !silent {
            return true;
        }
        let mut status = self.deployment["status"].clone();
        if silent {
            let message = format!("Found new replica set \"{}\"", object::name(&new));
            let found = status::progressing("True", "FoundNewReplicaSet", &message, self.now);
            status::set(&mut status, found);
        }
        self.write_noted(status, revision);
        false
    }

    fn next_revision(&self) -> i64 {
        self.old.iter().map(|set| sets::number(set)).max().unwrap_or(0) + 1
    }

    /// Makes the new set; its size follows from the room that there is.
    fn create(&mut self) {
        let mut set = sets::build(self.deployment);
        let key = Key::of(REPLICASETS, &set);
        if self.view.get(&key).is_some() {
            // Another template has this hash, or somebody else this name.
            let mut status = self.deployment["status"].clone();
            let collisions = status["collisionCount"].as_i64().unwrap_or(0) + 1;
            status["collisionCount"] = collisions.into();
            self.write_status(status);
            return;
        }
        if let Some(message) = self.refused.take() {
            let failed = status::progressing("False", "ReplicaSetCreateError", &message, self.now);
            let mut status = self.deployment["status"].clone();
            status::set(&mut status, failed);
            if status != self.deployment["status"] && status::deadline(self.deployment).is_some() {
                self.write_status(status);
            }
        }
        let others: Vec<Size> = self.old.iter().map(|set| sets::size(set)).collect();
        let size = sizes::room(self.bounds, 0, &others);
        set["spec"]["replicas"] = size.into();
        let revision = self.next_revision();
        sets::annotate(self.deployment, &mut set, revision);
        sets::note_size(&mut set, self.bounds);
        self.writes.push(Write::Create { collection: REPLICASETS, object: set });
        let name = key.name;
        if size > 0 {
            self.event(format!("Scaled up replica set {name} from 0 to {size}"));
        }
        if self.writes.iter().any(|write| write.target() == (Verb::Update, self.key.clone())) {
            return;
        }
        let mut status = self.deployment["status"].clone();
        if status::deadline(self.deployment).is_some() {
            let message = format!("Created new replica set \"{name}\"");
            let made = status::progressing("True", "NewReplicaSetCreated", &message, self.now);
            status::set(&mut status, made);
        }
        self.write_noted(status, &revision.to_string());
    }

    /// Whether an active set got its size when another number of Pods was wanted.
    fn is_scaled(&self) -> bool {
        let active = self.old.iter().chain(&self.new).map(|set| sets::size(set));
        active
            .filter(|size| size.replicas > 0)
            .any(|size| size.desired.is_some_and(|desired| desired != self.bounds.replicas))
    }

    fn sizes(&self) -> (Option<Size>, Vec<Size>) {
        (self.new.as_deref().map(sets::size), self.old.iter().map(|set| sets::size(set)).collect())
    }

    fn scale(&mut self) {
        let (new, old) = self.sizes();
        let counted = self.deployment["status"]["replicas"].as_i64().unwrap_or(0);
        self.resize(sizes::scale(self.bounds, new.as_ref(), &old, counted));
    }

    /// Says whether the status is to be written, too.
    fn roll(&mut self) -> bool {
        let (Some(new), old) = self.sizes() else {
            self.create();
            return false;
        };
        let resizes = sizes::roll(self.bounds, &new, &old);
        if resizes.is_empty() && status::is_complete(self.deployment, &self.deployment["status"]) {
            self.prune();
        }
        self.resize(resizes);
        true
    }

    /// Old Pods go before new ones come. Says whether the status is to be written, too.
    fn recreate(&mut self) -> bool {
        let down = |set: &Object| {
            let size = sets::size(set);
            (size.replicas > 0).then_some(Resize { name: size.name, to: 0, always: false })
        };
        let down: Vec<Resize> = self.old.iter().filter_map(down).collect();
        if !down.is_empty() {
            self.resize(down);
            return true;
        }
        if self.old_pods_run() {
            return true;
        }
        let Some(new) = &self.new else {
            self.create();
            return false;
        };
        let size = sets::size(new);
        if size.replicas != self.bounds.replicas {
            self.resize(vec![Resize { name: size.name, to: self.bounds.replicas, always: false }]);
        }
        if status::is_complete(self.deployment, &self.deployment["status"]) {
            self.prune();
        }
        true
    }

    fn old_pods_run(&self) -> bool {
        self.old.iter().any(|set| {
            set["status"]["replicas"].as_i64().unwrap_or(0) > 0
                || self.view.controlled_by(&PODS, object::uid(set)).any(|pod| !pod::has_ended(pod))
        })
    }

    /// One that is resized twice is written once, and spoken of twice.
    fn resize(&mut self, resizes: Vec<Resize>) {
        let mut written: BTreeMap<String, Value> = BTreeMap::new();
        for Resize { name, to, always } in resizes {
            let known = self.old.iter().chain(&self.new).find(|set| object::name(set) == name);
            let Some(known) = known else { continue };
            let set = written.entry(name.clone()).or_insert_with(|| Value::clone(known));
            let from = set["spec"]["replicas"].as_i64().unwrap_or(0);
            if from == to && !always {
                continue;
            }
            set["spec"]["replicas"] = to.into();
            sets::note_size(set, self.bounds);
            if from != to {
                let way = if from < to { "up" } else { "down" };
                self.event(format!("Scaled {way} replica set {name} from {from} to {to}"));
            }
        }
        for (_, object) in written {
            let key = Key::of(REPLICASETS, &object);
            if self.view.get(&key).is_none_or(|known| **known != object) {
                self.writes.push(Write::Update { key, subresource: None, object });
            }
        }
    }

    /// Deletes the oldest sets above `revisionHistoryLimit`, but none that still has Pods.
    fn prune(&mut self) {
        let limit = self.deployment["spec"]["revisionHistoryLimit"].as_u64();
        let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok()) else { return };
        let mut sets = self.old.clone();
        sets.retain(|set| !object::is_terminating(set));
        sets::sort_by_revision(&mut sets);
        let surplus = sets.len().saturating_sub(limit);
        for set in &sets[..surplus] {
            let seen = set["status"]["observedGeneration"].as_i64().unwrap_or(0);
            let empty = |part: &str| set[part]["replicas"].as_i64().unwrap_or(0) == 0;
            if empty("spec") && empty("status") && seen >= object::generation(set) {
                self.writes.push(Write::delete(Key::of(REPLICASETS, set), set));
            }
        }
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

    /// With the revision that the Deployment is at, which goes in with the status.
    fn write_noted(&mut self, status: Value, revision: &str) {
        let mut object = Value::clone(self.deployment);
        object["status"] = status;
        sets::note(&mut object, sets::REVISION, json!(revision));
        let key = self.key.clone();
        self.writes.push(Write::Update { key, subresource: Some("status"), object });
    }
}

fn event(key: &Key, type_: &'static str, reason: &'static str, message: String) -> Write {
    Write::Event { regarding: key.clone(), type_, reason, message, component: COMPONENT }
}

#[cfg(test)]
mod tests {
    use super::*;
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
