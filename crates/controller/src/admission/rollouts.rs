//! `Rollout`s and `BatchRelease`s, in both versions: what is wrong with one by its own content, and
//! whether another names its workload.
//!
//! It is asked in the version of the request, so that a message names the field that its author wrote.

use api::batches::{Context, Rules, validate};
use api::{Finding, Severity};
use serde_json::Value;

use super::Admission;
use super::answer::{Judgement, denial, is_subresource, words};

/// Judges one.
pub(super) fn judge(admission: &Admission, request: &Value) -> Judgement {
    let (object, old) = (&request["object"], &request["oldObject"]);
    let deleting = object["metadata"]["deletionTimestamp"].is_string();
    if deleting || is_subresource(request) {
        // A finalizer has to come off whatever else is wrong.
        return Judgement::default();
    }
    if admission.stands_aside() {
        // It may do what is not served here.
        return Judgement::default();
    }
    let namespace = request["namespace"].as_str().unwrap_or_default();
    let others = cluster::workload::claims(&admission.attention.caches, namespace);
    let findings = found(object, old, &others, admission.rules);
    let kind = object["kind"].as_str().unwrap_or_default();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    if let Some(message) = denial(kind, name, &findings) {
        return Judgement::invalid(message);
    }
    let mut warnings = words(&findings);
    if !admission.attention.caches.ready() {
        warnings.push(format!("only the {kind} itself was checked: the operator has just started"));
    }
    Judgement::warned(warnings)
}

fn found(
    object: &Value,
    old: &Value,
    others: &[api::batches::Claim],
    rules: Rules,
) -> Vec<Finding> {
    let before = old.is_object().then_some(old);
    let mut findings = validate(object, &Context { before, others, rules });
    // Two that name one workload, as they may have come in without a webhook, can be mended one by one.
    let disabled = object["spec"]["disabled"] == true;
    for finding in &mut findings {
        if disabled && before.is_some() && finding.message.starts_with("This rollout conflict with")
        {
            finding.severity = Severity::Warning;
        }
    }
    findings
}
