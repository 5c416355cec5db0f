//! Releases in batches on the embedded cluster, with an operator that is killed, and with every request of it
//! counted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use controller::Settings;
use kube::Client;
use scenarios::env::{
    ADVANCED_DAEMONSETS, ADVANCED_SETS, CLONESETS, DAEMONSETS, DEPLOYMENTS, Kind, SETS,
};
use scenarios::kinds::meant;
use serde_json::{Value, json};
use simulation::{Harness, in_virtual_time, send};
use tokio::sync::Notify;

const RELEASE: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/batchreleases";

/// A new image, held by hand until the release takes over.
fn change(kind: Kind) -> Value {
    let mut patch = (kind.facts().hold)();
    patch["spec"]["template"] =
        json!({"spec": {"containers": [{"name": "main", "image": "app:v2"}]}});
    patch
}

fn release(kind: Kind) -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "BatchRelease",
        "metadata": {"name": "web"},
        "spec": {
            "workloadRef": kind.named("web"),
            "releasePlan": {
                "batches": [
                    {"canaryReplicas": "20%"}, {"canaryReplicas": "60%"}, {"canaryReplicas": "100%"},
                ],
                "batchPartition": 0, "failureThreshold": 0, "rolloutID": "r1",
            },
        },
    })
}

/// Requests by verb and kind, such as `PATCH pods`; and after how many writes the operator dies.
#[derive(Clone, Default)]
struct Count {
    asked: Arc<Mutex<BTreeMap<String, u32>>>,
    /// Writes left before the kill; whether it comes before the write or after.
    fuse: Arc<Mutex<Option<(u32, bool)>>>,
    dead: Arc<Notify>,
}

impl Count {
    /// The API server as an operator sees it that is counted.
    fn layer(&self, router: Router) -> Router {
        let count = self.clone();
        router.layer(from_fn(move |request: Request, next: Next| {
            let count = count.clone();
            async move { count.pass(request, next).await }
        }))
    }

    async fn pass(&self, request: Request, next: Next) -> axum::response::Response {
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        let mut parts = path.split('/').skip_while(|part| *part != "default").skip(1);
        let (kind, sub) = (parts.next().unwrap_or_default().to_owned(), parts.nth(1));
        let watched = method == "GET" && !request.uri().query().unwrap_or("").contains("labelSel");
        if watched || path.contains("/leases") || path.contains("/events") {
            return next.run(request).await;
        }
        let sub = sub.map(|sub| format!("/{sub}")).unwrap_or_default();
        *self
            .asked
            .lock()
            .expect("no holder panics")
            .entry(format!("{method} {kind}{sub}"))
            .or_default() += 1;
        let burnt = {
            let mut fuse = self.fuse.lock().expect("no holder panics");
            match &mut *fuse {
                Some((0, before)) => Some(*before),
                Some((left, _)) => {
                    *left -= 1;
                    None
                }
                None => None,
            }
        };
        if burnt == Some(false) {
            drop(next.clone().run(request).await);
        } else if burnt.is_none() {
            return next.run(request).await;
        }
        *self.fuse.lock().expect("no holder panics") = None;
        self.dead.notify_one();
        std::future::pending().await
    }

    fn take(&self) -> BTreeMap<String, u32> {
        std::mem::take(&mut *self.asked.lock().expect("no holder panics"))
    }
}

struct Play {
    harness: Harness,
    client: Client,
    count: Count,
    kind: Kind,
    replicas: usize,
}

impl Play {
    /// A workload, all of its Pods ready; of a DaemonSet one for each node.
    async fn begin(kind: Kind, replicas: usize) -> Self {
        let nodes = if kind.facts().replicas { 3 } else { replicas };
        let harness =
            Harness::with(1, |options| (options.nodes, options.kruise) = (nodes, true)).await;
        let client = harness.client();
        let manifest = kind.manifest("web", replicas);
        send(&client, "POST", &kind.path("default"), &manifest)
            .await
            .expect("the workload is taken");
        let play = Self { harness, client, count: Count::default(), kind, replicas };
        play.until("all are ready", async || play.pods("app:v1").await == replicas).await;
        play
    }

