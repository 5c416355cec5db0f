//! From a body to an object of its kind: what is unknown goes, what is wrong is refused.

use crate::body::{self, Body, Order};
use crate::conform;
use crate::error::ApiError;
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object::{self, Key};
use crate::server::Inner;
use crate::server::options::{FieldValidation, WriteOptions};
use crate::server::patch::{Patch, PatchType, patched};
use crate::types::{DecodeError, INT_OR_STRING, ListKind, Shape};

/// Checks that a body says it is of this kind. A built-in kind is implied by the URL, as far as nothing
/// is said. `known` are the kinds that the server has.
pub fn check_kind(
    kind: &Kind,
    object: &Value,
    known: impl Fn(&str, &str) -> bool,
) -> Result<(), ApiError> {
    let said = |field: &str| object[field].as_str().unwrap_or_default();
    let (mut api_version, mut name) = (said("apiVersion"), said("kind"));
    let wanted = kind.api_version();
    if kind.custom.is_none() {
        api_version = if api_version.is_empty() { &wanted } else { api_version };
        name = if name.is_empty() { &kind.kind } else { name };
    }
    if api_version == wanted && name == kind.kind {
        return Ok(());
    }
    if kind.custom.is_some() && name.is_empty() {
        return Err(ApiError::bad_request(format!("Object 'Kind' is missing in '{object}'")));
    }
    let other_version = || {
        ApiError::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version \
             ({wanted})"
        ))
    };
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    if kind.custom.is_some() {
        if known(api_version, name) || group != kind.group || version != kind.version {
            return Err(other_version());
        }
        return Err(ApiError::bad_request(format!(
            "no kind \"{name}\" is registered for version \"{api_version}\" in scheme \
             \"pkg/api/legacyscheme/scheme.go:30\""
        )));
    }
    // Lists are kinds too.
    let item = name.strip_suffix("List").unwrap_or(name);
    let why = if known(api_version, name) && name == kind.kind && group == kind.group {
        return Err(other_version());
    } else if known(api_version, item) || (api_version, name) == ("v1", "List") {
        let internal = match kind.group.split('.').next() {
            Some("") | None => "core",
            Some(first) => first,
        };
        format!("converting ({version}.{name}) to ({internal}.{}): unknown conversion", kind.kind)
    } else {
        format!(
            "no kind \"{name}\" is registered for version \"{api_version}\" in scheme \
             \"pkg/runtime/scheme.go:111\""
        )
    };
    Err(ApiError::bad_request(format!(
        "{name} in version \"{version}\" cannot be handled as a {}: {why}",
        kind.kind
    )))
}

/// Checks that what is posted to a subresource says nothing else than its kind.
pub fn check_other(inner: &Inner, kind: &Kind, object: &Value) -> Result<(), ApiError> {
    let given = |field: &str| object[field].as_str().unwrap_or_default();
    let (api_version, name) = (given("apiVersion"), given("kind"));
    let own = api_version == kind.api_version() || api_version == "policy/v1beta1";
    if (name == kind.kind && own) || (api_version.is_empty() && name.is_empty()) {
        return Ok(());
    }
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let (group, wanted) = (&kind.group, &kind.kind);
    let why = match inner.registry.by_kind(api_version, name) {
        Some(_) => {
            format!("converting ({version}.{name}) to ({group}.{wanted}): unknown conversion")
        }
        None => format!(
            "no kind \"{name}\" is registered for version \"{api_version}\" in scheme \
             \"pkg/runtime/scheme.go:111\""
        ),
    };
    Err(ApiError::bad_request(format!(
        "{name} in version \"{version}\" cannot be handled as a {wanted}: {why}"
    )))
}

/// Reads a body that is a map; returns the object and what to warn about.
pub fn read(
    kind: &Kind,
    body: &Body,
    options: &WriteOptions,
) -> Result<(Value, Vec<String>), ApiError> {
    let mut object = body.value.clone();
    let unknown = fields(kind, &mut object).map_err(|error| error.refused(kind))?;
    // What is pruned from a custom object is found when all of it has been read.
    let order = if kind.custom.is_some() { Order::TwiceFirst } else { Order::AsTold };
    let strict = options.field_validation == FieldValidation::Strict;
    let complaints = body.complaints(&unknown, order, strict);
    if strict && !complaints.is_empty() {
        return Err(DecodeError::strict(&complaints).refused(kind));
    }
    Ok((object, heeded(complaints, options)))
}

