//! The one write that gives a workload back, as a merge patch: the user's own fields, and all marks off.

use api::batches::names::{
    CONTROL_INFO, CONTROLLED_BY_ADVANCED, DAEMONSET_ADVANCED_CONTROL, DAEMONSET_ORIGINAL_STRATEGY,
    DAEMONSET_REVISION, DEPLOYMENT_EXTRA_STATUS, DEPLOYMENT_STRATEGY, HELD_PARTITION,
    IN_PROGRESSING, STABLE_REVISION, STATEFULSET_ORIGINAL_STRATEGY,
};
use serde_json::{Value, json};

use crate::observe::rollout::Live;
use crate::subject::Kind;
use crate::workload::{annotation, daemonset, deployment, label, statefulset};

/// Whatever may stand beside what is held.
const BESIDE: [&str; 9] = [
    IN_PROGRESSING,
    CONTROL_INFO,
    DEPLOYMENT_STRATEGY,
    DEPLOYMENT_EXTRA_STATUS,
    STATEFULSET_ORIGINAL_STRATEGY,
    HELD_PARTITION,
    DAEMONSET_ORIGINAL_STRATEGY,
    DAEMONSET_REVISION,
    DAEMONSET_ADVANCED_CONTROL,
];

/// The patch. `freeze` takes off the marks alone, so that what is held stays held.
pub(super) fn patch(live: &Live, freeze: bool) -> Value {
    let object = &live.object;
    let mut patch = json!({});
    if let Some(restore) = live.restore.filter(|_| !freeze) {
        patch = match live.workload.kind {
            Kind::Deployment => deployment::release(object, Some(restore)),
            Kind::StatefulSet => statefulset::release(object, Some(restore)),
            Kind::DaemonSet => daemonset::release(object, Some(restore)),
        };
    }
    let (annotations, labels): (&[&str], &[&str]) = if freeze {
        (&[IN_PROGRESSING, CONTROL_INFO], &[])
    } else {
        (&BESIDE, &[STABLE_REVISION, CONTROLLED_BY_ADVANCED])
    };
    for name in annotations.iter().filter(|name| annotation(object, name).is_some()) {
        patch["metadata"]["annotations"][*name] = Value::Null;
    }
    for name in labels.iter().filter(|name| label(object, name).is_some()) {
        patch["metadata"]["labels"][*name] = Value::Null;
    }
    patch
}
