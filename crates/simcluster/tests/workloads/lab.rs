//! A cluster whose clock jumps from one due time to the next.

use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use simcluster::behaviour::{View, Write};
use simcluster::cluster::{Options, SimCluster};
use simcluster::driver::Driver;
use simcluster::json::{Value, json};
use simcluster::object::{self, Collection, Key, NODES, Object, PODS};

/// Core Events.
pub(crate) const EVENTS: Collection = Collection::known("", "events");

/// Three Nodes; Pods start in two seconds, give or take.
pub(crate) struct Lab {
    pub(crate) cluster: SimCluster,
    driver: Driver,
    now: Arc<Mutex<Timestamp>>,
}

impl Lab {
    pub(crate) fn new(seed: u64) -> Self {
        Self::of(seed, |_| {})
    }

    /// Of a cluster with other options.
    pub(crate) fn of(seed: u64, edit: impl FnOnce(&mut Options)) -> Self {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let now = Arc::new(Mutex::new(start));
        let read = now.clone();
        let mut options = Options::new(seed, Arc::new(move || *read.lock().unwrap()));
        edit(&mut options);
        let cluster = SimCluster::new(options);
        let mut lab = Self { driver: cluster.driver(), cluster, now };
        lab.pass(1);
        lab
    }

    pub(crate) fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    /// Lets some seconds pass.
    pub(crate) fn pass(&mut self, seconds: i64) {
        self.pass_millis(seconds * 1000);
    }

    /// Lets some milliseconds pass.
    pub(crate) fn pass_millis(&mut self, millis: i64) {
        let end = self.now() + SignedDuration::from_millis(millis);
        loop {
            let now = self.now();
            self.driver.run_due(now);
            let due = self.driver.next_due().filter(|due| *due <= end);
            *self.now.lock().unwrap() = due.unwrap_or(end);
            if due.is_none() {
                return;
            }
        }
    }

    /// Lets time pass up to the next thing that is due, and does that; a second if there is nothing.
    pub(crate) fn step(&mut self) {
        self.driver.run_due(self.now());
        let second = self.now() + SignedDuration::from_secs(1);
        let now = self.driver.next_due().unwrap_or(second);
        *self.now.lock().unwrap() = now;
        self.driver.run_due(now);
    }

    pub(crate) fn create(&self, collection: Collection, object: Value) {
        let write = Write::Create { collection, object };
        self.cluster.server().commit(write, "test", self.now()).unwrap();
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Value> {
        self.cluster.server().view().get(key).map(|object| Value::clone(object))
    }

    /// Changes an object, its status not.
    pub(crate) fn edit(&self, key: &Key, edit: impl FnOnce(&mut Value)) {
        let mut object = self.get(key).expect("it is there");
        edit(&mut object);
        let write = Write::Update { key: key.clone(), subresource: None, object };
        self.cluster.server().commit(write, "test", self.now()).unwrap();
    }

    pub(crate) fn write_status(&self, key: &Key, status: Value) {
        let mut object = self.get(key).expect("it is there");
        object["status"] = status;
        let write = Write::Update { key: key.clone(), subresource: Some("status"), object };
        self.cluster.server().commit(write, "test", self.now()).unwrap();
    }

    pub(crate) fn delete(&self, key: &Key) {
        let write = Write::Delete { key: key.clone(), uid: None, grace_period_seconds: None };
        self.cluster.server().commit(write, "test", self.now()).unwrap();
    }

    pub(crate) fn list(&self, collection: &Collection) -> Vec<Object> {
        self.cluster.server().view().list(collection, Some("default")).cloned().collect()
    }

    /// The Pods that are not on their way out.
    pub(crate) fn pods(&self) -> Vec<Object> {
        let mut pods = self.list(&PODS);
        pods.retain(|pod| !object::is_terminating(pod));
        pods
    }

    /// The image of each Pod, sorted.
    pub(crate) fn images(&self) -> Vec<String> {
        let image =
            |pod: &Object| pod["spec"]["containers"][0]["image"].as_str().unwrap().to_owned();
        let mut images: Vec<String> = self.pods().iter().map(image).collect();
        images.sort();
        images
    }

    /// What was said about objects of a kind, in the order in which it was first said.
    pub(crate) fn said(&self, kind: &str) -> Vec<String> {
        let mut events = self.list(&EVENTS);
        events.retain(|event| event["involvedObject"]["kind"] == kind);
        events.sort_by_key(|event| {
            object::resource_version(event).parse::<u64>().unwrap_or_default()
        });
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        events
            .iter()
            .map(|one| format!("{}: {}", text(&one["reason"]), text(&one["message"])))
            .collect()
    }

    pub(crate) fn node(&self, number: usize) -> Key {
        Key::new(NODES, "", &format!("node-{number}"))
    }
}

/// The condition of an object as `status reason: message`.
pub(crate) fn condition(object: &Value, type_: &str) -> String {
    let all = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let one = all.into_iter().find(|one| one["type"] == type_).unwrap_or_default();
    let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
    format!("{} {}: {}", text("status"), text("reason"), text("message"))
}

/// Selector and template of Pods `app: web`.
pub(crate) fn template(image: &str) -> Value {
    json!({
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": image}]},
        },
    })
}
