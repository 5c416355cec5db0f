//! Sets in a store that takes writes as they come.

mod orphans;
mod revisions;

use jiff::SignedDuration;

use super::*;
use crate::json::Value;
use crate::object::{CLAIMS, CONTROLLER_REVISIONS, Object, PODS};
use crate::store::Store;

/// A store that takes writes as they come: no admission, no grace period.
struct Lab {
    store: Store,
    now: Timestamp,
    uids: u32,
    events: Vec<String>,
}

fn key() -> Key {
    Key::new(STATEFULSETS, "exch", "web")
}

/// What a real control plane said of such a set.
fn recorded() -> Value {
    serde_json::from_str(include_str!("../../../tests/fixtures/statefulset.json")).unwrap()
}

impl Lab {
    fn new(edit: impl FnOnce(&mut Value)) -> Self {
        let recorded = recorded();
        let mut set = recorded["statefulset, get when ready"].clone();
        set["status"] = json!({"replicas": 0, "availableReplicas": 0});
        edit(&mut set);
        let mut store = Store::new(10_000);
        store.put(key(), set);
        let now = "2026-11-29T21:52:13Z".parse().unwrap();
        Self { store, now, uids: 0, events: Vec::new() }
    }

    fn edit(&mut self, key: &Key, edit: impl FnOnce(&mut Value)) {
        let mut object = Value::clone(self.store.get(key).unwrap());
        edit(&mut object);
        self.store.put(key.clone(), object);
    }

    /// A new generation of the set.
    fn spec(&mut self, edit: impl FnOnce(&mut Value)) {
        self.edit(&key(), |set| {
            edit(&mut set["spec"]);
            set["metadata"]["generation"] = (object::generation(set) + 1).into();
        });
    }

    fn image(&mut self, image: &str) {
        self.spec(|spec| spec["template"]["spec"]["containers"][0]["image"] = image.into());
    }

    fn once(&mut self) -> Step {
        let step =
            StatefulSets.step(&self.store, &key(), self.now, &mut fastrand::Rng::with_seed(0));
        for write in step.writes.clone() {
            self.commit(write);
        }
        step
    }

    fn commit(&mut self, write: Write) {
        match write {
            Write::Create { collection, mut object } => {
                self.uids += 1;
                object["metadata"]["uid"] = format!("uid-{}", self.uids).into();
                let key = Key::of(collection, &object);
                assert!(self.store.get(&key).is_none(), "{key:?} exists");
                if key.collection == PODS {
                    object["status"] = json!({"phase": "Pending"});
                }
                self.store.put(key, object);
            }
            Write::Update { key, object, .. } => {
                self.store.put(key, object);
            }
            Write::Delete { key, .. } | Write::DeleteForeground { key, .. } => {
                self.store.remove(&key);
            }
            Write::Event { reason, message, .. } => {
                self.events.push(format!("{reason}: {message}"));
            }
        }
    }

    /// Looks until nothing is left to do.
    fn settle(&mut self) {
        for _ in 0..200 {
            if self.once().writes.is_empty() {
                return;
            }
        }
        panic!("does not settle");
    }

    fn all_ready(&mut self) {
        let pods: Vec<Key> = self.store.list(&PODS, None).map(|pod| Key::of(PODS, pod)).collect();
        let now = self.now;
        for key in pods {
            self.edit(&key, |pod| make_ready(pod, now));
        }
    }

    /// Pods become ready as they come, until all is still.
    fn run(&mut self) {
        for _ in 0..200 {
            self.settle();
            let before = self.store.revision();
            let waiting: Vec<Key> = self
                .store
                .list(&PODS, None)
                .filter(|pod| !pod::is_ready(pod))
                .map(|pod| Key::of(PODS, pod))
                .collect();
            let now = self.now;
            for key in waiting {
                self.edit(&key, |pod| make_ready(pod, now));
            }
            if self.store.revision() == before {
                return;
            }
        }
        panic!("does not come to rest");
    }

    fn lose(&mut self, ordinals: &[i64]) {
        for ordinal in ordinals {
            self.store.remove(&Key::new(PODS, "exch", &format!("web-{ordinal}")));
        }
    }

    fn status(&self) -> Value {
        self.store.get(&key()).unwrap()["status"].clone()
    }

