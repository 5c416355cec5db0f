//! CustomResourceDefinitions of Kruise's workloads, for clusters that have no Kruise.
//!
//! Our own writing of the fields that are in use; both versions have the same schema. The defaults
//! are those that Kruise's webhook fills in.

mod clone_set;
mod daemon_set;
mod schema;
mod stateful_set;

use crate::json::{Value, json};

/// The definitions of CloneSet, StatefulSet and DaemonSet of apps.kruise.io, ready to be created.
pub fn all() -> Vec<Value> {
    vec![clone_set::definition(), stateful_set::definition(), daemon_set::definition()]
}

/// What one definition is made of.
struct Definition {
    kind: &'static str,
    plural: &'static str,
    singular: &'static str,
    short_names: &'static [&'static str],
    /// Name, type and JSONPath of each printer column, without the last ones that all have.
    columns: &'static [(&'static str, &'static str, &'static str)],
    /// Whether there is a scale subresource.
    scaled: bool,
    spec: Value,
    status: Value,
}

impl Definition {
    fn object(self) -> Value {
        let column = |&(name, type_, path): &(&str, &str, &str)| json!({"name": name, "type": type_, "jsonPath": path});
        let mut columns: Vec<Value> = self.columns.iter().map(column).collect();
        columns.push(
            json!({"name": "AGE", "type": "date", "jsonPath": ".metadata.creationTimestamp"}),
        );
        for (name, field) in [("CONTAINERS", "name"), ("IMAGES", "image")] {
            let path = format!(".spec.template.spec.containers[*].{field}");
            columns.push(json!({"name": name, "type": "string", "priority": 1, "jsonPath": path}));
        }
        let mut subresources = json!({"status": {}});
        if self.scaled {
            subresources["scale"] = json!({
                "specReplicasPath": ".spec.replicas",
                "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.labelSelector",
            });
        }
        let schema = json!({"type": "object", "properties": {
            "apiVersion": schema::text(), "kind": schema::text(), "metadata": {"type": "object"},
            "spec": self.spec, "status": self.status,
        }});
        let version = |name: &str, storage: bool| {
            json!({
                "name": name, "served": true, "storage": storage,
                "schema": {"openAPIV3Schema": schema}, "subresources": subresources,
                "additionalPrinterColumns": columns,
            })
        };
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{}.apps.kruise.io", self.plural)},
            "spec": {
                "group": "apps.kruise.io", "scope": "Namespaced",
                "names": {
                    "kind": self.kind, "listKind": format!("{}List", self.kind),
                    "plural": self.plural, "singular": self.singular,
                    "shortNames": self.short_names,
                },
                "versions": [version("v1alpha1", false), version("v1beta1", true)],
            },
        })
    }
}
