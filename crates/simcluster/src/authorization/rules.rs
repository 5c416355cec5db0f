//! The rules that apply to a user: through ClusterRoleBindings everywhere, through RoleBindings in
//! their namespace.

use super::user::{User, account};
use crate::json::Value;
use crate::object::Collection;
use crate::selector::LabelSelector;
use crate::store::Store;

const GROUP: &str = "rbac.authorization.k8s.io";
const ROLES: Collection = Collection::known(GROUP, "roles");
const CLUSTER_ROLES: Collection = Collection::known(GROUP, "clusterroles");
const BINDINGS: Collection = Collection::known(GROUP, "rolebindings");
const CLUSTER_BINDINGS: Collection = Collection::known(GROUP, "clusterrolebindings");

/// A rule, and through what it came.
#[derive(Clone, Debug)]
pub struct Granted {
    /// A PolicyRule.
    pub rule: Value,
    /// `RoleBinding "b/ns" of Role "r" to User "u"`.
    pub by: String,
}

/// Whether a rule has anything in this list.
pub(super) fn has(rule: &Value, field: &str) -> bool {
    rule[field].as_array().is_some_and(|list| !list.is_empty())
}

/// The rules that apply to a user in a namespace (empty for the cluster alone), and the Roles that
/// are bound to him and don't exist.
pub fn granted(store: &Store, user: &User, namespace: &str) -> (Vec<Granted>, Vec<String>) {
    let (mut out, mut missing) = (Vec::new(), Vec::new());
    let mut add = |binding: &Value, kind: &str, shown: &str, role_namespace: &str| {
        let subjects = binding["subjects"].as_array().into_iter().flatten();
        let Some(subject) =
            subjects.into_iter().find_map(|subject| matches(subject, user, role_namespace))
        else {
            return;
        };
        let role = &binding["roleRef"];
        let (role_kind, name) = (text(role, "kind"), text(role, "name"));
        match rules_of(store, role_kind, role_namespace, name) {
            Ok(rules) => out.extend(rules.into_iter().map(|rule| Granted {
                rule,
                by: format!("{kind} \"{shown}\" of {role_kind} \"{name}\" to {subject}"),
            })),
            Err(why) => missing.push(why),
        }
    };
    for binding in store.list_after(&CLUSTER_BINDINGS, None, None) {
        add(binding, "ClusterRoleBinding", crate::object::name(binding), "");
    }
    if !namespace.is_empty() {
        for binding in store.list_after(&BINDINGS, Some(namespace), None) {
            let shown = format!("{}/{namespace}", crate::object::name(binding));
            add(binding, "RoleBinding", &shown, namespace);
        }
    }
    (out, missing)
}

/// The rules of a Role or a ClusterRole; an error names one that doesn't exist.
pub(super) fn rules_of(
    store: &Store,
    kind: &str,
    namespace: &str,
    name: &str,
) -> Result<Vec<Value>, String> {
    let (found, singular) = if kind == "Role" {
        (store.find(&ROLES, namespace, name), "role")
    } else {
        (store.find(&CLUSTER_ROLES, "", name), "clusterrole")
    };
    let role = found.ok_or_else(|| format!("{singular}.{GROUP} \"{name}\" not found"))?;
    let list = |role: &Value| role["rules"].as_array().cloned().unwrap_or_default();
    let mut rules = list(role);
    // A controller copies the rules of those that are selected; they are read where they are here.
    let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array();
    for selector in selectors.into_iter().flatten() {
        let Ok(selector) = LabelSelector::from_object(selector) else { continue };
        for other in
            store.list_after(&CLUSTER_ROLES, None, None).filter(|other| selector.selects(other))
        {
            for rule in list(other) {
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            }
        }
    }
    Ok(rules)
}

/// How a subject is told, when it is this user. `namespace` is the binding's.
fn matches(subject: &Value, user: &User, namespace: &str) -> Option<String> {
    let name = text(subject, "name");
    match text(subject, "kind") {
        "User" => (user.name == name).then(|| format!("User \"{name}\"")),
        "Group" => {
            user.groups.iter().any(|group| group == name).then(|| format!("Group \"{name}\""))
        }
        "ServiceAccount" => {
            let own = text(subject, "namespace");
            let place = if own.is_empty() { namespace } else { own };
            (account(&user.name) == Some((place, name)))
                .then(|| format!("ServiceAccount \"{name}/{place}\""))
        }
        _ => None,
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}
