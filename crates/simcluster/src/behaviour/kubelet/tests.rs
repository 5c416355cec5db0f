use super::*;
use crate::store::Store;

/// One Pod on one node, and a kubelet that is asked again whenever it wants to be.
struct Lab {
    store: Store,
    kubelets: Kubelets,
    now: Timestamp,
    events: Vec<String>,
}

fn start() -> Timestamp {
    "2026-01-01T00:00:00.7Z".parse().unwrap()
}

fn key() -> Key {
    Key::new(PODS, "ns", "web-0")
}

impl Lab {
    fn new(image: &str, annotations: &Value) -> Self {
        let mut store = Store::new(1000);
        let node = json!({"metadata": {"name": "node-1"}});
        store.put(Key::of(NODES, &node), node);
        let pod = json!({
            "metadata": {
                "name": "web-0", "namespace": "ns", "uid": "u", "annotations": annotations,
            },
            "spec": {
                "nodeName": "node-1",
                "containers": [{"name": "main", "image": image}],
            },
            "status": {"phase": "Pending"},
        });
        store.put(key(), pod);
        let kubelets = Kubelets::new(SignedDuration::from_secs(2), 1);
        Self { store, kubelets, now: start(), events: Vec::new() }
    }

    fn pod(&self) -> &Object {
        self.store.get(&key()).unwrap()
    }

    fn edit(&mut self, key: &Key, edit: impl FnOnce(&mut Value)) {
        let mut object = Value::clone(self.store.get(key).unwrap());
        edit(&mut object);
        self.store.put(key.clone(), object);
    }

    /// Steps until nothing is due before `seconds` after the start.
    fn until(&mut self, seconds: f64) {
        let end = start() + SignedDuration::try_from_secs_f64(seconds).unwrap();
        loop {
            let rng = &mut fastrand::Rng::with_seed(0);
            let step = self.kubelets.step(&self.store, &key(), self.now, rng);
            let wrote = !step.writes.is_empty();
            for write in step.writes {
                self.commit(write);
            }
            match step.wake {
                _ if wrote => {}
                Some(wake) if wake <= end => self.now = wake,
                _ => break self.now = end,
            }
        }
    }

    fn commit(&mut self, write: Write) {
        match write {
            Write::Update { key, object, .. } => {
                self.store.put(key, object);
            }
            Write::Delete { key, grace_period_seconds, .. } => {
                assert_eq!(grace_period_seconds, Some(0));
                let pod = self.store.get(&key).unwrap();
                if pod["metadata"]["finalizers"].is_array() {
                    self.edit(&key, |pod| {
                        pod["metadata"]["deletionGracePeriodSeconds"] = 0.into();
                    });
                } else {
                    self.store.remove(&key);
                }
            }
            Write::Event { reason, message, .. } => {
                self.events.push(format!("{reason}: {message}"));
            }
            Write::Create { .. } | Write::DeleteForeground { .. } => panic!("a kubelet does not"),
        }
    }

    fn delete(&mut self, grace: i64) {
        let at = pod::stamp(self.now);
        self.edit(&key(), |pod| {
            pod["metadata"]["deletionTimestamp"] = at.into();
            pod["metadata"]["deletionGracePeriodSeconds"] = grace.into();
        });
    }

    /// Phase, the reason that the first container waits for, restarts, readiness.
    fn check(&self, expect: (&str, &str, i64, bool)) {
        let status = &self.pod()["status"]["containerStatuses"][0];
        let got = (
            pod::phase(self.pod()),
            status["state"]["waiting"]["reason"].as_str().unwrap_or_default(),
            status["restartCount"].as_i64().unwrap_or_default(),
            pod::is_ready(self.pod()),
        );
        assert_eq!(got, expect, "at {}", self.now);
    }
}

const STARTUP: &str = "simcluster.sluice.dev/startup";

#[test]
fn a_pod_runs_after_its_start_up_to_the_millisecond() {
    let mut lab = Lab::new("app:v1", &json!({STARTUP: "8s"}));
    lab.until(7.99);
    lab.check(("Pending", "ContainerCreating", 0, false));
    lab.until(8.0);
    lab.check(("Running", "", 0, true));
    assert!(lab.pod()["status"]["podIP"].is_string());
}

#[test]
fn ready_after_delays_readiness_alone() {
    let mut lab =
        Lab::new("app:v1", &json!({STARTUP: "2s", "simcluster.sluice.dev/ready-after": "3s"}));
    lab.until(4.9);
    lab.check(("Running", "", 0, false));
    lab.until(5.0);
    lab.check(("Running", "", 0, true));
}

#[test]
fn a_broken_image_stays_pending_with_image_pull_back_off() {
    let mut lab = Lab::new("app:broken", &Value::Null);
    lab.until(3600.0);
    lab.check(("Pending", "ImagePullBackOff", 0, false));
    assert!(lab.events.contains(&"BackOff: Back-off pulling image \"app:broken\"".to_owned()));
}