    fn images(&self) -> Vec<String> {
        let image = |pod: &Object| {
            let image = pod["spec"]["containers"][0]["image"].as_str().unwrap();
            image.rsplit(':').next().unwrap().to_owned()
        };
        self.store.list(&PODS, None).map(image).collect()
    }

    fn revisions(&self) -> Vec<(String, i64)> {
        let all = self.store.list(&CONTROLLER_REVISIONS, None);
        let mut all: Vec<(String, i64)> =
            all.map(|r| (object::name(r).to_owned(), revision::number(r))).collect();
        all.sort_by_key(|(_, number)| *number);
        all
    }
}

fn make_ready(pod: &mut Value, now: Timestamp) {
    pod["status"]["phase"] = "Running".into();
    pod::set_condition(pod, "Ready", "True", "", "", now);
}

fn rolling(partition: i64) -> impl FnOnce(&mut Value) {
    move |spec| {
        spec["updateStrategy"] =
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}});
    }
}

fn on_delete(spec: &mut Value) {
    spec["updateStrategy"] = json!({"type": "OnDelete"});
}

#[test]
fn a_set_makes_its_pods_and_status_as_recorded() {
    let recorded = recorded();
    let mut lab = Lab::new(|_| ());
    lab.run();
    assert_eq!(lab.status(), recorded["statefulset, get when ready"]["status"]);
    let revision = lab.store.list(&CONTROLLER_REVISIONS, None).next().unwrap();
    let expect = &recorded["statefulset, revisions"]["items"][0];
    for field in ["data", "revision"] {
        assert_eq!(revision[field], expect[field]);
    }
    for field in ["name", "namespace", "labels", "ownerReferences"] {
        assert_eq!(revision["metadata"][field], expect["metadata"][field]);
    }
    let pod = lab.store.list(&PODS, None).next().unwrap();
    let expect = &recorded["pods"]["items"][0];
    for field in ["name", "generateName", "namespace", "labels", "ownerReferences"] {
        assert_eq!(pod["metadata"][field], expect["metadata"][field], "{field}");
    }
    for (field, value) in pod["spec"].as_object().unwrap() {
        assert_eq!(value, &expect["spec"][field], "{field}");
    }
    assert_eq!(lab.events[0], "SuccessfulCreate: Create Pod web-0 in StatefulSet web successful");
}

#[test]
fn ordered_ready_brings_lost_pods_back_one_by_one() {
    let mut lab = Lab::new(|set| set["spec"]["podManagementPolicy"] = "OrderedReady".into());
    lab.run();
    lab.lose(&[0, 1, 2]);
    lab.settle();
    assert_eq!(lab.images().len(), 1);
    lab.all_ready();
    lab.settle();
    assert_eq!(lab.images().len(), 2);
}

#[test]
fn min_ready_seconds_delays_availability_and_the_next_look_is_due_exactly_then() {
    let mut lab = Lab::new(|set| set["spec"]["minReadySeconds"] = 10.into());
    lab.settle();
    lab.all_ready();
    let step = lab.once();
    assert_eq!(lab.status()["availableReplicas"], 0);
    assert_eq!(lab.status()["readyReplicas"], 3);
    let due = lab.now + SignedDuration::from_secs(10);
    assert_eq!(step.wake, Some(due));
    lab.now = due;
    assert_eq!(lab.once().wake, None);
    assert_eq!(lab.status()["availableReplicas"], 3);
}

#[test]
fn claims_are_made_once_and_kept() {
    let mut lab = Lab::new(|set| {
        set["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": {}}]);
    });
    lab.run();
    lab.lose(&[1]);
    lab.run();
    lab.spec(|spec| spec["replicas"] = 1.into());
    lab.run();
    assert_eq!(lab.images().len(), 1);
    let claims: Vec<&str> = lab.store.list(&CLAIMS, None).map(|c| object::name(c)).collect();
    assert_eq!(claims, ["data-web-0", "data-web-1", "data-web-2"]);
}

#[test]
fn conditions_that_somebody_notes_in_the_status_stay_until_it_is_written() {
    let mut lab = Lab::new(|_| ());
    lab.run();
    let mine = json!([{"type": "Mine", "status": "True"}]);
    lab.edit(&key(), |set| set["status"]["conditions"] = mine.clone());
    lab.run();
    assert_eq!(lab.status()["conditions"], mine);
    lab.spec(|spec| spec["replicas"] = 1.into());
    lab.run();
    assert!(lab.status().get("conditions").is_none());
}
