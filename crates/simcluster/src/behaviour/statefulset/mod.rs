//! The StatefulSet controller.

pub mod replica;
pub mod revision;
pub mod sync;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use self::replica::Hold;
use self::sync::{Act, Counts, Seen, Want};
use super::{Behaviour, Change, Refusal, Step, Verb, View, Write, pod, select};
use crate::object::{self, CLAIMS, CONTROLLER_REVISIONS, Key, Object, PODS, STATEFULSETS};

const COMPONENT: &str = "statefulset-controller";

/// The controller of native StatefulSets, as it behaves in Kubernetes 1.36 with its default gates.
#[derive(Debug, Default)]
pub struct StatefulSets;

impl Behaviour for StatefulSets {
    fn name(&self) -> &'static str {
        COMPONENT
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        let collection = &change.key.collection;
        if *collection == STATEFULSETS {
            return vec![change.key.clone()];
        }
        let either = change.after.as_ref().or(change.before.as_ref());
        let Some(object) = either else { return Vec::new() };
        if *collection == PODS {
            if !pod::matters(change.before.as_deref(), change.after.as_deref()) {
                return Vec::new();
            }
        } else if *collection != CONTROLLER_REVISIONS || change.after.is_some() {
            return Vec::new();
        }
        let owner_of = |object: &Object| {
            let owner =
                object::controller(object).filter(|owner| owner["kind"] == "StatefulSet")?;
            Some(Key::new(STATEFULSETS, &change.key.namespace, owner["name"].as_str()?))
        };
        let owners: BTreeSet<Key> =
            change.before.iter().chain(&change.after).filter_map(owner_of).collect();
        if owners.is_empty() && *collection == PODS && object::controller(object).is_none() {
            return adopters(view, object);
        }
        owners.into_iter().collect()
    }

    fn refused(&self, key: &Key, refusal: &Refusal) -> Option<Write> {
        let (verb, reason) = match refusal.verb {
            _ if refusal.key.collection != PODS => return None,
            Verb::Create => ("Create", "FailedCreate"),
            Verb::Delete => ("Delete", "FailedDelete"),
            _ => return None,
        };
        let (pod, set, error) = (&refusal.key.name, &key.name, &refusal.message);
        Some(Write::Event {
            regarding: key.clone(),
            type_: "Warning",
            reason,
            message: format!("{verb} Pod {pod} in StatefulSet {set} failed error: {error}"),
            component: COMPONENT,
        })
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, _: &mut fastrand::Rng) -> Step {
        view.get(key).map(|set| Look::new(view, key, set, now).step()).unwrap_or_default()
    }
}

/// The sets that would take an orphaned Pod.
fn adopters(view: &dyn View, pod: &Value) -> Vec<Key> {
    view.list(&STATEFULSETS, Some(object::namespace(pod)))
        .filter(|set| replica::ordinal(object::name(set), object::name(pod)).is_some())
        .filter(|set| select::selects(&set["spec"]["selector"], &pod["metadata"]["labels"]))
        .map(|set| Key::of(STATEFULSETS, set))
        .collect()
}

/// One look at one set.
struct Look<'a> {
    view: &'a dyn View,
    key: &'a Key,
    set: &'a Object,
    now: Timestamp,
    want: Want,
    hold: Hold,
    min_ready_seconds: i64,
    writes: Vec<Write>,
}

impl<'a> Look<'a> {
    fn new(view: &'a dyn View, key: &'a Key, set: &'a Object, now: Timestamp) -> Self {
        let spec = &set["spec"];
        let strategy = &spec["updateStrategy"];
        let on_delete = strategy["type"] == "OnDelete";
        let rolling = &strategy["rollingUpdate"];
        let partition = rolling.is_object().then(|| rolling["partition"].as_i64().unwrap_or(0));
        let start = spec["ordinals"]["start"].as_i64().unwrap_or(0);
        Self {
            view,
            key,
            set,
            now,
            want: Want {
                replicas: spec["replicas"].as_i64().unwrap_or(1),
                start,
                parallel: spec["podManagementPolicy"] == "Parallel",
                on_delete,
                partition: partition.unwrap_or(0),
                terminating: object::is_terminating(set),
            },
            hold: Hold {
                rolling: !on_delete,
                partition,
                start,
                current_replicas: set["status"]["currentReplicas"].as_i64().unwrap_or(0),
            },
            min_ready_seconds: spec["minReadySeconds"].as_i64().unwrap_or(0),
            writes: Vec::new(),
        }
    }

