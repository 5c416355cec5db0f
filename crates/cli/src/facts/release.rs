//! What there is around a Rollout: its workload with Pods and revisions, and its BatchRelease.

use api::batches::names::STABLE_REVISION;
use api::batches::{CanaryStatus, Condition, Plan, PlanError, Rollout, RolloutStatus};
use serde_json::Value;

use super::revision::Revision;
use super::workload::Workload;
use super::{decoded, kind};
use crate::exit::Failure;
use crate::session::Session;

const GROUP: &str = "/apis/rollouts.kruise.io";

/// Path of the Rollouts of a namespace, or of all.
pub(crate) fn rollouts_path(namespace: Option<&str>) -> String {
    path("v1beta1", "rollouts", namespace)
}

/// Path of the BatchReleases of a namespace, or of all.
pub(crate) fn releases_path(namespace: Option<&str>) -> String {
    path("v1beta1", "batchreleases", namespace)
}

/// Path of the RolloutHistories of a namespace.
pub(crate) fn histories_path(namespace: &str) -> String {
    path("v1alpha1", "rollouthistories", Some(namespace))
}

fn path(version: &str, plural: &str, namespace: Option<&str>) -> String {
    match namespace {
        Some(namespace) => format!("{GROUP}/{version}/namespaces/{namespace}/{plural}"),
        None => format!("{GROUP}/{version}/{plural}"),
    }
}

/// All of it.
pub(crate) struct Facts {
    /// The Rollout.
    pub(crate) rollout: Rollout,
    /// The Rollout as it came.
    pub(crate) raw: Value,
    /// Its workload; `None` while there is none, or if its kind is not one that is shown.
    pub(crate) workload: Option<Workload>,
}

impl Facts {
    /// Reads everything around a Rollout.
    pub(crate) async fn around(session: &Session, raw: Value) -> Result<Self, Failure> {
        let rollout: Rollout = decoded(&raw, "rollout")?;
        let namespace = rollout.metadata.namespace.as_deref().unwrap_or(&session.namespace);
        let reference = &rollout.spec.workload_ref;
        let workload = match kind::of(reference) {
            Some(kind) => Workload::read(session, kind, namespace, &reference.name).await?,
            None => None,
        };
        Ok(Self { rollout, raw, workload })
    }

    /// The revision to go back to, as far as the status or the workload names one that is still there.
    pub(crate) fn stable(&self) -> Option<&Revision> {
        let workload = self.workload.as_ref()?;
        let told = canary(&self.rollout).map_or("", |canary| &canary.stable_revision);
        let labelled = workload.raw["metadata"]["labels"][STABLE_REVISION].as_str();
        let words = [told, labelled.unwrap_or_default()];
        words.into_iter().find_map(|word| workload.revision(word))
    }
}

/// The status, if somebody has written one.
pub(crate) fn status(rollout: &Rollout) -> Option<&RolloutStatus> {
    rollout.status.as_ref()
}

/// `status.canaryStatus`.
pub(crate) fn canary(rollout: &Rollout) -> Option<&CanaryStatus> {
    status(rollout)?.canary_status.as_ref()
}

/// A condition by its type.
pub(crate) fn condition<'a>(rollout: &'a Rollout, kind: &str) -> Option<&'a Condition> {
    status(rollout)?.conditions.iter().find(|condition| condition.type_ == kind)
}

/// The steps, or why they cannot be followed.
pub(crate) fn plan(rollout: &Rollout) -> Result<Plan, PlanError> {
    rollout.spec.strategy.canary.as_ref().map_or(Err(PlanError::Empty), Plan::of_canary)
}

/// `deployment web`, as the Rollout names it.
pub(crate) fn workload_title(rollout: &Rollout) -> String {
    let reference = &rollout.spec.workload_ref;
    format!("{} {}", kind::named(reference), reference.name)
}
