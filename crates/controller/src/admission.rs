//! The admission service: reviews in, verdicts out, by the same engine and the same caches.
//!
//! A plain tower service, so that the embedded cluster calls it in process and the operator serves it
//! over HTTPS. It refuses little: what the loop would refuse with a reason in the status anyway, told
//! at the moment of writing. Without caches it lets everything in, since an operator that has just
//! started must not keep anybody from pausing a rollout.

use std::convert::Infallible;
use std::task::{Context as Poller, Poll};

use api::bedrock::validate::{Capabilities, immutable_changes, validate};
use api::{Finding, Severity};
use bytes::Bytes;
use cluster::observe::statefulset_rollout::{Candidate, candidate};
use cluster::{Caches, Clock};
use engine::admit::statefulset_rollout::{Admission as Asked, Verdict, admit};
use engine::world::Settings;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::metrics::Metrics;

/// The path that reviews of `StatefulsetRollout`s are posted to.
pub const PATH: &str = "/admit/statefulsetrollouts";

/// A review holds the object twice; etcd takes objects of 1.5 MiB.
const LARGEST: usize = 8 << 20;

/// Judges `StatefulsetRollout`s. Clones share the caches.
#[derive(Clone)]
pub struct Admission {
    /// What the cluster holds.
    pub caches: Arc<Caches>,
    /// Says what time it is.
    pub clock: Clock,
    /// What decisions are made by.
    pub settings: Settings,
    /// What is counted.
    pub metrics: Metrics,
}

/// A verdict on the way out.
struct Judgement {
    denied: Option<String>,
    warnings: Vec<String>,
}

impl Admission {
    /// Answers an `AdmissionReview` (v1, as JSON) with another.
    pub fn review(&self, review: &Value) -> Value {
        let request = &review["request"];
        let judgement = self.judge(request);
        self.metrics.admission(if judgement.denied.is_some() { "denied" } else { "allowed" });
        let mut response = json!({"uid": request["uid"], "allowed": judgement.denied.is_none()});
        if let Some(message) = judgement.denied {
            response["status"] = json!({"code": 422, "reason": "Invalid", "message": message});
        }
        if !judgement.warnings.is_empty() {
            response["warnings"] = json!(judgement.warnings);
        }
        json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": response,
        })
    }

    fn judge(&self, request: &Value) -> Judgement {
        let object = &request["object"];
        let capabilities = Capabilities {
            channel: self.settings.channel_configured,
            callback: self.settings.callback_configured,
            discovery: false,
        };
        let deleting = object["metadata"]["deletionTimestamp"].is_string();
        if deleting || (!request["subResource"].is_null() && request["subResource"] != "") {
            // A finalizer has to come off whatever else is wrong.
            return Judgement { denied: None, warnings: Vec::new() };
        }
        let mut findings = validate(object, &capabilities);
        let old = &request["oldObject"];
        if old.is_object() {
            let known = validate(old, &capabilities);
            demote(&mut findings, |finding| known.contains(finding));
        }
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        if let Some(message) = denial(name, &findings) {
            return Judgement { denied: Some(message), warnings: Vec::new() };
        }
        match candidate(&self.caches, object, &self.settings) {
            Ok(candidate) => self.weigh(name, request, &candidate, findings),
            Err(why) => {
                findings.retain(|finding| finding.severity == Severity::Warning);
                let mut warnings = words(&findings);
                warnings.push(format!("only the rollout itself was checked: {why}"));
                Judgement { denied: None, warnings }
            }
        }
    }

    /// The rollout is sound in itself; now what the cluster has to say.
    fn weigh(
        &self,
        name: &str,
        request: &Value,
        candidate: &Candidate,
        mut findings: Vec<Finding>,
    ) -> Judgement {
        let before = api::bedrock::StatefulsetRollout::deserialize(&request["oldObject"])
            .ok()
            .and_then(|old| api::bedrock::engine_rollout(&old).ok())
            .map(|(old, _)| old);
        match admit(&Asked { before }, &candidate.world, self.clock.now()) {
            Verdict::Allow { warnings } => {
                // Not before: whose set it is comes before how it differs.
                if let (Some(live), Ok(desired)) = (&candidate.live, &candidate.desired) {
                    let mut changes = immutable_changes(live, desired.document());
                    let asked = |object: &Value| object["spec"]["statefulset"].clone();
                    let same = asked(&request["object"]) == asked(&request["oldObject"]);
                    demote(&mut changes, |_| same);
                    findings.extend(changes);
                }
                if let Some(message) = denial(name, &findings) {
                    return Judgement { denied: Some(message), warnings: Vec::new() };
                }
                let mut all = words(&findings);
                all.extend(warnings);
                Judgement { denied: None, warnings: all }
            }
            Verdict::Deny { field, message } => {
                let denied = format!("StatefulsetRollout {name} is invalid: {field}: {message}");
                Judgement { denied: Some(denied), warnings: Vec::new() }
            }
        }
    }
}

