//! The definition of an Advanced StatefulSet.

use super::Definition;
use super::schema::{amount, count, flag, free, in_place, list, map, one_of, or, priority};
use super::schema::{spec, status, text};
use crate::json::{Value, json};

pub(super) fn definition() -> Value {
    let rolling = map([
        ("partition", or(count(), 0)),
        ("maxUnavailable", or(amount(), 1)),
        (
            "podUpdatePolicy",
            or(one_of(&["ReCreate", "InPlaceIfPossible", "InPlaceOnly"]), "ReCreate"),
        ),
        ("paused", flag()),
        ("unorderedUpdate", map([("priorityStrategy", priority())])),
        ("inPlaceUpdateStrategy", in_place()),
        ("minReadySeconds", or(count(), 0)),
    ]);
    // Only a RollingUpdate has the second part: so it has no default where a type is given.
    let update = map([
        ("type", or(one_of(&["RollingUpdate", "OnDelete"]), "RollingUpdate")),
        ("rollingUpdate", rolling),
    ]);
    let mut status = status([
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "availableReplicas",
        "updatedReplicas",
        "updatedReadyReplicas",
        "updatedAvailableReplicas",
    ]);
    for name in ["currentRevision", "updateRevision", "labelSelector"] {
        status["properties"][name] = text();
    }
    let words = one_of(&["OrderedReady", "Parallel"]);
    Definition {
        kind: "StatefulSet",
        plural: "statefulsets",
        singular: "statefulset",
        short_names: &["sts", "asts"],
        columns: &[
            ("DESIRED", "integer", ".spec.replicas"),
            ("CURRENT", "integer", ".status.replicas"),
            ("UPDATED", "integer", ".status.updatedReplicas"),
            ("READY", "integer", ".status.readyReplicas"),
        ],
        scaled: true,
        spec: spec([
            ("replicas", or(count(), 1)),
            ("serviceName", text()),
            ("podManagementPolicy", or(words, "OrderedReady")),
            ("updateStrategy", or(update, json!({"rollingUpdate": {}}))),
            ("reserveOrdinals", list(&amount())),
            ("ordinals", map([("start", or(count(), 0))])),
            ("scaleStrategy", map([("maxUnavailable", amount())])),
            ("volumeClaimTemplates", list(&free())),
            ("volumeClaimUpdateStrategy", or(map([("type", text())]), json!({}))),
            (
                "persistentVolumeClaimRetentionPolicy",
                map([("whenDeleted", text()), ("whenScaled", text())]),
            ),
        ]),
        status,
    }
    .object()
}
