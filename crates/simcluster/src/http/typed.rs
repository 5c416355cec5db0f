//! Bodies that have to be an object of some type.

use std::fmt::Write as _;

use super::Asked;
use crate::body::{self, Body, Broken};
use crate::error::ApiError;
use crate::json::{Value, json};
use crate::types;

/// How much of a body a refusal shows.
const SHOWN: usize = 30;

/// The body as an object. `wanted` is what a refusal says that it must be; `merge` as for
/// [`Asked::read_body`].
pub(super) fn read(asked: &Asked, wanted: &str, merge: bool) -> Result<Body, ApiError> {
    let mut body = asked.read_body(merge).map_err(|broken| {
        let why = match &broken {
            Broken::Json(why) => no_kind(why),
            Broken::Yaml(_) | Broken::Protobuf(_) => broken.to_string(),
        };
        unrecognized(asked, wanted, &why)
    })?;
    if body.value.is_null() {
        body.value = json!({});
    }
    if body.value.is_object() {
        return Ok(body);
    }
    Err(unrecognized(asked, wanted, &no_kind(&no_object(&body.value))))
}

/// 400: something in the body keeps it from being taken for an object at all.
pub(super) fn unrecognized(asked: &Asked, wanted: &str, why: &str) -> ApiError {
    let shown = shown(&asked.body);
    ApiError::bad_request(format!(
        "the object provided is unrecognized (must be of type {wanted}): {why} ({shown})"
    ))
}

/// How a text is called from which not even the kind can be read.
pub(super) fn no_kind(why: &str) -> String {
    format!("couldn't get version/kind; json parse error: {why}")
}

/// A body that looks like JSON as it is, any other in hexadecimal.
fn shown(body: &[u8]) -> String {
    let part = &body[..body.len().min(SHOWN)];
    let dots = if part.len() < body.len() { " ..." } else { "" };
    match part {
        [] => "<empty>".to_owned(),
        [b'{', ..] => String::from_utf8_lossy(part).into_owned() + dots,
        _ => {
            let mut out = String::with_capacity(part.len() * 2);
            for byte in part {
                write!(out, "{byte:02x}").expect("a String takes everything");
            }
            out + dots
        }
    }
}

/// The body of a delete: `DeleteOptions`, or `null` where there is none.
pub(super) fn read_delete_options(asked: &Asked) -> Result<Value, ApiError> {
    if asked.body.is_empty() {
        return Ok(Value::Null);
    }
    let mut body = asked.read_body(true).map_err(|broken| match &broken {
        Broken::Json(why) => ApiError::bad_request(no_kind(why)),
        Broken::Yaml(_) | Broken::Protobuf(_) => ApiError::bad_request(broken.to_string()),
    })?;
    let given = |field: &str| body.value[field].as_str().unwrap_or_default();
    let (version, kind) = (given("apiVersion"), given("kind"));
    if !body.value.is_object() && !body.value.is_null() {
        return Err(ApiError::bad_request(no_kind(&no_object(&body.value))));
    }
    if !matches!(kind, "" | "DeleteOptions") {
        return Err(ApiError::bad_request(format!(
            "no kind \"{kind}\" is registered for version \"{version}\" in scheme \
             \"pkg/runtime/scheme.go:111\""
        )));
    }
    if let Some(options) = types::by_name("DeleteOptions").filter(|_| body.value.is_object()) {
        types::decode(options, &mut body.value)
            .map_err(|error| ApiError::bad_request(error.to_string()))?;
    }
    Ok(body.value)
}

fn no_object(value: &Value) -> String {
    format!(
        "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \
         \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
        body::go_kind(value)
    )
}
