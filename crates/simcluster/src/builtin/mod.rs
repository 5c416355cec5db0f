//! What the server knows about each built-in kind: defaults, validation, immutable fields.

use serde_json::Value;

use crate::error::Cause;
use crate::kind::Kind;

pub mod names;

/// Fills in the defaults of a built-in kind.
pub fn default(_kind: &Kind, _object: &mut Value) {}

/// What is wrong with a new object, in the server's order; empty when it may be created.
pub fn validate(_kind: &Kind, _object: &Value) -> Vec<Cause> {
    Vec::new()
}

/// What is wrong with a change of an existing object.
pub fn validate_update(
    _kind: &Kind,
    _new: &Value,
    _old: &Value,
    _subresource: Option<&str>,
) -> Vec<Cause> {
    Vec::new()
}
