mod disruption;
mod life;
mod looks;

use super::*;
use crate::behaviour::{View, Write, node, pod};
use crate::json::{Value, json};
use crate::object::{
    self, BUDGETS, CLAIMS, CONTROLLER_REVISIONS, Collection, NAMESPACES, NODES, PODS, STATEFULSETS,
};
use crate::server::options::DeleteOptions;

/// A server with three nodes, everything that runs behind it, and a clock that jumps from one due
/// time to the next.
struct Lab {
    server: Arc<Server>,
    driver: Driver,
    now: Timestamp,
}

fn start() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

fn set_key() -> Key {
    Key::new(STATEFULSETS, "default", "web")
}

fn pod_key(ordinal: i64) -> Key {
    Key::new(PODS, "default", &format!("web-{ordinal}"))
}

impl Lab {
    fn new(seed: u64) -> Self {
        let server = Arc::new(Server::new(seed, 100_000));
        let start_up = SignedDuration::from_secs(2);
        let driver = Driver::standard(server.clone(), &Conduct { seed, start_up });
        let lab = Self { server, driver, now: start() };
        lab.create(NAMESPACES, json!({"metadata": {"name": "default"}}));
        for i in 0..3 {
            lab.create(
                NODES,
                json!({
                    "metadata": {"name": format!("node-{i}")},
                    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
                }),
            );
        }
        lab
    }

    /// With a set of Pods that are all ready, under OnDelete and Parallel.
    fn with_set(seed: u64, replicas: i64, edit: impl FnOnce(&mut Value)) -> Self {
        let mut lab = Self::new(seed);
        let mut set = json!({
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {
                "replicas": replicas, "serviceName": "web", "podManagementPolicy": "Parallel",
                "updateStrategy": {"type": "OnDelete"},
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
                },
            },
        });
        edit(&mut set["spec"]);
        lab.create(STATEFULSETS, set);
        lab.pass(60);
        assert_eq!(lab.get(&set_key()).unwrap()["status"]["readyReplicas"], replicas);
        lab
    }

    fn create(&self, collection: Collection, object: Value) {
        self.server.commit(Write::Create { collection, object }, "test", self.now).unwrap();
    }

    fn get(&self, key: &Key) -> Option<Value> {
        self.server.view().get(key).map(|object| Value::clone(object))
    }

    fn edit(&self, key: &Key, subresource: Option<&'static str>, edit: impl FnOnce(&mut Value)) {
        let mut object = self.get(key).unwrap();
        edit(&mut object);
        let write = Write::Update { key: key.clone(), subresource, object };
        self.server.commit(write, "test", self.now).unwrap();
    }

    fn delete(&self, key: &Key, propagation: Option<&str>) {
        let options = DeleteOptions {
            propagation: propagation.map(str::to_owned),
            ..DeleteOptions::default()
        };
        let now = self.now;
        self.server
            .write(|inner| {
                let kind = inner.kind_of(&key.collection)?;
                inner.delete(&kind, key, &options, now)
            })
            .unwrap();
    }

    fn evict(&self, ordinal: i64) -> Result<(), ApiError> {
        let key = pod_key(ordinal);
        let body = json!({"metadata": {"name": key.name}});
        let now = self.now;
        self.server.write(|inner| inner.evict(&key, &body, &DeleteOptions::default(), now))
    }

    /// Lets some seconds pass.
    fn pass(&mut self, seconds: i64) {
        let end = self.now + SignedDuration::from_secs(seconds);
        self.driver.run_due(self.now);
        while let Some(due) = self.driver.next_due().filter(|due| *due <= end) {
            self.now = due;
            self.driver.run_due(due);
        }
        self.now = end;
        self.driver.run_due(end);
    }

    fn images(&self) -> Vec<String> {
        let image = |pod: &object::Object| {
            pod["spec"]["containers"][0]["image"].as_str().unwrap().to_owned()
        };
        self.server.view().list(&PODS, Some("default")).map(image).collect()
    }

    fn set_image(&self, image: &str) {
        self.edit(&set_key(), None, |set| {
            set["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
        });
    }

    fn status(&self) -> Value {
        self.get(&set_key()).unwrap()["status"].clone()
    }

    /// The whole store, as one text.
    fn picture(&self) -> String {
        let inner = self.server.lock();
        let mut out = String::new();
        for kind in inner.registry.iter() {
            for object in inner.store.list_after(&kind.collection(), None, None) {
                out.push_str(&object.to_string());
                out.push('\n');
            }
        }
        out
    }
}

fn budget(max_unavailable: &Value) -> Value {
    json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": max_unavailable},
    })
}

#[test]
fn a_set_comes_up_scheduled_running_and_ready() {
    let lab = Lab::with_set(1, 3, |_| ());
    let pod = lab.get(&pod_key(0)).unwrap();
    assert!(pod["spec"]["nodeName"].as_str().unwrap().starts_with("node-"));
    assert_eq!(pod["status"]["phase"], "Running");
    assert!(pod::is_true(&pod, "PodScheduled"));
    let seconds = pod["spec"]["tolerations"][0]["tolerationSeconds"].as_i64();
    assert_eq!(seconds, Some(300));
    assert_eq!(lab.status()["observedGeneration"], 1);
}

#[test]
fn pods_are_spread_over_the_nodes() {
    let lab = Lab::with_set(20, 6, |_| ());
    let mut nodes: Vec<Value> =
        (0..6).map(|i| lab.get(&pod_key(i)).unwrap()["spec"]["nodeName"].clone()).collect();
    nodes.sort_by_key(ToString::to_string);
    assert_eq!(nodes, ["node-0", "node-0", "node-1", "node-1", "node-2", "node-2"]);
}
