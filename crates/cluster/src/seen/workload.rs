//! Workloads, of whichever kind: metadata, the spec as text, and of the status what any kind says.

use serde::Deserialize;
use serde_json::{Value, json};

use super::meta::Meta;
use super::spec::Spec;
use crate::watch::Watched;

/// A workload.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct WorkloadSeen {
    /// Metadata.
    #[serde(rename = "metadata")]
    pub meta: Meta,
    /// `spec`.
    pub spec: Spec,
    /// What is trusted of `status`.
    pub status: Numbers,
}

/// `status` of a workload, as far as it is used: each kind has some of these, and others are zero or empty.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Numbers {
    /// The generation that it speaks of.
    pub observed_generation: i64,
    /// Pods, of all revisions.
    pub replicas: u32,
    /// Pods of the template.
    pub updated_replicas: u32,
    /// The revision of the template.
    pub update_revision: String,
    /// The revision before it, until every Pod has moved.
    pub current_revision: String,
    /// The revision of the template, as the Pods of an Advanced DaemonSet are labelled with it.
    pub daemon_set_hash: String,
    /// Nodes that ought to have a Pod.
    pub desired_number_scheduled: u32,
    /// Nodes that have one.
    pub current_number_scheduled: u32,
    /// Nodes whose Pod is of the template.
    pub updated_number_scheduled: u32,
}

impl Watched for WorkloadSeen {
    fn resource_version(&self) -> &str {
        &self.meta.resource_version
    }
}

impl WorkloadSeen {
    /// The object as far as it is held, for comparing with what is asked for.
    pub fn live(&self) -> Value {
        let mut live = self.spec.live(&self.meta);
        // Of kinds whose spec doesn't say how many Pods there ought to be.
        let scheduled = self.status.desired_number_scheduled;
        live["status"] = json!({"desiredNumberScheduled": scheduled});
        live
    }
}
