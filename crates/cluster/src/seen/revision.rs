//! ControllerRevisions of DaemonSets, native and advanced, whose status names no revision; of their content the fingerprint.

use api::batches::names::CONTROLLER_REVISION_HASH;
use serde::Deserialize;
use serde_json::Value;

use super::meta::Meta;
use super::replica_set::fingerprint;
use crate::watch::{Source, Watched};

/// A ControllerRevision.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Raw")]
pub struct RevisionSeen {
    /// Metadata.
    pub meta: Meta,
    /// The larger, the later its template was the newest.
    pub revision: i64,
    /// Tells the Pod template in it from others: see [`fingerprint`].
    pub template: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Raw {
    metadata: Meta,
    revision: i64,
    data: Value,
}

impl From<Raw> for RevisionSeen {
    fn from(raw: Raw) -> Self {
        let Raw { metadata, revision, mut data } = raw;
        let mut template = data["spec"]["template"].take();
        // It is a patch, which says so.
        if let Some(template) = template.as_object_mut() {
            template.remove("$patch");
        }
        Self { meta: metadata, revision, template: fingerprint(&template) }
    }
}

impl RevisionSeen {
    /// Where they are watched.
    pub const SOURCE: Source = Source::of("controllerrevisions", &["/apis/apps/v1"]);
}

impl Watched for RevisionSeen {
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
