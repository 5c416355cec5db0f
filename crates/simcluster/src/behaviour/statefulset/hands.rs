//! The hands of a controller of sets: what it finds, takes over, makes, deletes and writes down. The
//! native controller and Kruise's do all of this alike.

use std::collections::BTreeSet;

use super::revisions::Revisions;
use super::{replica, revision};
use crate::behaviour::pod::Matters;
use crate::behaviour::{Change, Refusal, Verb, View, Write, own, select};
use crate::json::{Value, json};
use crate::object::{
    self, CLAIMS, CONTROLLER_REVISIONS, Collection, Key, Object, PODS, STATEFULSETS,
};

const COMPONENT: &str = "statefulset-controller";
const KIND: &str = "StatefulSet";

/// The sets of a collection that have to be looked at again because of a change; of a Pod, because
/// of one that matters.
pub fn concerns(view: &dyn View, change: &Change, sets: &Collection, matters: Matters) -> Vec<Key> {
    let collection = &change.key.collection;
    if collection == sets {
        return vec![change.key.clone()];
    }
    let either = change.after.as_ref().or(change.before.as_ref());
    let Some(object) = either else { return Vec::new() };
    if *collection == PODS {
        if !matters(change.before.as_deref(), change.after.as_deref()) {
            return Vec::new();
        }
    } else if *collection != CONTROLLER_REVISIONS || change.after.is_some() || *sets == STATEFULSETS
    {
        return Vec::new();
    }
    let owners: BTreeSet<Key> = own::owners(change, sets, KIND).into_iter().collect();
    if owners.is_empty() && *collection == PODS && object::controller(object).is_none() {
        return adopters(view, object, sets);
    }
    owners.into_iter().collect()
}

/// The sets that would take an orphaned Pod.
fn adopters(view: &dyn View, pod: &Value, sets: &Collection) -> Vec<Key> {
    let mut takers = own::takers(view, sets, pod);
    takers.retain(|set| replica::ordinal(&set.name, object::name(pod)).is_some());
    takers
}

/// What is said when a Pod could not be made or deleted.
pub fn refused(key: &Key, refusal: &Refusal) -> Option<Write> {
    let (verb, reason) = match refusal.verb {
        _ if refusal.key.collection != PODS => return None,
        Verb::Create => ("Create", "FailedCreate"),
        Verb::Delete => ("Delete", "FailedDelete"),
        _ => return None,
    };
    let (pod, set, error) = (&refusal.key.name, &key.name, &refusal.message);
    let message = format!("{verb} Pod {pod} in StatefulSet {set} failed error: {error}");
    Some(event(key, "Warning", reason, message))
}

fn event(key: &Key, type_: &'static str, reason: &'static str, message: String) -> Write {
    Write::event(COMPONENT, key, type_, reason, message)
}

/// The hands, at one look at one set.
pub struct Hands<'a> {
    /// Where it looks.
    pub view: &'a dyn View,
    /// The set's key.
    pub key: &'a Key,
    /// The set.
    pub set: &'a Object,
    /// What has been done so far.
    pub writes: Vec<Write>,
}

impl<'a> Hands<'a> {
    /// Nothing done yet.
    pub fn new(view: &'a dyn View, key: &'a Key, set: &'a Object) -> Self {
        Self { view, key, set, writes: Vec::new() }
    }

    /// Reads the history, and makes or raises the revision of today's template.
    pub fn revisions(&mut self) -> Revisions {
        let history = self.history();
        let (revisions, write) = Revisions::of(self.view, self.set, history);
        self.writes.extend(write);
        revisions
    }

    /// A set made again after `--cascade=orphan` takes the revisions it left.
    fn history(&mut self) -> Vec<Object> {
        let uid = object::uid(self.set);
        let mut history: Vec<Object> =
            self.view.controlled_by(&CONTROLLER_REVISIONS, uid).cloned().collect();
        if history.is_empty() {
            let orphans = self.view.orphans(&CONTROLLER_REVISIONS, &self.key.namespace);
            let orphans = orphans.filter(|one| !object::is_terminating(one) && self.selects(one));
            history = orphans.cloned().collect();
            for orphan in &history {
                self.writes.push(own::adopt(&CONTROLLER_REVISIONS, self.set, KIND, orphan));
            }
            // Adopted now, used by the next look, which the adoption itself brings about.
            for revision in &mut history {
                let mut adopted = Value::clone(revision);
                adopted["metadata"]["ownerReferences"] = json!([revision::owner(self.set)]);
                *revision = Object::new(adopted);
            }
        }
        history
    }

