//! The Pod template of a workload, and the selector that has to select it: rules of all kinds that
//! have both.

use super::causes::{Causes, text};
use super::meta;
use super::pod::{default_template, validate_template};
use super::pod_set as set;
use crate::json::{Map, Value};
use crate::selector::LabelSelector;

/// Fills in the defaults of `spec.template`. One that is missing is an empty one, with all defaults.
pub(super) fn default(spec: &mut Value) {
    set(spec, "template", Map::new());
    set(&mut spec["template"], "spec", Map::new());
    default_template(&mut spec["template"]);
}

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

/// The same where one has to be given.
pub(super) fn require_selector(spec: &Value, kind: &str, out: &mut Causes) {
    if spec["selector"].is_object() {
        validate_selector(spec, kind, out);
    } else {
        out.required("spec.selector", "");
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

/// The template alone; `kind` is whose it is, `claims` are volumes that come from elsewhere.
pub(super) fn validate(spec: &Value, kind: &str, claims: &[&str], out: &mut Causes) {
    validate_template(&spec["template"], "spec.template", claims, out);
    always_restarts(spec, kind, out);
}

/// A template whose Pods are never done; `kind` is whose it is.
fn always_restarts(spec: &Value, kind: &str, out: &mut Causes) {
    let template = &spec["template"]["spec"];
    let policy = text(template, "restartPolicy");
    if !policy.is_empty() && policy != "Always" {
        let path = "spec.template.spec.restartPolicy";
        out.not_supported(path, &template["restartPolicy"], &["Always"]);
    }
    if !template["activeDeadlineSeconds"].is_null() {
        out.forbidden(
            "spec.template.spec.activeDeadlineSeconds",
            &format!("activeDeadlineSeconds in {kind} is not Supported"),
        );
    }
}

/// Selector and template of a Deployment or a ReplicaSet, which say the same of both.
pub(super) fn validate_both(spec: &Value, out: &mut Causes) {
    require_selector(spec, "deployment", out);
    if LabelSelector::from_object(&spec["selector"]).is_err() {
        out.invalid("spec.selector", &spec["selector"], "invalid label selector");
        return;
    }
    validate_labels(spec, out);
    validate(spec, "ReplicaSet", &[], out);
}

/// A selector that is set once.
pub(super) fn fixed_selector(new: &Value, old: &Value, out: &mut Causes) {
    if new["spec"]["selector"] != old["spec"]["selector"] {
        out.invalid("spec.selector", &new["spec"]["selector"], "field is immutable");
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::error::Cause;
    use crate::json::json;

    /// What the rules of a kind find wrong with a workload after an edit of its spec.
    pub(crate) fn wrong(
        edit: impl FnOnce(&mut Value),
        default: fn(&mut Value),
        validate: fn(&Value, &mut Causes),
    ) -> Vec<String> {
        let mut object = json!({"metadata": {"name": "web"}, "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
            },
        }});
        edit(&mut object["spec"]);
        default(&mut object);
        let mut out = Causes::default();
        validate(&object, &mut out);
        let told = |cause: Cause| format!("{}: {}", cause.field, cause.message);
        out.into_vec().into_iter().map(told).collect()
    }
}
