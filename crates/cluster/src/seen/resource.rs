//! The resources that are served, typed; what they carry of a workload is raw JSON.

use std::fmt::Debug;
use std::sync::Arc;

use api::batches::{BatchRelease, BatchReleaseStatus, Rollout, RolloutStatus};
use api::bedrock::{StatefulsetRollout, StatefulsetRolloutStatus};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tracing::warn;

use super::meta::{LAST_APPLIED, Meta};
use crate::key::Key;
use crate::kind::Kind;
use crate::subject::{Front, Subject, Workload};
use crate::watch::{Source, Watched};
use crate::written::{Statuses, Written};

/// A resource of one of the fronts.
pub trait Served: DeserializeOwned + Clone + Debug + Send + Sync + 'static {
    /// Its front.
    const FRONT: Front;
    /// Where it is watched.
    const SOURCE: Source;
    /// What stands under `status`.
    type Status: Clone + Debug + Send + Sync;

    /// The workload that it names, of those kinds that are served.
    fn workload(&self, meta: &Meta) -> Option<Workload>;

    /// Puts another status into it.
    fn set_status(&mut self, status: Self::Status);

    /// The statuses of this front that we wrote ourselves.
    fn written(all: &mut Written) -> &mut Statuses<Self::Status>;
}

/// An object of a served resource.
#[derive(Clone, Debug)]
pub struct Resource<T> {
    /// Metadata.
    pub meta: Meta,
    /// The whole object, or why it cannot be read: the schema in the cluster lets through more than
    /// this release knows.
    pub object: Result<Arc<T>, String>,
    /// The workload that it names.
    pub workload: Option<Workload>,
}

impl<T: Served> Watched for Resource<T> {
    fn resource_version(&self) -> &str {
        &self.meta.resource_version
    }
}

impl<T> PartialEq for Resource<T> {
    fn eq(&self, other: &Self) -> bool {
        self.meta.uid == other.meta.uid && self.meta.resource_version == other.meta.resource_version
    }
}

impl<'de, T: Served> Deserialize<'de> for Resource<T> {
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
        let subject = Subject::new(T::FRONT, meta.key());
        let read = T::deserialize(&object).or_else(|error| {
            // A status of another release must not stop it: it is made anew.
            warn!(%subject, %error, "cannot read the whole object; leaving out its status");
            if let Some(object) = object.as_object_mut() {
                object.remove("status");
            }
            T::deserialize(&object).map_err(|error| error.to_string())
        });
        let workload = read.as_ref().ok().and_then(|read| read.workload(&meta));
        Ok(Self { meta, object: read.map(Arc::new), workload })
    }
}

impl<T: Served> Resource<T> {
    /// Who it is to the loop.
    pub fn subject(&self) -> Subject {
        Subject::new(T::FRONT, self.meta.key())
    }

    /// Whether `other` asks for something else: another object, another spec, or its end. What stands in
    /// the annotations of the batches' resources is a wish as well.
    pub fn asks_otherwise(&self, other: &Self) -> bool {
        let wishes = T::FRONT != Front::StatefulsetRollout
            && self.meta.annotations != other.meta.annotations;
        self.meta.uid != other.meta.uid
            || self.meta.generation != other.meta.generation
            || self.meta.deletion_timestamp != other.meta.deletion_timestamp
            || wishes
    }
}

impl Resource<StatefulsetRollout> {
    /// The labels of the Pod template that it asks for, null where there are none.
    pub fn template_labels(&self) -> &Value {
        let template = self.object.as_ref().ok().and_then(|all| all.spec.statefulset.template());
        template.map_or(&Value::Null, |template| &template["metadata"]["labels"])
    }
}

impl Served for StatefulsetRollout {
    const FRONT: Front = Front::StatefulsetRollout;
    const SOURCE: Source =
        Source::of("statefulsetrollouts", &["/apis/bedrock.operator.slack.com/v1"]);
    type Status = StatefulsetRolloutStatus;

    fn workload(&self, meta: &Meta) -> Option<Workload> {
        let name = self.spec.statefulset.name().unwrap_or(&meta.name);
        Some(Workload::new(Kind::StatefulSet, Key::new(meta.namespace.as_str(), name)))
    }

    fn set_status(&mut self, status: Self::Status) {
        self.status = Some(status);
    }

    fn written(all: &mut Written) -> &mut Statuses<Self::Status> {
        &mut all.statefulset_rollouts
    }
}

impl Served for Rollout {
    const FRONT: Front = Front::Rollout;
    const SOURCE: Source = Source::of("rollouts", &["/apis/rollouts.kruise.io/v1beta1"])
        .optional("rollouts.rollouts.kruise.io");
    type Status = RolloutStatus;

    fn workload(&self, meta: &Meta) -> Option<Workload> {
        named(meta, &self.spec.workload_ref)
    }

    fn set_status(&mut self, status: Self::Status) {
        self.status = Some(status);
    }

    fn written(all: &mut Written) -> &mut Statuses<Self::Status> {
        &mut all.rollouts
    }
}

impl Served for BatchRelease {
    const FRONT: Front = Front::BatchRelease;
    const SOURCE: Source = Source::of("batchreleases", &["/apis/rollouts.kruise.io/v1beta1"])
        .optional("batchreleases.rollouts.kruise.io");
    type Status = BatchReleaseStatus;

    fn workload(&self, meta: &Meta) -> Option<Workload> {
        named(meta, self.spec.workload_ref.as_ref()?)
    }

    fn set_status(&mut self, status: Self::Status) {
        self.status = Some(status);
    }

    fn written(all: &mut Written) -> &mut Statuses<Self::Status> {
        &mut all.releases
    }
}

fn named(meta: &Meta, named: &api::batches::WorkloadRef) -> Option<Workload> {
    let kind = Kind::of(named.group(), &named.kind)?;
    Some(Workload::new(kind, Key::new(meta.namespace.as_str(), named.name.as_str())))
}
