//! The way from `kubectl apply` to `kubectl apply --server-side`.
//!
//! What client-side apply set is noted in an annotation. The server lets the manager `kubectl` take
//! those fields over without a conflict, and keeps the annotation in step with what it applies, so
//! that the way back stays open.

use super::compare::{compare, field_set};
use super::set::FieldSet;
use crate::json::Value;
use crate::types::Shape;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The only manager for which this holds.
pub(super) const MANAGER: &str = "kubectl";

fn noted(object: &Value) -> Option<&str> {
    crate::object::annotation(object, ANNOTATION)
}

/// The fields that client-side apply set on an object, and that nobody has set otherwise since.
pub(super) fn fields(shape: Shape<'_>, live: &Value) -> FieldSet {
    let config = noted(live).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let unchanged =
        |config: &Value| field_set(shape, config).difference(&compare(shape, live, config).set);
    config.as_ref().map(unchanged).unwrap_or_default()
}

/// Notes what is applied now, where something was noted before.
pub(super) fn note(object: &mut Value, config: &Value) {
    if noted(object).is_none() {
        return;
    }
    let mut config = config.clone();
    if let Some(metadata) = config["metadata"].as_object_mut() {
        metadata.remove("managedFields");
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove(ANNOTATION);
        }
    }
    object["metadata"]["annotations"][ANNOTATION] = format!("{config}\n").into();
}
