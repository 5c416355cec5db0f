//! One request, one answer: every write goes through here, with a time-out and without a retry.
//!
//! Not through `kube::Api`: its eviction drops the preconditions (2026-11, kube 5.0.0), and its
//! errors drop the header `Retry-After`, which alone tells how long a busy server wants to be left.

use std::time::Duration;

use http::{Method, Request, header};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::Value;

use crate::error::Error;

/// How long a request may take. Without it one that hangs would hold its rollout for ever.
pub const TIME_OUT: Duration = Duration::from_secs(10);

/// Who we are in `managedFields`.
pub const FIELD_MANAGER: &str = "sluice";

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Json,
    MergePatch,
    Apply,
}

impl Content {
    fn name(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::MergePatch => "application/merge-patch+json",
            // JSON is YAML: the server takes it under this name in every release.
            Self::Apply => "application/apply-patch+yaml",
        }
    }
}

/// A request to be made.
#[derive(Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) verb: &'static str,
    /// Kind and key, for errors.
    pub(crate) object: &'a str,
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) path: String,
    pub(crate) content: Content,
    pub(crate) body: Option<&'a Value>,
}

/// What the server said, success or not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    /// The header `Retry-After`, else `details.retryAfterSeconds`.
    pub(crate) retry_after: Option<u32>,
    /// `null` when it is no JSON.
    pub(crate) body: Value,
    /// `message` of a Status, else the text of the body.
    pub(crate) message: String,
}

impl Answer {
    /// Whether the code and, for a Status, the body say success: kube has seen a 201 with a
    /// `Failure` inside.
    pub(crate) fn succeeded(&self) -> bool {
        (200..300).contains(&self.code) && self.body["status"] != "Failure"
    }

    /// A code that speaks for the whole answer: that of a `Failure` inside a success.
    pub(crate) fn effective_code(&self) -> u16 {
        if (200..300).contains(&self.code) && !self.succeeded() {
            let inner = self.body["code"].as_u64().and_then(|code| u16::try_from(code).ok());
            return inner.filter(|code| *code >= 400).unwrap_or(500);
        }
        self.code
    }

    /// Whether a cause of this reason is among `details.causes`.
    pub(crate) fn has_cause(&self, reason: &str) -> bool {
        self.causes().any(|cause| cause["reason"] == reason)
    }

    pub(crate) fn causes(&self) -> impl Iterator<Item = &Value> {
        self.body["details"]["causes"].as_array().into_iter().flatten()
    }

    /// The body of a success, or what is to be done about a failure.
    pub(crate) fn or_error(self, verb: &'static str, object: &str) -> Result<Value, Error> {
        if self.succeeded() {
            return Ok(self.body);
        }
        let (object, message) = (object.to_owned(), self.message.clone());
        Err(match self.effective_code() {
            409 => Error::Conflict { object, message },
            404 | 410 => Error::Gone { object, message },
            429 | 500.. => Error::Unknown { verb, object, message, retry_after: self.retry_after },
            code => Error::Refused { verb, object, code, message: with_remedy(code, message) },
        })
    }
}

fn with_remedy(code: u16, message: String) -> String {
    match code {
        // The server's words name the account, the verb and the resource.
        403 => format!(
            "{message}; the operator's account needs this permission, or a policy has to allow it; \
             `sluice install` prints the roles that it needs"
        ),
        401 => format!("{message}; the operator's credentials are not accepted"),
        _ => message,
    }
}

/// Sends, and takes the body of a success out of the answer.
pub(crate) async fn ask(client: &Client, ask: &Ask<'_>) -> Result<Value, Error> {
    send(client, ask).await?.or_error(ask.verb, ask.object)
}

/// Sends, and reads the answer whole. An error means that there was none: the write may have taken
/// effect all the same.
pub(crate) async fn send(client: &Client, ask: &Ask<'_>) -> Result<Answer, Error> {
    let lost = |message: String| Error::Unknown {
        verb: ask.verb,
        object: ask.object.to_owned(),
        message,
        retry_after: None,
    };
    let body = match ask.body {
        Some(value) => serde_json::to_vec(value).map_err(|error| lost(error.to_string()))?,
        None => Vec::new(),
    };
    let mut request = Request::builder()
        .method(ask.method.clone())
        .uri(&ask.path)
        .header(header::ACCEPT, "application/json");
    if ask.body.is_some() {
        request = request.header(header::CONTENT_TYPE, ask.content.name());
    }
    let request = request.body(Body::from(body)).map_err(|error| lost(error.to_string()))?;
    match tokio::time::timeout(TIME_OUT, exchange(client, request)).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(lost(chain(&error))),
        Err(_) => Err(lost(format!("no answer within {} s", TIME_OUT.as_secs()))),
    }
}

async fn exchange(client: &Client, request: Request<Body>) -> Result<Answer, kube::Error> {
    let response = client.send(request).await?;
    let code = response.status().as_u16();
    let header = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let from_header = header.and_then(|value| value.trim().parse().ok());
    let bytes = response.into_body().collect().await?.to_bytes();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let from_body = body["details"]["retryAfterSeconds"].as_u64();
    let message = match body["message"].as_str() {
        Some(message) => message.to_owned(),
        None => String::from_utf8_lossy(&bytes).trim().chars().take(1000).collect(),
    };
    let from_body = from_body.and_then(|seconds| u32::try_from(seconds).ok());
    Ok(Answer { code, retry_after: from_header.or(from_body), body, message })
}

/// An error with all that is behind it, since the outer layers of a connection error say nothing.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        next = cause.source();
    }
    text
}
