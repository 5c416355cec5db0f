//! StatefulSets.

use engine::world::{Claim, PodManagement, Strategy, Uid, Workload};
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::Value;

use super::meta::Meta;
use super::spec::Spec;
use crate::watch::Watched;

/// A StatefulSet.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Raw")]
pub struct StatefulSetSeen {
    /// Metadata.
    pub meta: Meta,
    /// `spec`.
    pub spec: Spec,
    /// `status.observedGeneration`.
    pub observed_generation: i64,
    /// `status.updateRevision`.
    pub update_revision: String,
    /// `status.currentRevision`.
    pub current_revision: String,
    /// `status.updatedReplicas`.
    pub updated_replicas: u32,
    /// `status.replicas`.
    pub pods: u32,
}

impl Watched for StatefulSetSeen {
    const PLURAL: &'static str = "statefulsets";
    const GROUP_VERSION: &'static str = "/apis/apps/v1";

    fn resource_version(&self) -> &str {
        &self.meta.resource_version
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Raw {
    metadata: Meta,
    spec: Spec,
    status: RawStatus,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawStatus {
    observed_generation: i64,
    update_revision: String,
    current_revision: String,
    updated_replicas: u32,
    replicas: u32,
}

impl From<Raw> for StatefulSetSeen {
    fn from(raw: Raw) -> Self {
        let Raw { metadata, spec, status } = raw;
        Self {
            meta: metadata,
            spec,
            observed_generation: status.observed_generation,
            update_revision: status.update_revision,
            current_revision: status.current_revision,
            updated_replicas: status.updated_replicas,
            pods: status.replicas,
        }
    }
}

impl StatefulSetSeen {
    /// The object as far as it is held, for comparing with what is asked for.
    pub fn live(&self) -> Value {
        self.spec.live(&self.meta)
    }

    /// The engine's notion of it, given what only others know.
    pub fn workload(&self, drift: &[String], claim: Claim) -> Workload {
        let number = |value: &Value, absent: u32| {
            value.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(absent)
        };
        let spec = self.spec.tree();
        let strategy = &spec["updateStrategy"];
        Workload {
            uid: Uid(self.meta.uid.clone()),
            generation: self.meta.generation,
            observed_generation: self.observed_generation,
            replicas: number(&spec["replicas"], 1),
            first_ordinal: number(&spec["ordinals"]["start"], 0),
            reserved: std::collections::BTreeSet::new(),
            management: match spec["podManagementPolicy"].as_str() {
                Some("Parallel") => PodManagement::Parallel,
                _ => PodManagement::OrderedReady,
            },
            strategy: match strategy["type"].as_str() {
                Some("OnDelete") => Strategy::OnDelete,
                _ => Strategy::RollingUpdate {
                    partition: number(&strategy["rollingUpdate"]["partition"], 0),
                },
            },
            min_ready: SignedDuration::from_secs(number(&spec["minReadySeconds"], 0).into()),
            update_revision: self.update_revision.clone(),
            current_revision: self.current_revision.clone(),
            matches: drift.is_empty(),
            template_matches: !drift.iter().any(|path| path.starts_with("spec.template")),
            claim,
            terminating: self.meta.deletion_timestamp.is_some(),
        }
    }
}