/// What was wrong before is no reason to refuse a change of something else: a rollout that should
/// never have come in can be paused all the same.
fn demote(findings: &mut [Finding], known: impl Fn(&Finding) -> bool) {
    for finding in findings.iter_mut().filter(|finding| known(finding)) {
        finding.severity = Severity::Warning;
    }
}

fn words(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}: {}", finding.path, finding.message)).collect()
}

/// All errors in one message, as the API server words its own.
fn denial(name: &str, findings: &[Finding]) -> Option<String> {
    let errors: Vec<Finding> =
        findings.iter().filter(|finding| finding.severity == Severity::Error).cloned().collect();
    let all = words(&errors).join("; ");
    (!errors.is_empty()).then(|| format!("StatefulsetRollout {name} is invalid: {all}"))
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
            if request.uri().path() != PATH {
                return Ok(text(StatusCode::NOT_FOUND, "nothing is served here"));
            }
            let body = Limited::new(request.into_body(), LARGEST).collect().await;
            let Ok(body) = body.map(http_body_util::Collected::to_bytes) else {
                return Ok(text(
                    StatusCode::BAD_REQUEST,
                    "the body cannot be read, or is too large",
                ));
            };
            let review = match serde_json::from_slice::<Value>(&body) {
                Ok(review) if review["request"]["uid"].is_string() => review,
                _ => return Ok(text(StatusCode::BAD_REQUEST, "the body is no AdmissionReview")),
            };
            let answer = admission.review(&review).to_string();
            let mut response = Response::new(Full::new(Bytes::from(answer)));
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
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::Attention;

    fn admission() -> Admission {
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        Admission {
            caches: Attention::new().caches,
            clock: Clock::starting_at(noon),
            settings: Settings::default(),
            metrics: Metrics::default(),
        }
    }

    /// A rollout whose template does not bear the label that its selector asks for.
    fn rollout(label: &str, paused: bool) -> Value {
        json!({
            "apiVersion": "bedrock.operator.slack.com/v1",
            "kind": "StatefulsetRollout",
            "metadata": {"name": "web", "namespace": "default", "uid": "u"},
            "spec": {"pauseRequested": paused, "statefulset": {"spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": label}},
                    "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
                },
            }}},
        })
    }

    fn answer(object: &Value, old: &Value) -> Value {
        let request = json!({"uid": "1", "object": object, "oldObject": old});
        admission().review(&json!({"request": request}))["response"].clone()
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_wrong_is_refused_with_its_field() {
        let refused = answer(&rollout("other", false), &Value::Null);
        assert_eq!(refused["allowed"], false);
        let message = refused["status"]["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("StatefulsetRollout web is invalid: spec.statefulset"),
            "{message}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_wrong_before_does_not_keep_anybody_from_pausing() {
        let paused = answer(&rollout("other", true), &rollout("other", false));
        assert_eq!(paused["allowed"], true);
        let refused = answer(&rollout("other", true), &rollout("web", false));
        assert_eq!(refused["allowed"], false);
    }

    #[tokio::test(start_paused = true)]
    async fn without_caches_everything_sound_is_let_in_and_that_is_said() {
        let allowed = answer(&rollout("web", false), &Value::Null);
        assert_eq!(allowed["allowed"], true);
        assert!(allowed["warnings"].to_string().contains("only the rollout itself was checked"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_no_review_is_answered_and_not_judged() {
        use tower::ServiceExt;
        for (path, body, code) in
            [("/", "{}", 404), (PATH, "no JSON", 400), (PATH, "{\"request\": {}}", 400)]
        {
            let request = Request::post(path).body(Full::new(Bytes::from(body))).unwrap();
            let response = admission().oneshot(request).await.unwrap();
            assert_eq!(response.status(), code, "{path} {body}");
        }
    }
}
