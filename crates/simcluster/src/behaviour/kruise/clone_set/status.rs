//! The status of a CloneSet.

use jiff::Timestamp;

use super::Seen;
use super::sizes::Bounds;
use crate::behaviour::statefulset::revisions::Revisions;
use crate::json::{Value, json};
use crate::object;
use crate::selector::LabelSelector;

/// What a set's Pods come to. The update revision is the current one as soon as all Pods are at it,
/// whether they work or not.
pub fn of(
    set: &Value,
    bounds: &Bounds,
    pods: &[Seen<'_>],
    revisions: &Revisions,
    now: Timestamp,
) -> Value {
    let count = |which: &dyn Fn(&Seen<'_>) -> bool| pods.iter().filter(|pod| which(pod)).count();
    let updated = count(&|pod| pod.updated);
    let current =
        if updated == pods.len() { revisions.update_name() } else { revisions.current_name() };
    let mut status = json!({
        "observedGeneration": object::generation(set),
        "replicas": pods.len(),
        "readyReplicas": count(&|pod| pod.ready),
        "availableReplicas": count(&|pod| pod.is_available(now)),
        "updatedReplicas": updated,
        "updatedReadyReplicas": count(&|pod| pod.updated && pod.ready),
        "currentRevision": current,
        "updateRevision": revisions.update_name(),
        "collisionCount": revisions.collisions,
        "labelSelector": LabelSelector::text(&set["spec"]["selector"]),
    });
    let optional = [
        ("updatedAvailableReplicas", count(&|pod| pod.updated && pod.is_available(now))),
        (
            "expectedUpdatedReplicas",
            usize::try_from(bounds.replicas - bounds.partition).unwrap_or_default(),
        ),
    ];
    for (field, count) in optional.into_iter().filter(|(_, count)| *count > 0) {
        status[field] = count.into();
    }
    status
}
