//! The status of an Advanced StatefulSet.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::behaviour::statefulset::revisions::Revisions;
use crate::behaviour::statefulset::seen::{self, Counts, Seen};
use crate::json::{Value, json};
use crate::object;
use crate::selector::LabelSelector;

/// Its numbers: those of a native set, and how many of the updated Pods can be counted on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Those that a native set has as well.
    pub counts: Counts,
    /// At the update revision, Running and Ready; terminating ones included.
    pub updated_ready: i64,
    /// At the update revision, and ready for long enough; terminating ones included.
    pub updated_available: i64,
}

impl Numbers {
    /// Counts the Pods.
    pub fn of(pods: &BTreeMap<i64, Seen>, current: &str, update: &str, now: Timestamp) -> Self {
        let updated = || pods.values().filter(|pod| pod.revision == update && pod.ready);
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        Self {
            counts: seen::count(pods, current, update, now),
            updated_ready: number(updated().count()),
            updated_available: number(updated().filter(|pod| pod.available(now)).count()),
        }
    }
}

/// The status. Under RollingUpdate the current revision becomes the update revision when all Pods
/// that there are have it and are ready: also when others are missing at that moment.
pub fn of(set: &Value, numbers: &Numbers, revisions: &Revisions) -> Value {
    let Numbers { counts, updated_ready, updated_available } = numbers;
    let (mut current, update) = (revisions.current_name(), revisions.update_name());
    let mut current_replicas = counts.current;
    if set["spec"]["updateStrategy"]["type"] == "RollingUpdate"
        && counts.updated == counts.replicas
        && counts.ready == counts.replicas
    {
        current = update;
        current_replicas = counts.updated;
    }
    let mut status = json!({
        "observedGeneration": object::generation(set), "collisionCount": revisions.collisions,
        "replicas": counts.replicas, "readyReplicas": counts.ready,
        "availableReplicas": counts.available, "currentReplicas": current_replicas,
        "updatedReplicas": counts.updated, "currentRevision": current, "updateRevision": update,
        "labelSelector": LabelSelector::text(&set["spec"]["selector"]),
    });
    let optional =
        [("updatedReadyReplicas", updated_ready), ("updatedAvailableReplicas", updated_available)];
    for (field, count) in optional {
        if *count != 0 {
            status[field] = (*count).into();
        }
    }
    status
}
