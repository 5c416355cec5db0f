//! The admission service: reviews in, verdicts out, by the same engine and the same caches as the loop.
//!
//! A plain tower service, so that the embedded cluster calls it in process and the operator serves it
//! over HTTPS. One file per path, and [`hooks`] for what the API server is told of them.
//!
//! Of its own resources it refuses little: what the loop would refuse with a reason in the status
//! anyway, told at the moment of writing; without caches it lets all in that is sound, since an operator
//! that has just started must not keep anybody from pausing a rollout. The change of a workload is
//! another matter: let in, it would run ahead of the loop. Until it can be said who releases it, it has to
//! wait.

mod answer;
pub mod hooks;
mod rollouts;
mod statefulset_rollouts;
mod workloads;

use std::convert::Infallible;
use std::task::{Context as Poller, Poll};

use api::batches::{CONVERT_PATH, Rules, convert_review};
use bytes::Bytes;
use cluster::Clock;
use engine::world::Settings;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use serde_json::Value;

use crate::context::Attention;
use crate::gates::Gates;
use crate::metrics::Metrics;

/// The path that reviews of `StatefulsetRollout`s are posted to.
pub const STATEFULSET_ROLLOUTS: &str = "/admit/statefulsetrollouts";
/// The path that reviews of `Rollout`s and `BatchRelease`s are posted to.
pub const ROLLOUTS: &str = "/admit/rollouts";
/// The path that reviews of workloads are posted to.
pub const WORKLOADS: &str = "/admit/workloads";

/// A review holds the object twice; etcd takes objects of 1.5 MiB.
const LARGEST: usize = 8 << 20;
/// A list is converted in one piece: 10,000 Rollouts with their status come to some 40 MiB.
const LARGEST_LIST: usize = 256 << 20;

/// Judges what is written, and converts what is read. Clones share the caches.
#[derive(Clone)]
pub struct Admission {
    /// What is known of the cluster.
    pub attention: Attention,
    /// Says what time it is.
    pub clock: Clock,
    /// What decisions are made by.
    pub settings: Settings,
    /// What may be set about the rules for Rollouts.
    pub rules: Rules,
    /// What is switched on and off.
    pub gates: Gates,
    /// What is counted.
    pub metrics: Metrics,
}

impl Admission {
    /// Whether the original's manager runs: what is its is left to it.
    fn stands_aside(&self) -> bool {
        self.attention.original_runs(self.clock.now())
    }

    /// Answers a review that was posted to a path: an `AdmissionReview` (v1), or a `ConversionReview`
    /// at [`CONVERT_PATH`]; `None` at any other path.
    pub fn answer(&self, path: &str, review: &Value) -> Option<Value> {
        let request = &review["request"];
        let judgement = match path {
            CONVERT_PATH => return Some(convert_review(review)),
            STATEFULSET_ROLLOUTS => statefulset_rollouts::judge(self, request),
            ROLLOUTS => rollouts::judge(self, request),
            WORKLOADS => workloads::judge(self, request),
            _ => return None,
        };
        self.metrics.admission(judgement.word());
        Some(judgement.answer(request))
    }
}

impl<B> tower::Service<Request<B>> for Admission
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Poller<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let admission = self.clone();
        async move {
            let path = request.uri().path().to_owned();
            if ![STATEFULSET_ROLLOUTS, ROLLOUTS, WORKLOADS, CONVERT_PATH].contains(&path.as_str()) {
                return Ok(text(StatusCode::NOT_FOUND, "nothing is served here"));
            }
            let largest = if path == CONVERT_PATH { LARGEST_LIST } else { LARGEST };
            let body = Limited::new(request.into_body(), largest).collect().await;
            let Ok(body) = body.map(http_body_util::Collected::to_bytes) else {
                return Ok(text(
                    StatusCode::BAD_REQUEST,
                    "the body cannot be read, or is too large",
                ));
            };
            let review = match serde_json::from_slice::<Value>(&body) {
                Ok(review) if review["request"]["uid"].is_string() => review,
                _ => return Ok(text(StatusCode::BAD_REQUEST, "the body is no review")),
            };
            let Some(answer) = admission.answer(&path, &review) else {
                return Ok(text(StatusCode::NOT_FOUND, "nothing is served here"));
            };
            let mut response = Response::new(Full::new(Bytes::from(answer.to_string())));
            let json = header::HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            Ok(response)
        }
        .boxed()
    }
}

fn text(status: StatusCode, message: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(message.as_bytes())));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
