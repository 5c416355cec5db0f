//! What stands on a workload that only a release leaves there.

use api::batches::Rollout;
use api::batches::names::{
    CONTROL_INFO, CONTROLLED_BY_ADVANCED, DAEMONSET_ADVANCED_CONTROL, DAEMONSET_ORIGINAL_STRATEGY,
    DEPLOYMENT_STRATEGY, HELD_PARTITION, IN_PROGRESSING, STABLE_REVISION,
    STATEFULSET_ORIGINAL_STRATEGY,
};
use serde_json::Value;

use crate::caches::Held;
use crate::seen::Resource;
use crate::subject::Kind;
use crate::workload::{ABOVE_ALL, annotation, label};

/// Whether a change is held, or was.
pub(crate) fn marked(object: &Value) -> bool {
    annotation(object, IN_PROGRESSING).is_some()
}

/// Whether anything holds the workload still, or stands beside what holds it.
pub(crate) fn held(kind: Kind, object: &Value) -> bool {
    let annotated = |names: &[&str]| names.iter().any(|name| annotation(object, name).is_some());
    if annotated(&[CONTROL_INFO]) {
        return true;
    }
    let spec = &object["spec"];
    match kind {
        Kind::Deployment => {
            annotated(&[DEPLOYMENT_STRATEGY])
                || [STABLE_REVISION, CONTROLLED_BY_ADVANCED]
                    .iter()
                    .any(|name| label(object, name).is_some())
                || (marked(object) && spec["paused"] == true)
        }
        Kind::StatefulSet => {
            let partition = spec["updateStrategy"]["rollingUpdate"]["partition"].as_u64();
            annotated(&[STATEFULSET_ORIGINAL_STRATEGY, HELD_PARTITION])
                || (marked(object) && partition.is_some_and(|it| it >= ABOVE_ALL.into()))
        }
        Kind::DaemonSet => annotated(&[DAEMONSET_ORIGINAL_STRATEGY, DAEMONSET_ADVANCED_CONTROL]),
    }
}

/// Whether that was left by a living BatchRelease of somebody else, who gives it back.
pub(super) fn of_another(held: &Held, rollout: &Resource<Rollout>, object: &Value) -> bool {
    let Some(uid) = controller(object) else { return false };
    let mut living = held.releases.in_namespace(&rollout.meta.namespace);
    living.any(|release| {
        let ours = release.meta.owner.as_ref().is_some_and(|owner| owner.uid == rollout.meta.uid);
        release.meta.uid == uid && !ours
    })
}

/// Whether a BatchRelease is named on it.
pub(crate) fn controlled(object: &Value) -> bool {
    controller(object).is_some()
}

/// UID of the BatchRelease that control-info names.
fn controller(object: &Value) -> Option<String> {
    let info: Value = serde_json::from_str(annotation(object, CONTROL_INFO)?).ok()?;
    info["uid"].as_str().map(str::to_owned)
}
