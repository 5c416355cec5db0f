//! Kruise that is not there when the operator starts, comes, and goes again.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::time::Duration;

use controller::Settings;
use kube::Client;
use scenarios::env::Kind;
use scenarios::kinds;
use serde_json::{Value, json};
use simulation::{Harness, in_virtual_time, send, wait_for};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ROLLOUTS: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// A cluster whose Kruise is taken away and brought back.
struct Stage {
    harness: Harness,
    client: Client,
}

impl Stage {
    async fn set() -> Self {
        let harness = Harness::with_kruise(1).await;
        let client = harness.client();
        Self { harness, client }
    }

    async fn user(&self, method: &str, path: &str, body: &Value) -> Value {
        send(&self.client, method, path, body)
            .await
            .unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    async fn get(&self, path: &str) -> Value {
        send(&self.client, "GET", path, &Value::Null).await.unwrap_or_default()
    }

    async fn until(&self, path: &str, claim: &str, what: impl Fn(&Value) -> bool) {
        let came =
            wait_for(Duration::from_secs(300), || async { what(&self.get(path).await) }).await;
        assert!(came.is_ok(), "{claim}: {:#}", self.get(path).await["status"]);
    }

    /// Takes the definition of a kind away, and its objects with it; returns what brings it back.
    async fn take_away(&self, kind: Kind) -> Value {
        let path = format!("{CRDS}/{}.{}", kind.1, kind.group());
        let definition = self.get(&path).await;
        self.user("DELETE", &path, &json!({})).await;
        self.until(&path, "it is gone", Value::is_null).await;
        let (spec, name) = (&definition["spec"], &definition["metadata"]["name"]);
        json!({
            "apiVersion": definition["apiVersion"], "kind": definition["kind"],
            "metadata": {"name": name}, "spec": spec,
        })
    }

    async fn bring_back(&self, kind: Kind, definition: &Value) {
        self.user("POST", CRDS, definition).await;
        let path = kind.path("default");
        self.until(&path, "it is served", |it| it["items"].is_array()).await;
    }

    async fn roll_out(&self, kind: Kind) {
        let object = json!({
            "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout",
            "metadata": {"name": "web"},
            "spec": {
                "workloadRef": kind.named("web"),
                "strategy": {"canary": {"steps": [{"replicas": 1}, {"replicas": "100%"}]}},
            },
        });
        self.user("POST", ROLLOUTS, &object).await;
    }

    /// A workload of three Pods goes through the steps of the Rollout that is there already.
    async fn released(&self, kind: Kind) {
        let workload = format!("{}/web", kind.path("default"));
        let object = kind.manifest("web", 3);
        self.user("POST", &kind.path("default"), &object).await;
        self.until(&workload, "three are ready", |it| kind.count(it, kind.facts().ready) == 3)
            .await;
        let rollout = format!("{ROLLOUTS}/web");
        self.until(&rollout, "healthy", |it| it["status"]["phase"] == "Healthy").await;
        let image = json!({"spec": {"template": {"spec": {"containers": [
            {"name": "main", "image": "app:v2"},
        ]}}}});
        self.user("PATCH", &workload, &image).await;
        self.until(&rollout, "the first step waits", |it| {
            let canary = &it["status"]["canaryStatus"];
            canary["currentStepState"] == "StepPaused" && canary["canaryReadyReplicas"] == 1
        })
        .await;
        assert_eq!(self.new_ones().await, 1, "{kind:?}");
        let approval = json!({"status": {"canaryStatus": {"currentStepState": "StepReady"}}});
        self.user("PATCH", &format!("{rollout}/status"), &approval).await;
        self.until(&rollout, "healthy", |it| it["status"]["phase"] == "Healthy").await;
        assert_eq!(self.new_ones().await, 3, "{kind:?}");
    }

    async fn new_ones(&self) -> usize {
        let pods = self.get(PODS).await;
        let new = |pod: &&Value| pod["spec"]["containers"][0]["image"] == "app:v2";
        pods["items"].as_array().into_iter().flatten().filter(new).count()
    }
}

/// What a Rollout says of a kind that is not there.
fn says_so(rollout: &Value) -> bool {
    let status = rollout["status"].to_string();
    status.contains("apps.kruise.io is not served by this cluster")
}

#[test]
fn a_rollout_waits_for_kruise_and_says_so() {
    for kind in kinds::that(|facts| facts.in_place.is_some()) {
        in_virtual_time(async {
            let stage = Stage::set().await;
            let definition = stage.take_away(kind).await;
            let harness = &stage.harness;
            let operator = harness.operator(harness.router(), "one", Settings::default());
            harness.admit_by(operator.admission.clone()).await;
            stage.roll_out(kind).await;
            stage.until(&format!("{ROLLOUTS}/web"), "it says what is missing", says_so).await;
            tokio::time::sleep(Duration::from_secs(120)).await;
            stage.bring_back(kind, &definition).await;
            stage.released(kind).await;
            operator.stop().await.unwrap();
        });
    }
}

#[test]
fn kruise_may_go_and_come_again_under_an_operator() {
    for kind in kinds::that(|facts| facts.in_place.is_some()) {
        in_virtual_time(async {
            let stage = Stage::set().await;
            let harness = &stage.harness;
            let operator = harness.operator(harness.router(), "one", Settings::default());
            harness.admit_by(operator.admission.clone()).await;
            let workload = kind.manifest("web", 2);
            stage.user("POST", &kind.path("default"), &workload).await;
            stage.roll_out(kind).await;
            let rollout = format!("{ROLLOUTS}/web");
            stage.until(&rollout, "healthy", |it| it["status"]["phase"] == "Healthy").await;
            let definition = stage.take_away(kind).await;
            stage.until(&rollout, "it says what is missing", says_so).await;
            stage.until(PODS, "its Pods went with it", |it| it["items"] == json!([])).await;
            stage.bring_back(kind, &definition).await;
            stage.released(kind).await;
            operator.stop().await.unwrap();
        });
    }
}
