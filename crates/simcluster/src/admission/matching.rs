//! Which webhooks are asked: rules, selectors, conditions.

mod conditions;

use std::sync::Arc;

use super::{Subject, WebhookCall};
use crate::behaviour::View;
use crate::json::Value;
use crate::kind::Kind;
use crate::object::{Collection, NAMESPACES};
use crate::selector::LabelSelector;
use crate::server::Inner;

/// Where the webhooks are that may change an object.
pub const MUTATING: Collection =
    Collection::known("admissionregistration.k8s.io", "mutatingwebhookconfigurations");
/// Where those are that only judge.
pub const VALIDATING: Collection =
    Collection::known("admissionregistration.k8s.io", "validatingwebhookconfigurations");

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
    /// The kind in the version that it wants to see.
    pub kind: Arc<Kind>,
    /// Where it is; the review is filled in later.
    pub call: WebhookCall,
}

/// The webhooks that want to hear of this, the mutating ones first, each kind by name.
pub(super) fn hooks(inner: &Inner, subject: &Subject) -> Vec<Hook> {
    let mut out = Vec::new();
    for (collection, mutating) in [(MUTATING, true), (VALIDATING, false)] {
        for configuration in inner.store.list(&collection, None) {
            for hook in configuration["webhooks"].as_array().into_iter().flatten() {
                if let Some(kind) = wants(inner, hook, subject) {
                    out.push(read(hook, kind, mutating));
                }
            }
        }
    }
    out
}

fn read(hook: &Value, kind: Arc<Kind>, mutating: bool) -> Hook {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Hook {
        name: text(&hook["name"]),
        mutating,
        ignores_failure: hook["failurePolicy"] == "Ignore",
        timeout_seconds: hook["timeoutSeconds"].as_u64().unwrap_or(10),
        kind,
        call: WebhookCall::to(&hook["clientConfig"]),
    }
}

/// In which version it wants to hear of this, if it does.
fn wants(inner: &Inner, hook: &Value, subject: &Subject) -> Option<Arc<Kind>> {
    let ruled = |kind: &Kind| {
        hook["rules"].as_array().into_iter().flatten().any(|rule| rules(rule, kind, subject))
    };
    let kind = if ruled(&subject.kind) {
        subject.kind.clone()
    } else if hook["matchPolicy"] == "Exact" {
        return None;
    } else {
        // One that asks for another version of the same is told in that.
        let same = |kind: &&Arc<Kind>| {
            kind.group == subject.kind.group && kind.plural == subject.kind.plural
        };
        inner.registry.iter().filter(same).find(|kind| ruled(kind))?.clone()
    };
    let wanted = in_namespace(inner, hook, subject)
        && selected(hook, subject)
        && conditions::hold(hook, subject);
    wanted.then_some(kind)
}

fn rules(rule: &Value, kind: &Kind, subject: &Subject) -> bool {
    let any = |field: &str, test: &dyn Fn(&str) -> bool| {
        rule[field].as_array().into_iter().flatten().filter_map(Value::as_str).any(test)
    };
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
