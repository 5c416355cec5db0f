//! A cluster with an operator that answers the webhooks, and a workload of each kind under a Rollout.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use kube::Client;
use serde_json::{Value, json};
use simulation::{Harness, Operator, send, wait_for};

pub(crate) const NAMESPACE: &str = "shop";
pub(crate) const MARK: &str = "rollouts.kruise.io/in-progressing";
pub(crate) const CONTROL: &str = "batchrelease.rollouts.kruise.io/control-info";

/// A kind of workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Deployment,
    StatefulSet,
    DaemonSet,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Deployment, Self::StatefulSet, Self::DaemonSet];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
        }
    }

    pub(crate) fn path(self) -> String {
        let plural = format!("{}s", self.name().to_lowercase());
        format!("/apis/apps/v1/namespaces/{NAMESPACE}/{plural}/web")
    }

    /// Whether nothing moves by itself, as the object stands.
    pub(crate) fn is_held(self, object: &Value) -> bool {
        let spec = &object["spec"];
        match self {
            Self::Deployment => spec["paused"] == true,
            Self::StatefulSet => spec["updateStrategy"]["rollingUpdate"]["partition"] == 32767,
            Self::DaemonSet => spec["updateStrategy"]["type"] == "OnDelete",
        }
    }

    /// What lets go of it.
    pub(crate) fn lets_go(self) -> Value {
        match self {
            Self::Deployment => json!({"spec": {"paused": false, "strategy": {
                "type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0},
            }}}),
            Self::StatefulSet => {
                json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
            }
            Self::DaemonSet => json!({"spec": {"updateStrategy": {"type": "RollingUpdate"}}}),
        }
    }
}

pub(crate) struct Stage {
    pub(crate) harness: Harness,
    pub(crate) operator: Operator,
    pub(crate) client: Client,
}

impl Stage {
    /// With an operator that answers the webhooks.
    pub(crate) async fn set() -> Self {
        let harness = Harness::start(1).await;
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
        let mut object = json!({
            "apiVersion": "apps/v1", "kind": kind.name(), "metadata": {"name": "web"},
            "spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "template": template("app:v1"),
            },
        });
        if kind != Kind::DaemonSet {
            object["spec"]["replicas"] = json!(3);
        }
        if kind == Kind::StatefulSet {
            object["spec"]["serviceName"] = json!("web");
            object["spec"]["podManagementPolicy"] = json!("Parallel");
        }
        let path = kind.path();
        let collection = path.trim_end_matches("/web");
        self.send("POST", collection, &object).await.expect("the API server takes it");
        self.until(&path, "three Pods are ready", |it| {
            it["status"]["readyReplicas"] == 3 || it["status"]["numberReady"] == 3
        })
        .await;
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
            "workloadRef": {"apiVersion": "apps/v1", "kind": kind.name(), "name": "web"},
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
