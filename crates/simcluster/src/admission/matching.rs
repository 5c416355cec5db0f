//! Which webhooks are asked: rules, selectors.

use kube_cel::{AdmissionRequest, VapEvaluator, VapExpression, VapResult};
use serde_json::Value;

use super::{Subject, WebhookCall};
use crate::behaviour::View;
use crate::object::{Collection, NAMESPACES};
use crate::selector::LabelSelector;
use crate::server::Inner;

const MUTATING: Collection =
    Collection::known("admissionregistration.k8s.io", "mutatingwebhookconfigurations");
const VALIDATING: Collection =
    Collection::known("admissionregistration.k8s.io", "validatingwebhookconfigurations");

/// What a condition that is false says, and one that cannot be told does not.
const FALSE: &str = "false";

/// One webhook that is to be asked.
#[derive(Clone, Debug)]
pub struct Hook {
    /// Its full name.
    pub name: String,
    /// Whether it may change the object.
    pub mutating: bool,
    /// `failurePolicy: Ignore`.
    pub ignores_failure: bool,
    /// How long it may take.
    pub timeout_seconds: u64,
    /// Where it is; the review is filled in later.
    pub call: WebhookCall,
}

/// The webhooks that want to hear of this, the mutating ones first, each kind by name.
pub(super) fn hooks(inner: &Inner, subject: &Subject) -> Vec<Hook> {
    let mut out = Vec::new();
    for (collection, mutating) in [(MUTATING, true), (VALIDATING, false)] {
        for configuration in inner.store.list(&collection, None) {
            for hook in configuration["webhooks"].as_array().into_iter().flatten() {
                if wants(inner, hook, subject) {
                    out.push(read(hook, mutating));
                }
            }
        }
    }
    out
}

fn read(hook: &Value, mutating: bool) -> Hook {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Hook {
        name: text(&hook["name"]),
        mutating,
        ignores_failure: hook["failurePolicy"] == "Ignore",
        timeout_seconds: hook["timeoutSeconds"].as_u64().unwrap_or(10),
        call: WebhookCall::to(&hook["clientConfig"]),
    }
}

fn wants(inner: &Inner, hook: &Value, subject: &Subject) -> bool {
    let ruled = hook["rules"].as_array().into_iter().flatten().any(|rule| rules(rule, subject));
    ruled
        && in_namespace(inner, hook, subject)
        && selected(hook, subject)
        && on_condition(hook, subject)
}

fn rules(rule: &Value, subject: &Subject) -> bool {
    let any = |field: &str, test: &dyn Fn(&str) -> bool| {
        rule[field].as_array().into_iter().flatten().filter_map(Value::as_str).any(test)
    };
    let kind = &subject.kind;
    let scope = match rule["scope"].as_str().unwrap_or("*") {
        "Namespaced" => kind.namespaced,
        "Cluster" => !kind.namespaced,
        _ => true,
    };
    let resource = |pattern: &str| {
        let (plural, sub) = pattern.split_once('/').unwrap_or((pattern, ""));
        let sub_matches = if pattern.contains('/') {
            sub == "*" || sub == subject.subresource
        } else {
            subject.subresource.is_empty()
        };
        (plural == "*" || plural == kind.plural) && sub_matches
    };
    scope
        && any("apiGroups", &|group| group == "*" || group == kind.group)
        && any("apiVersions", &|version| version == "*" || version == kind.version)
        && any("operations", &|operation| operation == "*" || operation == subject.operation)
        && any("resources", &resource)
}

fn in_namespace(inner: &Inner, hook: &Value, subject: &Subject) -> bool {
    let Some(selector) = hook.get("namespaceSelector").filter(|selector| selector.is_object())
    else {
        return true;
    };
    let namespace = if subject.kind.plural == "namespaces" && subject.kind.group.is_empty() {
        subject.name.as_str()
    } else if subject.kind.namespaced {
        subject.namespace.as_str()
    } else {
        return true;
    };
    let labels = match inner.store.find(&NAMESPACES, "", namespace) {
        Some(found) => found["metadata"]["labels"].clone(),
        None => subject.object["metadata"]["labels"].clone(),
    };
    LabelSelector::from_object(selector).is_ok_and(|selector| selector.matches(&labels))
}

fn selected(hook: &Value, subject: &Subject) -> bool {
    let Some(selector) = hook.get("objectSelector").filter(|selector| selector.is_object()) else {
        return true;
    };
    let Ok(selector) = LabelSelector::from_object(selector) else { return false };
    selector.selects(&subject.object) || selector.selects(&subject.old_object)
}

/// Whether the `matchConditions` hold, in CEL.
fn on_condition(hook: &Value, subject: &Subject) -> bool {
    let conditions = hook["matchConditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    if conditions.is_empty() {
        return true;
    }
    let request = AdmissionRequest {
        operation: subject.operation.to_owned(),
        username: subject.user.name.clone(),
        uid: subject.user.uid.clone(),
        groups: subject.user.groups.clone(),
        name: subject.name.clone(),
        namespace: subject.namespace.clone(),
        dry_run: subject.dry_run,
        ..AdmissionRequest::default()
    };
    let mut evaluator = VapEvaluator::builder().object(subject.object.clone()).request(request);
    if !subject.old_object.is_null() {
        evaluator = evaluator.old_object(subject.old_object.clone());
    }
    hold(conditions, &evaluator.build(), hook["failurePolicy"] != "Ignore")
}

/// One that is false keeps the webhook out of it. Where none is, and one cannot be told, the failure policy
/// decides; the real server refuses the write then, and here the webhook is asked.
fn hold(conditions: &[Value], evaluator: &VapEvaluator, in_doubt: bool) -> bool {
    let expression = |condition: &Value| VapExpression {
        expression: condition["expression"].as_str().unwrap_or_default().to_owned(),
        message: Some(FALSE.to_owned()),
        message_expression: None,
    };
    let expressions: Vec<VapExpression> = conditions.iter().map(expression).collect();
    let results = evaluator.evaluate(&expressions);
    let is_false = |result: &VapResult| result.message.as_deref() == Some(FALSE);
    let doubtful = results.iter().any(|result| !result.passed && !is_false(result));
    !results.iter().any(is_false) && (in_doubt || !doubtful)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_keep_a_webhook_out_of_what_it_does_not_want() {
        fn check(expressions: &[&str], in_doubt: bool, expect: bool) {
            let conditions: Vec<Value> =
                expressions.iter().map(|it| json!({"name": "c", "expression": it})).collect();
            let of = |image: &str| json!({"metadata": {}, "spec": {"image": image}});
            let evaluator = VapEvaluator::builder().object(of("v2")).old_object(of("v1"));
            assert_eq!(hold(&conditions, &evaluator.build(), in_doubt), expect, "{expressions:?}");
        }
        check(&["object.spec != oldObject.spec"], true, true);
        check(&["object.spec == oldObject.spec"], true, false);
        check(&["object.spec != oldObject.spec", "request.operation == 'CREATE'"], true, false);
        check(&["has(object.metadata.labels) && 'a' in object.metadata.labels"], true, false);
        check(&["object.metadata.labels['a'] == ''"], true, true);
        check(&["object.metadata.labels['a'] == ''"], false, false);
        check(&["object.metadata.labels['a'] == ''", "false"], true, false);
    }
}
