//! Rollouts on the embedded cluster where the operator is set otherwise than usual, is killed, or is not alone.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use controller::Settings;
use kube::Client;
use scenarios::env::{DEPLOYMENTS, Kind};
use scenarios::kinds::{self, meant};
use serde_json::{Value, json};
use simulation::{Harness, Operator, in_virtual_time, send, wait_for};
use tokio::sync::Notify;

const ROLLOUTS: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts";
const RELEASES: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/batchreleases";
const HISTORIES: &str = "/apis/rollouts.kruise.io/v1alpha1/namespaces/default/rollouthistories";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const PODS: &str = "/api/v1/namespaces/default/pods";
const MARK: &str = "rollouts.kruise.io/in-progressing";

/// A workload of five Pods, or as many as there are Nodes, under a Rollout of these steps.
struct Stage {
    harness: Harness,
    client: Client,
    kind: Kind,
}

impl Stage {
    async fn set() -> Self {
        Self::of(DEPLOYMENTS).await
    }

    async fn of(kind: Kind) -> Self {
        let harness = Harness::with_kruise(1).await;
        let client = harness.client();
        Self { harness, client, kind }
    }

    /// The collection of the workload.
    fn workloads(&self) -> String {
        self.kind.path("default")
    }

    async fn at_rest(&self) {
        let kind = self.kind;
        self.user("POST", &self.workloads(), &kind.manifest("web", 5)).await;
        self.until(&self.workloads(), |it| {
            let wanted = kind.wanted(it);
            wanted > 0 && kind.count(it, kind.facts().ready) == wanted
        })
        .await;
        let rollout = json!({
            "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout",
            "metadata": {"name": "web"},
            "spec": {
                "workloadRef": kind.named("web"),
                "strategy": {"canary": {"steps": [{"replicas": 1}, {"replicas": "100%"}]}},
            },
        });
        self.user("POST", ROLLOUTS, &rollout).await;
    }

    /// A new image, held as admission holds it.
    async fn change(&self) {
        let mut patch = (self.kind.facts().hold)();
        patch["metadata"]["annotations"][MARK] = json!("{\"rolloutName\":\"web\"}");
        patch["spec"]["template"] =
            json!({"spec": {"containers": [{"name": "main", "image": "app:v2"}]}});
        self.user("PATCH", &format!("{}/web", self.workloads()), &patch).await;
    }

    async fn approve(&self) {
        let patch = json!({"status": {"canaryStatus": {"currentStepState": "StepReady"}}});
        self.user("PATCH", &format!("{ROLLOUTS}/web/status"), &patch).await;
    }

    async fn user(&self, method: &str, path: &str, body: &Value) -> Value {
        send(&self.client, method, path, body).await.unwrap()
    }

    async fn get(&self, path: &str) -> Value {
        let path = format!("{path}/web");
        send(&self.client, "GET", &path, &Value::Null).await.unwrap_or_default()
    }

    async fn until(&self, path: &str, what: impl Fn(&Value) -> bool) -> Value {
        let limit = Duration::from_secs(300);
        let came = wait_for(limit, || async { what(&self.get(path).await) }).await;
        let seen = self.get(path).await;
        assert!(came.is_ok(), "{path}: {seen:#}");
        seen
    }

    async fn healthy(&self) {
        self.until(ROLLOUTS, |it| it["status"]["phase"] == "Healthy").await;
    }

    async fn waits(&self) {
        self.until(ROLLOUTS, |it| it["status"]["currentStepState"] == "StepPaused").await;
    }

    async fn succeeded(&self) {
        self.until(ROLLOUTS, |it| {
            let conditions = it["status"]["conditions"].as_array().into_iter().flatten();
            let mut done = conditions.filter(|it| it["type"] == "Succeeded");
            done.any(|it| it["status"] == "True")
        })
        .await;
    }

    /// UIDs of the Pods of this image.
    async fn pods(&self, image: &str) -> BTreeSet<String> {
        let list = self.user("GET", PODS, &Value::Null).await;
        let pods = list["items"].as_array().unwrap().iter();
        let pods = pods.filter(|pod| {
            pod["spec"]["containers"][0]["image"] == image
                && pod["metadata"]["deletionTimestamp"].is_null()
        });
        pods.map(|pod| pod["metadata"]["uid"].as_str().unwrap().to_owned()).collect()
    }

    fn operator(&self, settings: Settings) -> Operator {
        self.harness.operator(self.harness.router(), "one", settings)
    }

    async fn delete_rollout(&self) {
        self.user("DELETE", &format!("{ROLLOUTS}/web"), &json!({})).await;
        self.until(ROLLOUTS, Value::is_null).await;
    }
}

