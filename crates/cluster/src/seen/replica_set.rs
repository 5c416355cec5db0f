//! ReplicaSets of Deployments; of their template the fingerprint.

use api::batches::names::POD_TEMPLATE_HASH;
use serde::Deserialize;
use serde_json::Value;

use super::meta::Meta;
use crate::watch::{Source, Watched};

/// A ReplicaSet.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Raw")]
pub struct ReplicaSetSeen {
    /// Metadata.
    pub meta: Meta,
    /// `spec.replicas`.
    pub size: u32,
    /// Tells its template from others, the label `pod-template-hash` apart: see [`fingerprint`].
    pub template: String,
    /// `status.observedGeneration`.
    pub observed_generation: i64,
    /// `status.replicas`.
    pub pods: u32,
    /// `status.readyReplicas`.
    pub ready: u32,
    /// `status.availableReplicas`.
    pub available: u32,
}

/// Tells one Pod template from another, the label `pod-template-hash` apart.
///
/// Kubernetes compares templates by what they mean: a quantity is an amount however it is written, and a
/// list without entries is none.
pub fn fingerprint(template: &Value) -> String {
    let mut template = template.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(POD_TEMPLATE_HASH);
    }
    mean(&mut template, false);
    api::canonical::fingerprint(&template)
}

/// Writes the same thing the same way; `amount` says that what stands here is a quantity, or a map of them.
fn mean(value: &mut Value, amount: bool) {
    match value {
        Value::Object(map) => {
            let empty = |value: &Value| {
                value.is_null() || value.as_array().is_some_and(|items| items.is_empty())
            };
            map.retain(|_, value| !empty(value));
            for (key, value) in map {
                let key = key.as_str();
                let amounts = ["limits", "requests", "overhead", "sizeLimit", "divisor"];
                mean(value, amount || amounts.contains(&key));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mean(item, false)),
        scalar if amount => {
            if let Some(amount) = api::bedrock::amount(scalar) {
                *scalar = amount.into();
            }
        }
        _ => {}
    }
}

impl ReplicaSetSeen {
    /// Where they are watched.
    pub const SOURCE: Source = Source::of("replicasets", &["/apis/apps/v1"]);
}

impl Watched for ReplicaSetSeen {
    fn resource_version(&self) -> &str {
        &self.meta.resource_version
    }
}

impl From<Raw> for ReplicaSetSeen {
    fn from(raw: Raw) -> Self {
        let Raw { metadata, spec, status } = raw;
        Self {
            meta: metadata,
            size: spec.replicas.unwrap_or(1),
            template: fingerprint(&spec.template),
            observed_generation: status.observed_generation,
            pods: status.replicas,
            ready: status.ready_replicas,
            available: status.available_replicas,
        }
    }
}

impl ReplicaSetSeen {
    /// The label `pod-template-hash`; empty where it has none.
    pub fn hash(&self) -> &str {
        self.meta.labels.get(POD_TEMPLATE_HASH).map_or("", String::as_str)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Raw {
    metadata: Meta,
    spec: RawSpec,
    status: RawStatus,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawSpec {
    replicas: Option<u32>,
    template: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawStatus {
    observed_generation: i64,
    replicas: u32,
    ready_replicas: u32,
    available_replicas: u32,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates_that_mean_the_same_are_the_same() {
        #[expect(clippy::needless_pass_by_value, reason = "its callers read better")]
        fn check(one: Value, other: Value, same: bool) {
            assert_eq!(fingerprint(&one) == fingerprint(&other), same, "{one} {other}");
        }
        let with = |resources: Value| json!({"spec": {"containers": [{"resources": resources}]}});
        check(
            with(json!({"limits": {"cpu": "1", "memory": "1Gi"}})),
            with(json!({"limits": {"cpu": "1000m", "memory": "1073741824"}})),
            true,
        );
        check(
            with(json!({"limits": {"memory": "1Gi"}})),
            with(json!({"limits": {"memory": "1G"}})),
            false,
        );
        let size = |size: &str| json!({"spec": {"volumes": [{"emptyDir": {"sizeLimit": size}}]}});
        check(size("1024Mi"), size("1Gi"), true);
        check(json!({"spec": {"args": [], "x": null}}), json!({"spec": {}}), true);
        check(json!({"spec": {"emptyDir": {}}}), json!({"spec": {}}), false);
        check(json!({"spec": {"port": "80"}}), json!({"spec": {"port": 80}}), false);
        check(json!({"spec": {"args": ["1"]}}), json!({"spec": {"args": ["1000m"]}}), false);
        let hash = |hash: &str| json!({"metadata": {"labels": {"pod-template-hash": hash}}});
        check(hash("a"), hash("b"), true);
    }
}
