//! `/healthz`, `/readyz` and `/metrics`.

use crate::ready::Readiness;
use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use http::{StatusCode, header};
use prometheus_client::registry::Registry;
use std::sync::Arc;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// `/healthz` says that the process is up; `/readyz` answers 503 with one line for each thing that
/// is waited for, until there is none.
pub fn health(readiness: Readiness) -> Router {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .with_state(readiness)
}

async fn readyz(State(readiness): State<Readiness>) -> (StatusCode, String) {
    let waiting = readiness.waiting();
    if waiting.is_empty() {
        return (StatusCode::OK, "ok\n".to_owned());
    }
    let lines: String = waiting.iter().map(|line| format!("waiting for {line}\n")).collect();
    (StatusCode::SERVICE_UNAVAILABLE, lines)
}

/// `/metrics` in the OpenMetrics text format.
pub fn metrics(registry: Arc<Registry>) -> Router {
    Router::new().route("/metrics", get(scrape)).with_state(registry)
}

async fn scrape(State(registry): State<Arc<Registry>>) -> axum::response::Response {
    let mut text = String::new();
    match prometheus_client::encoding::text::encode(&mut text, &registry) {
        Ok(()) => ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::{Body, to_bytes};
    use http::Request;
    use tower::ServiceExt;

    async fn got(router: Router, path: &str) -> (StatusCode, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let status = response.status();
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn readiness_lists_what_is_waited_for() {
        let readiness = Readiness::default();
        let handle = readiness.wait_for("API server");
        handle.says("connection refused");
        let router = health(readiness);
        assert_eq!(
            got(router.clone(), "/readyz").await,
            (
                StatusCode::SERVICE_UNAVAILABLE,
                "waiting for API server: connection refused\n".to_owned()
            )
        );
        assert_eq!(got(router.clone(), "/healthz").await.0, StatusCode::OK);
        handle.release();
        assert_eq!(got(router, "/readyz").await, (StatusCode::OK, "ok\n".to_owned()));
    }

    #[tokio::test]
    async fn metrics_end_as_the_format_wants_it() {
        let mut registry = Registry::default();
        let evictions = prometheus_client::metrics::counter::Counter::<u64>::default();
        registry.register("sluice_evictions", "Pods evicted", evictions.clone());
        evictions.inc();
        let (status, text) = got(metrics(Arc::new(registry)), "/metrics").await;
        assert_eq!(status, StatusCode::OK);
        assert!(text.contains("sluice_evictions_total 1\n"), "{text}");
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