    fn step(mut self) -> Step {
        if self.want.terminating && self.has_orphans() {
            // It may not adopt them, and does nothing before it has.
            return Step::default();
        }
        let history = self.history();
        let taken = |name: &str| {
            let key = Key::new(CONTROLLER_REVISIONS, &self.key.namespace, name);
            self.view.get(&key).is_some()
        };
        let (update, collisions) = revision::update(self.set, &history, taken);
        let update_object = update.object().clone();
        match update {
            revision::Update::Newest(_) => {}
            revision::Update::RolledBack(object) => self.writes.push(Write::Update {
                key: Key::of(CONTROLLER_REVISIONS, &object),
                subresource: None,
                object,
            }),
            revision::Update::New(object) => {
                self.writes.push(Write::Create { collection: CONTROLLER_REVISIONS, object });
            }
        }
        let named = self.set["status"]["currentRevision"].as_str().unwrap_or_default();
        let current: &Value = history
            .iter()
            .find(|revision| object::name(revision) == named)
            .map_or(&update_object, |revision| revision);

        self.release();
        let adopted = self.adopt();
        let pods = self.pods(&adopted);
        let (current_name, update_name) =
            (object::name(current).to_owned(), object::name(&update_object).to_owned());
        let (acts, rolled) = sync::acts(&self.want, &pods, &update_name, self.now);
        for act in acts {
            match act {
                Act::Create(ordinal) => {
                    let held = self.hold.keeps_current(ordinal);
                    self.create(if held { current } else { &update_object }, ordinal);
                }
                Act::Delete(ordinal) => self.delete(ordinal),
            }
        }
        let mut counts = sync::count(&pods, &current_name, &update_name, self.now);
        if rolled {
            counts.current -= 1;
        }
        self.write_status(counts, current_name.clone(), &update_name, collisions);
        let live = |name: &str| {
            name == current_name
                || name == update_name
                || pods.values().any(|pod| pod.revision == name)
        };
        self.prune(&history, live);
        let wake =
            pods.values().filter_map(|pod| pod.available_at).filter(|at| *at > self.now).min();
        Step { writes: self.writes, wake }
    }

    /// Oldest first. A set made again after `--cascade=orphan` takes the revisions it left.
    fn history(&mut self) -> Vec<Object> {
        let uid = object::uid(self.set);
        let mut history: Vec<Object> =
            self.view.controlled_by(&CONTROLLER_REVISIONS, uid).cloned().collect();
        if history.is_empty() {
            let orphans = self.view.orphans(&CONTROLLER_REVISIONS, &self.key.namespace);
            let orphans = orphans.filter(|one| !object::is_terminating(one) && self.selects(one));
            history = orphans.cloned().collect();
            for orphan in &history {
                self.writes.push(adopt(self.set, CONTROLLER_REVISIONS, orphan));
            }
            // Adopted now, used by the next look, which the adoption itself brings about.
            for revision in &mut history {
                let mut adopted = Value::clone(revision);
                adopted["metadata"]["ownerReferences"] = json!([revision::owner(self.set)]);
                *revision = Object::new(adopted);
            }
        }
        revision::sort(&mut history);
        history
    }

    fn selects(&self, pod: &Value) -> bool {
        select::selects(&self.set["spec"]["selector"], &pod["metadata"]["labels"])
    }

    /// Lets go of Pods whose labels the selector no longer selects.
    fn release(&mut self) {
        let strays: Vec<Object> = self
            .view
            .controlled_by(&PODS, object::uid(self.set))
            .filter(|pod| !self.selects(pod) && !object::is_terminating(pod))
            .cloned()
            .collect();
        for stray in strays {
            let key = Key::of(PODS, &stray);
            let mut object = Value::clone(&stray);
            if let Some(owners) = object["metadata"]["ownerReferences"].as_array_mut() {
                owners.retain(|owner| owner["uid"] != *object::uid(self.set));
                if owners.is_empty() {
                    object["metadata"]["ownerReferences"].take();
                }
            }
            if object["metadata"]["ownerReferences"].is_null()
                && let Some(metadata) = object["metadata"].as_object_mut()
            {
                metadata.remove("ownerReferences");
            }
            self.writes.push(Write::Update { key, subresource: None, object });
        }
    }

    fn has_orphans(&self) -> bool {
        let mut revisions = self.view.orphans(&CONTROLLER_REVISIONS, &self.key.namespace);
        revisions.any(|one| self.selects(one)) || self.orphans().next().is_some()
    }

    fn orphans(&self) -> impl Iterator<Item = &'a Object> + '_ {
        let set_name = object::name(self.set);
        self.view
            .orphans(&PODS, &self.key.namespace)
            .filter(move |pod| replica::ordinal(set_name, object::name(pod)).is_some())
            .filter(|pod| self.selects(pod) && !object::is_terminating(pod))
    }

    /// Takes all of nobody's Pods that are selected and named as ours, also those that it will
    /// scale in at once. Any other Pod under such a name makes the creation fail, again and again.
    fn adopt(&mut self) -> Vec<Object> {
        let orphans: Vec<Object> = self.orphans().cloned().collect();
        self.writes.extend(orphans.iter().map(|orphan| adopt(self.set, PODS, orphan)));
        orphans
    }

