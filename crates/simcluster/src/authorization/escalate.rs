//! That nobody gives rights that he does not have himself.

use std::collections::BTreeMap;

use super::rules::{Granted, granted, has, rules_of};
use super::{User, Wish, decide};
use crate::error::ApiError;
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object;
use crate::store::Store;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Checks a new or changed Role, ClusterRole or binding of them; all else passes.
pub fn check(
    store: &Store,
    user: &User,
    kind: &Kind,
    after: &Value,
    before: Option<&Value>,
) -> Result<(), ApiError> {
    if user.is_master() || kind.group != GROUP {
        return Ok(());
    }
    let (namespace, name) = (object::namespace(after), object::name(after));
    let may = |verb: &str, plural: &str, name: &str| {
        decide(store, user, &Wish::about(verb, GROUP, plural, namespace, name)).allowed
    };
    let same = |field: &str| before.is_some_and(|before| before[field] == after[field]);
    let wanted = match kind.plural.as_str() {
        "roles" | "clusterroles" => {
            if (same("rules") && same("aggregationRule")) || may("escalate", &kind.plural, name) {
                return Ok(());
            }
            after["rules"].as_array().cloned().unwrap_or_default()
        }
        "rolebindings" | "clusterrolebindings" => {
            let role = &after["roleRef"];
            let text = |field: &str| role[field].as_str().unwrap_or_default();
            let plural = if text("kind") == "Role" { "roles" } else { "clusterroles" };
            if (same("roleRef") && same("subjects")) || may("bind", plural, text("name")) {
                return Ok(());
            }
            rules_of(store, text("kind"), namespace, text("name"))
                .map_err(|_| ApiError::not_found(kind, text("name")))?
        }
        _ => return Ok(()),
    };
    let (own, _) = granted(store, user, namespace);
    let lacking = lacking(&wanted, &own);
    if lacking.is_empty() {
        return Ok(());
    }
    let why = format!(
        "user \"{}\" (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        user.name,
        quoted(&json!(user.groups)),
        lacking.join("\n")
    );
    Err(ApiError::forbidden(kind, name, &why))
}

/// What of these rules none of one's own covers, in the server's short form.
fn lacking(wanted: &[Value], own: &[Granted]) -> Vec<String> {
    // Group and resource with names, or a path → verbs.
    let mut missing: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for rule in wanted {
        for single in singles(rule) {
            if own.iter().any(|granted| covers(&granted.rule, &single)) {
                continue;
            }
            let shown = |field: &str, label: &str| {
                if has(&single, field) {
                    format!("{label}:{}, ", quoted(&single[field]))
                } else {
                    String::new()
                }
            };
            let key = shown("apiGroups", "APIGroups")
                + &shown("resources", "Resources")
                + &shown("resourceNames", "ResourceNames")
                + &shown("nonResourceURLs", "NonResourceURLs");
            let verbs = missing.entry(key).or_default();
            let verb = single["verbs"][0].clone();
            if !verbs.contains(&verb) {
                verbs.push(verb);
            }
        }
    }
    missing
        .into_iter()
        .map(|(key, verbs)| format!("{{{key}Verbs:{}}}", quoted(&json!(verbs))))
        .collect()
}

/// A rule as rules of one verb and one resource (or path) each.
fn singles(rule: &Value) -> Vec<Value> {
    let list = |field: &str| rule[field].as_array().cloned().unwrap_or_default();
    let mut out = Vec::new();
    for verb in list("verbs") {
        for group in list("apiGroups") {
            for resource in list("resources") {
                let single =
                    json!({"verbs": [verb], "apiGroups": [group], "resources": [resource]});
                let names = list("resourceNames");
                if names.is_empty() {
                    out.push(single);
                    continue;
                }
                for name in names {
                    let mut single = single.clone();
                    single["resourceNames"] = json!([name]);
                    out.push(single);
                }
            }
        }
        for url in list("nonResourceURLs") {
            out.push(json!({"verbs": [verb], "nonResourceURLs": [url]}));
        }
    }
    out
}

/// Whether a rule allows all that a single one does.
fn covers(rule: &Value, single: &Value) -> bool {
    let any = |field: &str, test: &dyn Fn(&str) -> bool| {
        rule[field].as_array().into_iter().flatten().filter_map(Value::as_str).any(test)
    };
    let one = |field: &str| single[field][0].as_str().unwrap_or_default();
    let verb = any("verbs", &|verb| verb == "*" || verb == one("verbs"));
    if has(single, "nonResourceURLs") {
        let url = one("nonResourceURLs");
        return verb
            && any("nonResourceURLs", &|known| {
                known == url || known.strip_suffix('*').is_some_and(|begin| url.starts_with(begin))
            });
    }
    let resource = one("resources");
    let sub = resource.split_once('/').map(|(_, sub)| sub);
    verb && any("apiGroups", &|group| group == "*" || group == one("apiGroups"))
        && any("resources", &|known| {
            known == "*" || known == resource || (sub.is_some() && known.strip_prefix("*/") == sub)
        })
        && (!has(rule, "resourceNames")
            || (has(single, "resourceNames")
                && any("resourceNames", &|name| name == one("resourceNames"))))
}

/// A list of texts as Go prints it.
fn quoted(list: &Value) -> String {
    let texts = list.as_array().into_iter().flatten().map(Value::to_string);
    format!("[{}]", texts.collect::<Vec<_>>().join(" "))
}
