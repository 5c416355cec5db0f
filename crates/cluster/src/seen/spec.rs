//! The spec of a workload, kept as text: as a tree it would take ten times as much, and is looked at
//! seldom.

use serde::Deserialize;
use serde_json::{Value, json};

use super::meta::Meta;

/// `spec`, whole.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Value")]
pub struct Spec {
    text: Box<str>,
    template_labels: Value,
}

impl From<Value> for Spec {
    fn from(spec: Value) -> Self {
        let template_labels = spec["template"]["metadata"]["labels"].clone();
        Self { text: spec.to_string().into(), template_labels }
    }
}

impl Spec {
    /// The labels of the Pod template: what budgets select by.
    pub fn template_labels(&self) -> &Value {
        &self.template_labels
    }

    /// As a tree.
    pub fn tree(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// The object as far as it is held, for comparing with what is asked for.
    pub fn live(&self, meta: &Meta) -> Value {
        json!({
            "metadata": {
                "name": meta.name,
                "namespace": meta.namespace,
                "uid": meta.uid,
                "labels": meta.labels,
                "annotations": meta.annotations,
            },
            "spec": self.tree(),
        })
    }
}
