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
fn an_eviction_brings_the_pod_back_under_its_name_at_the_update_revision() {
    let mut lab = Lab::with_set(2, 4, |_| ());
    lab.create(BUDGETS, budget(&json!(1)));
    lab.set_image("app:v2");
    lab.pass(5);
    let before = lab.get(&pod_key(3)).unwrap();
    lab.evict(3).unwrap();
    assert_eq!(lab.evict(2).unwrap_err().code, 429);
    lab.pass(1);
    let after = lab.get(&pod_key(3)).unwrap();
    assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(lab.images(), ["app:v1", "app:v1", "app:v1", "app:v2"]);
    assert_eq!(lab.evict(2).unwrap_err().code, 429, "the newborn is not ready yet");
    lab.pass(10);
    assert_eq!(lab.evict(2), Ok(()));
}

#[test]
fn an_eviction_with_a_wrong_uid_costs_the_slot_for_two_minutes() {
    let mut lab = Lab::with_set(3, 4, |_| ());
    lab.create(BUDGETS, budget(&json!(1)));
    lab.pass(5);
    let options = DeleteOptions { uid: Some("other".to_owned()), ..DeleteOptions::default() };
    let body = json!({"metadata": {"name": "web-2"}});
    let now = lab.now;
    let wrong = lab.server.write(|inner| inner.evict(&pod_key(2), &body, &options, now));
    assert_eq!(wrong.unwrap_err().code, 409);
    lab.pass(110);
    assert_eq!(lab.evict(2).unwrap_err().code, 429);
    lab.pass(15);
    assert_eq!(lab.evict(2), Ok(()));
}

#[test]
fn a_broken_image_never_comes_up_and_its_pod_goes_without_costing_budget() {
    let mut lab = Lab::with_set(4, 4, |_| ());
    lab.create(BUDGETS, budget(&json!(1)));
    lab.set_image("app:broken");
    lab.pass(5);
    lab.evict(3).unwrap();
    lab.pass(60);
    let pod = lab.get(&pod_key(3)).unwrap();
    assert_eq!(pod["status"]["phase"], "Pending");
    assert_eq!(lab.evict(3), Ok(()), "a Pending Pod skips the budget");
    assert_eq!(lab.evict(2).unwrap_err().code, 429);
}

#[test]
fn native_rolling_updates_finish_from_the_highest_ordinal_down() {
    let mut lab = Lab::with_set(5, 3, |spec| {
        spec["updateStrategy"] =
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}});
    });
    lab.set_image("app:v2");
    lab.pass(60);
    assert_eq!(lab.images(), ["app:v1", "app:v2", "app:v2"]);
    lab.delete(&pod_key(0), None);
    lab.pass(60);
    assert_eq!(lab.images(), ["app:v1", "app:v2", "app:v2"]);
    lab.edit(&set_key(), None, |set| {
        set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 0.into();
    });
    lab.pass(60);
    assert_eq!(lab.images(), ["app:v2", "app:v2", "app:v2"]);
    assert_eq!(lab.status()["currentRevision"], lab.status()["updateRevision"]);
}

#[test]
fn ordered_ready_recreates_lost_pods_in_series() {
    let mut lab = Lab::with_set(6, 3, |spec| spec["podManagementPolicy"] = "OrderedReady".into());
    for ordinal in 0..3 {
        lab.delete(&pod_key(ordinal), None);
    }
    lab.pass(2);
    assert_eq!(lab.images().len(), 1);
    lab.pass(30);
    assert_eq!(lab.status()["readyReplicas"], 3);
}

#[test]
fn a_broken_template_under_ordered_ready_stays_stuck_after_the_template_is_mended() {
    let mut lab = Lab::with_set(7, 3, |spec| {
        spec["podManagementPolicy"] = "OrderedReady".into();
        spec["updateStrategy"] = json!({"type": "RollingUpdate"});
    });
    lab.set_image("app:broken");
    lab.pass(60);
    lab.set_image("app:v3");
    lab.pass(600);
    assert_eq!(lab.images(), ["app:v1", "app:v1", "app:broken"]);
    lab.delete(&pod_key(2), None);
    lab.pass(60);
    assert_eq!(lab.images(), ["app:v3", "app:v3", "app:v3"]);
}

#[test]
fn claims_are_bound_and_outlive_pods_and_set() {
    let mut lab = Lab::with_set(8, 2, |spec| {
        spec["volumeClaimTemplates"] = json!([{
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }]);
    });
    let claim = Key::new(CLAIMS, "default", "data-web-1");
    let uid = lab.get(&claim).unwrap()["metadata"]["uid"].clone();
    assert_eq!(lab.get(&claim).unwrap()["status"]["phase"], "Bound");
    lab.delete(&pod_key(1), None);
    lab.pass(30);
    lab.delete(&set_key(), None);
    lab.pass(30);
    assert_eq!(lab.images().len(), 0);
    assert_eq!(lab.get(&claim).unwrap()["metadata"]["uid"], uid);
}

#[test]
fn claims_go_with_the_set_or_the_scaled_pod_when_the_policy_says_so() {
    let mut lab = Lab::with_set(21, 3, |spec| {
        spec["volumeClaimTemplates"] = json!([{
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }]);
        spec["persistentVolumeClaimRetentionPolicy"] =
            json!({"whenDeleted": "Delete", "whenScaled": "Delete"});
    });
    let claims = |lab: &Lab| lab.server.view().list(&CLAIMS, Some("default")).count();
    lab.delete(&pod_key(0), None);
    lab.pass(30);
    assert_eq!(claims(&lab), 3, "a Pod that is only replaced keeps its claim");
    lab.edit(&set_key(), None, |set| set["spec"]["replicas"] = 2.into());
    lab.pass(30);
    assert_eq!(claims(&lab), 2);
    lab.delete(&set_key(), None);
    lab.pass(30);
    assert_eq!(claims(&lab), 0);
}

