//! Tables, as `kubectl get` prints them: columns and cells of every kind.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kind::Kind;

/// `columnDefinitions` of a kind.
pub fn columns(_kind: &Kind) -> Vec<Value> {
    vec![
        json!({"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0}),
    ]
}

/// The cells of one object's row, one per column.
pub fn cells(_kind: &Kind, object: &Value, _now: Timestamp) -> Vec<Value> {
    vec![json!(crate::object::name(object))]
}
