//! Pods of an ordinary shape, and requests through the Router as a client sends them.

// Each program that measures uses a part of it.
#![allow(dead_code)]

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt;
use jiff::Timestamp;
use simcluster::cluster::{Options, SimCluster};
use simcluster::json::{Value, json};
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// How many namespaces the Pods are spread over.
pub(crate) const NAMESPACES: usize = 20;
/// How many Pods have the same label `app`.
pub(crate) const ALIKE: usize = 10;

/// When every measurement begins.
pub(crate) fn start() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().expect("a constant")
}

/// A cluster whose clock stands still.
pub(crate) fn cluster() -> SimCluster {
    SimCluster::new(Options { nodes: 20, ..Options::new(1, Arc::new(start)) })
}

/// A runtime of one thread.
pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A cluster with this many Pods, which nothing starts.
pub(crate) fn full(runtime: &Runtime, pods: usize) -> Session {
    let session = Session::new(cluster().router());
    runtime.block_on(async {
        session.namespaces().await;
        for number in 0..pods {
            session.create(number).await;
        }
    });
    session
}

/// The namespaces by number.
pub(crate) fn namespace(number: usize) -> String {
    format!("team-{}", number % NAMESPACES)
}

/// The Pods by number: those that are alike stand in one namespace.
pub(crate) fn place(number: usize) -> (String, String) {
    (namespace(number / ALIKE), format!("app-{}-{}", number / ALIKE, number % ALIKE))
}

/// A Pod as a workload's controller makes it.
pub(crate) fn pod(name: &str, app: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": app, "tier": "web"}},
        "spec": {
            "containers": [{
                "name": "main", "image": "registry.example.com/team/app:v1",
                "args": ["--listen", ":8080"],
                "env": [{"name": "POD_NAME",
                    "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                "ports": [{"name": "http", "containerPort": 8080}],
                "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
                "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
            }],
        },
    })
}

/// Somebody who sends requests.
pub(crate) struct Session(Router);

impl Session {
    pub(crate) fn new(router: Router) -> Self {
        Self(router)
    }

    /// Sends a request and reads the answer, which has to be a good one.
    pub(crate) async fn send(&self, method: &str, path: &str, type_: &str, body: &Value) -> Value {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        serde_json::from_slice(&self.ask(method, path, type_, text).await).expect("JSON")
    }

    /// GET, for the bytes of the answer.
    pub(crate) async fn bytes(&self, path: &str) -> Bytes {
        self.ask("GET", path, "application/json", String::new()).await
    }

    async fn ask(&self, method: &str, path: &str, type_: &str, text: String) -> Bytes {
        // Server-side apply names its writer in the query.
        let uri = if type_ == "application/apply-patch+yaml" {
            format!("{path}?fieldManager=bench&force=true")
        } else {
            path.to_owned()
        };
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header("user-agent", "bench")
            .header("content-type", type_)
            .body(Body::from(text))
            .expect("a request");
        let response = self.0.clone().oneshot(request).await.expect("the router never fails");
        let status = response.status();
        let bytes = response.into_body().collect().await.expect("a whole answer").to_bytes();
        assert!(status.is_success(), "{method} {path}: {}", String::from_utf8_lossy(&bytes));
        bytes
    }

    /// Makes the namespaces.
    pub(crate) async fn namespaces(&self) {
        for number in 0..NAMESPACES {
            let body = json!({"metadata": {"name": namespace(number)}});
            self.send("POST", "/api/v1/namespaces", "application/json", &body).await;
        }
    }

    /// GET.
    pub(crate) async fn get(&self, path: &str) -> Value {
        self.send("GET", path, "application/json", &Value::Null).await
    }

    /// The body of a watch.
    pub(crate) async fn open(&self, path: &str) -> Body {
        let request = Request::get(path).body(Body::empty()).expect("a request");
        self.0.clone().oneshot(request).await.expect("the router never fails").into_body()
    }

    /// Creates the Pod of this number.
    pub(crate) async fn create(&self, number: usize) -> Value {
        let (namespace, name) = place(number);
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        let body = pod(&name, &format!("app-{}", number / ALIKE));
        self.send("POST", &path, "application/json", &body).await
    }

    /// Gives the Pod of this number a label.
    pub(crate) async fn label(&self, number: usize, value: &str) -> Value {
        let (namespace, name) = place(number);
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
        let patch = json!({"metadata": {"labels": {"mark": value.replace(' ', "-")}}});
        self.send("PATCH", &path, "application/merge-patch+json", &patch).await
    }
}
