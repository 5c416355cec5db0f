//! StatefulSet rollouts, step by step.

use serde_json::{Value, json};

use super::{PODS, SETS, WEB, image, quick, web};
use crate::step::{Step, apply, delete, delete_with, get, merge, post, put, strategic};

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("rollout by a partition", partition()),
        ("rollout under OnDelete", on_delete()),
        ("a switch between strategies", switch()),
        ("scale in mid-rollout", scaling()),
        ("a bad image, and back", bad_image()),
        ("one by one", ordered()),
        ("sets that are refused", refused()),
        ("deletion of a set", deletion()),
    ]
}

fn rolling(partition: u32) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}})
}

fn to(partition: u32) -> Step {
    merge(WEB, json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": partition}}}}))
}

fn rested(steps: Vec<Step>) -> Vec<Step> {
    steps.into_iter().flat_map(|step| [step, Step::Rest]).collect()
}

fn lose(number: u32) -> Step {
    delete(format!("{PODS}/web-{number}"))
}

fn partition() -> Vec<Step> {
    rested(vec![
        post(SETS, web(3, rolling(3))),
        strategic(WEB, image("app:v2")),
        lose(0),
        lose(2),
        to(2),
        lose(0),
        lose(2),
        to(1),
        strategic(WEB, image("app:v3")),
        lose(1),
        lose(0),
        to(3),
        lose(2),
        lose(1),
        to(0),
        strategic(WEB, image("app:v2")),
        strategic(WEB, image("app:v2")),
    ])
}

fn on_delete() -> Vec<Step> {
    rested(vec![
        post(SETS, web(3, json!({"type": "OnDelete"}))),
        strategic(WEB, image("app:v2")),
        lose(1),
        lose(0),
        strategic(WEB, image("app:v3")),
        lose(1),
        lose(2),
        strategic(WEB, image("app:v1")),
        lose(0),
        lose(1),
        lose(2),
        delete_with(format!("{PODS}/web-1"), json!({"gracePeriodSeconds": 0})),
    ])
}

fn switch() -> Vec<Step> {
    let on_delete = || {
        merge(WEB, json!({"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}}}))
    };
    rested(vec![
        post(SETS, web(3, rolling(3))),
        strategic(WEB, image("app:v2")),
        on_delete(),
        lose(0),
        lose(2),
        merge(WEB, json!({"spec": {"updateStrategy": rolling(2)}})),
        lose(0),
        lose(1),
        on_delete(),
        strategic(WEB, image("app:v3")),
        lose(1),
        merge(WEB, json!({"spec": {"updateStrategy": {"type": "RollingUpdate"}}})),
        merge(WEB, json!({"spec": {"updateStrategy": {"type": "OnDelete"}}})),
        merge(WEB, json!({"spec": {"updateStrategy": null}})),
    ])
}

fn scaling() -> Vec<Step> {
    let scale =
        |replicas: i32| merge(format!("{WEB}/scale"), json!({"spec": {"replicas": replicas}}));
    rested(vec![
        post(SETS, web(3, rolling(2))),
        strategic(WEB, image("app:v2")),
        scale(5),
        scale(1),
        scale(3),
        strategic(WEB, image("app:v3")),
        scale(0),
        scale(2),
        to(0),
        scale(-1),
        get(format!("{WEB}/scale")),
        merge(
            WEB,
            json!({"spec": {"replicas": 4, "updateStrategy": {"type": "OnDelete", "rollingUpdate": null}}}),
        ),
        strategic(WEB, image("app:v4")),
        scale(6),
        lose(0),
        scale(2),
    ])
}

fn bad_image() -> Vec<Step> {
    rested(vec![
        post(SETS, web(3, rolling(0))),
        strategic(WEB, image("broken:v2")),
        strategic(WEB, image("app:v1")),
        lose(2),
        strategic(WEB, image("broken:v3")),
        strategic(WEB, image("app:v4")),
        merge(WEB, json!({"spec": {"replicas": 2}})),
        lose(1),
        lose(0),
    ])
}

fn ordered() -> Vec<Step> {
    let mut set = web(3, rolling(0));
    set["spec"]["podManagementPolicy"] = "OrderedReady".into();
    set["spec"]["revisionHistoryLimit"] = 1.into();
    rested(vec![
        post(SETS, set),
        strategic(WEB, image("app:v2")),
        strategic(WEB, image("broken:v3")),
        lose(0),
        strategic(WEB, image("app:v4")),
        lose(2),
        strategic(WEB, image("app:v5")),
        merge(WEB, json!({"spec": {"replicas": 1}})),
        strategic(WEB, image("app:v2")),
        merge(WEB, json!({"spec": {"minReadySeconds": 2}})),
    ])
}

fn refused() -> Vec<Step> {
    let mut other = web(1, rolling(0));
    other["spec"]["selector"]["matchLabels"]["app"] = "other".into();
    let mut early = web(1, json!({"type": "Nonsense"}));
    early["metadata"]["name"] = "early".into();
    vec![
        post(SETS, other),
        post(SETS, early),
        post(SETS, web(1, json!({"type": "OnDelete", "rollingUpdate": {"partition": 1}}))),
        post(SETS, json!({"metadata": {"name": "web"}, "spec": {}})),
        post(SETS, web(1, rolling(0))),
        Step::Rest,
        merge(WEB, json!({"spec": {"serviceName": "other"}})),
        merge(WEB, json!({"spec": {"selector": {"matchLabels": {"app": "x"}}}})),
        merge(WEB, json!({"spec": {"podManagementPolicy": "OrderedReady"}})),
        merge(WEB, json!({"spec": {"replicas": -1}})),
        merge(WEB, json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": -1}}}})),
        merge(WEB, json!({"spec": {"minReadySeconds": -1}})),
        merge(WEB, json!({"spec": {"template": {"metadata": {"labels": null}}}})),
        strategic(WEB, image("")),
        merge(WEB, json!({"spec": {"replicas": "two"}})),
        put(WEB, web(2, rolling(0))),
        Step::Rest,
        apply(WEB, "one", false, web(1, rolling(0))),
        apply(
            WEB,
            "two",
            false,
            json!({
                "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web"},
                "spec": {"replicas": 2, "template": {"metadata": {"annotations": quick()}}},
            }),
        ),
        Step::Rest,
        get(WEB),
        merge(format!("{PODS}/web-0"), json!({"spec": {"hostname": "x"}})),
        strategic(
            format!("{PODS}/web-0"),
            json!({"spec": {"containers": [{"name": "main", "image": "app:v9"}]}}),
        ),
        Step::Rest,
        merge(format!("{PODS}/web-0"), json!({"metadata": {"labels": {"app": "stray"}}})),
        Step::Rest,
        get(format!("{PODS}?labelSelector=app%3Dstray")),
    ]
}

fn deletion() -> Vec<Step> {
    vec![
        post(SETS, web(2, rolling(0))),
        Step::Rest,
        delete_with(WEB, json!({"propagationPolicy": "Orphan"})),
        Step::Rest,
        post(SETS, web(2, rolling(0))),
        Step::Rest,
        strategic(WEB, image("app:v2")),
        Step::Rest,
        delete_with(WEB, json!({"propagationPolicy": "Foreground"})),
        Step::Rest,
        post(SETS, web(2, rolling(0))),
        Step::Rest,
        delete(WEB),
        Step::Rest,
    ]
}
