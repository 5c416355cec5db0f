//! The answers that faults give, worded as the real server words them.

use axum::body::Body;
use axum::response::Response;
use http::{StatusCode, header};

use crate::json::{Value, json};

/// A `Status` body under its own code.
fn status(code: StatusCode, reason: &str, message: &str, details: Value) -> Response {
    let mut body = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16(),
    });
    if !details.is_null() {
        body["details"] = details;
    }
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = code;
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// 409 about the object of a path.
pub(super) fn conflict(path: &str) -> Response {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (group, rest) = match parts.as_slice() {
        ["apis", group, _, rest @ ..] => (*group, rest),
        [_, _, rest @ ..] => ("", rest),
        _ => ("", &parts[..]),
    };
    let (plural, name) = match rest {
        ["namespaces", _, plural, name, ..] | [plural, name, ..] => (*plural, *name),
        _ => ("", ""),
    };
    let what = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
    let message = format!(
        "Operation cannot be fulfilled on {what} \"{name}\": the object has been modified; please \
         apply your changes to the latest version and try again"
    );
    let mut details = json!({"name": name, "kind": plural});
    if !group.is_empty() {
        details["group"] = group.into();
    }
    status(StatusCode::CONFLICT, "Conflict", &message, details)
}

/// 429 of priority and fairness: plain text, and no Status in it.
pub(super) fn throttled() -> Response {
    let mut response = Response::new(Body::from("Too many requests, please try again later.\n"));
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    let headers = response.headers_mut();
    let text = header::HeaderValue::from_static("text/plain; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, text);
    headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
    response
}

/// 429 without a time to wait.
pub(super) fn too_many() -> Response {
    let message = "The server has received too many requests and has asked us to try again later";
    status(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message, json!({}))
}

/// 500.
pub(super) fn server_error() -> Response {
    let message = "Internal error occurred: etcdserver: leader changed";
    let details = json!({"causes": [{"message": "etcdserver: leader changed"}]});
    status(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message, details)
}

/// 503.
pub(super) fn unavailable() -> Response {
    let message = "the server is currently unable to handle the request";
    status(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", message, json!({}))
}

/// 504.
pub(super) fn timed_out() -> Response {
    let message = "Timeout: request did not complete within the allotted duration";
    status(StatusCode::GATEWAY_TIMEOUT, "Timeout", message, json!({}))
}

/// The last event of a watch whose history is gone.
pub(super) fn expired() -> String {
    let mut event = json!({"type": "ERROR", "object": {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version", "reason": "Expired", "code": 410,
    }})
    .to_string();
    event.push('\n');
    event
}
