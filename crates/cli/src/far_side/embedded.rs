//! The embedded cluster in tests: with its controllers, without an operator. What an operator would
//! write, a test writes.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use serde_json::{Value, json};
use simcluster::cluster::{Options, SimCluster};

use super::noon;
use crate::session::Session;

/// Namespace `default` of a cluster that knows our resources.
pub(crate) async fn embedded() -> Session {
    let clock = noon();
    let options = Options {
        start_up: jiff::SignedDuration::from_secs(1),
        ..Options::new(1, Arc::new(move || clock.now()))
    };
    let cluster = SimCluster::new(options);
    tokio::spawn(cluster.drive());
    let client = Client::new(cluster.router(), "default");
    let session = Session::new(client, "default", "http://embedded");
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for crd in api::crds() {
        let mut crd = serde_json::to_value(crd).unwrap();
        // Nobody is there to convert, and one version is asked for.
        crd["spec"]["conversion"] = json!({"strategy": "None"});
        session.create(path, &crd, "crd").await.unwrap();
    }
    let rollouts = crate::facts::release::rollouts_path(None);
    until(async || session.list(&rollouts, "rollouts").await.ok()).await;
    session
}

/// What comes of looking until there is something.
pub(crate) async fn until<T>(look: impl AsyncFn() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(found) = look().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("a minute is enough");
}

/// Creates a workload of this kind, named `web`, with three Pods of v1, and waits until they are there.
pub(crate) async fn workload(session: &Session, kind: &str) {
    let path = path(kind);
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "a", "image": "web:v1"}]},
            },
        },
    });
    if kind != "DaemonSet" {
        object["spec"]["replicas"] = json!(3);
    }
    if kind == "StatefulSet" {
        object["spec"]["serviceName"] = json!("web");
        // As a release holds it.
        object["spec"]["updateStrategy"] =
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}});
    }
    session.create(&path, &object, "workload").await.unwrap();
    until(async || {
        let status = session.get(&format!("{path}/web"), "web").await.unwrap()["status"].clone();
        let ready = if kind == "DaemonSet" { "numberReady" } else { "readyReplicas" };
        (status[ready] == 3).then_some(())
    })
    .await;
}

/// Puts another image into it, with what a release puts on it.
pub(crate) async fn release(session: &Session, kind: &str, image: &str) -> Value {
    let path = format!("{}/web", path(kind));
    let mut spec = json!({"template": {"spec": {"containers": [{"name": "a", "image": image}]}}});
    match kind {
        "Deployment" => {
            spec["paused"] = json!(true);
            spec["strategy"] = json!({"type": "Recreate", "rollingUpdate": null});
        }
        "DaemonSet" => {
            spec["updateStrategy"] = json!({"type": "OnDelete", "rollingUpdate": null});
        }
        _ => {}
    }
    let mark = json!({"rollouts.kruise.io/in-progressing": "{\"rolloutName\":\"web\"}"});
    let body = json!({"metadata": {"annotations": mark}, "spec": spec});
    session.merge(&path, &body, "web").await.unwrap();
    until(async || {
        let seen = session.get(&path, "web").await.unwrap();
        (seen["status"]["observedGeneration"] == seen["metadata"]["generation"]).then_some(seen)
    })
    .await
}

/// A Rollout of it, at this point: fields of `status` and of `canaryStatus`.
pub(crate) async fn rollout(session: &Session, kind: &str, status: &Value, canary: &Value) {
    let mut object = super::web::rollout_at(status, canary);
    object["spec"]["workloadRef"]["kind"] = json!(kind);
    let written = object["status"].clone();
    object["metadata"] = json!({"name": "web"});
    let path = crate::facts::release::rollouts_path(Some("default"));
    session.create(&path, &object, "rollout").await.unwrap();
    let status = json!({"status": written});
    session.merge(&format!("{path}/web/status"), &status, "rollout").await.unwrap();
}

/// Path of all of this kind.
pub(crate) fn path(kind: &str) -> String {
    format!("/apis/apps/v1/namespaces/default/{}s", kind.to_lowercase())
}
