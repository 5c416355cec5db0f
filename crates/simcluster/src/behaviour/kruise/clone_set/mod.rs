//! The CloneSet controller.
//!
//! It does one thing a look: it makes or deletes Pods, else it updates some. A Pod to be made anew is
//! only marked by an update; the next look deletes it as one that somebody marked.

pub mod order;
pub mod pods;
pub mod roll;
pub mod scale;
pub mod sizes;
pub mod status;

use jiff::Timestamp;

use self::sizes::{Bounds, Group, Sizes};
use super::{CLONESETS, MANAGER, in_place, lifecycle};
use crate::behaviour::statefulset::replica::REVISION_LABEL;
use crate::behaviour::statefulset::revisions::Revisions;
use crate::behaviour::{Behaviour, Change, Refusal, Step, Verb, View, Write, own, pod};
use crate::json::Value;
use crate::object::{self, CONTROLLER_REVISIONS, Key, Object, PODS};

const COMPONENT: &str = "cloneset-controller";
/// The kind, as owner references name it.
pub const KIND: &str = "CloneSet";
/// The label with the letters that end a Pod's name.
pub const INSTANCE: &str = "apps.kruise.io/cloneset-instance-id";
/// The label of a Pod that is to be deleted, and replaced where it is not one too many.
pub const MARK: &str = "apps.kruise.io/specified-delete";

/// The controller of CloneSets, without their hooks of a Pod's life and their volume claims.
#[derive(Debug, Default)]
pub struct CloneSets;

impl Behaviour for CloneSets {
    fn name(&self) -> &'static str {
        MANAGER
    }

    fn concerns(&self, _: &dyn View, change: &Change) -> Vec<Key> {
        if change.key.collection == CLONESETS {
            return vec![change.key.clone()];
        }
        let matters = change.key.collection == PODS
            && in_place::matters(change.before.as_deref(), change.after.as_deref());
        if matters { own::owners(change, &CLONESETS, KIND) } else { Vec::new() }
    }

    fn refused(&self, key: &Key, refusal: &Refusal) -> Option<Write> {
        let (reason, what) = match refusal.verb {
            _ if refusal.key.collection != PODS => return None,
            Verb::Create => ("FailedCreate", "create"),
            Verb::Delete => ("FailedDelete", "delete"),
            _ => return None,
        };
        let (pod, error) = (&refusal.key.name, &refusal.message);
        Some(event(key, "Warning", reason, format!("failed to {what} pod {pod}: {error}")))
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, rng: &mut fastrand::Rng) -> Step {
        let Some(set) = view.get(key) else { return Step::default() };
        let claimed = own::owned(view, &PODS, set, pod::is_active);
        let history = own::claim(view, &CONTROLLER_REVISIONS, set, KIND, |_| true);
        if !claimed.writes.is_empty() || !history.writes.is_empty() {
            // The rest follows when it is known what is ours.
            let writes = claimed.writes.into_iter().chain(history.writes).collect();
            return Step { writes, wake: None };
        }
        let (revisions, write) = Revisions::of(view, set, history.objects);
        let writes = write.into_iter().collect();
        Look { key, set, now, bounds: Bounds::of(set), writes, revisions }
            .step(&claimed.objects, rng)
    }
}

fn event(key: &Key, type_: &'static str, reason: &'static str, message: String) -> Write {
    Write::event(COMPONENT, key, type_, reason, message)
}

/// One Pod as the controller counts it.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    /// The Pod.
    pub pod: &'a Object,
    /// It is at the update revision.
    pub updated: bool,
    /// It is to be deleted, by its label or by the set's list.
    pub marked: bool,
    /// Its state label lets it count.
    pub normal: bool,
    /// It runs and is ready, and no update holds its gate closed.
    pub ready: bool,
    /// When it will have been ready long enough, if it is ready.
    pub available_at: Option<Timestamp>,
}

