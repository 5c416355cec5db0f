//! What StatefulSets seldom use: claims, other ordinals, a short history, Pods that are waited for, and
//! others who write on them.

use serde_json::{Value, json};

use super::{BUDGETS, PODS, SETS, WEB, budget, image, pod, web};
use crate::step::{Step, apply, delete, delete_with, get, json_patch, merge, post, put, strategic};

const REVISIONS: &str = "/apis/apps/v1/namespaces/$ns/controllerrevisions";

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("claims of a set", claims()),
        ("ordinals that start elsewhere", ordinals()),
        ("a short history", history()),
        ("Pods that have to be ready for long", waited_for()),
        ("more than one at a time", at_a_time()),
        ("a status that others write", statuses()),
        ("the scale of a set", scales()),
        ("Pods that are held", held()),
        ("collections of workloads", collections()),
    ]
}

fn rested(steps: Vec<Step>) -> Vec<Step> {
    steps.into_iter().flat_map(|step| [step, Step::Rest]).collect()
}

fn rolling(partition: u32) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}})
}

fn spec(spec: Value) -> Step {
    merge(WEB, json!({"spec": spec}))
}

fn scale(replicas: u32) -> Step {
    merge(format!("{WEB}/scale"), json!({"spec": {"replicas": replicas}}))
}

fn claims() -> Vec<Step> {
    let keep = |deleted: &str, scaled: &str| {
        let policy = json!({"whenDeleted": deleted, "whenScaled": scaled});
        spec(json!({"persistentVolumeClaimRetentionPolicy": policy}))
    };
    let mut set = web(2, rolling(0));
    set["spec"]["volumeClaimTemplates"] = json!([{
        "metadata": {"name": "data", "labels": {"x": "1"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }]);
    rested(vec![
        post(SETS, set),
        scale(1),
        keep("Delete", "Retain"),
        keep("Sometimes", "Retain"),
        keep("Retain", "Never"),
        keep("Retain", "Retain"),
        spec(json!({"volumeClaimTemplates": []})),
        scale(2),
        delete(format!("{PODS}/web-1")),
        delete_with(WEB, json!({"propagationPolicy": "Foreground"})),
    ])
}

fn ordinals() -> Vec<Step> {
    let start = |start: Value| spec(json!({"ordinals": start}));
    let mut set = web(2, rolling(1));
    set["spec"]["ordinals"] = json!({"start": 2});
    rested(vec![
        post(SETS, set),
        strategic(WEB, image("app:v2")),
        start(json!({"start": 3})),
        start(json!({"start": 0})),
        scale(3),
        start(Value::Null),
        start(json!({"start": -1})),
        start(json!({"start": 1})),
        spec(json!({"updateStrategy": {"rollingUpdate": {"partition": 0}}})),
        spec(json!({"podManagementPolicy": "OrderedReady"})),
    ])
}

fn history() -> Vec<Step> {
    let limit = |limit: Value| spec(json!({"revisionHistoryLimit": limit}));
    let mut set = web(1, rolling(0));
    set["spec"]["revisionHistoryLimit"] = 0.into();
    rested(vec![
        post(SETS, set),
        strategic(WEB, image("app:v2")),
        strategic(WEB, image("app:v3")),
        limit(json!(2)),
        strategic(WEB, image("app:v4")),
        strategic(WEB, image("app:v5")),
        strategic(WEB, image("app:v6")),
        strategic(WEB, image("app:v4")),
        limit(json!(-1)),
        limit(json!(0)),
        limit(Value::Null),
        spec(json!({"updateStrategy": rolling(1)})),
        strategic(WEB, image("app:v7")),
        limit(json!(0)),
        strategic(WEB, image("app:v8")),
        delete(format!("{REVISIONS}?labelSelector=app%3Dnobody")),
        delete(format!("{PODS}/web-0")),
        delete(REVISIONS),
    ])
}

fn waited_for() -> Vec<Step> {
    let until = |field: &'static str, value: Value| Step::Until(WEB.to_owned(), field, value, 60);
    let mut set = web(3, rolling(2));
    set["spec"]["minReadySeconds"] = 3.into();
    let over = || [until("/status/availableReplicas", json!(3)), Step::Rest];
    let mut out = vec![post(SETS, set), budget("one", "web", json!({"maxUnavailable": 1}))];
    out.extend(over());
    out.extend([strategic(WEB, image("app:v2")), until("/status/updatedReplicas", json!(1))]);
    out.extend(over());
    out.extend([
        spec(json!({"updateStrategy": {"rollingUpdate": {"partition": 1}}})),
        until("/status/updatedReplicas", json!(2)),
    ]);
    out.extend(over());
    out.extend([spec(json!({"minReadySeconds": 0})), Step::Rest, scale(0), Step::Rest]);
    out
}

fn at_a_time() -> Vec<Step> {
    let most = |most: Value| {
        spec(
            json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": most}}}),
        )
    };
    let mut set = web(3, rolling(0));
    set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = 2.into();
    rested(vec![
        post(SETS, set),
        strategic(WEB, image("app:v2")),
        most(json!("50%")),
        most(json!(0)),
        most(json!("0%")),
        most(json!("150%")),
        most(json!("many")),
        strategic(WEB, image("app:v3")),
        most(Value::Null),
    ])
}

fn statuses() -> Vec<Step> {
    let own = format!("{WEB}/status");
    let status = |status: Value| json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web"}, "status": status});
    let condition = json!({"type": "Tested", "status": "True", "reason": "R", "message": "m"});
    rested(vec![
        post(SETS, web(2, rolling(0))),
        merge(own.clone(), json!({"status": {"replicas": 9, "readyReplicas": 9}})),
        merge(own.clone(), json!({"spec": {"replicas": 1}})),
        merge(own.clone(), json!({"status": {"conditions": [condition]}})),
        scale(1),
        strategic(
            own.clone(),
            json!({"status": {"conditions": [{"type": "More", "status": "False"}]}}),
        ),
        json_patch(own.clone(), json!([{"op": "remove", "path": "/status/conditions/0"}])),
        json_patch(own.clone(), json!([{"op": "remove", "path": "/status"}])),
        put(own.clone(), status(json!({"replicas": 3, "observedGeneration": 9}))),
        apply(&own, "one", false, status(json!({"replicas": 7}))),
        apply(&own, "one", true, status(json!({"replicas": 7}))),
        apply(&own, "one", false, status(json!({"conditions": [condition]}))),
        apply(&own, "one", false, status(json!({}))),
        get(own),
        merge(format!("{PODS}/web-0/status"), json!({"status": {"phase": "Failed"}})),
    ])
}

fn scales() -> Vec<Step> {
    let own = format!("{WEB}/scale");
    let wanted = |replicas: Value| {
        json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "web", "namespace": "$ns"}, "spec": {"replicas": replicas},
        })
    };
    let set = |replicas: Value| {
        let mut set = web(1, rolling(0));
        set["spec"]["replicas"] = replicas;
        set
    };
    let mut versioned = wanted(json!(2));
    versioned["metadata"]["resourceVersion"] = "1".into();
    rested(vec![
        apply(WEB, "one", false, set(json!(1))),
        apply(&own, "two", false, wanted(json!(2))),
        apply(&own, "two", true, wanted(json!(2))),
        apply(WEB, "one", false, set(json!(1))),
        apply(WEB, "one", false, set(Value::Null)),
        apply(WEB, "one", true, set(json!(3))),
        put(own.clone(), wanted(json!(2))),
        put(own.clone(), versioned),
        put(format!("{own}?dryRun=All"), wanted(json!(5))),
        put(own.clone(), wanted(json!(-1))),
        put(own.clone(), wanted(json!("two"))),
        put(own.clone(), web(2, rolling(0))),
        merge(own.clone(), json!({"spec": {"replicas": null}})),
        merge(own.clone(), json!({"spec": {"replicas": 1}, "status": {"replicas": 9}})),
        merge(own.clone(), json!({"metadata": {"labels": {"x": "1"}}})),
        json_patch(own.clone(), json!([{"op": "replace", "path": "/spec/replicas", "value": 2}])),
        json_patch(own.clone(), json!([{"op": "replace", "path": "/spec/replicas", "value": "2"}])),
        strategic(own.clone(), json!({"spec": {"replicas": 1}})),
        delete(own.clone()),
        get(own),
    ])
}

