//! A `ConversionReview`, as the API server asks and wants it answered.

use serde_json::{Value, json};

use super::{Version, convert};

/// The answer to a `ConversionReview`: all objects in the version that is asked for, or none of them
/// and why, with the name of each object and the field.
///
/// Always an answer, whatever was asked: the API server puts its message into the error that the
/// client sees.
pub fn convert_review(review: &Value) -> Value {
    let request = review.get("request").unwrap_or(&Value::Null);
    let uid = request.get("uid").and_then(Value::as_str).unwrap_or_default();
    let mut response = match converted(request) {
        Ok(objects) => json!({"result": {"status": "Success"}, "convertedObjects": objects}),
        Err(message) => json!({
            "result": {"status": "Failure", "message": message, "reason": "Invalid", "code": 422},
            "convertedObjects": [],
        }),
    };
    response["uid"] = json!(uid);
    let version = review.get("apiVersion").and_then(Value::as_str);
    json!({
        "apiVersion": version.unwrap_or("apiextensions.k8s.io/v1"),
        "kind": "ConversionReview",
        "response": response,
    })
}

/// At most this many errors are told; one review can have thousands of objects.
const TOLD: usize = 3;

fn converted(request: &Value) -> Result<Vec<Value>, String> {
    let wanted = request.get("desiredAPIVersion").and_then(Value::as_str).unwrap_or_default();
    let Some(to) = Version::of(wanted) else {
        return Err(format!("desiredAPIVersion is {wanted:?}, which is not served"));
    };
    let objects = request
        .get("objects")
        .and_then(Value::as_array)
        .ok_or_else(|| "request.objects is no list".to_owned())?;
    let (mut made, mut errors) = (Vec::with_capacity(objects.len()), Vec::new());
    for object in objects {
        match convert(object, to) {
            Ok(object) => made.push(object),
            Err(error) => errors.push(error.to_string()),
        }
    }
    if errors.is_empty() {
        return Ok(made);
    }
    let more = errors.len().saturating_sub(TOLD);
    errors.truncate(TOLD);
    let mut message = errors.join("; ");
    if more > 0 {
        message.push_str(&format!("; and {more} more"));
    }
    Err(message)
}
