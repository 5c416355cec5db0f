//! Sequences on Deployments and ReplicaSets, written by hand.

use serde_json::{Value, json};

use super::act::{Act, rested};
use super::{DEPLOYMENTS, REPLICASETS, web};
use crate::step::{delete, delete_with, get, json_patch, merge, post, put, strategic};

const WEB: &str = "/apis/apps/v1/namespaces/$ns/deployments/web";

pub(super) fn all() -> Vec<(&'static str, Vec<Act>)> {
    vec![
        ("a Deployment rolls", rolls()),
        ("a Deployment without surge", without_surge()),
        ("a Deployment recreates", recreates()),
        ("a Deployment is paused", paused()),
        ("a Deployment scales in a rollout", proportional()),
        ("a Deployment rolls back", rolls_back()),
        ("a Deployment times out", times_out()),
        ("a Deployment waits for Pods to be long ready", long_ready()),
        ("a Deployment is deleted", deleted()),
        ("a Deployment is refused", refused()),
        ("a ReplicaSet by itself", by_itself()),
    ]
}

/// A Deployment of so many Pods.
pub(super) fn deployment(replicas: u32, edit: impl FnOnce(&mut Value)) -> Value {
    web("Deployment", |spec| {
        spec["replicas"] = replicas.into();
        edit(spec);
    })
}

pub(super) fn bounds(surge: Value, unavailable: Value) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}})
}

pub(super) fn image(image: &str) -> Act {
    let container = json!({"name": "main", "image": image});
    strategic(WEB, json!({"spec": {"template": {"spec": {"containers": [container]}}}})).into()
}

pub(super) fn spec(spec: Value) -> Act {
    merge(WEB, json!({"spec": spec})).into()
}

pub(super) fn scale(replicas: u32) -> Act {
    merge(format!("{WEB}/scale"), json!({"spec": {"replicas": replicas}})).into()
}

fn rolls() -> Vec<Act> {
    rested(vec![
        post(DEPLOYMENTS, deployment(3, |_| {})).into(),
        image("app:v2"),
        get(WEB).into(),
        image("app:v3"),
        scale(5),
        image("app:v4"),
        Act::Lose(0),
        scale(1),
        spec(json!({"revisionHistoryLimit": 1})),
        image("app:v5"),
        merge(WEB, json!({"metadata": {"annotations": {"kubernetes.io/change-cause": "six"}}}))
            .into(),
        image("app:v6"),
        scale(0),
        image("app:v7"),
        scale(2),
        get(format!("{WEB}/scale")).into(),
    ])
}

fn without_surge() -> Vec<Act> {
    rested(vec![
        post(DEPLOYMENTS, deployment(4, |spec| spec["strategy"] = bounds(json!(0), json!("50%"))))
            .into(),
        image("app:v2"),
        image("broken:v3"),
        image("app:v4"),
        spec(json!({"strategy": bounds(json!(0), json!(1))})),
        image("broken:v5"),
        scale(6),
        image("app:v2"),
    ])
}

fn recreates() -> Vec<Act> {
    rested(vec![
        post(DEPLOYMENTS, deployment(2, |spec| spec["strategy"] = json!({"type": "Recreate"})))
            .into(),
        image("app:v2"),
        image("broken:v3"),
        scale(3),
        image("app:v1"),
        merge(WEB, json!({"spec": {"strategy": {"type": "RollingUpdate"}}})).into(),
        image("app:v4"),
        merge(WEB, json!({"spec": {"strategy": {"type": "Recreate"}}})).into(),
        merge(WEB, json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}}))
            .into(),
        image("app:v5"),
        scale(0),
        image("app:v6"),
    ])
}

fn paused() -> Vec<Act> {
    rested(vec![
        post(DEPLOYMENTS, deployment(2, |spec| spec["paused"] = true.into())).into(),
        spec(json!({"paused": null})),
        spec(json!({"paused": true})),
        image("app:v2"),
        scale(3),
        spec(json!({"paused": false})),
        spec(json!({"paused": true})),
        image("app:v1"),
        spec(json!({"paused": false, "progressDeadlineSeconds": 300})),
        image("broken:v3"),
        spec(json!({"paused": true})),
        scale(6),
        scale(2),
        spec(json!({"paused": null})),
        image("app:v4"),
    ])
}

fn proportional() -> Vec<Act> {
    rested(vec![
        post(DEPLOYMENTS, deployment(10, |spec| spec["strategy"] = bounds(json!(3), json!(2))))
            .into(),
        image("broken:v2"),
        scale(15),
        scale(5),
        image("broken:v3"),
        scale(12),
        scale(0),
        scale(4),
        image("app:v4"),
    ])
}

fn rolls_back() -> Vec<Act> {
    let template = |image: &str| {
        let whole = deployment(1, |_| {});
        let mut template = whole["spec"]["template"].clone();
        template["spec"]["containers"][0]["image"] = image.into();
        json!([{"op": "replace", "path": "/spec/template", "value": template}])
    };
    let restart = |at: &str| {
        let annotations = json!({"kubectl.kubernetes.io/restartedAt": at});
        let body = json!({"spec": {"template": {"metadata": {"annotations": annotations}}}});
        Act::from(strategic(WEB, body))
    };
    rested(vec![
        post(DEPLOYMENTS, deployment(3, |_| {})).into(),
        image("app:v2"),
        json_patch(WEB, template("app:v1")).into(),
        json_patch(WEB, template("app:v2")).into(),
        image("broken:v3"),
        json_patch(WEB, template("app:v2")).into(),
        restart("2026-01-01T00:00:00Z"),
        restart("2026-01-01T00:01:00Z"),
        json_patch(WEB, template("app:v1")).into(),
    ])
}

