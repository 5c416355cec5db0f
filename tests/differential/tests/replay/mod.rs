//! Sends recorded requests to a cluster and compares the answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use differential::normal;
use http::Request;
use http_body_util::BodyExt;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use simcluster::cluster::{Options, SimCluster};
use simcluster::http::access::{ADMIN, Access};
use tokio::time::Instant;
use tower::ServiceExt;

/// One line of the fixture.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Exchange {
    pub(crate) title: String,
    request: Asked,
    response: Answer,
}

#[derive(Clone, Debug, Deserialize)]
struct Asked {
    method: String,
    path: String,
    accept: Option<String>,
    #[serde(rename = "content-type")]
    content_type: Option<String>,
    #[serde(default)]
    body: Value,
}

#[derive(Clone, Debug, Deserialize)]
struct Answer {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Value,
    stream: Option<Vec<Value>>,
}

/// What happens while the first watch of the recording runs.
const MEANWHILE: &[(&str, &str, &str)] = &[
    ("PATCH", "item-1", r#"{"data": {"i": "9"}}"#),
    ("PATCH", "item-1", r#"{"metadata": {"labels": {"set": "b"}}}"#),
    ("DELETE", "item-3", ""),
];

/// A cluster under replay, with what its answers taught: recorded UID, version or token → ours.
pub(crate) struct Replay {
    router: Router,
    ours: BTreeMap<String, String>,
}

impl Replay {
    pub(crate) fn new() -> Self {
        let start = Instant::now();
        let zero: Timestamp = "2026-11-29T21:51:57Z".parse().expect("a constant");
        let clock = Arc::new(move || {
            let passed = SignedDuration::try_from(start.elapsed()).expect("short");
            zero.checked_add(passed).expect("in range")
        });
        let start_up = SignedDuration::from_millis(500);
        let tokens = [("admin".to_owned(), ADMIN.to_owned())].into();
        let access = Access { tokens, ..Access::default() };
        // Nobody published a certificate on the recorded cluster.
        let options = Options { start_up, access, publisher: false, ..Options::new(7, clock) };
        let cluster = SimCluster::new(options);
        tokio::spawn(cluster.drive());
        Self { router: cluster.router(), ours: BTreeMap::new() }
    }

    /// Lets the cluster's controllers work for some virtual time.
    pub(crate) async fn wait(&self, milliseconds: u64) {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }

    /// One exchange; the differences, one a line.
    pub(crate) async fn run(&mut self, exchange: &Exchange) -> Vec<String> {
        let asked = &exchange.request;
        let path = self.translate(&asked.path);
        let body = match &asked.body {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => self.translate(&other.to_string()),
        };
        let mut request = Request::builder().method(asked.method.as_str()).uri(&path);
        if let Some(accept) = &asked.accept {
            request = request.header("accept", accept);
        }
        if let Some(content_type) = &asked.content_type {
            request = request.header("content-type", content_type);
        }
        // The recording does not keep credentials.
        request = match exchange.title.as_str() {
            "no credentials" => request,
            "bad token" => request.header("authorization", "Bearer bad"),
            _ => request.header("authorization", "Bearer admin"),
        };
        let request = request.body(Body::from(body)).expect("a recorded request is one");
        let response = self.send(request).await;
        let status = response.status().as_u16();
        let headers: BTreeMap<String, String> = response
            .headers()
            .iter()
            .map(|(key, value)| {
                (key.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            })
            .collect();
        if exchange.title.contains("meanwhile") {
            self.meanwhile().await;
        }
        let bytes = response.into_body().collect().await.expect("no body fails").to_bytes();
        let mut out = Vec::new();
        if status != exchange.response.status {
            out.push(format!("status: {} expected, {status} found", exchange.response.status));
        }
        for (key, expected) in &exchange.response.headers {
            if headers.get(key) != Some(expected) {
                out.push(format!(
                    "header {key}: {expected} expected, {:?} found",
                    headers.get(key)
                ));
            }
        }
        let (expected, mut found) = match &exchange.response.stream {
            Some(stream) => (Value::from(stream.clone()), lines(&bytes)),
            None => (exchange.response.body.clone(), body_value(&bytes, &exchange.response.body)),
        };
        if exchange.title == "watch from version 1, not yet compacted" {
            // Another run's objects had come before on the recorded server: the ends are compared.
            let length = expected.as_array().map_or(0, Vec::len);
            if let Some(events) = found.as_array_mut() {
                events.drain(..events.len().saturating_sub(length));
            }
        }
        self.learn(&expected, &found);
        out.extend(normal::differences(&expected, &found));
        out
    }

    async fn send(&self, request: Request<Body>) -> axum::response::Response {
        self.router.clone().oneshot(request).await.expect("the router never fails")
    }

    async fn meanwhile(&self) {
        for (method, name, body) in MEANWHILE {
            let request = Request::builder()
                .method(*method)
                .uri(format!("/api/v1/namespaces/exch/configmaps/{name}"))
                .header("authorization", "Bearer admin")
                .header("content-type", "application/merge-patch+json")
                .body(Body::from(*body))
                .expect("a constant");
            let response = self.send(request).await;
            let status = response.status();
            let body = response.into_body().collect().await.expect("no body fails").to_bytes();
            if !status.is_success() {
                eprintln!("{method} {name}: {}", String::from_utf8_lossy(&body));
            }
        }
    }

    /// A recorded request with our UIDs, versions and tokens in place of the recorded ones.
    fn translate(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (recorded, ours) in &self.ours {
            if recorded.len() > 12 {
                out = out.replace(recorded, ours);
            } else {
                for (before, after) in [("\"resourceVersion\":\"", "\""), ("resourceVersion=", "&")]
                {
                    out = out.replace(
                        &format!("{before}{recorded}{after}"),
                        &format!("{before}\u{1}{ours}{after}"),
                    );
                }
            }
        }
        out.replace('\u{1}', "")
    }

    fn learn(&mut self, expected: &Value, found: &Value) {
        match (expected, found) {
            (Value::Object(expected), Value::Object(found)) => {
                for (key, expected) in expected {
                    let Some(found) = found.get(key) else { continue };
                    if let ("uid" | "resourceVersion" | "continue", Some(theirs), Some(ours)) =
                        (key.as_str(), expected.as_str(), found.as_str())
                    {
                        self.ours.insert(theirs.to_owned(), ours.to_owned());
                    }
                    self.learn(expected, found);
                }
            }
            (Value::Array(expected), Value::Array(found)) => {
                for (expected, found) in expected.iter().zip(found) {
                    self.learn(expected, found);
                }
            }
            _ => {}
        }
    }
}

fn lines(bytes: &[u8]) -> Value {
    bytes
        .split(|&b| b == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice::<Value>(line).expect("each event is JSON"))
        .collect()
}

/// The body as JSON, or as text where text was recorded.
fn body_value(bytes: &[u8], expected: &Value) -> Value {
    let text = || Value::String(String::from_utf8_lossy(bytes).into_owned());
    if expected.is_string() {
        return text();
    }
    serde_json::from_slice(bytes).unwrap_or_else(|_| text())
}