impl<'a> Seen<'a> {
    /// Of a Pod, by the name of the update revision and the names on the set's list.
    pub fn of(pod: &'a Object, update: &str, listed: &[Value], min_ready_seconds: i64) -> Self {
        let ready = pod::is_running_and_ready(pod) && in_place::lets_pass(pod);
        Self {
            pod,
            updated: object::label(pod, REVISION_LABEL) == Some(update),
            marked: object::label(pod, MARK) == Some("true")
                || listed.iter().any(|name| *name == *object::name(pod)),
            normal: lifecycle::counts(pod),
            ready,
            available_at: ready.then(|| pod::available_at(pod, min_ready_seconds)).flatten(),
        }
    }

    /// Whether it has been ready long enough.
    pub fn is_available(&self, now: Timestamp) -> bool {
        self.available_at.is_some_and(|at| at <= now)
    }

    /// Whether it is at work: available, and in no change of state.
    pub fn serves(&self, now: Timestamp) -> bool {
        self.normal && self.is_available(now)
    }
}

/// One look at one set.
struct Look<'a> {
    key: &'a Key,
    set: &'a Object,
    now: Timestamp,
    bounds: Bounds,
    revisions: Revisions,
    writes: Vec<Write>,
}

impl Look<'_> {
    fn step(mut self, pods: &[Object], rng: &mut fastrand::Rng) -> Step {
        let spec = &self.set["spec"];
        let listed = spec["scaleStrategy"]["podsToDelete"].as_array().cloned().unwrap_or_default();
        let min_ready_seconds = spec["minReadySeconds"].as_i64().unwrap_or(0);
        let update = self.revisions.update_name().to_owned();
        let all: Vec<Seen<'_>> =
            pods.iter().map(|pod| Seen::of(pod, &update, &listed, min_ready_seconds)).collect();
        if !object::is_terminating(self.set) {
            let (new, old) = (self.group(&all, true), self.group(&all, false));
            let sizes = Sizes::of(&self.bounds, new, old);
            if !self.scale(&sizes, &all, rng) {
                self.roll(&sizes, &all);
            }
        }
        self.write_status(&all, &listed);
        let in_use =
            |name: &str| pods.iter().any(|pod| object::label(pod, REVISION_LABEL) == Some(name));
        self.writes.extend(self.revisions.prune(self.set, in_use));
        let wake = all.iter().filter_map(|pod| pod.available_at).filter(|at| *at > self.now).min();
        Step { writes: self.writes, wake }
    }

    fn group(&self, all: &[Seen<'_>], updated: bool) -> Group {
        let mut group = Group::default();
        for pod in all.iter().filter(|pod| pod.updated == updated) {
            group.pods += 1;
            match (pod.marked, pod.serves(self.now)) {
                (true, _) => group.marked += 1,
                (false, false) => group.unavailable += 1,
                (false, true) => {}
            }
        }
        group
    }

    /// Writes the status; and when that is as it should be, strikes Pods that are gone off the list
    /// of those to delete. Each moves the set's version on, so that it is one or the other.
    fn write_status(&mut self, all: &[Seen<'_>], listed: &[Value]) {
        let status = status::of(self.set, &self.bounds, all, &self.revisions, self.now);
        let there = |name: &&Value| all.iter().any(|pod| **name == *object::name(pod.pod));
        let left: Vec<Value> = listed.iter().filter(there).cloned().collect();
        let mut object = Value::clone(self.set);
        let key = self.key.clone();
        if self.set["status"] != status {
            object["status"] = status;
            self.writes.push(Write::Update { key, subresource: Some("status"), object });
        } else if left.len() < listed.len() && !object::is_terminating(self.set) {
            object["spec"]["scaleStrategy"]["podsToDelete"] = left.into();
            self.writes.push(Write::Update { key, subresource: None, object });
        }
    }

    fn event(&mut self, type_: &'static str, reason: &'static str, message: String) {
        self.writes.push(event(self.key, type_, reason, message));
    }
}
