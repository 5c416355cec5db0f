//! Verdicts on their way out, as the API server wants them.

use api::{Finding, Severity};
use k8s_openapi::ByteString;
use serde_json::{Value, json};

/// A verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Judgement {
    /// Why it is kept out; let in without.
    pub(super) denied: Option<Denial>,
    /// What its author ought to know.
    pub(super) warnings: Vec<String>,
    /// What is changed on the way in: a JSON merge patch on the object of the request.
    pub(super) change: Option<Value>,
    /// One word for the metrics.
    pub(super) word: Option<&'static str>,
}

/// Why something is kept out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Denial {
    code: u16,
    reason: &'static str,
    message: String,
}

impl Judgement {
    pub(super) fn warned(warnings: Vec<String>) -> Self {
        Self { warnings, ..Self::default() }
    }

    /// Kept out for what it says.
    pub(super) fn invalid(message: String) -> Self {
        let denied = Some(Denial { code: 422, reason: "Invalid", message });
        Self { denied, ..Self::default() }
    }

    /// Kept out for now.
    pub(super) fn unavailable(message: String) -> Self {
        let denied = Some(Denial { code: 503, reason: "ServiceUnavailable", message });
        Self { denied, ..Self::default() }
    }

    pub(super) fn word(&self) -> &'static str {
        match &self.denied {
            Some(_) => "denied",
            None => self.word.unwrap_or("allowed"),
        }
    }

    /// The `AdmissionReview` that answers this request.
    pub(super) fn answer(self, request: &Value) -> Value {
        let mut response = json!({"uid": request["uid"], "allowed": self.denied.is_none()});
        if let Some(Denial { code, reason, message }) = self.denied {
            response["status"] = json!({"code": code, "reason": reason, "message": message});
        }
        if !self.warnings.is_empty() {
            response["warnings"] = json!(self.warnings);
        }
        if let Some(patch) = self.change.and_then(|change| steps(&request["object"], &change)) {
            response["patchType"] = json!("JSONPatch");
            response["patch"] = json!(ByteString(patch.to_string().into_bytes()));
        }
        json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": response,
        })
    }
}

/// A merge patch as the steps of a JSON patch, which is all that a webhook may answer; `None` where
/// nothing changes.
fn steps(object: &Value, merge: &Value) -> Option<Value> {
    let mut changed = object.clone();
    json_patch::merge(&mut changed, merge);
    let patch = json_patch::diff(object, &changed);
    (!patch.0.is_empty()).then(|| json!(patch))
}

/// Whether the request is not about the object itself but about its status, scale or the like.
pub(super) fn is_subresource(request: &Value) -> bool {
    !request["subResource"].is_null() && request["subResource"] != ""
}

/// What was wrong before is no reason to refuse a change of something else: a rollout that should
/// never have come in can be paused all the same.
pub(super) fn demote(findings: &mut [Finding], known: impl Fn(&Finding) -> bool) {
    for finding in findings.iter_mut().filter(|finding| known(finding)) {
        finding.severity = Severity::Warning;
    }
}

pub(super) fn words(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}: {}", finding.path, finding.message)).collect()
}

/// All errors in one message, as the API server words its own.
pub(super) fn denial(kind: &str, name: &str, findings: &[Finding]) -> Option<String> {
    let errors: Vec<Finding> =
        findings.iter().filter(|finding| finding.severity == Severity::Error).cloned().collect();
    let all = words(&errors).join("; ");
    (!errors.is_empty()).then(|| format!("{kind} {name} is invalid: {all}"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::needless_pass_by_value, reason = "the cases read better")]

    use super::*;

    #[test]
    fn what_changes_is_told_in_steps_and_what_does_not_is_not_told() {
        fn check(object: Value, merge: Value, expect: Option<Value>) {
            assert_eq!(steps(&object, &merge), expect, "{object} {merge}");
        }
        let paused = |paused: bool| json!({"spec": {"paused": paused}});
        check(paused(true), paused(true), None);
        check(paused(true), json!({}), None);
        check(
            json!({"spec": {}}),
            paused(true),
            Some(json!([{"op": "add", "path": "/spec/paused", "value": true}])),
        );
        check(
            json!({"metadata": {}}),
            json!({"metadata": {"annotations": {"a/b": "c"}}}),
            Some(json!([
                {"op": "add", "path": "/metadata/annotations", "value": {"a/b": "c"}},
            ])),
        );
        check(
            json!({"metadata": {"labels": {"a/b": "c"}}}),
            json!({"metadata": {"labels": {"a/b": null}}}),
            Some(json!([{"op": "remove", "path": "/metadata/labels/a~1b"}])),
        );
    }
}
