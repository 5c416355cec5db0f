//! ControllerRevisions of DaemonSets, whose status names no revision. Their content is not kept.

use api::batches::names::CONTROLLER_REVISION_HASH;
use serde::Deserialize;

use super::meta::Meta;
use crate::watch::Watched;

/// A ControllerRevision.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RevisionSeen {
    /// Metadata.
    #[serde(rename = "metadata")]
    pub meta: Meta,
    /// The larger, the later its template was the newest.
    pub revision: i64,
}

impl Watched for RevisionSeen {
    const PLURAL: &'static str = "controllerrevisions";
    const GROUP_VERSION: &'static str = "/apis/apps/v1";

    fn resource_version(&self) -> &str {
        &self.meta.resource_version
    }
}

impl RevisionSeen {
    /// The label `controller-revision-hash` of its Pods; empty where it has none.
    pub fn hash(&self) -> &str {
        self.meta.labels.get(CONTROLLER_REVISION_HASH).map_or("", String::as_str)
    }
}