    /// The workload.
    fn path(&self) -> String {
        format!("{}/web", self.kind.path("default"))
    }

    async fn get(&self, path: &str) -> Value {
        send(&self.client, "GET", path, &Value::Null).await.unwrap_or_default()
    }

    /// Ready Pods of an image.
    async fn pods(&self, image: &str) -> usize {
        let list = self.get("/api/v1/namespaces/default/pods?labelSelector=app=web").await;
        let ready = |pod: &&Value| {
            let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
            let mut conditions = conditions.filter(|it| it["type"] == "Ready");
            pod["spec"]["containers"][0]["image"] == image
                && pod["metadata"]["deletionTimestamp"].is_null()
                && conditions.any(|it| it["status"] == "True")
        };
        list["items"].as_array().into_iter().flatten().filter(ready).count()
    }

    async fn until(&self, what: &str, holds: impl AsyncFn() -> bool) {
        for _ in 0..4000 {
            if holds().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        let status = &self.get(&format!("{RELEASE}/web")).await["status"];
        panic!("not within 1000 s: {what}; {status:#}");
    }

    async fn go_to(&self, batch: Option<u32>) {
        let patch = json!({"spec": {"releasePlan": {"batchPartition": batch}}});
        send(&self.client, "PATCH", &format!("{RELEASE}/web"), &patch).await.expect("it is taken");
    }

    /// The whole release, batch by batch; after each, exactly as many Pods as it says run the new image.
    async fn walk(&self) {
        let kind = self.kind.facts().name;
        let path = self.path();
        let before = self.get(&path).await;
        send(&self.client, "PATCH", &path, &change(self.kind)).await.expect("the change is taken");
        send(&self.client, "POST", RELEASE, &release(self.kind)).await.expect("it is taken");
        for (batch, percent) in (0_u32..).zip([20, 60, 100]) {
            if batch > 0 {
                self.go_to(Some(batch)).await;
            }
            self.until("the batch is ready", async || {
                let release = self.get(&format!("{RELEASE}/web")).await;
                let (status, batches) = (&release["status"], &release["status"]["canaryStatus"]);
                status["observedGeneration"] == release["metadata"]["generation"]
                    && batches["currentBatch"] == batch
                    && batches["batchState"] == "Ready"
            })
            .await;
            let wanted = (self.replicas * percent).div_ceil(100);
            assert_eq!(self.pods("app:v2").await, wanted, "{kind} at batch {batch}");
        }
        self.go_to(None).await;
        self.until("completed", async || {
            self.get(&format!("{RELEASE}/web")).await["status"]["phase"] == "Completed"
        })
        .await;
        let after = self.get(&path).await;
        for field in ["strategy", "updateStrategy"] {
            let (after, before) = (&after["spec"][field], &before["spec"][field]);
            assert_eq!(meant(after), meant(before), "{kind}");
        }
        assert_ne!(after["spec"]["paused"], true, "{kind}");
        let metadata = &after["metadata"];
        let left = format!("{} {}", metadata["annotations"], metadata["labels"]);
        assert!(!left.contains("kruise.io/") && !left.contains("sluice.dev/"), "{kind}: {left}");
    }

    /// Plays it with an operator that is started again whenever it was killed; what was asked of the server.
    async fn run(&self) -> BTreeMap<String, u32> {
        let operators = async {
            for number in 0.. {
                let router = self.count.layer(self.harness.router());
                let identity = format!("operator-{number}");
                let operator = self.harness.operator(router, &identity, Settings::default());
                self.count.dead.notified().await;
                operator.kill().await;
            }
        };
        tokio::select! {
            biased;
            () = self.walk() => self.count.take(),
            () = operators => unreachable!("there is always another operator"),
        }
    }
}

fn writes(asked: &BTreeMap<String, u32>) -> u32 {
    asked.values().sum()
}

/// Kills the operator at each of its writes, in turn before it and after it.
fn survives(kind: Kind) {
    let play = |fuse| {
        in_virtual_time(async move {
            let play = Play::begin(kind, 5).await;
            *play.count.fuse.lock().expect("no holder panics") = fuse;
            play.run().await
        })
    };
    let undisturbed = writes(&play(None));
    for number in 0..undisturbed {
        play(Some((number, number % 2 == 0)));
    }
}

#[test]
fn a_deployment_gets_there_wherever_the_operator_is_killed() {
    survives(DEPLOYMENTS);
}

#[test]
fn a_statefulset_gets_there_wherever_the_operator_is_killed() {
    survives(SETS);
}

#[test]
fn a_daemonset_gets_there_wherever_the_operator_is_killed() {
    survives(DAEMONSETS);
}

#[test]
fn a_cloneset_gets_there_wherever_the_operator_is_killed() {
    survives(CLONESETS);
}

#[test]
fn an_advanced_statefulset_gets_there_wherever_the_operator_is_killed() {
    survives(ADVANCED_SETS);
}

#[test]
fn an_advanced_daemonset_gets_there_wherever_the_operator_is_killed() {
    survives(ADVANCED_DAEMONSETS);
}

/// Requests of one release of a hundred Pods in three batches, the labels apart.
fn costs(kind: Kind, most: u32) {
    in_virtual_time(async move {
        let asked = Play::begin(kind, 100).await.run().await;
        let labels = asked.get("PATCH pods").copied().unwrap_or(0);
        assert_eq!(labels, 100, "one for each Pod: {asked:?}");
        let evictions = asked.get("POST pods/eviction").copied().unwrap_or(0);
        let rest = writes(&asked) - labels - evictions;
        println!("{}: {asked:?}", kind.facts().name);
        assert!(rest <= most, "{rest} beside labels and evictions: {asked:?}");
    });
}

#[test]
fn a_deployment_of_a_hundred_takes_a_tenth_of_what_the_original_asks() {
    // The original: 462 requests, 100 labels among them.
    costs(DEPLOYMENTS, 46);
}

#[test]
fn a_statefulset_of_a_hundred_takes_a_tenth_of_what_the_original_asks() {
    // The original: 1,186.
    costs(SETS, 118);
}

#[test]
fn with_the_gate_a_release_that_is_deleted_leaves_its_workload_held() {
    in_virtual_time(async {
        let play = Play::begin(DEPLOYMENTS, 4).await;
        let mut settings = Settings::default();
        settings.gates.keep_workload_paused_on_rollout_deletion = true;
        let operator = play.harness.operator(play.harness.router(), "operator", settings);
        let path = play.path();
        let change = change(play.kind);
        send(&play.client, "PATCH", &path, &change).await.expect("the change is taken");
        let released = format!("{RELEASE}/web");
        send(&play.client, "POST", RELEASE, &release(play.kind)).await.expect("it is taken");
        play.until("the first batch is ready", async || {
            play.get(&released).await["status"]["canaryStatus"]["batchState"] == "Ready"
        })
        .await;
        send(&play.client, "DELETE", &released, &Value::Null).await.expect("it is deleted");
        play.until("it is gone", async || play.get(&released).await.is_null()).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(play.pods("app:v2").await, 1);
        let workload = play.get(&path).await;
        assert_eq!(workload["spec"]["paused"], true);
        assert!(!workload["metadata"].to_string().contains("control-info"), "it is nobody's");
        operator.stop().await.expect("it leads to the end");
    });
}

#[test]
fn without_the_gate_no_deployment_is_taken_over() {
    in_virtual_time(async {
        let play = Play::begin(DEPLOYMENTS, 4).await;
        let mut settings = Settings::default();
        settings.gates.advanced_deployment = false;
        let operator = play.harness.operator(play.harness.router(), "operator", settings);
        let path = play.path();
        let before = play.get(&path).await;
        let released = format!("{RELEASE}/web");
        send(&play.client, "POST", RELEASE, &release(play.kind)).await.expect("it is taken");
        play.until("it says why", async || {
            let status = play.get(&released).await["status"]["conditions"].to_string();
            status.contains("Degraded") && status.contains("AdvancedDeployment")
        })
        .await;
        send(&play.client, "DELETE", &released, &Value::Null).await.expect("it is deleted");
        play.until("it is gone", async || play.get(&released).await.is_null()).await;
        assert_eq!(play.get(&path).await, before);
        operator.stop().await.expect("it leads to the end");
    });
}
