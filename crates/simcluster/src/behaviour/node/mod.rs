//! What becomes of nodes that are lost and of the Pods on them.
//!
//! A node is lost while it carries the annotation [`LOST`]. Its kubelet falls silent at once; the
//! controller notices after the grace period, taints the node, and evicts its Pods when their
//! tolerations end. They stay Terminating until the node object goes or the node comes back.

mod evict;
mod lost;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use self::evict::{force_delete, pod_step};
use self::lost::{declare_lost, welcome_back};
use super::{Behaviour, Change, Step, View, Write};
use crate::json::Value;
use crate::object::{self, Key, NODES, Object, PODS};

/// The annotation of a Node that cuts it off.
pub const LOST: &str = "simcluster.sluice.dev/lost";
/// How long a silent node is trusted.
const GRACE: SignedDuration = SignedDuration::from_secs(50);
/// How long Pods of a node that is gone are kept.
const QUARANTINE: SignedDuration = SignedDuration::from_secs(40);
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// Whether a node is cut off.
pub fn is_lost(node: &Value) -> bool {
    object::annotation(node, LOST).is_some_and(|value| value != "false")
}

/// Node lifecycle, taint eviction and the Pod garbage collector in one.
#[derive(Debug, Default)]
pub struct Nodes {
    /// Since when a Node has been silent, or a Pod without its Node.
    since: Mutex<BTreeMap<Key, Timestamp>>,
}

impl Nodes {
    fn since(&self, key: &Key) -> Option<Timestamp> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    fn note(&self, key: &Key, now: Option<Timestamp>) {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        match now {
            Some(now) => since.insert(key.clone(), now),
            None => since.remove(key),
        };
    }
}

impl Behaviour for Nodes {
    fn name(&self) -> &'static str {
        "node-controller"
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        if change.key.collection == NODES {
            // Heartbeats and the like leave the Pods alone.
            let taints = |node: &Option<Object>| node.as_ref().map(|n| n["spec"]["taints"].clone());
            let mut keys = vec![change.key.clone()];
            if taints(&change.before) != taints(&change.after) {
                let on_node = |pod: &&Object| pod["spec"]["nodeName"] == *change.key.name;
                let pods = view.list(&PODS, None).filter(on_node);
                keys.extend(pods.map(|pod| Key::of(PODS, pod)));
            }
            return keys;
        }
        let node_of = |pod: &Option<Object>| pod.as_ref().map(|p| p["spec"]["nodeName"].clone());
        let moved = node_of(&change.before) != node_of(&change.after);
        if change.key.collection == PODS && change.after.is_some() && moved {
            return vec![change.key.clone()];
        }
        Vec::new()
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, _: &mut fastrand::Rng) -> Step {
        let Some(object) = view.get(key) else {
            self.note(key, None);
            return Step::default();
        };
        if key.collection == NODES {
            return self.node_step(view, key, object, now);
        }
        let Some(node) = object["spec"]["nodeName"].as_str() else { return Step::default() };
        match view.get(&Key::new(NODES, "", node)) {
            Some(node) => pod_step(key, object, node, now),
            None => self.collect(key, object, now),
        }
    }
}

fn update(key: &Key, subresource: Option<&'static str>, object: Value) -> Write {
    Write::Update { key: key.clone(), subresource, object }
}

impl Nodes {
    fn node_step(&self, view: &dyn View, key: &Key, node: &Object, now: Timestamp) -> Step {
        match (is_lost(node), self.since(key)) {
            (false, None) => Step::default(),
            (true, None) => {
                self.note(key, Some(now));
                Step { writes: Vec::new(), wake: Some(now + GRACE) }
            }
            (true, Some(since)) if since + GRACE > now => {
                Step { writes: Vec::new(), wake: Some(since + GRACE) }
            }
            (true, Some(_)) => declare_lost(view, key, node, now),
            (false, Some(since)) => {
                self.note(key, None);
                welcome_back(view, key, node, since, now)
            }
        }
    }

    /// A Pod whose node is gone goes too, after a while.
    fn collect(&self, key: &Key, pod: &Object, now: Timestamp) -> Step {
        match self.since(key) {
            None => {
                self.note(key, Some(now));
                Step { writes: Vec::new(), wake: Some(now + QUARANTINE) }
            }
            Some(since) if since + QUARANTINE > now => {
                Step { writes: Vec::new(), wake: Some(since + QUARANTINE) }
            }
            Some(_) => {
                self.note(key, None);
                force_delete(key, pod, "DeletionByPodGC", "PodGC: node no longer exists", now)
            }
        }
    }
}

