//! Bringing an object into the form that its kind demands, whether built in or custom.
//!
//! The order of a write is: [`decode`], (patch,) [`default`], then [`validate`] or
//! [`validate_update`].

use crate::error::Cause;
use crate::json::Value;
use crate::kind::{Custom, Kind};
use crate::types::{self, DecodeError};
use crate::{builtin, crd};

/// Reads a body as an object of this kind, in place: wrong types are refused, unknown fields
/// dropped. Returns the paths of those fields, for `fieldValidation`.
pub fn decode(kind: &Kind, object: &mut Value) -> Result<Vec<String>, DecodeError> {
    if let Some(custom) = &kind.custom {
        let mut unknown = Vec::new();
        if let (Some(meta), Some(ty)) = (object.get_mut("metadata"), types::by_name("ObjectMeta")) {
            let dropped = types::decode(ty, meta)?;
            unknown.extend(dropped.iter().map(|path| format!("metadata.{path}")));
        }
        unknown.extend(crd::prune(&custom.schema, object));
        crd::drop_nulls(&custom.schema, object);
        return Ok(unknown);
    }
    match types::of_kind(&kind.group, &kind.version, &kind.kind) {
        Some(ty) => types::decode(ty, object),
        None => Ok(Vec::new()),
    }
}

/// Fills in defaults.
pub fn default(kind: &Kind, object: &mut Value) {
    match &kind.custom {
        Some(custom) => crd::apply_defaults(&custom.schema, object),
        None => builtin::default(kind, object),
    }
}

/// What is wrong with a new object, in the server's order.
pub fn validate(kind: &Kind, object: &Value) -> Vec<Cause> {
    let mut causes = builtin::validate(kind, object);
    if let Some(custom) = &kind.custom {
        causes.extend(custom_causes(kind, custom, object, None));
    }
    causes
}

fn custom_causes(kind: &Kind, custom: &Custom, new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let scale = kind.scale.iter().flat_map(|paths| crd::validate_scale(paths, new));
    scale.chain(crd::validate(&custom.schema, new, old)).collect()
}

/// What is wrong with a change. `subresource` is `status`, `scale`, … or `None`.
pub fn validate_update(
    kind: &Kind,
    new: &Value,
    old: &Value,
    subresource: Option<&str>,
) -> Vec<Cause> {
    let mut causes = builtin::validate_update(kind, new, old, subresource);
    if let Some(custom) = &kind.custom {
        causes.extend(custom_causes(kind, custom, new, Some(old)));
        if subresource == Some("status") {
            // A status is looked at by itself: its fields are called as they are in it.
            for cause in &mut causes {
                if let Some(within) = cause.field.strip_prefix("status.") {
                    let whole = format!("{} in body", cause.field);
                    cause.message = cause.message.replace(&whole, &format!("{within} in body"));
                }
            }
        }
    }
    causes
}
