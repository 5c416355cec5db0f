//! The definition of a CloneSet.

use super::Definition;
use super::schema::{amount, count, flag, free, in_place, list, map, one_of, or, priority};
use super::schema::{spec, status, text};
use crate::json::{Value, json};

pub(super) fn definition() -> Value {
    let update = map([
        ("type", or(one_of(&["ReCreate", "InPlaceIfPossible", "InPlaceOnly"]), "ReCreate")),
        ("partition", or(amount(), 0)),
        ("maxUnavailable", or(amount(), "20%")),
        ("maxSurge", or(amount(), 0)),
        ("paused", flag()),
        ("priorityStrategy", priority()),
        ("scatterStrategy", list(&map([("key", text()), ("value", text())]))),
        ("inPlaceUpdateStrategy", in_place()),
    ]);
    let scale = map([
        ("podsToDelete", list(&text())),
        ("maxUnavailable", amount()),
        ("disablePVCReuse", flag()),
        ("excludePreparingDelete", flag()),
    ]);
    let mut status = status([
        "replicas",
        "readyReplicas",
        "availableReplicas",
        "updatedReplicas",
        "updatedReadyReplicas",
        "updatedAvailableReplicas",
        "expectedUpdatedReplicas",
    ]);
    for name in ["currentRevision", "updateRevision", "labelSelector"] {
        status["properties"][name] = text();
    }
    Definition {
        kind: "CloneSet",
        plural: "clonesets",
        singular: "cloneset",
        short_names: &["clone"],
        columns: &[
            ("DESIRED", "integer", ".spec.replicas"),
            ("UPDATED", "integer", ".status.updatedReplicas"),
            ("UPDATED_READY", "integer", ".status.updatedReadyReplicas"),
            ("UPDATED_AVAILABLE", "integer", ".status.updatedAvailableReplicas"),
            ("READY", "integer", ".status.readyReplicas"),
            ("TOTAL", "integer", ".status.replicas"),
        ],
        scaled: true,
        spec: spec([
            ("replicas", or(count(), 1)),
            ("updateStrategy", or(update, json!({}))),
            ("scaleStrategy", or(scale, json!({}))),
            ("volumeClaimTemplates", list(&free())),
        ]),
        status,
    }
    .object()
}
