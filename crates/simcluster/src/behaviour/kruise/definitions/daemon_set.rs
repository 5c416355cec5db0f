//! The definition of an Advanced DaemonSet.

use super::Definition;
use super::schema::{amount, flag, map, one_of, or, selector, spec, status, text};
use crate::json::{Value, json};

pub(super) fn definition() -> Value {
    let rolling = map([
        (
            "rollingUpdateType",
            or(one_of(&["Standard", "Surging", "InPlaceIfPossible"]), "Standard"),
        ),
        ("maxUnavailable", or(amount(), 1)),
        ("maxSurge", amount()),
        ("partition", amount()),
        ("paused", flag()),
        ("selector", selector()),
    ]);
    // Only a RollingUpdate has the second part: so it has no default where a type is given.
    let update = map([
        ("type", or(one_of(&["RollingUpdate", "OnDelete"]), "RollingUpdate")),
        ("rollingUpdate", rolling),
    ]);
    let mut status = status([
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "updatedNumberScheduled",
        "numberMisscheduled",
        "numberReady",
        "numberAvailable",
        "numberUnavailable",
    ]);
    // Of v1alpha1 and of v1beta1: the same hash under two names.
    for name in ["daemonSetHash", "updateRevision"] {
        status["properties"][name] = text();
    }
    Definition {
        kind: "DaemonSet",
        plural: "daemonsets",
        singular: "daemonset",
        short_names: &["daemon", "ads"],
        columns: &[
            ("DESIRED", "integer", ".status.desiredNumberScheduled"),
            ("CURRENT", "integer", ".status.currentNumberScheduled"),
            ("READY", "integer", ".status.numberReady"),
            ("UP-TO-DATE", "integer", ".status.updatedNumberScheduled"),
            ("AVAILABLE", "integer", ".status.numberAvailable"),
        ],
        scaled: false,
        spec: spec([
            ("updateStrategy", or(update, json!({"rollingUpdate": {"maxSurge": 0}}))),
            ("burstReplicas", or(amount(), 250)),
            ("scaleStrategy", map([("partitionedScaling", flag())])),
        ]),
        status,
    }
    .object()
}
