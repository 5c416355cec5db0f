//! From a body to an object of its kind: what is unknown goes, what is wrong is refused.

use serde_json::{Value, json};

use crate::conform;
use crate::error::ApiError;
use crate::kind::Kind;
use crate::server::options::{FieldValidation, WriteOptions};
use crate::types::DecodeError;

/// Checks that a body says it is of this kind.
pub fn check_kind(
    kind: &Kind,
    object: &Value,
    known: impl Fn(&str, &str) -> bool,
) -> Result<(), ApiError> {
    let (api_version, name) = (
        object["apiVersion"].as_str().unwrap_or_default(),
        object["kind"].as_str().unwrap_or_default(),
    );
    if api_version == kind.api_version() && name == kind.kind {
        return Ok(());
    }
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let wanted = &kind.kind;
    if name.is_empty() && api_version.is_empty() && kind.custom.is_none() {
        // A built-in kind is implied by the URL.
        return Ok(());
    }
    if name.is_empty() {
        return Err(ApiError::bad_request(format!("Object 'Kind' is missing in '{object}'")));
    }
    if api_version == kind.api_version() && known(api_version, name) {
        let internal = if kind.group.is_empty() { "core" } else { kind.group.as_str() };
        return Err(ApiError::bad_request(format!(
            "{name} in version \"{version}\" cannot be handled as a {wanted}: converting \
             ({version}.{name}) to ({internal}.{wanted}): unknown conversion"
        )));
    }
    if known(api_version, name) || group != kind.group || version != kind.version {
        return Err(ApiError::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version \
             ({})",
            kind.api_version()
        )));
    }
    Err(ApiError::bad_request(format!(
        "no kind \"{name}\" is registered for version \"{api_version}\" in scheme \"pkg/api/legacyscheme/scheme.go:30\""
    )))
}

/// Reads a body, in place; returns what to warn about.
pub fn read(
    kind: &Kind,
    object: &mut Value,
    options: &WriteOptions,
) -> Result<Vec<String>, ApiError> {
    if !object.is_object() {
        return Err(ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): couldn't get version/kind; \
             json parse error: json: cannot unmarshal {object} into Go value",
            kind.kind
        )));
    }
    let unknown = fields(kind, object).map_err(|error| error.refused(kind))?;
    verdict(kind, &unknown, options)
}

/// Reads what a patch made of an object. `patch` is shown in a refusal instead of the whole
/// result, as it is for a strategic merge.
pub fn read_patched(
    kind: &Kind,
    object: &mut Value,
    patch: Option<&Value>,
    options: &WriteOptions,
) -> Result<Vec<String>, ApiError> {
    let shown = match patch {
        Some(patch) => go_map(patch),
        None => object.to_string(),
    };
    if !object.is_object() {
        let why = DecodeError("json: cannot unmarshal what is no object".to_owned());
        return Err(why.refused_patch(&shown));
    }
    let unknown = fields(kind, object).map_err(|error| error.refused_patch(&shown))?;
    if options.field_validation == FieldValidation::Strict && !unknown.is_empty() {
        return Err(DecodeError::strict(&unknown).refused_patch(&shown));
    }
    verdict(kind, &unknown, options)
}

/// A value as Go prints it.
fn go_map(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let pairs: Vec<String> =
                map.iter().map(|(key, value)| format!("{key}:{}", go_map(value))).collect();
            format!("map[{}]", pairs.join(" "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_map).collect();
            format!("[{}]", items.join(" "))
        }
        Value::String(text) => text.clone(),
        Value::Null => "<nil>".to_owned(),
        other => other.to_string(),
    }
}

fn fields(kind: &Kind, object: &mut Value) -> Result<Vec<String>, DecodeError> {
    object["kind"] = json!(kind.kind);
    object["apiVersion"] = json!(kind.api_version());
    conform::decode(kind, object)
}

fn verdict(
    kind: &Kind,
    unknown: &[String],
    options: &WriteOptions,
) -> Result<Vec<String>, ApiError> {
    match options.field_validation {
        _ if unknown.is_empty() => Ok(Vec::new()),
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Strict => Err(DecodeError::strict(unknown).refused(kind)),
        FieldValidation::Warn => {
            Ok(unknown.iter().map(|field| format!("unknown field \"{field}\"")).collect())
        }
    }
}
