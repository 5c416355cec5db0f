//! Whose a workload is by what a release has left on it.

use api::batches::Rollout;
use api::batches::names::CONTROL_INFO;
use serde_json::Value;

use crate::caches::Held;
use crate::seen::Resource;
use crate::workload::annotation;

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
