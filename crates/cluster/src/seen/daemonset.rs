//! DaemonSets.

use serde::Deserialize;

use super::meta::Meta;
use super::spec::Spec;
use crate::watch::Watched;

/// A DaemonSet.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct DaemonSetSeen {
    /// Metadata.
    #[serde(rename = "metadata")]
    pub meta: Meta,
    /// `spec`.
    pub spec: Spec,
    /// What is trusted of `status`.
    pub status: DaemonSetNumbers,
}

/// `status` of a DaemonSet, as far as it is used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DaemonSetNumbers {
    /// The generation that it speaks of.
    pub observed_generation: i64,
    /// Nodes that ought to have a Pod.
    pub desired_number_scheduled: u32,
    /// Nodes that have one.
    pub current_number_scheduled: u32,
    /// Nodes whose Pod is of the template.
    pub updated_number_scheduled: u32,
    /// Nodes whose Pod is ready.
    pub number_ready: u32,
    /// Nodes whose Pod is available.
    pub number_available: u32,
}

impl Watched for DaemonSetSeen {
    const PLURAL: &'static str = "daemonsets";
    const GROUP_VERSION: &'static str = "/apis/apps/v1";

    fn resource_version(&self) -> &str {
        &self.meta.resource_version
    }
}
