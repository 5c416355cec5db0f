//! The ReplicaSet controller.

pub mod rank;
pub mod status;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::pod_control::PodControl;
use super::{Behaviour, Change, Refusal, Step, View, Write, own, pod};
use crate::json::Value;
use crate::object::{self, Key, PODS, REPLICASETS};

const COMPONENT: &str = "replicaset-controller";
const KIND: &str = "ReplicaSet";
/// At most so many Pods are made or deleted in one look.
const BURST: usize = 500;
const CONTROL: PodControl = PodControl { component: COMPONENT, kind: KIND };

/// The controller of ReplicaSets, as it behaves in Kubernetes 1.36 with its default gates.
#[derive(Debug, Default)]
pub struct ReplicaSets {
    /// What the last attempt on a set failed with, and how many Pods there were.
    failed: Mutex<BTreeMap<Key, Failed>>,
}

/// An attempt to make or delete Pods that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Failed {
    message: String,
    pods: usize,
}

impl ReplicaSets {
    fn failed(&self) -> MutexGuard<'_, BTreeMap<Key, Failed>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Behaviour for ReplicaSets {
    fn name(&self) -> &'static str {
        COMPONENT
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        if change.key.collection == REPLICASETS {
            if change.after.is_none() {
                self.failed().remove(&change.key);
            }
            return vec![change.key.clone()];
        }
        let either = change.after.as_ref().or(change.before.as_ref());
        let Some(object) = either.filter(|_| change.key.collection == PODS) else {
            return Vec::new();
        };
        if !pod::matters(change.before.as_deref(), change.after.as_deref()) {
            return Vec::new();
        }
        let mut keys = own::owners(change, &REPLICASETS, KIND);
        if change.after.is_some() {
            keys.extend(own::takers(view, &REPLICASETS, object));
        }
        keys
    }

    fn refused(&self, key: &Key, refusal: &Refusal) -> Option<Write> {
        let said = CONTROL.refused(key, refusal)?;
        if let Some(failed) = self.failed().get_mut(key) {
            failed.message.clone_from(&refusal.message);
        }
        Some(said)
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, rng: &mut fastrand::Rng) -> Step {
        let Some(set) = view.get(key) else { return Step::default() };
        let claimed = own::claim(view, &PODS, set, KIND, pod::is_active);
        let mut step = Step { writes: claimed.writes, wake: None };
        if !step.writes.is_empty() {
            // The rest follows when they are known to be ours, or not.
            return step;
        }
        let mut pods = claimed.objects;
        let failed = self.outcome(key, pods.len());
        let gone = view
            .controlled_by(&PODS, object::uid(set))
            .filter(|pod| object::is_terminating(pod) && !pod::has_ended(pod))
            .filter(|pod| {
                super::select::selects(&set["spec"]["selector"], &pod["metadata"]["labels"])
            })
            .count();
        let counted = status::of(set, &pods, gone, failed.as_deref(), now);
        step.wake = counted.wake;
        step.writes.extend(Write::status(key, set, counted.status));
        if object::is_terminating(set) {
            return step;
        }
        let wanted = set["spec"]["replicas"].as_u64().unwrap_or(1);
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        if pods.len() != wanted {
            self.failed().insert(key.clone(), Failed { message: String::new(), pods: pods.len() });
        }
        for _ in 0..wanted.saturating_sub(pods.len()).min(BURST) {
            let pod = CONTROL.build(set, &set["spec"]["template"], rng);
            step.writes.extend(CONTROL.create(key, pod));
        }
        let surplus = pods.len().saturating_sub(wanted).min(BURST);
        if surplus > 0 && surplus < pods.len() {
            rank::sort(&mut pods, &crowd(view, set), now);
        }
        for pod in &pods[..surplus] {
            step.writes.extend(CONTROL.delete(key, pod));
        }
        step
    }
}

impl ReplicaSets {
    /// What the last attempt failed with, if it did and nothing has moved since.
    fn outcome(&self, key: &Key, pods: usize) -> Option<String> {
        let mut failed = self.failed();
        let last = failed.remove(key)?;
        (last.pods == pods && !last.message.is_empty()).then_some(last.message)
    }
}

/// How many active Pods of the same controller, in whichever of its ReplicaSets, are on each node.
fn crowd(view: &dyn View, set: &Value) -> BTreeMap<String, usize> {
    let mut crowd = BTreeMap::new();
    let Some(owner) = object::controller(set).and_then(|owner| owner["uid"].as_str()) else {
        return crowd;
    };
    for sibling in view.controlled_by(&REPLICASETS, owner) {
        for pod in view.controlled_by(&PODS, object::uid(sibling)).filter(|pod| pod::is_active(pod))
        {
            let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
            *crowd.entry(node.to_owned()).or_default() += 1;
        }
    }
    crowd
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::Verb;
    use crate::json::json;
    use crate::store::Store;

    #[test]
    fn what_an_attempt_failed_with_is_shown_until_it_succeeds() {
        let key = Key::new(REPLICASETS, "ns", "web");
        let mut store = Store::new(10);
        let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {}});
        let selector = json!({"matchLabels": {"app": "web"}});
        let set = json!({
            "metadata": {"name": "web", "namespace": "ns", "uid": "u"},
            "spec": {"replicas": 1, "selector": selector, "template": template},
        });
        store.put(key.clone(), set);
        let sets = ReplicaSets::default();
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let look = || {
            let step = sets.step(&store, &key, now, &mut fastrand::Rng::with_seed(0));
            let statuses = step.writes.iter().filter_map(|write| match write {
                Write::Update { object, .. } => Some(object["status"]["conditions"].clone()),
                _ => None,
            });
            statuses.collect::<Vec<_>>()
        };
        assert_eq!(look(), [Value::Null]);
        let refusal = Refusal {
            verb: Verb::Create,
            key: Key::new(PODS, "ns", "web-x"),
            message: "pods \"web-x\" is forbidden".to_owned(),
        };
        let said = sets.refused(&key, &refusal);
        let Some(Write::Event { reason, message, .. }) = said else { panic!("{said:?}") };
        assert_eq!(reason, "FailedCreate");
        assert_eq!(message, "Error creating: pods \"web-x\" is forbidden");
        let shown = look();
        assert_eq!(shown[0][0]["reason"], "FailedCreate");
        assert_eq!(shown[0][0]["message"], refusal.message);
        // The attempt that this look asked for was not refused.
        assert_eq!(look(), [Value::Null]);
    }
}
