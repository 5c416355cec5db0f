//! A cluster with an operator that answers the webhooks, and a workload of each kind under a Rollout.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use kube::Client;
use scenarios::env::Kind;
use serde_json::{Value, json};
use simulation::{Harness, Operator, send, wait_for};

pub(crate) const NAMESPACE: &str = "shop";
pub(crate) const MARK: &str = "rollouts.kruise.io/in-progressing";
pub(crate) const CONTROL: &str = "batchrelease.rollouts.kruise.io/control-info";

/// The workload of this kind.
pub(crate) fn path(kind: Kind) -> String {
    format!("{}/web", kind.path(NAMESPACE))
}

/// A patch of the spec.
pub(crate) fn more(spec: &Value) -> Value {
    json!({ "spec": spec })
}

/// Whether nothing moves by itself, as the object stands.
pub(crate) fn is_held(kind: Kind, object: &Value) -> bool {
    (kind.facts().is_held)(object)
}

pub(crate) struct Stage {
    pub(crate) harness: Harness,
    pub(crate) operator: Operator,
    pub(crate) client: Client,
}

impl Stage {
    /// With an operator that answers the webhooks.
    pub(crate) async fn set() -> Self {
        let harness = Harness::with_kruise(1).await;
        let settings = controller::Settings::default();
        let operator = harness.operator(harness.router(), "operator", settings);
        harness.admit_by(operator.admission.clone()).await;
        let client = harness.client();
        let namespace = json!({"metadata": {"name": NAMESPACE}});
        send(&client, "POST", "/api/v1/namespaces", &namespace)
            .await
            .expect("the API server takes it");
        let stage = Self { harness, operator, client };
        let caches = Arc::clone(&stage.operator.admission.attention.caches);
        wait_for(Duration::from_secs(60), || async { caches.ready() }).await.expect("caches");
        stage
    }

    /// From here on nobody answers, as if the operator were gone; it goes on with everything else.
    pub(crate) fn take_the_webhook_away(&self) {
        let gone = |_| async { Err("connection refused".to_owned()) }.boxed();
        self.harness.cluster.register_webhook_service(Arc::new(gone));
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        send(&self.client, "GET", path, &Value::Null).await.expect("the API server takes it")
    }

    /// A merge patch, and the object as it is stored then; or the code and the words of the refusal.
    pub(crate) async fn patch(&self, path: &str, patch: &Value) -> Result<Value, (u16, String)> {
        self.send("PATCH", path, patch).await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Value, (u16, String)> {
        send(&self.client, method, path, body).await.map_err(|error| match *error {
            kube::Error::Api(status) => (status.code, status.message.clone()),
            other => panic!("{other}"),
        })
    }

    /// A workload of three Pods, all of them ready.
    pub(crate) async fn deploy(&self, kind: Kind) {
        let object = kind.manifest("web", 3);
        self.send("POST", &kind.path(NAMESPACE), &object).await.expect("the API server takes it");
        let ready = |it: &Value| kind.count(it, kind.facts().ready) == 3;
        self.until(&path(kind), "three Pods are ready", ready).await;
    }

    /// A workload, and a Rollout of two steps for it that is healthy: all that it needs to be held.
    pub(crate) async fn released(&self, kind: Kind) {
        self.deploy(kind).await;
        self.send("POST", &rollouts(""), &rollout(kind)).await.expect("the API server takes it");
        self.until(&rollouts("/web"), "healthy", |it| it["status"]["phase"] == "Healthy").await;
    }

    pub(crate) async fn until(
        &self,
        path: &str,
        claim: &str,
        what: impl Fn(&Value) -> bool,
    ) -> Value {
        let mut last = Value::Null;
        for _ in 0..600 {
            last = self.get(path).await;
            if what(&last) {
                return last;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        panic!("never {claim}: {path}: {last:#}");
    }

    /// How many Pods run this image.
    pub(crate) async fn running(&self, image: &str) -> usize {
        let pods = self.get(&format!("/api/v1/namespaces/{NAMESPACE}/pods")).await;
        let pods = pods["items"].as_array().cloned().unwrap_or_default();
        pods.iter().filter(|pod| pod["spec"]["containers"][0]["image"] == image).count()
    }
}

pub(crate) fn rollouts(rest: &str) -> String {
    format!("/apis/rollouts.kruise.io/v1beta1/namespaces/{NAMESPACE}/rollouts{rest}")
}

pub(crate) fn rollout(kind: Kind) -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout", "metadata": {"name": "web"},
        "spec": {
            "workloadRef": kind.named("web"),
            "strategy": {"canary": {"steps": [
                {"replicas": 1, "pause": {}}, {"replicas": "100%"},
            ]}},
        },
    })
}

fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": image}]},
    })
}

pub(crate) fn image(image: &str) -> Value {
    json!({"spec": {"template": template(image)}})
}
