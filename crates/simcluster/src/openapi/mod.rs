//! OpenAPI v3: the index and one document per group and version.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::kind::Kind;

/// The body of `/openapi/v3`.
pub fn index(_kinds: &[Arc<Kind>]) -> Value {
    json!({"paths": {}})
}

/// The body of `/openapi/v3/apis/{group}/{version}` (or `/openapi/v3/api/v1`).
pub fn document(_kinds: &[Arc<Kind>], _group: &str, _version: &str) -> Option<Value> {
    None
}
