//! The account, its roles, and what binds them.

use super::{Install, NAME, labels};
use crate::permissions::{AUTHORITY, ELECTION, REGISTRATION, Rule, SERVED};
use serde_json::{Value, json};

/// The role in the operator's own namespace. Apart from the other also by name: both may stand in
/// one namespace.
const OWN: &str = "sluice-own";

pub(super) fn manifests(install: &Install) -> Vec<Value> {
    let mut all = vec![account(install)];
    let home = Some(install.namespace.as_str());
    match &install.only {
        None => {
            all.extend(role(install, NAME, None, &[SERVED, REGISTRATION].concat()));
            all.extend(role(install, OWN, home, &[ELECTION, AUTHORITY].concat()));
        }
        Some(only) => {
            all.extend(role(install, NAME, Some(only), SERVED));
            all.extend(role(install, OWN, home, ELECTION));
        }
    }
    all
}

fn account(install: &Install) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": install.metadata(NAME),
        // The Deployment asks for the token; any other Pod under this account gets none.
        "automountServiceAccountToken": false,
    })
}

/// A role of these rules and its binding to the account; at the scope of the cluster without a
/// namespace.
fn role(install: &Install, name: &str, namespace: Option<&str>, rules: &[Rule]) -> [Value; 2] {
    let mut metadata = json!({"name": name, "labels": labels()});
    let (role, binding) = match namespace {
        None => ("ClusterRole", "ClusterRoleBinding"),
        Some(namespace) => {
            metadata["namespace"] = json!(namespace);
            ("Role", "RoleBinding")
        }
    };
    let rules: Vec<Value> = rules.iter().map(Rule::written).collect();
    [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": role,
            "metadata": metadata,
            "rules": rules,
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": binding,
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": name},
            "subjects": [
                {"kind": "ServiceAccount", "name": NAME, "namespace": install.namespace},
            ],
        }),
    ]
}
