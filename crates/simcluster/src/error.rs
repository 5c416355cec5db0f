//! What the server refuses, with the code, reason, message and details of the real one.

use crate::json::{Value, json};
use crate::kind::Kind;

/// One cause of a refusal, as in `details.causes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// For example `FieldValueInvalid`; empty when the server leaves it out.
    pub reason: String,
    /// For humans.
    pub message: String,
    /// JSON path such as `spec.replicas`; empty when the server leaves it out.
    pub field: String,
}

impl Cause {
    /// A cause of which every part is known.
    pub fn new(reason: &str, message: impl Into<String>, field: impl Into<String>) -> Self {
        Self { reason: reason.to_owned(), message: message.into(), field: field.into() }
    }

    fn to_json(&self) -> Value {
        let mut out = json!({});
        for (key, value) in
            [("reason", &self.reason), ("message", &self.message), ("field", &self.field)]
        {
            if !value.is_empty() {
                out[key] = json!(value);
            }
        }
        out
    }
}

/// A refusal. Becomes a `Status` body with the HTTP code of the same number.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// HTTP status code.
    pub code: u16,
    /// Machine-readable reason, empty where the server gives none.
    pub reason: String,
    /// For humans, in the server's words.
    pub message: String,
    /// `details` without causes; `None` where the server gives none.
    pub details: Option<Box<Value>>,
    /// `details.causes`.
    pub causes: Vec<Cause>,
    /// Seconds, sent both as a header and in `details`.
    pub retry_after: Option<u32>,
    /// For `Warning` headers: what was found before it was refused.
    pub warnings: Vec<String>,
}

impl ApiError {
    /// An error without details.
    pub fn new(code: u16, reason: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.to_owned(),
            message: message.into(),
            details: None,
            causes: Vec::new(),
            retry_after: None,
            warnings: Vec::new(),
        }
    }

    /// The same with `details`.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// The same with causes.
    #[must_use]
    pub fn with_causes(mut self, causes: Vec<Cause>) -> Self {
        self.causes = causes;
        self
    }

    /// The same with what was found before, in front of what it has.
    #[must_use]
    pub fn after_warnings(mut self, warnings: &[String]) -> Self {
        self.warnings.splice(0..0, warnings.iter().cloned());
        self
    }

    /// The same with a time to wait, in seconds.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 404 for one object.
    pub fn not_found(kind: &Kind, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} \"{name}\" not found", kind.resource()))
            .with_details(kind.details(name))
    }

    /// 404 for a path that leads nowhere inside a known group.
    pub fn no_such_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
            .with_details(json!({}))
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        Self::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
        .with_details(json!({}))
    }

    /// 409 because the name is taken.
    pub fn already_exists(kind: &Kind, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{} \"{name}\" already exists", kind.resource()))
            .with_details(kind.details(name))
    }

    /// 409 because the object is not what the writer read; `why` in the server's words.
    pub fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let resource = kind.resource();
        Self::new(
            409,
            "Conflict",
            format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}"),
        )
        .with_details(kind.details(name))
    }

    /// 409 because of a stale resourceVersion.
    pub fn stale(kind: &Kind, name: &str) -> Self {
        Self::conflict(
            kind,
            name,
            "the object has been modified; please apply your changes to the latest version and \
             try again",
        )
    }

    /// 422 with the causes in the order in which the server lists them.
    pub fn invalid(kind: &Kind, name: &str, causes: Vec<Cause>) -> Self {
        let what = kind.qualified();
        let mut details = json!({"kind": kind.kind});
        for (field, value) in [("name", name), ("group", kind.group.as_str())] {
            if !value.is_empty() {
                details[field] = value.into();
            }
        }
        let message = format!("{what} \"{name}\" is invalid: {}", summary(&causes));
        Self::new(422, "Invalid", message).with_details(details).with_causes(causes)
    }

    /// 422 for a patch that cannot be carried out.
    pub fn unprocessable() -> Self {
        Self::new(422, "Invalid", "the server rejected our request due to an error in our request")
            .with_details(json!({}))
    }

    /// 403 about one object.
    pub fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let resource = kind.resource();
        Self::new(403, "Forbidden", format!("{resource} \"{name}\" is forbidden: {why}"))
            .with_details(kind.details(name))
    }

    /// 500 without a reason, as the server answers to what it did not foresee.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// 410: the history that was asked for has been compacted away.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 406 for a form that nobody can give.
    pub fn not_acceptable(message: impl Into<String>) -> Self {
        Self::new(406, "NotAcceptable", message)
    }

    /// 415; `accepted` is a list of media types.
    pub fn unsupported_media_type(accepted: &str) -> Self {
        Self::new(
            415,
            "UnsupportedMediaType",
            format!(
                "the body of the request was in an unknown format - accepted media types include: \
                 {accepted}"
            ),
        )
    }

    /// The `Status` object that goes over the wire.
    pub fn status(&self) -> Value {
        let mut out = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        });
        if !self.reason.is_empty() {
            out["reason"] = json!(self.reason);
        }
        let mut details = self.details.as_deref().cloned();
        if !self.causes.is_empty() {
            details.get_or_insert_with(|| json!({}))["causes"] =
                self.causes.iter().map(Cause::to_json).collect();
        }
        if let Some(seconds) = self.retry_after {
            details.get_or_insert_with(|| json!({}))["retryAfterSeconds"] = json!(seconds);
        }
        if let Some(details) = details {
            out["details"] = details;
        }
        out
    }
}

/// Several causes in one line, as the server aggregates them: repeats are said once.
fn summary(causes: &[Cause]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for cause in causes {
        let line = format!("{}: {}", cause.field, cause.message);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    match lines.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}
