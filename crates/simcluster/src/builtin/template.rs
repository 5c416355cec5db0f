//! A selector and the Pod template that it has to select.

use serde_json::{Map, Value};

use super::causes::Causes;
use super::pod::validate_template;
use super::{meta, workload};
use crate::selector::LabelSelector;

/// `spec.selector` alone; `kind` as the message names it.
pub(super) fn validate_selector(spec: &Value, kind: &str, out: &mut Causes) {
    let selector = &spec["selector"];
    let Some(map) = selector.as_object() else { return };
    meta::selector(selector, "spec.selector", out);
    let empty = |part: &Value| {
        part.as_object().is_none_or(Map::is_empty) && part.as_array().is_none_or(Vec::is_empty)
    };
    if map.values().all(empty) {
        out.invalid("spec.selector", selector, &format!("empty selector is invalid for {kind}"));
    }
}

/// Whether the selector selects the template's labels. An absent one selects nothing.
pub(super) fn validate_labels(spec: &Value, out: &mut Causes) {
    let labels = &spec["template"]["metadata"]["labels"];
    let selects = LabelSelector::from_object(&spec["selector"])
        .is_ok_and(|selector| spec["selector"].is_object() && selector.matches(labels));
    if !selects {
        let path = "spec.template.metadata.labels";
        out.invalid(path, labels, "`selector` does not match template `labels`");
    }
}

/// The template alone; `kind` is whose it is.
pub(super) fn validate(spec: &Value, kind: &str, out: &mut Causes) {
    validate_template(&spec["template"], "spec.template", &[], out);
    workload::always_restarts(spec, kind, out);
}

/// Selector and template of a Deployment or a ReplicaSet, which say the same of both.
pub(super) fn validate_both(spec: &Value, out: &mut Causes) {
    if spec["selector"].is_object() {
        validate_selector(spec, "deployment", out);
    } else {
        out.required("spec.selector", "");
    }
    if LabelSelector::from_object(&spec["selector"]).is_err() {
        out.invalid("spec.selector", &spec["selector"], "invalid label selector");
        return;
    }
    validate_labels(spec, out);
    validate(spec, "ReplicaSet", out);
}
