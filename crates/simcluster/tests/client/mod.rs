//! A cluster in virtual time and a client of its Router.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use http::Request;
use http_body_util::BodyExt;
use jiff::{SignedDuration, Timestamp};
use simcluster::cluster::{Options, SimCluster};
use simcluster::http::access::Access;
use simcluster::json::Value;
use tokio::time::Instant;
use tower::ServiceExt;

/// A cluster whose watches can go `window` changes back.
pub(crate) fn cluster(window: usize) -> SimCluster {
    with_access(window, Access::default())
}

/// The same with another seed: another history.
pub(crate) fn seeded(seed: u64) -> SimCluster {
    make(seed, 10_000, Access::default())
}

/// A cluster that not everybody may do everything on.
pub(crate) fn with_access(window: usize, access: Access) -> SimCluster {
    make(1, window, access)
}

fn make(seed: u64, window: usize, access: Access) -> SimCluster {
    let start = Instant::now();
    let zero: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a constant");
    let clock = Arc::new(move || {
        zero.checked_add(SignedDuration::try_from(start.elapsed()).expect("short")).expect("soon")
    });
    SimCluster::new(Options { window, access, ..Options::new(seed, clock) })
}

pub(crate) async fn raw(
    router: &Router,
    method: &str,
    path: &str,
    body: &Value,
) -> axum::response::Response {
    let content =
        if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", content)
        .body(body)
        .expect("a request");
    router.clone().oneshot(request).await.expect("the router never fails")
}

pub(crate) async fn call(router: &Router, method: &str, path: &str, body: Value) -> (u16, Value) {
    let response = raw(router, method, path, &body).await;
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.expect("no body fails").to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

/// A list as a Table.
pub(crate) async fn table(router: &Router, path: &str) -> (u16, Value) {
    let request = Request::builder()
        .uri(path)
        .header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
        .body(Body::empty())
        .expect("a request");
    let response = router.clone().oneshot(request).await.expect("the router never fails");
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.expect("no body fails").to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}
