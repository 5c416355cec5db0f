//! Deployments.

use serde::Deserialize;

use super::meta::Meta;
use super::spec::Spec;
use crate::watch::Watched;

/// A Deployment.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct DeploymentSeen {
    /// Metadata.
    #[serde(rename = "metadata")]
    pub meta: Meta,
    /// `spec`.
    pub spec: Spec,
    /// What is trusted of `status`.
    pub status: DeploymentNumbers,
}

/// `status` of a Deployment, as far as it is used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DeploymentNumbers {
    /// The generation that it speaks of.
    pub observed_generation: i64,
    /// Pods, of all revisions.
    pub replicas: u32,
    /// Pods of the template.
    pub updated_replicas: u32,
    /// Pods that are ready.
    pub ready_replicas: u32,
    /// Pods that are available.
    pub available_replicas: u32,
    /// How often a name of a ReplicaSet was taken.
    pub collision_count: i64,
}

impl Watched for DeploymentSeen {
    const PLURAL: &'static str = "deployments";
    const GROUP_VERSION: &'static str = "/apis/apps/v1";

    fn resource_version(&self) -> &str {
        &self.meta.resource_version
    }
}