fn event(key: &Key, type_: &'static str, reason: &'static str, message: String) -> Write {
    Write::event("node-controller", key, type_, reason, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::pod;
    use crate::json::json;
    use crate::store::Store;

    fn at(seconds: i64) -> Timestamp {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        start + SignedDuration::from_secs(seconds)
    }

    struct Lab(Store, Nodes);

    impl Lab {
        fn new(tolerated: Option<i64>) -> Self {
            let mut store = Store::new(100);
            let node = json!({
                "metadata": {"name": "node-1", "annotations": {LOST: "true"}}, "spec": {},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]},
            });
            store.put(node_key(), node);
            let mut pod = json!({
                "metadata": {"name": "p", "namespace": "ns", "uid": "u"},
                "spec": {"nodeName": "node-1"},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
            });
            if let Some(seconds) = tolerated {
                pod["spec"]["tolerations"] = json!([{
                    "key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute",
                    "tolerationSeconds": seconds,
                }]);
            }
            store.put(pod_key(), pod);
            Self(store, Nodes::default())
        }

        fn step(&mut self, key: &Key, seconds: i64) -> Step {
            let rng = &mut fastrand::Rng::with_seed(0);
            let step = self.1.step(&self.0, key, at(seconds), rng);
            for write in step.writes.clone() {
                match write {
                    Write::Update { key, subresource, mut object } => {
                        let mut stored = Value::clone(self.0.get(&key).unwrap());
                        if subresource == Some("status") {
                            stored["status"] = object["status"].take();
                        } else {
                            let status = stored["status"].take();
                            stored = object;
                            stored["status"] = status;
                        }
                        self.0.put(key, stored);
                    }
                    Write::Delete { key, grace_period_seconds: Some(0), .. } => {
                        self.0.remove(&key);
                    }
                    Write::Delete { key, .. } => {
                        let mut going = Value::clone(self.0.get(&key).unwrap());
                        going["metadata"]["deletionTimestamp"] = pod::stamp(at(seconds)).into();
                        self.0.put(key, going);
                    }
                    _ => {}
                }
            }
            step
        }

        fn pod(&self) -> &Object {
            self.0.get(&pod_key()).unwrap()
        }
    }

    fn node_key() -> Key {
        Key::new(NODES, "", "node-1")
    }

    fn pod_key() -> Key {
        Key::new(PODS, "ns", "p")
    }

    fn lose(lab: &mut Lab) {
        assert_eq!(lab.step(&node_key(), 0).wake, Some(at(50)));
        lab.step(&node_key(), 50);
    }

    #[test]
    fn a_lost_node_is_unknown_and_tainted_after_the_grace_period_and_its_pods_unready() {
        let mut lab = Lab::new(Some(300));
        lose(&mut lab);
        let node = lab.0.get(&node_key()).unwrap();
        assert_eq!(pod::condition(node, "Ready").unwrap()["status"], "Unknown");
        assert_eq!(node["spec"]["taints"].as_array().unwrap().len(), 2);
        assert!(!pod::is_ready(lab.pod()));
        // The mark of the real controller says nothing more.
        assert!(pod::condition(lab.pod(), "Ready").unwrap().get("reason").is_none());
        assert!(lab.step(&node_key(), 60).writes.is_empty());
    }

    #[test]
    fn its_pods_are_deleted_when_their_toleration_ends_and_stay_terminating() {
        let mut lab = Lab::new(Some(300));
        lose(&mut lab);
        assert_eq!(lab.step(&pod_key(), 60).wake, Some(at(350)));
        lab.step(&pod_key(), 350);
        assert!(object::is_terminating(lab.pod()));
        assert_eq!(
            pod::condition(lab.pod(), "DisruptionTarget").unwrap()["reason"],
            "DeletionByTaintManager"
        );
        assert!(lab.step(&pod_key(), 9999).writes.is_empty());
    }

    #[test]
    fn a_pod_that_somebody_deleted_is_marked_too_when_its_toleration_ends() {
        let mut lab = Lab::new(Some(300));
        lose(&mut lab);
        let mut going = Value::clone(lab.pod());
        going["metadata"]["deletionTimestamp"] = pod::stamp(at(60)).into();
        going["metadata"]["generation"] = 2.into();
        lab.0.put(pod_key(), going);
        lab.step(&pod_key(), 350);
        let marked = pod::condition(lab.pod(), "DisruptionTarget").unwrap();
        assert_eq!(marked["reason"], "DeletionByTaintManager");
        assert_eq!(marked["observedGeneration"], 2);
        assert!(lab.step(&pod_key(), 360).writes.is_empty());
    }

    #[test]
    fn a_pod_that_tolerates_nothing_goes_at_once() {
        let mut lab = Lab::new(None);
        lose(&mut lab);
        lab.step(&pod_key(), 50);
        assert!(object::is_terminating(lab.pod()));
    }

    #[test]
    fn a_node_that_comes_back_is_ready_and_untainted() {
        let mut lab = Lab::new(Some(300));
        lose(&mut lab);
        let mut back = Value::clone(lab.0.get(&node_key()).unwrap());
        back["metadata"]["annotations"].as_object_mut().unwrap().remove(LOST);
        lab.0.put(node_key(), back);
        lab.step(&node_key(), 100);
        let node = lab.0.get(&node_key()).unwrap();
        assert!(pod::is_ready(node));
        assert!(node["spec"].get("taints").is_none());
        assert!(lab.step(&node_key(), 101).writes.is_empty());
    }

    #[test]
    fn pods_of_a_node_that_is_gone_are_collected_after_the_quarantine() {
        let mut lab = Lab::new(Some(300));
        lab.0.remove(&node_key());
        assert_eq!(lab.step(&pod_key(), 0).wake, Some(at(40)));
        lab.step(&pod_key(), 40);
        assert!(lab.0.get(&pod_key()).is_none());
    }

    #[test]
    fn an_out_of_service_taint_lets_terminating_pods_go() {
        let mut lab = Lab::new(None);
        lose(&mut lab);
        lab.step(&pod_key(), 50);
        let mut node = Value::clone(lab.0.get(&node_key()).unwrap());
        node["spec"]["taints"] = json!([{"key": evict::OUT_OF_SERVICE, "effect": "NoExecute"}]);
        lab.0.put(node_key(), node);
        lab.step(&pod_key(), 60);
        assert!(lab.0.get(&pod_key()).is_none());
    }
}