fn times_out() -> Vec<Act> {
    // With none unavailable, so that no Pod comes and goes while a change is shared out.
    let steady = deployment(3, |spec| {
        spec["progressDeadlineSeconds"] = 6.into();
        spec["strategy"] = bounds(json!(1), json!(0));
    });
    vec![
        post(DEPLOYMENTS, steady).into(),
        Act::Rest,
        image("broken:v2"),
        Act::Pass(10),
        Act::Rest,
        scale(4),
        Act::Rest,
        spec(json!({"paused": true})),
        Act::Rest,
        spec(json!({"paused": false})),
        Act::Rest,
        image("app:v1"),
        Act::Rest,
        spec(json!({"progressDeadlineSeconds": i32::MAX})),
        Act::Rest,
        image("app:v3"),
        Act::Rest,
        spec(json!({"progressDeadlineSeconds": 600})),
        Act::Rest,
    ]
}

fn long_ready() -> Vec<Act> {
    vec![
        post(DEPLOYMENTS, deployment(2, |spec| spec["minReadySeconds"] = 2.into())).into(),
        Act::Pass(3),
        Act::Rest,
        image("app:v2"),
        Act::Pass(8),
        Act::Rest,
        spec(json!({"minReadySeconds": 1})),
        Act::Pass(3),
        Act::Rest,
        scale(4),
        Act::Pass(3),
        Act::Rest,
    ]
}

fn deleted() -> Vec<Act> {
    let policy =
        |policy: &str| Act::Quietly(delete_with(WEB, json!({"propagationPolicy": policy})));
    rested(vec![
        post(DEPLOYMENTS, deployment(2, |_| {})).into(),
        image("app:v2"),
        policy("Orphan"),
        post(DEPLOYMENTS, deployment(3, |_| {})).into(),
        Act::Quietly(delete(format!("{REPLICASETS}/$old"))),
        policy("Foreground"),
        post(DEPLOYMENTS, deployment(1, |_| {})).into(),
        policy("Background"),
    ])
}

fn refused() -> Vec<Act> {
    let with = |edit: fn(&mut Value)| Act::from(post(DEPLOYMENTS, deployment(1, edit)));
    vec![
        with(|spec| spec["selector"] = json!({"matchLabels": {"app": "other"}})),
        with(|spec| spec["selector"] = json!({})),
        with(|spec| spec["selector"] = Value::Null),
        with(|spec| spec["replicas"] = (-1).into()),
        with(|spec| spec["strategy"] = json!({"type": "Nonsense"})),
        with(|spec| spec["strategy"] = bounds(json!(0), json!(0))),
        with(|spec| spec["strategy"] = bounds(json!("0%"), json!("0%"))),
        with(|spec| spec["strategy"] = bounds(json!(-1), json!("many"))),
        with(|spec| spec["strategy"] = bounds(json!("250%"), json!("101%"))),
        with(|spec| spec["strategy"] = json!({"type": "Recreate", "rollingUpdate": {}})),
        with(|spec| spec["strategy"] = json!({"type": ""})),
        with(|spec| spec["minReadySeconds"] = (-1).into()),
        with(|spec| spec["minReadySeconds"] = 600.into()),
        with(|spec| spec["revisionHistoryLimit"] = (-1).into()),
        with(|spec| spec["progressDeadlineSeconds"] = (-5).into()),
        with(|spec| spec["progressDeadlineSeconds"] = 0.into()),
        with(|spec| spec["template"]["spec"]["restartPolicy"] = "Never".into()),
        with(|spec| spec["template"]["spec"]["activeDeadlineSeconds"] = 5.into()),
        with(|spec| spec["template"]["spec"]["containers"] = json!([])),
        with(|spec| spec["template"]["metadata"] = json!({})),
        post(DEPLOYMENTS, json!({"metadata": {"name": "Web"}, "spec": {}})).into(),
        post(DEPLOYMENTS, deployment(1, |_| {})).into(),
        Act::Rest,
        spec(json!({"selector": {"matchLabels": {"app": "x"}}})),
        spec(json!({"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}})),
        spec(json!({"replicas": "two"})),
        spec(json!({"template": {"metadata": {"labels": null}}})),
        put(WEB, deployment(2, |_| {})).into(),
        Act::Rest,
        get(DEPLOYMENTS).into(),
    ]
}

fn by_itself() -> Vec<Act> {
    let own = format!("{REPLICASETS}/web");
    let set = |replicas: u32, edit: fn(&mut Value)| {
        let object = web("ReplicaSet", |spec| {
            spec["replicas"] = replicas.into();
            edit(spec);
        });
        Act::from(post(REPLICASETS, object))
    };
    rested(vec![
        set(1, |spec| spec["selector"] = json!({"matchLabels": {"app": "other"}})),
        set(1, |spec| spec["selector"] = json!({})),
        set(1, |spec| spec["minReadySeconds"] = (-1).into()),
        set(2, |_| {}),
        Act::Lose(0),
        Act::Pod(0, json!({"metadata": {"labels": {"app": "stray"}}})),
        merge(format!("{own}/scale"), json!({"spec": {"replicas": 1}})).into(),
        merge(own.clone(), json!({"spec": {"minReadySeconds": 1}})).into(),
        merge(own.clone(), json!({"spec": {"selector": {"matchLabels": {"app": "x"}}}})).into(),
        merge(own.clone(), json!({"spec": {"template": {"metadata": {"labels": {"more": "x"}}}}}))
            .into(),
        merge(format!("{own}/scale"), json!({"spec": {"replicas": 3}})).into(),
        Act::Quietly(delete_with(own, json!({"propagationPolicy": "Orphan"}))),
        set(2, |_| {}),
    ])
}