fn held() -> Vec<Step> {
    let hold = |name: &str| {
        merge(format!("{PODS}/{name}"), json!({"metadata": {"finalizers": ["example.com/hold"]}}))
    };
    let free =
        |name: &str| merge(format!("{PODS}/{name}"), json!({"metadata": {"finalizers": null}}));
    let mut out = rested(vec![
        post(SETS, web(3, rolling(0))),
        budget("one", "web", json!({"maxUnavailable": 1})),
        hold("web-1"),
        delete(format!("{PODS}/web-1")),
        strategic(WEB, image("app:v2")),
        scale(1),
        free("web-1"),
        hold("web-0"),
        scale(0),
        scale(2),
        free("web-0"),
    ]);
    // Not in the foreground: its controller writes a revision anew that the collector has taken, if it looks
    // once more while the set is still there.
    out.extend(rested(vec![
        hold("web-0"),
        delete_with(WEB, json!({"propagationPolicy": "Background"})),
        free("web-0"),
        post(SETS, web(1, rolling(0))),
    ]));
    out
}

fn collections() -> Vec<Step> {
    let mut other = web(1, rolling(0));
    other["metadata"]["name"] = "other".into();
    other["metadata"]["labels"] = json!({"x": "1"});
    other["spec"]["selector"]["matchLabels"]["app"] = "other".into();
    other["spec"]["template"]["metadata"]["labels"]["app"] = "other".into();
    rested(vec![
        post(SETS, web(2, rolling(0))),
        post(SETS, other.clone()),
        post(PODS, pod("spare", "spare", "app:v1")),
        budget("one", "web", json!({"maxUnavailable": 0})),
        budget("two", "other", json!({"minAvailable": "50%"})),
        delete(format!("{PODS}?labelSelector=app%20in%20(web,spare)")),
        delete_with(format!("{PODS}?labelSelector=app%3Dother"), json!({"gracePeriodSeconds": 0})),
        delete(format!("{PODS}?dryRun=All")),
        delete(format!("{BUDGETS}?fieldSelector=metadata.name%3Dtwo")),
        delete_with(format!("{SETS}?labelSelector=x%3D1"), json!({"propagationPolicy": "Orphan"})),
        post(SETS, other),
        delete_with(SETS, json!({"propagationPolicy": "Foreground"})),
        delete(BUDGETS),
        delete(PODS),
    ])
}