/// Reads what a patch made of an object.
pub fn read_patched(
    kind: &Kind,
    current: &Value,
    patch: &Patch,
    options: &WriteOptions,
) -> Result<(Value, Vec<String>), ApiError> {
    let mut object = patched(kind, patch.type_, current, patch.value())?;
    let strategic = patch.type_ == PatchType::Strategic;
    let refused = |error: DecodeError| {
        let error = if strategic { converted(&error) } else { error };
        match patched(kind, patch.type_, current, patch.value()) {
            Ok(object) => error.refused_patch(&patch.shown(kind, &object)),
            Err(error) => error,
        }
    };
    if !object.is_object() {
        return Err(refused(DecodeError("json: cannot unmarshal what is no object".to_owned())));
    }
    let unknown = fields(kind, &mut object).map_err(refused)?;
    let unknown = unknown.iter().map(|path| body::unknown(path));
    let complaints: Vec<String> = patch.complaints().into_iter().chain(unknown).collect();
    if options.field_validation == FieldValidation::Strict && !complaints.is_empty() {
        return Err(refused(DecodeError::strict(&complaints)));
    }
    Ok((object, heeded(complaints, options)))
}

/// A wrong type in the words of a strategic merge, which is converted rather than decoded.
fn converted(error: &DecodeError) -> DecodeError {
    if error.0.starts_with("illegal base64") {
        return DecodeError(format!("error decoding from json: {}", error.0));
    }
    let words = || {
        let rest = error.0.strip_prefix("json: cannot unmarshal ")?;
        let (found, rest) = rest.split_once(" into ")?;
        let (_, wanted) = rest.rsplit_once(" of type ")?;
        if wanted == INT_OR_STRING {
            return Some(format!("json: cannot unmarshal {found} into Go value of type {wanted}"));
        }
        let found = match found {
            "number" => "int64",
            "object" => "map[string]interface {}",
            "array" => "[]interface {}",
            other => other,
        };
        let kind = match found {
            "map[string]interface {}" => "map",
            "[]interface {}" => "slice",
            other => other,
        };
        Some(match wanted {
            "bool" | "int32" | "int64" | "float64" if found == "string" => {
                format!("unrecognized type: {wanted}")
            }
            "string" | "bool" | "int32" | "int64" | "float64" => {
                format!("cannot convert {found} to {wanted}")
            }
            list if list.starts_with("[]") => format!("cannot restore slice from {kind}"),
            map if map.starts_with("map[") => format!("cannot restore map from {kind}"),
            _ => format!("cannot restore struct from: {kind}"),
        })
    };
    words().map_or_else(|| error.clone(), DecodeError)
}

/// Refuses an applied object with fields that its schema does not have: whose they were could not
/// be said.
pub fn check_applied(kind: &Kind, body: &Value, key: &Key) -> Result<(), ApiError> {
    let mut read = body.clone();
    let Ok(unknown) = fields(kind, &mut read) else { return Ok(()) };
    // Unknown metadata of a custom object is no part of its schema's types.
    let shown: Vec<String> = unknown
        .iter()
        .map(|path| format!("{}: field not declared in schema", by_key(kind, body, path)))
        .collect();
    let errors = match shown.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        all => format!("errors:\n  {}", all.join("\n  ")),
    };
    // As the body says it, which may be nothing.
    let at = object::namespace(body);
    let at = if key.namespace.is_empty() { String::new() } else { format!("{at}/") };
    Err(ApiError::internal(format!(
        "failed to create typed patch object ({at}{}; {}, Kind={}): {errors}",
        key.name,
        if kind.group.is_empty() { format!("/{}", kind.version) } else { kind.api_version() },
        kind.kind
    )))
}

/// `spec.containers[0].x` as `.spec.containers[name="main"].x`.
fn by_key(kind: &Kind, body: &Value, path: &str) -> String {
    let (mut shape, mut at, mut out) = (Shape::of(kind), body, String::new());
    for part in path.split('.') {
        let (field, index) = match part.split_once('[') {
            Some((field, index)) => (field, index.trim_end_matches(']').parse::<usize>().ok()),
            None => (part, None),
        };
        out += &format!(".{field}");
        shape = shape.child(field).0;
        at = &at[field];
        let Some(index) = index else { continue };
        at = &at[index];
        match shape.list() {
            ListKind::Keys(keys) => {
                let keys: Vec<String> =
                    keys.iter().map(|key| format!("{key}={}", at[*key])).collect();
                out += &format!("[{}]", keys.join(","));
            }
            _ => out += &format!("[{index}]"),
        }
        shape = shape.item();
    }
    out
}

fn fields(kind: &Kind, object: &mut Value) -> Result<Vec<String>, DecodeError> {
    object["kind"] = json!(kind.kind);
    object["apiVersion"] = json!(kind.api_version());
    conform::decode(kind, object)
}

/// The complaints that somebody wants to hear.
pub(super) fn heeded(complaints: Vec<String>, options: &WriteOptions) -> Vec<String> {
    match options.field_validation {
        FieldValidation::Ignore => Vec::new(),
        FieldValidation::Warn | FieldValidation::Strict => complaints,
    }
}