#[test]
fn behind_the_gate_a_release_leaves_a_history_of_its_steps() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        let mut settings = Settings::default();
        settings.gates.rollout_history = true;
        let operator = stage.operator(settings);
        stage.at_rest().await;
        stage.healthy().await;
        stage.change().await;
        stage.waits().await;
        stage.approve().await;
        stage.succeeded().await;
        tokio::time::sleep(Duration::from_secs(10)).await;
        let histories = stage.user("GET", HISTORIES, &Value::Null).await;
        let histories = histories["items"].as_array().unwrap();
        assert_eq!(histories.len(), 1, "{histories:#?}");
        let history = &histories[0];
        assert_eq!(history["spec"]["rollout"]["name"], "web");
        assert_eq!(history["spec"]["workload"]["data"]["replicas"], 5);
        assert_eq!(history["status"]["phase"], "completed");
        let steps = history["status"]["canarySteps"].as_array().unwrap().iter();
        let sizes: Vec<usize> = steps.map(|step| step["pods"].as_array().unwrap().len()).collect();
        assert_eq!(sizes, [1, 4]);
        operator.stop().await.unwrap();
    });
}

#[test]
fn behind_the_gate_a_deleted_rollout_leaves_its_workload_where_it_stands() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        let mut settings = Settings::default();
        settings.gates.keep_workload_paused_on_rollout_deletion = true;
        let operator = stage.operator(settings);
        stage.at_rest().await;
        stage.healthy().await;
        stage.change().await;
        stage.waits().await;
        let moved = stage.pods("app:v2").await;
        stage.delete_rollout().await;
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!(stage.pods("app:v2").await, moved);
        let web = stage.get(&stage.workloads()).await;
        assert_eq!(web["spec"]["paused"], true);
        assert!(web["metadata"]["annotations"][MARK].is_null());
        operator.stop().await.unwrap();
    });
}

#[test]
fn while_the_originals_manager_runs_nothing_is_done_and_then_it_goes_on() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        let lease = |renewed: &str| {
            json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": "71ddec2c.kruise.io"},
                "spec": {"holderIdentity": "kruise-1", "leaseDurationSeconds": 15,
                    "renewTime": renewed},
            })
        };
        let operator = stage.operator(Settings::default());
        stage.at_rest().await;
        stage.healthy().await;
        stage.user("POST", LEASES, &lease("2026-01-01T00:00:00.000000Z")).await;
        stage.change().await;
        let blocked = |it: &Value| {
            let conditions = it["status"]["conditions"].as_array().into_iter().flatten();
            let mut blocked = conditions.filter(|it| it["type"] == "Blocked");
            blocked.any(|it| it["reason"] == "OtherManager" && it["status"] == "True")
        };
        stage.until(ROLLOUTS, blocked).await;
        // Renewed all the while.
        for second in 1..=12 {
            let renewed = format!("2026-01-01T00:10:{second:02}.000000Z");
            let path = format!("{LEASES}/71ddec2c.kruise.io");
            stage.user("PATCH", &path, &lease(&renewed)).await;
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
        assert!(stage.get(RELEASES).await.is_null());
        assert_eq!(stage.pods("app:v2").await.len(), 0);
        // It is stopped, and its lease runs out.
        stage.waits().await;
        assert!(!blocked(&stage.get(ROLLOUTS).await));
        stage.approve().await;
        stage.succeeded().await;
        operator.stop().await.unwrap();
    });
}

#[test]
fn a_finished_rollout_asks_for_nothing_any_more() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&asked);
        let router: Router =
            stage.harness.router().layer(from_fn(move |request: Request, next: Next| {
                heard.lock().unwrap().push(format!("{} {}", request.method(), request.uri()));
                next.run(request)
            }));
        let operator = stage.harness.operator(router, "one", Settings::default());
        stage.at_rest().await;
        stage.healthy().await;
        stage.change().await;
        stage.waits().await;
        tokio::time::sleep(Duration::from_secs(20)).await;
        let quiet = async || {
            asked.lock().unwrap().clear();
            tokio::time::sleep(Duration::from_secs(1200)).await;
            let mut asked = asked.lock().unwrap().clone();
            asked.retain(|line| !line.contains("watch=") && !line.contains("/leases/"));
            assert!(asked.is_empty(), "{asked:#?}");
        };
        // Waiting for somebody is no reason to ask either.
        quiet().await;
        stage.approve().await;
        stage.succeeded().await;
        tokio::time::sleep(Duration::from_secs(20)).await;
        quiet().await;
        operator.stop().await.unwrap();
    });
}

