//! Custom kinds: acceptance of a CRD, and pruning, defaults and validation by its schema.

use serde_json::Value;

use crate::error::Cause;

/// What is wrong with a CustomResourceDefinition.
pub fn check(_crd: &Value) -> Vec<Cause> {
    Vec::new()
}

/// Fills in the defaults of a CustomResourceDefinition: names, list kind, conversion, versions.
pub fn default_definition(_crd: &mut Value) {}

/// Drops what the schema does not know; returns the paths that were dropped.
pub fn prune(_schema: &Value, _object: &mut Value) -> Vec<String> {
    Vec::new()
}

/// Fills in the schema's defaults.
pub fn apply_defaults(_schema: &Value, _object: &mut Value) {}

/// What is wrong with a custom object; `old` is given on updates, for transition rules.
pub fn validate(_schema: &Value, _object: &Value, _old: Option<&Value>) -> Vec<Cause> {
    Vec::new()
}
