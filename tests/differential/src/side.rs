//! The two sides: a cluster that takes requests and comes to rest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::Request;
use http_body_util::BodyExt;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use serde_json::Value;
use simcluster::cluster::{Options, SimCluster};
use simcluster::driver::Driver;
use tower::ServiceExt;

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The status, 0 when the connection failed.
    pub status: u16,
    /// `content-type` and `warning`.
    pub headers: BTreeMap<String, String>,
    /// JSON; an array of events for a watch; a text for anything else.
    pub body: Value,
}

/// A cluster under comparison.
pub enum Side {
    /// The embedded one, on a clock that is moved by hand.
    Embedded(Embedded),
    /// The real one.
    Real(Client),
}

/// The embedded cluster with its controllers.
pub struct Embedded {
    router: Router,
    driver: Mutex<Driver>,
    now: Arc<Mutex<Timestamp>>,
}

impl Embedded {
    /// A fresh one, with what every namespace has. The real one's controller that puts a ConfigMap into
    /// each namespace doesn't run either: lists would depend on when it came to it.
    pub fn new(seed: u64) -> Self {
        Self::made(seed, false)
    }

    /// The same with Kruise's definitions and controllers.
    pub fn with_kruise(seed: u64) -> Self {
        Self::made(seed, true)
    }

    fn made(seed: u64, kruise: bool) -> Self {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a constant");
        let now = Arc::new(Mutex::new(start));
        let read = now.clone();
        let clock = Arc::new(move || *read.lock().expect("no holder panics"));
        let start_up = SignedDuration::from_millis(100);
        let options = Options { start_up, kruise, publisher: false, ..Options::new(seed, clock) };
        let cluster = SimCluster::new(options);
        let this = Self { router: cluster.router(), driver: Mutex::new(cluster.driver()), now };
        this.pass(SignedDuration::from_secs(1));
        this
    }

    /// Lets time pass and the controllers work.
    pub fn pass(&self, span: SignedDuration) {
        let mut driver = self.driver.lock().expect("no holder panics");
        let time = || *self.now.lock().expect("no holder panics");
        let end = time() + span;
        loop {
            driver.run_due(time());
            let next = driver.next_due().filter(|due| *due <= end);
            *self.now.lock().expect("no holder panics") = next.unwrap_or(end);
            if next.is_none() {
                return;
            }
        }
    }
}

impl Side {
    /// Sends a request. The same client on both: managers are named after it.
    pub async fn send(&self, method: &str, path: &str, content_type: &str, body: &Value) -> Answer {
        let mut request =
            Request::builder().method(method).uri(path).header("user-agent", "differential");
        if !content_type.is_empty() {
            request = request.header("content-type", content_type);
        }
        let text = match body {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let (parts, bytes) = match self {
            Self::Embedded(embedded) => {
                let request = request.body(Body::from(text)).expect("a step is a request");
                let response =
                    embedded.router.clone().oneshot(request).await.expect("the router never fails");
                let (parts, body) = response.into_parts();
                (parts, body.collect().await.map(http_body_util::Collected::to_bytes).ok())
            }
            Self::Real(client) => {
                let request =
                    request.body(kube::client::Body::from(text.into_bytes())).expect("a request");
                match client.send(request).await {
                    Ok(response) => {
                        let (parts, body) = response.into_parts();
                        (parts, body.collect().await.map(http_body_util::Collected::to_bytes).ok())
                    }
                    Err(error) => {
                        let body = Value::String(error.to_string());
                        return Answer { status: 0, headers: BTreeMap::new(), body };
                    }
                }
            }
        };
        let headers = ["content-type", "warning"]
            .iter()
            .filter_map(|name| {
                let all: Vec<_> =
                    parts.headers.get_all(*name).iter().filter_map(|v| v.to_str().ok()).collect();
                (!all.is_empty()).then(|| ((*name).to_owned(), all.join("; ")))
            })
            .collect();
        let body = read(path, &bytes.unwrap_or_default());
        Answer { status: parts.status.as_u16(), headers, body }
    }

    /// Waits until nothing in the namespace has changed for a while.
    pub async fn rest(&self, namespace: &str) {
        match self {
            Self::Embedded(embedded) => embedded.pass(SignedDuration::from_secs(10)),
            Self::Real(_) => {
                let (mut last, mut same) = (BTreeMap::new(), 0);
                for _ in 0..300 {
                    let (now, starting) = self.versions(namespace).await;
                    same = if now == last { same + 1 } else { 0 };
                    if same >= if starting { QUIET_STARTING } else { QUIET } {
                        return;
                    }
                    last = now;
                    tokio::time::sleep(Duration::from_millis(150)).await;
                }
            }
        }
    }

    /// Lets a second pass: on the wall for the real one.
    pub async fn second(&self) {
        match self {
            Self::Embedded(embedded) => embedded.pass(SignedDuration::from_secs(1)),
            Self::Real(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    }

    /// The version of each object, and whether a container is about to start.
    async fn versions(&self, namespace: &str) -> (BTreeMap<String, String>, bool) {
        let (mut out, mut starting) = (BTreeMap::new(), false);
        for path in ASYNCHRONOUS {
            let answer = self.send("GET", &path.replace("$ns", namespace), "", &Value::Null).await;
            for item in answer.body["items"].as_array().into_iter().flatten() {
                let container = &item["status"]["containerStatuses"][0];
                starting |= container["state"]["waiting"]["reason"] == "ContainerCreating";
                let meta = &item["metadata"];
                let name = format!("{path} {}", meta["name"]);
                out.insert(name, meta["resourceVersion"].to_string());
            }
        }
        (out, starting)
    }
}

/// How many looks in a row show the same before the real one counts as at rest.
const QUIET: u32 = 3;
/// The same while a container is about to start: a kubelet needs some seconds to find out that it can't.
const QUIET_STARTING: u32 = 20;

/// What controllers write by themselves.
pub const ASYNCHRONOUS: &[&str] = &[
    "/api/v1/namespaces/$ns/pods",
    "/apis/apps/v1/namespaces/$ns/statefulsets",
    "/apis/apps/v1/namespaces/$ns/controllerrevisions",
    "/apis/policy/v1/namespaces/$ns/poddisruptionbudgets",
    "/api/v1/namespaces/$ns/configmaps",
];

fn read(path: &str, bytes: &[u8]) -> Value {
    let text = || Value::String(String::from_utf8_lossy(bytes).into_owned());
    if path.contains("watch=") && bytes.starts_with(b"{\"type\"") {
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        return lines
            .map(|line| serde_json::from_slice::<Value>(line).unwrap_or_default())
            .collect();
    }
    serde_json::from_slice(bytes).unwrap_or_else(|_| text())
}
