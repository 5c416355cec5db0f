//! ReplicaSets.

use super::causes::Causes;
use super::pod_set as set;
use super::template;
use crate::json::Value;

/// Fills in the defaults.
pub(super) fn default(object: &mut Value) {
    let spec = &mut object["spec"];
    set(spec, "replicas", 1);
    template::default(spec);
}

/// What is wrong with the spec.
pub(super) fn validate(object: &Value, out: &mut Causes) {
    let spec = &object["spec"];
    out.not_negative("spec.replicas", &spec["replicas"]);
    out.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    template::validate_both(spec, out);
}