#[test]
fn a_crashing_image_is_running_never_ready_and_waits_longer_each_time() {
    let mut lab = Lab::new("app:crash", &json!({STARTUP: "1s"}));
    lab.until(1.0);
    lab.check(("Running", "CrashLoopBackOff", 1, false));
    lab.until(11.0);
    lab.check(("Running", "CrashLoopBackOff", 2, false));
    lab.until(30.9);
    lab.check(("Running", "CrashLoopBackOff", 2, false));
    lab.until(31.0);
    lab.check(("Running", "CrashLoopBackOff", 3, false));
}

#[test]
fn crash_after_takes_a_ready_pod_down_and_a_restart_brings_it_back() {
    let mut lab =
        Lab::new("app:v1", &json!({STARTUP: "1s", "simcluster.sluice.dev/crash-after": "5s"}));
    lab.until(5.9);
    lab.check(("Running", "", 0, true));
    lab.until(6.0);
    lab.check(("Running", "CrashLoopBackOff", 1, false));
    lab.until(16.0);
    lab.check(("Running", "", 1, true));
}

#[test]
fn a_ready_condition_set_by_somebody_else_stays() {
    let mut lab = Lab::new("app:v1", &json!({STARTUP: "1s"}));
    lab.until(2.0);
    lab.edit(&key(), |pod| {
        pod::put_condition(pod, json!({"type": "Ready", "status": "False"}));
    });
    lab.until(600.0);
    lab.check(("Running", "", 0, false));
}

#[test]
fn a_terminating_pod_stays_for_as_long_as_its_containers_need() {
    let mut lab =
        Lab::new("app:v1", &json!({STARTUP: "1s", "simcluster.sluice.dev/terminate-after": "10s"}));
    lab.until(2.0);
    lab.delete(30);
    lab.until(11.9);
    lab.check(("Running", "", 0, true));
    lab.until(12.0);
    assert!(lab.store.get(&key()).is_none());
    assert!(lab.events.contains(&"Killing: Stopping container main".to_owned()));
}

#[test]
fn the_grace_period_cuts_a_long_stop_short() {
    let mut lab = Lab::new("app:v1", &json!({"simcluster.sluice.dev/terminate-after": "1h"}));
    lab.until(5.0);
    lab.delete(3);
    lab.until(7.9);
    assert!(lab.store.get(&key()).is_some());
    lab.until(8.0);
    assert!(lab.store.get(&key()).is_none());
}

#[test]
fn a_finalizer_keeps_a_stopped_pod_and_the_kubelet_leaves_it_be() {
    let mut lab = Lab::new("app:v1", &json!({STARTUP: "1s"}));
    lab.edit(&key(), |pod| pod["metadata"]["finalizers"] = json!(["x/y"]));
    lab.until(2.0);
    lab.delete(30);
    lab.until(100.0);
    assert_eq!(pod::phase(lab.pod()), "Succeeded");
    assert!(!pod::is_ready(lab.pod()));
}

#[test]
fn a_kubelet_on_a_lost_node_does_nothing_until_it_is_back() {
    let mut lab = Lab::new("app:v1", &json!({STARTUP: "1s"}));
    lab.until(2.0);
    let node_key = Key::new(NODES, "", "node-1");
    lab.edit(&node_key, |node| node["metadata"]["annotations"] = json!({(node::LOST): "true"}));
    lab.delete(1);
    lab.until(3600.0);
    assert!(lab.store.get(&key()).is_some());
    lab.edit(&node_key, |node| node["metadata"]["annotations"] = json!({}));
    lab.until(3602.0);
    assert!(lab.store.get(&key()).is_none());
}

#[test]
fn an_image_changed_in_place_restarts_the_container_under_the_same_pod() {
    let mut lab = Lab::new("app:v1", &json!({STARTUP: "4s"}));
    lab.until(5.0);
    lab.edit(&key(), |pod| pod["spec"]["containers"][0]["image"] = "app:v2".into());
    lab.until(8.9);
    lab.check(("Running", "ContainerCreating", 1, false));
    lab.until(9.0);
    lab.check(("Running", "", 1, true));
    assert_eq!(lab.pod()["status"]["containerStatuses"][0]["image"], "app:v2");
}

#[test]
fn an_image_mended_in_place_takes_as_long_to_start_as_any_other() {
    let mut lab = Lab::new("app:broken", &json!({}));
    lab.until(100.0);
    lab.check(("Pending", "ImagePullBackOff", 0, false));
    lab.edit(&key(), |pod| pod["spec"]["containers"][0]["image"] = "app:v2".into());
    lab.now = start() + SignedDuration::from_secs(100);
    lab.until(101.9);
    lab.check(("Pending", "ContainerCreating", 0, false));
    lab.until(102.2);
    lab.check(("Running", "", 0, true));
}

#[test]
fn an_image_broken_in_place_is_told_by_its_own_name() {
    let mut lab = Lab::new("app:broken", &json!({}));
    lab.until(100.0);
    lab.edit(&key(), |pod| pod["spec"]["containers"][0]["image"] = "app:broken-too".into());
    lab.now = start() + SignedDuration::from_secs(100);
    lab.until(102.0);
    let waiting = &lab.pod()["status"]["containerStatuses"][0]["state"]["waiting"];
    assert_eq!(waiting["reason"], "ImagePullBackOff");
    assert!(waiting["message"].as_str().unwrap().contains("app:broken-too"));
}
