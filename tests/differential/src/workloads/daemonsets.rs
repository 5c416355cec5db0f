//! Sequences on DaemonSets, written by hand.
//!
//! The Nodes are those of all sequences: each chooses its own by a label that is named after its
//! namespace.

use serde_json::{Value, json};

use super::act::{Act, rested};
use super::{DAEMONSETS, web};
use crate::step::{delete_with, get, merge, post, put, strategic};

const WEB: &str = "/apis/apps/v1/namespaces/$ns/daemonsets/web";

pub(super) fn all() -> Vec<(&'static str, Vec<Act>)> {
    vec![
        ("a DaemonSet rolls", rolls()),
        ("a DaemonSet surges", surges()),
        ("a DaemonSet waits for deletions", on_delete()),
        ("a DaemonSet follows its Nodes", follows()),
        ("a DaemonSet is deleted", deleted()),
        ("a DaemonSet is refused", refused()),
    ]
}

/// A DaemonSet.
pub(super) fn daemon(edit: impl FnOnce(&mut Value)) -> Value {
    web("DaemonSet", edit)
}

pub(super) fn image(image: &str) -> Act {
    let container = json!({"name": "main", "image": image});
    strategic(WEB, json!({"spec": {"template": {"spec": {"containers": [container]}}}})).into()
}

pub(super) fn spec(spec: Value) -> Act {
    merge(WEB, json!({"spec": spec})).into()
}

pub(super) fn unavailable(amount: Value) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": amount, "maxSurge": 0}})
}

pub(super) fn surge(amount: Value) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": amount, "maxUnavailable": 0}})
}

/// Labels a Node for the sequence, or takes the label off.
pub(super) fn label(node: u8, value: Value) -> Act {
    let body = json!({"metadata": {"labels": {"$ns": value}}});
    Act::Quietly(merge(format!("/api/v1/nodes/node-{node}"), body))
}

fn rolls() -> Vec<Act> {
    rested(vec![
        post(DAEMONSETS, daemon(|_| {})).into(),
        image("app:v2"),
        get(WEB).into(),
        Act::Lose(0),
        image("broken:v3"),
        image("app:v2"),
        spec(json!({"updateStrategy": unavailable(json!("100%"))})),
        image("app:v4"),
        spec(json!({"revisionHistoryLimit": 1})),
        image("app:v5"),
        image("app:v1"),
        merge(WEB, json!({"metadata": {"annotations": {"kubernetes.io/change-cause": "x"}}}))
            .into(),
        image("app:v6"),
    ])
}

fn surges() -> Vec<Act> {
    rested(vec![
        post(DAEMONSETS, daemon(|spec| spec["updateStrategy"] = surge(json!(1)))).into(),
        image("app:v2"),
        image("broken:v3"),
        Act::Lose(0),
        image("app:v4"),
        spec(json!({"updateStrategy": surge(json!("50%"))})),
        image("app:v5"),
        image("broken:v6"),
        image("app:v5"),
    ])
}

fn on_delete() -> Vec<Act> {
    let on_delete = json!({"type": "OnDelete", "rollingUpdate": null});
    rested(vec![
        post(DAEMONSETS, daemon(|spec| spec["updateStrategy"] = json!({"type": "OnDelete"})))
            .into(),
        image("app:v2"),
        Act::Lose(0),
        Act::Lose(2),
        spec(json!({"updateStrategy": unavailable(json!(1))})),
        spec(json!({"updateStrategy": on_delete})),
        image("app:v3"),
        Act::Pod(0, json!({"metadata": {"labels": {"app": "stray"}}})),
        spec(json!({"minReadySeconds": 1})),
        Act::Lose(0),
    ])
}

fn follows() -> Vec<Act> {
    let chosen = |spec: &mut Value| {
        spec["template"]["spec"]["nodeSelector"] = json!({"$ns": "yes"});
    };
    rested(vec![
        post(DAEMONSETS, daemon(chosen)).into(),
        label(0, json!("yes")),
        label(1, json!("yes")),
        image("app:v2"),
        label(0, json!("no")),
        label(2, json!("yes")),
        image("app:v3"),
        label(0, json!("yes")),
        label(1, Value::Null),
        image("app:v1"),
        merge(WEB, json!({"spec": {"template": {"spec": {"nodeSelector": null}}}})).into(),
        merge(WEB, json!({"spec": {"template": {"spec": {"nodeName": "node-1"}}}})).into(),
    ])
}

fn deleted() -> Vec<Act> {
    let policy =
        |policy: &str| Act::Quietly(delete_with(WEB, json!({"propagationPolicy": policy})));
    rested(vec![
        post(DAEMONSETS, daemon(|_| {})).into(),
        image("app:v2"),
        policy("Orphan"),
        post(DAEMONSETS, daemon(|_| {})).into(),
        policy("Foreground"),
        post(DAEMONSETS, daemon(|_| {})).into(),
        policy("Background"),
    ])
}

fn refused() -> Vec<Act> {
    let with = |edit: fn(&mut Value)| Act::from(post(DAEMONSETS, daemon(edit)));
    let rolling = |amounts: Value| json!({"type": "RollingUpdate", "rollingUpdate": amounts});
    let strategy = |strategy: Value| {
        Act::from(post(DAEMONSETS, daemon(|spec| spec["updateStrategy"] = strategy)))
    };
    vec![
        with(|spec| spec["selector"] = json!({"matchLabels": {"app": "other"}})),
        with(|spec| spec["selector"] = json!({})),
        with(|spec| spec["selector"] = Value::Null),
        strategy(json!({"type": "Nonsense"})),
        strategy(json!({"type": ""})),
        strategy(json!({"type": "OnDelete", "rollingUpdate": {}})),
        strategy(rolling(json!({"maxUnavailable": 0}))),
        strategy(rolling(json!({"maxUnavailable": 1, "maxSurge": 1}))),
        strategy(rolling(json!({"maxUnavailable": "many", "maxSurge": -1}))),
        strategy(rolling(json!({"maxUnavailable": "101%", "maxSurge": "200%"}))),
        with(|spec| spec["minReadySeconds"] = (-1).into()),
        with(|spec| spec["revisionHistoryLimit"] = (-1).into()),
        with(|spec| spec["template"]["spec"]["restartPolicy"] = "OnFailure".into()),
        with(|spec| spec["template"]["spec"]["activeDeadlineSeconds"] = 5.into()),
        post(DAEMONSETS, json!({"metadata": {"name": "web"}, "spec": {}})).into(),
        post(DAEMONSETS, daemon(|_| {})).into(),
        Act::Rest,
        spec(json!({"selector": {"matchLabels": {"app": "x"}}})),
        spec(json!({"updateStrategy": {"rollingUpdate": {"maxSurge": 1}}})),
        spec(json!({"template": {"metadata": {"labels": null}}})),
        put(WEB, daemon(|_| {})).into(),
        Act::Rest,
        get(DAEMONSETS).into(),
    ]
}