#[test]
fn deleting_a_set_takes_its_pods_and_revisions_unless_they_are_orphaned() {
    let count = |lab: &Lab, collection| lab.server.view().list(&collection, None).count();
    for (propagation, pods, revisions) in
        [(None, 0, 0), (Some("Foreground"), 0, 0), (Some("Orphan"), 3, 1)]
    {
        let mut lab = Lab::with_set(9, 3, |_| ());
        lab.delete(&set_key(), propagation);
        lab.pass(60);
        assert!(lab.get(&set_key()).is_none(), "{propagation:?}");
        assert_eq!(count(&lab, PODS), pods, "{propagation:?}");
        assert_eq!(count(&lab, CONTROLLER_REVISIONS), revisions, "{propagation:?}");
    }
}

#[test]
fn deleting_a_namespace_takes_everything_in_it() {
    let mut lab = Lab::with_set(10, 3, |_| ());
    lab.create(BUDGETS, budget(&json!(1)));
    lab.pass(1);
    let key = Key::new(NAMESPACES, "", "default");
    lab.delete(&key, None);
    lab.pass(60);
    assert!(lab.get(&key).is_none(), "{}", lab.picture());
    assert_eq!(lab.images().len(), 0);
}

#[test]
fn pods_of_a_lost_node_stay_terminating_until_the_node_object_goes() {
    let mut lab = Lab::with_set(11, 3, |_| ());
    let node = lab.get(&pod_key(0)).unwrap()["spec"]["nodeName"].as_str().unwrap().to_owned();
    let node_key = Key::new(NODES, "", &node);
    lab.edit(&node_key, None, |node| node["metadata"]["annotations"][node::LOST] = "true".into());
    lab.pass(60);
    assert!(!pod::is_ready(&lab.get(&pod_key(0)).unwrap()));
    let uid = lab.get(&pod_key(0)).unwrap()["metadata"]["uid"].clone();
    lab.pass(3600);
    let stuck = lab.get(&pod_key(0)).unwrap();
    assert!(object::is_terminating(&stuck));
    assert_eq!(stuck["metadata"]["uid"], uid);
    lab.delete(&node_key, None);
    lab.pass(120);
    let back = lab.get(&pod_key(0)).unwrap();
    assert_ne!(back["metadata"]["uid"], uid);
    assert!(pod::is_ready(&back));
    assert_ne!(back["spec"]["nodeName"], node.as_str());
}

#[test]
fn a_pod_in_the_way_of_a_set_makes_creation_fail_aloud_until_it_is_gone() {
    let mut lab = Lab::with_set(18, 1, |_| ());
    lab.create(
        PODS,
        json!({
            "metadata": {"name": "web-1", "namespace": "default", "labels": {"app": "other"}},
            "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
        }),
    );
    lab.edit(&set_key(), None, |set| set["spec"]["replicas"] = 3.into());
    lab.pass(30);
    let events = Collection::known("", "events");
    let said = lab.server.view().list(&events, Some("default")).any(|event| {
        event["reason"] == "FailedCreate"
            && event.to_string().contains("Create Pod web-1 in StatefulSet web failed error: ")
    });
    assert!(said, "{}", lab.picture());
    lab.delete(&pod_key(1), None);
    lab.pass(120);
    assert_eq!(lab.status()["readyReplicas"], 3);
}

#[test]
fn a_pod_that_is_back_within_a_second_counts_as_healthy_again_at_once() {
    let mut lab = Lab::with_set(19, 4, |spec| {
        spec["template"]["metadata"]["annotations"] =
            json!({"simcluster.sluice.dev/startup": "300ms"});
    });
    lab.create(BUDGETS, budget(&json!(1)));
    lab.pass(5);
    lab.evict(3).unwrap();
    lab.pass(2);
    let status = lab.get(&Key::new(BUDGETS, "default", "web")).unwrap()["status"].clone();
    assert_eq!(status["currentHealthy"], 4, "{status}");
    assert!(status.get("disruptedPods").is_none(), "{status}");
}

#[test]
fn pods_of_a_node_that_comes_back_in_time_are_ready_again() {
    let mut lab = Lab::with_set(12, 3, |_| ());
    let before = lab.get(&pod_key(0)).unwrap();
    let node_key = Key::new(NODES, "", before["spec"]["nodeName"].as_str().unwrap());
    lab.edit(&node_key, None, |node| node["metadata"]["annotations"][node::LOST] = "true".into());
    lab.pass(100);
    lab.edit(&node_key, None, |node| {
        node["metadata"]["annotations"].as_object_mut().unwrap().remove(node::LOST);
    });
    lab.pass(10);
    let after = lab.get(&pod_key(0)).unwrap();
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert!(pod::is_ready(&after));
}

#[test]
fn a_pod_without_a_node_to_go_to_waits_and_is_bound_when_one_is_uncordoned() {
    let mut lab = Lab::new(13);
    for i in 0..3 {
        let key = Key::new(NODES, "", &format!("node-{i}"));
        lab.edit(&key, None, |node| node["spec"]["unschedulable"] = true.into());
    }
    lab.create(
        PODS,
        json!({
            "metadata": {"name": "web-0", "namespace": "default"},
            "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
        }),
    );
    lab.pass(30);
    assert_eq!(lab.get(&pod_key(0)).unwrap()["status"]["phase"], "Pending");
    let key = Key::new(NODES, "", "node-1");
    lab.edit(&key, None, |node| node["spec"]["unschedulable"] = false.into());
    lab.pass(30);
    assert_eq!(lab.get(&pod_key(0)).unwrap()["spec"]["nodeName"], "node-1");
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