    fn pods(&self, adopted: &[Object]) -> BTreeMap<i64, Seen> {
        let set_name = object::name(self.set);
        self.view
            .controlled_by(&PODS, object::uid(self.set))
            .filter(|pod| self.selects(pod))
            .chain(adopted)
            .filter_map(|pod| {
                let ordinal = replica::ordinal(set_name, object::name(pod))?;
                let ready = pod::is_running_and_ready(pod);
                let seen = Seen {
                    revision: object::label(pod, replica::REVISION_LABEL)
                        .unwrap_or_default()
                        .to_owned(),
                    created: !pod::phase(pod).is_empty(),
                    ended: matches!(pod::phase(pod), "Failed" | "Succeeded"),
                    ready,
                    available_at: ready
                        .then(|| pod::available_at(pod, self.min_ready_seconds))
                        .flatten(),
                    terminating: object::is_terminating(pod),
                };
                Some((ordinal, seen))
            })
            .collect()
    }

    fn pod_key(&self, ordinal: i64) -> Key {
        let name = format!("{}-{ordinal}", object::name(self.set));
        Key::new(PODS, &self.key.namespace, &name)
    }

    fn create(&mut self, from: &Value, ordinal: i64) {
        let set_name = object::name(self.set).to_owned();
        let pod_key = self.pod_key(ordinal);
        for claim in replica::claims(self.set, &pod_key.name) {
            if self.view.get(&Key::of(CLAIMS, &claim)).is_some() {
                continue;
            }
            let message = format!(
                "Create Claim {} Pod {} in StatefulSet {set_name} success",
                object::name(&claim),
                pod_key.name
            );
            self.writes.push(Write::Create { collection: CLAIMS, object: claim });
            self.event("SuccessfulCreate", message);
        }
        let object = replica::pod(self.set, from, ordinal);
        self.writes.push(Write::Create { collection: PODS, object });
        let message = format!("Create Pod {} in StatefulSet {set_name} successful", pod_key.name);
        self.event("SuccessfulCreate", message);
    }

    fn delete(&mut self, ordinal: i64) {
        let key = self.pod_key(ordinal);
        let pod = self.view.get(&key);
        let kept = self.want.start..self.want.start + self.want.replicas;
        if replica::retention(self.set, "whenScaled") == "Delete" && !kept.contains(&ordinal) {
            for claim in replica::claims(self.set, &key.name) {
                let claim_key = Key::of(CLAIMS, &claim);
                let (Some(claim), Some(pod)) = (self.view.get(&claim_key), pod) else { continue };
                let object = replica::owned_by_pod(claim, pod);
                self.writes.push(Write::Update { key: claim_key, subresource: None, object });
            }
        }
        let uid = pod.map(|pod| object::uid(pod).to_owned());
        let message =
            format!("Delete Pod {} in StatefulSet {} successful", key.name, object::name(self.set));
        self.writes.push(Write::Delete { key, uid, grace_period_seconds: None });
        self.event("SuccessfulDelete", message);
    }

    fn event(&mut self, reason: &'static str, message: String) {
        self.writes.push(Write::Event {
            regarding: self.key.clone(),
            type_: "Normal",
            reason,
            message,
            component: COMPONENT,
        });
    }

    /// `currentRevision` advances only when a RollingUpdate is complete; under OnDelete never.
    fn write_status(
        &mut self,
        mut counts: Counts,
        mut current: String,
        update: &str,
        collisions: i64,
    ) {
        let replicas = self.want.replicas;
        if self.hold.rolling
            && counts.updated == replicas
            && counts.ready == replicas
            && counts.replicas == replicas
        {
            counts.current = counts.updated;
            update.clone_into(&mut current);
        }
        let mut status = json!({
            "observedGeneration": object::generation(self.set),
            "replicas": counts.replicas, "availableReplicas": counts.available,
            "currentRevision": current, "updateRevision": update, "collisionCount": collisions,
        });
        let optional = [
            ("readyReplicas", counts.ready),
            ("currentReplicas", counts.current),
            ("updatedReplicas", counts.updated),
        ];
        for (field, count) in optional {
            if count != 0 {
                status[field] = count.into();
            }
        }
        // Conditions are nobody's: they are no reason to write, and go when there is one.
        let mut known = self.set["status"].clone();
        if let Some(known) = known.as_object_mut() {
            known.remove("conditions");
        }
        if known != status {
            let mut object = Value::clone(self.set);
            object["status"] = status;
            self.writes.push(Write::Update {
                key: self.key.clone(),
                subresource: Some("status"),
                object,
            });
        }
    }

    fn prune(&mut self, history: &[Object], live: impl Fn(&str) -> bool) {
        let limit = self.set["spec"]["revisionHistoryLimit"].as_u64().unwrap_or(10);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        for revision in revision::surplus(history, live, limit) {
            self.writes.push(Write::Delete {
                key: Key::of(CONTROLLER_REVISIONS, revision),
                uid: Some(object::uid(revision).to_owned()),
                grace_period_seconds: None,
            });
        }
    }
}

fn adopt(set: &Value, collection: object::Collection, orphan: &Object) -> Write {
    let mut object = Value::clone(orphan);
    match object["metadata"]["ownerReferences"].as_array_mut() {
        Some(owners) => owners.push(revision::owner(set)),
        None => object["metadata"]["ownerReferences"] = json!([revision::owner(set)]),
    }
    Write::Update { key: Key::of(collection, orphan), subresource: None, object }
}

#[cfg(test)]
mod tests;