    fn selects(&self, pod: &Value) -> bool {
        select::selects(&self.set["spec"]["selector"], &pod["metadata"]["labels"])
    }

    /// The Pods of the set by ordinal: lets go of those that its selector no longer selects, and
    /// takes all of nobody's that are selected and named as its own, also those that it will scale
    /// in at once. Any other Pod under such a name makes the creation fail, again and again.
    pub fn pods(&mut self) -> Vec<(i64, Object)> {
        self.release();
        let adopted: Vec<Object> = self.orphans().cloned().collect();
        self.writes.extend(adopted.iter().map(|orphan| own::adopt(&PODS, self.set, KIND, orphan)));
        let set_name = object::name(self.set);
        self.view
            .controlled_by(&PODS, object::uid(self.set))
            .filter(|pod| self.selects(pod))
            .chain(&adopted)
            .filter_map(|pod| Some((replica::ordinal(set_name, object::name(pod))?, pod.clone())))
            .collect()
    }

    /// Lets go of Pods whose labels the selector no longer selects.
    fn release(&mut self) {
        let strays: Vec<Object> = self
            .view
            .controlled_by(&PODS, object::uid(self.set))
            .filter(|pod| !self.selects(pod) && !object::is_terminating(pod))
            .cloned()
            .collect();
        self.writes.extend(strays.iter().map(|stray| own::release(&PODS, self.set, stray)));
    }

    /// Whether there is anything that it would have to take over before it does anything else, and
    /// may not, since it is being deleted.
    pub fn may_not_act(&self) -> bool {
        object::is_terminating(self.set) && self.has_orphans()
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

    fn pod_key(&self, ordinal: i64) -> Key {
        let name = format!("{}-{ordinal}", object::name(self.set));
        Key::new(PODS, &self.key.namespace, &name)
    }

    /// Makes a Pod from a revision, and the claims that it has not yet. `dress` may change it first.
    pub fn create(&mut self, from: &Value, ordinal: i64, dress: impl FnOnce(&mut Value)) {
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
            self.say("SuccessfulCreate", message);
        }
        let mut object = replica::pod(self.set, from, ordinal);
        dress(&mut object);
        self.writes.push(Write::Create { collection: PODS, object });
        let message = format!("Create Pod {} in StatefulSet {set_name} successful", pod_key.name);
        self.say("SuccessfulCreate", message);
    }

    /// Deletes a Pod. One that is scaled away may take its claims along.
    pub fn delete(&mut self, ordinal: i64, scaled_away: bool) {
        let key = self.pod_key(ordinal);
        let pod = self.view.get(&key);
        if replica::retention(self.set, "whenScaled") == "Delete" && scaled_away {
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
        self.say("SuccessfulDelete", message);
    }

    /// An Event about the set.
    pub fn say(&mut self, reason: &'static str, message: String) {
        self.writes.push(event(self.key, "Normal", reason, message));
    }

    /// Writes the status if it says anything new. Conditions are nobody's: they are no reason to
    /// write, and go when there is one.
    pub fn write_status(&mut self, status: Value) {
        let mut known = self.set["status"].clone();
        if let Some(known) = known.as_object_mut() {
            known.remove("conditions");
        }
        if known != status {
            let mut object = Value::clone(self.set);
            object["status"] = status;
            let key = self.key.clone();
            self.writes.push(Write::Update { key, subresource: Some("status"), object });
        }
    }

    /// Deletes the revisions above the history limit that no Pod is of.
    pub fn prune(&mut self, revisions: &Revisions, pods: &[(i64, Object)]) {
        let of = |pod| object::label(pod, replica::REVISION_LABEL);
        let in_use = |name: &str| pods.iter().any(|(_, pod)| of(pod) == Some(name));
        self.writes.extend(revisions.prune(self.set, in_use));
    }
}
