mod disruption;
mod life;

use serde_json::{Value, json};

use super::*;
use crate::behaviour::{View, Write, node, pod};
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

#[test]
fn one_seed_makes_one_history_and_another_makes_another() {
    let run = |seed| {
        let mut lab = Lab::with_set(seed, 5, |_| ());
        lab.create(BUDGETS, budget(&json!(2)));
        lab.pass(5);
        lab.set_image("app:v2");
        lab.pass(1);
        lab.evict(4).unwrap();
        lab.evict(3).unwrap();
        lab.pass(30);
        (lab.picture(), lab.driver.looks())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).0, run(8).0);
}

#[test]
fn slow_controllers_notice_late_and_come_to_the_same_end() {
    let run = |factor| {
        let mut lab = Lab::with_set(22, 4, |_| ());
        lab.create(BUDGETS, budget(&json!(1)));
        lab.pass(60);
        lab.driver = lab.driver.slowed(factor);
        lab.set_image("app:v2");
        lab.evict(3).unwrap();
        let seconds = (1..=300).find(|_| {
            lab.pass(1);
            lab.evict(2) == Ok(())
        });
        lab.pass(300);
        (seconds.unwrap(), lab.images(), lab.status()["readyReplicas"].clone())
    };
    let (quick, slow) = (run(1), run(200));
    assert!(quick.0 <= 4 && slow.0 > 2 * quick.0, "{quick:?} {slow:?}");
    assert_eq!((quick.1, quick.2), (slow.1, slow.2));
}

#[test]
fn a_cluster_at_rest_takes_no_look_at_all() {
    let mut lab = Lab::with_set(14, 3, |_| ());
    lab.create(BUDGETS, budget(&json!(1)));
    lab.pass(300);
    let (looks, revision) = (lab.driver.looks(), lab.server.view().revision());
    lab.pass(86_400);
    assert_eq!((lab.driver.looks(), lab.server.view().revision()), (looks, revision));
}

#[test]
fn a_log_cut_behind_the_drivers_back_loses_nothing() {
    let mut lab = Lab::with_set(15, 2, |_| ());
    lab.delete(&pod_key(1), None);
    lab.server.lock().store.compact();
    lab.pass(60);
    assert_eq!(lab.status()["readyReplicas"], 2);
}

#[test]
fn a_rollout_of_a_thousand_pods_takes_few_looks_a_pod() {
    let mut lab = Lab::with_set(16, 1000, |_| ());
    lab.create(BUDGETS, budget(&json!("10%")));
    lab.set_image("app:v2");
    lab.pass(5);
    let looks = lab.driver.looks();
    for wave in 0..10 {
        for ordinal in wave * 100..(wave + 1) * 100 {
            lab.evict(ordinal).unwrap();
        }
        lab.pass(10);
    }
    assert_eq!(lab.status()["updatedReplicas"], 1000);
    let each = (lab.driver.looks() - looks) / 1000;
    assert!(each <= 20, "{each} looks a Pod");
}

#[test]
fn the_driver_runs_on_tokios_paused_clock() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let lab = Lab::new(17);
        let begun = tokio::time::Instant::now();
        let clock: Clock =
            Arc::new(move || start() + SignedDuration::try_from(begun.elapsed()).unwrap());
        tokio::spawn(lab.driver.drive(clock.clone()));
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let object = json!({
            "metadata": {"name": "web-0", "namespace": "default"},
            "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
        });
        lab.server.commit(Write::Create { collection: PODS, object }, "test", clock()).unwrap();
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        let pod = lab.server.view().get(&pod_key(0)).unwrap().clone();
        assert!(pod::is_ready(&pod), "{pod}");
    });
}