/// A router that dies with the operator at its n-th write, before or after it.
struct Grave {
    writes: Arc<Mutex<u32>>,
    died: Arc<Notify>,
}

impl Grave {
    fn router(&self, inner: Router, at: Option<u32>, after: bool) -> Router {
        let (writes, died) = (Arc::clone(&self.writes), Arc::clone(&self.died));
        inner.layer(from_fn(move |request: Request, next: Next| {
            let (writes, died) = (Arc::clone(&writes), Arc::clone(&died));
            async move {
                let path = request.uri().path().to_owned();
                let other = path.contains("/leases/") || path.contains("/events");
                let dies = request.method() != http::Method::GET && !other && {
                    let mut writes = writes.lock().unwrap();
                    *writes += 1;
                    Some(*writes) == at
                };
                if !dies {
                    return next.run(request).await;
                }
                if after {
                    next.run(request).await;
                }
                died.notify_one();
                std::future::pending().await
            }
        }))
    }
}

/// A whole release, with a crash at this write; how many writes there were, and what it came to.
async fn lived_through(kind: Kind, at: Option<u32>, after: bool) -> (u32, Value) {
    let stage = Stage::of(kind).await;
    let grave = Grave { writes: Arc::default(), died: Arc::default() };
    let mut settings = Settings::default();
    settings.gates.rollout_history = true;
    let router = grave.router(stage.harness.router(), at, after);
    let first = stage.harness.operator(router, "one", settings.clone());
    let second = {
        let story = async {
            stage.at_rest().await;
            stage.healthy().await;
            stage.change().await;
            stage.waits().await;
            assert_eq!(stage.pods("app:v2").await.len(), 1, "crash at {at:?}, after: {after}");
            stage.approve().await;
            stage.succeeded().await;
            stage.delete_rollout().await;
        };
        let mut story = std::pin::pin!(story);
        let next = tokio::select! {
            biased;
            () = grave.died.notified() => {
                first.kill().await;
                let next = stage.operator(settings);
                Some(next)
            }
            () = &mut story => None,
        };
        if next.is_some() {
            story.await;
        }
        next
    };
    let web = stage.get(&stage.workloads()).await;
    let pods = stage.pods("app:v2").await.len();
    let annotations = web["metadata"]["annotations"].as_object().into_iter().flatten();
    let left: Vec<&String> = annotations
        .map(|(key, _)| key)
        .filter(|key| key.contains("kruise") || key.contains("sluice"))
        .collect();
    let histories = stage.user("GET", HISTORIES, &Value::Null).await;
    let histories: Vec<Value> = histories["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| json!([it["spec"]["rollout"]["rolloutID"], it["status"]["phase"]]))
        .collect();
    let end = json!({
        "pods": pods, "left": left, "paused": web["spec"]["paused"] == true,
        "strategy": meant(&web["spec"][kind.facts().strategy.0]), "histories": histories,
    });
    if let Some(second) = second {
        second.stop().await.unwrap();
    }
    let writes = *grave.writes.lock().unwrap();
    (writes, end)
}

/// The whole release undisturbed: how many writes there are, and what it comes to.
fn calm(kind: Kind) -> (u32, Value) {
    let (writes, calm) = in_virtual_time(lived_through(kind, None, false));
    assert!(writes > 20, "{kind:?}: {writes}");
    assert_eq!(calm["pods"], if kind.facts().replicas { 5 } else { 3 }, "{kind:?}");
    assert_eq!(calm["left"], json!([]), "{kind:?}");
    (writes, calm)
}

fn check_crashes(after: bool) {
    let (writes, calm) = calm(DEPLOYMENTS);
    for at in 1..=writes {
        let (_, end) = in_virtual_time(lived_through(DEPLOYMENTS, Some(at), after));
        assert_eq!(end, calm, "crash at write {at}, after: {after}");
    }
}

#[test]
fn an_operator_that_is_killed_before_any_write_of_a_release_changes_nothing_about_its_end() {
    check_crashes(false);
}

#[test]
fn an_operator_that_is_killed_after_any_write_of_a_release_changes_nothing_about_its_end() {
    check_crashes(true);
}

#[test]
fn an_operator_that_is_killed_at_any_write_of_a_release_of_another_kind_changes_nothing_about_its_end()
 {
    for kind in kinds::all().filter(|kind| *kind != DEPLOYMENTS) {
        let (writes, calm) = calm(kind);
        for at in 1..=writes {
            // In turn before it and after it.
            let (_, end) = in_virtual_time(lived_through(kind, Some(at), at % 2 == 0));
            assert_eq!(end, calm, "{kind:?}: crash at write {at}");
        }
    }
}
