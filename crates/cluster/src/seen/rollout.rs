//! `StatefulsetRollout`s, typed, with their StatefulSet as raw JSON.

use std::sync::Arc;

use api::bedrock::StatefulsetRollout;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tracing::warn;

use super::meta::{LAST_APPLIED, Meta};
use crate::key::Key;
use crate::watch::Watched;

/// A `StatefulsetRollout`.
#[derive(Clone, Debug)]
pub struct RolloutSeen {
    /// Metadata.
    pub meta: Meta,
    /// The whole object, or why it cannot be read: the schema in the cluster lets through more than
    /// this release knows.
    pub rollout: Result<Arc<StatefulsetRollout>, String>,
    /// Name of the StatefulSet that it rolls out.
    pub workload_name: String,
}

impl Watched for RolloutSeen {
    const PLURAL: &'static str = "statefulsetrollouts";
    const GROUP_VERSION: &'static str = "/apis/bedrock.operator.slack.com/v1";

    fn resource_version(&self) -> &str {
        &self.meta.resource_version
    }
}

impl PartialEq for RolloutSeen {
    fn eq(&self, other: &Self) -> bool {
        self.meta.uid == other.meta.uid && self.meta.resource_version == other.meta.resource_version
    }
}

impl<'de> Deserialize<'de> for RolloutSeen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut object = Value::deserialize(deserializer)?;
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("managedFields");
            if let Some(annotations) =
                metadata.get_mut("annotations").and_then(Value::as_object_mut)
            {
                annotations.remove(LAST_APPLIED);
            }
        }
        let meta = Meta::deserialize(&object["metadata"]).map_err(serde::de::Error::custom)?;
        let key = meta.key();
        let rollout = StatefulsetRollout::deserialize(&object).or_else(|error| {
            // A status of another release must not stop the rollout: it is made anew.
            warn!(rollout = %key, %error, "cannot read the whole object; leaving out its status");
            if let Some(object) = object.as_object_mut() {
                object.remove("status");
            }
            StatefulsetRollout::deserialize(&object).map_err(|error| error.to_string())
        });
        let workload_name = match &rollout {
            Ok(rollout) => rollout.spec.statefulset.name().unwrap_or(&meta.name).to_owned(),
            Err(_) => meta.name.clone(),
        };
        Ok(Self { meta, rollout: rollout.map(Arc::new), workload_name })
    }
}

impl RolloutSeen {
    /// The StatefulSet that it rolls out.
    pub fn workload(&self) -> Key {
        Key::new(self.meta.namespace.as_str(), self.workload_name.as_str())
    }

    /// The labels of the Pod template that it asks for, null where there are none.
    pub fn template_labels(&self) -> &Value {
        let template = self.rollout.as_ref().ok().and_then(|all| all.spec.statefulset.template());
        template.map_or(&Value::Null, |template| &template["metadata"]["labels"])
    }

    /// Whether `other` asks for something else: another object, another spec, or its end.
    pub fn asks_otherwise(&self, other: &Self) -> bool {
        self.meta.uid != other.meta.uid
            || self.meta.generation != other.meta.generation
            || self.meta.deletion_timestamp != other.meta.deletion_timestamp
    }
}
