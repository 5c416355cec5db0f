//! The sizes of a Deployment's ReplicaSets, and which of them are kept at all.

use std::collections::BTreeMap;

use super::sizes::{Resize, Size};
use super::{Look, sets, sizes, status};
use crate::behaviour::{Write, pod};
use crate::json::Value;
use crate::object::{self, Key, Object, PODS, REPLICASETS};

impl Look<'_> {
    /// Whether an active set got its size when another number of Pods was wanted.
    pub(super) fn is_scaled(&self) -> bool {
        let active = self.old.iter().chain(&self.new).map(|set| sets::size(set));
        active
            .filter(|size| size.replicas > 0)
            .any(|size| size.desired.is_some_and(|desired| desired != self.bounds.replicas))
    }

    fn sizes(&self) -> (Option<Size>, Vec<Size>) {
        (self.new.as_deref().map(sets::size), self.old.iter().map(|set| sets::size(set)).collect())
    }

    pub(super) fn scale(&mut self) {
        let (new, old) = self.sizes();
        let counted = self.deployment["status"]["replicas"].as_i64().unwrap_or(0);
        self.resize(sizes::scale(self.bounds, new.as_ref(), &old, counted));
    }

    /// Says whether the status is to be written, too.
    pub(super) fn roll(&mut self) -> bool {
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
    pub(super) fn recreate(&mut self) -> bool {
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
    pub(super) fn prune(&mut self) {
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
}
