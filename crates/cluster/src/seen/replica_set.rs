//! ReplicaSets of Deployments; of their template the fingerprint.

use api::batches::names::POD_TEMPLATE_HASH;
use serde::Deserialize;
use serde_json::Value;

use super::meta::Meta;
use crate::watch::Watched;

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
pub fn fingerprint(template: &Value) -> String {
    let mut template = template.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(POD_TEMPLATE_HASH);
    }
    api::canonical::fingerprint(&template)
}

impl Watched for ReplicaSetSeen {
    const PLURAL: &'static str = "replicasets";
    const GROUP_VERSION: &'static str = "/apis/apps/v1";

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
