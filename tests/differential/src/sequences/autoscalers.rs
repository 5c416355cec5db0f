//! HorizontalPodAutoscalers in both of their versions: what one has no field for is in the other's
//! annotations.

use serde_json::{Value, json};

use crate::step::{Step, apply, delete, get, json_patch, merge, post, put, strategic};

const FIRST: &str = "/apis/autoscaling/v1/namespaces/$ns/horizontalpodautoscalers";
const SECOND: &str = "/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers";

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("autoscalers, written in v1", first()),
        ("autoscalers, written in v2", second()),
        ("autoscalers, both versions", both()),
    ]
}

fn scaler(version: &str, name: &str, more: &Value) -> Value {
    let mut spec = json!({
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "maxReplicas": 5,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    json!({
        "apiVersion": format!("autoscaling/{version}"), "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name}, "spec": spec,
    })
}

fn noted(note: &str, text: &str) -> Value {
    let mut object = scaler("v1", "noted", &json!({}));
    object["metadata"]["annotations"] =
        json!({format!("autoscaling.alpha.kubernetes.io/{note}"): text, "mine": "1"});
    object
}

fn one(version: &str, name: &str) -> String {
    format!("/apis/autoscaling/{version}/namespaces/$ns/horizontalpodautoscalers/{name}")
}

fn metrics() -> Value {
    json!([
        {"type": "Resource", "resource": {
            "name": "memory", "target": {"type": "Utilization", "averageUtilization": 60}}},
        {"type": "Resource", "resource": {
            "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}}},
        {"type": "Resource", "resource": {
            "name": "cpu", "target": {"type": "AverageValue", "averageValue": "100m"}}},
        {"type": "Pods", "pods": {
            "metric": {"name": "x", "selector": {
                "matchLabels": {"a": "b"},
                "matchExpressions": [{"key": "c", "operator": "In", "values": ["d", "e"]}]}},
            "target": {"type": "AverageValue", "averageValue": "3"}}},
        {"type": "Object", "object": {
            "metric": {"name": "x<y"},
            "describedObject": {"kind": "Service", "name": "s", "apiVersion": "v1"},
            "target": {"type": "Value", "value": "3k"}}},
        {"type": "Object", "object": {
            "metric": {"name": "x"}, "describedObject": {"kind": "Service", "name": "s"},
            "target": {"type": "AverageValue", "averageValue": "3"}}},
        {"type": "External", "external": {
            "metric": {"name": "x"}, "target": {"type": "AverageValue", "averageValue": "0.5"}}},
        {"type": "ContainerResource", "containerResource": {
            "name": "cpu", "container": "main",
            "target": {"type": "Utilization", "averageUtilization": 50}}},
    ])
}

fn first() -> Vec<Step> {
    let a = one("v1", "a");
    let behavior = r#"{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":7}}"#;
    let other = r#"[{"type":"Pods","pods":{"metricName":"x","targetAverageValue":"0.5"}}]"#;
    vec![
        post(FIRST, scaler("v1", "a", &json!({"targetCPUUtilizationPercentage": 70}))),
        post(FIRST, scaler("v1", "bare", &json!({}))),
        post(FIRST, scaler("v1", "b", &json!({"targetCPUUtilizationPercentage": 0}))),
        post(FIRST, scaler("v1", "b", &json!({"minReplicas": 9}))),
        post(FIRST, scaler("v1", "b", &json!({"minReplicas": 0}))),
        post(FIRST, scaler("v1", "b", &json!({"maxReplicas": "5"}))),
        post(FIRST, scaler("v1", "b", &json!({"scaleTargetRef": {}}))),
        post(FIRST, scaler("v1", "b", &json!({"metrics": metrics()}))),
        post(
            format!("{FIRST}?fieldValidation=Strict"),
            scaler("v1", "c", &json!({"metrics": metrics()})),
        ),
        post(FIRST, scaler("v2", "c", &json!({}))),
        get(&a),
        get(one("v2", "a")),
        get(FIRST),
        put(&a, scaler("v1", "a", &json!({"maxReplicas": 6}))),
        merge(&a, json!({"spec": {"targetCPUUtilizationPercentage": null}})),
        merge(&a, json!({"spec": {"targetCPUUtilizationPercentage": 55, "minReplicas": null}})),
        strategic(&a, json!({"spec": {"scaleTargetRef": {"name": "other"}}})),
        json_patch(&a, json!([{"op": "remove", "path": "/spec/targetCPUUtilizationPercentage"}])),
        merge(&a, json!({"metadata": {"annotations": {"mine": "1"}}})),
        get(one("v2", "a")),
        merge(format!("{a}/status"), json!({"status": {"currentReplicas": 3}})),
        merge(
            format!("{a}/status"),
            json!({"status": {"currentCPUUtilizationPercentage": 12, "desiredReplicas": 2}}),
        ),
        merge(format!("{a}/status"), json!({"status": {"desiredReplicas": -1}})),
        get(format!("{}/status", one("v2", "a"))),
        get(&a),
        post(FIRST, noted("behavior", behavior)),
        get(one("v2", "noted")),
        delete(one("v1", "noted")),
        post(FIRST, noted("metrics", other)),
        get(one("v2", "noted")),
        delete(one("v1", "noted")),
        post(FIRST, noted("metrics", "junk")),
        get(one("v2", "noted")),
        delete(one("v2", "noted")),
        post(FIRST, noted("conditions", r#"[{"type":"A","status":"True"}]"#)),
        get(one("v2", "noted")),
    ]
}

fn second() -> Vec<Step> {
    let a = one("v2", "a");
    let down = json!({"scaleDown": {"stabilizationWindowSeconds": 10, "tolerance": "0.05"}});
    vec![
        post(SECOND, scaler("v2", "a", &json!({"metrics": metrics(), "behavior": down}))),
        get(one("v1", "a")),
        get(format!("{FIRST}?limit=1")),
        merge(one("v1", "a"), json!({"spec": {"targetCPUUtilizationPercentage": 33}})),
        get(&a),
        merge(
            one("v1", "a"),
            json!({"metadata": {"annotations": {
                "autoscaling.alpha.kubernetes.io/behavior": null,
                "autoscaling.alpha.kubernetes.io/metrics": null}}}),
        ),
        get(&a),
        merge(&a, json!({"spec": {"metrics": metrics()}})),
        merge(&a, json!({"spec": {"metrics": null}})),
        get(one("v1", "a")),
        merge(
            format!("{a}/status"),
            json!({"status": {"desiredReplicas": 3, "currentReplicas": 2, "currentMetrics": [
                {"type": "Resource", "resource": {"name": "cpu", "current": {
                    "averageUtilization": 20, "averageValue": "200m"}}}],
                "conditions": [{"type": "AbleToScale", "status": "True",
                    "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "Ok"}]}}),
        ),
        get(one("v1", "a")),
        merge(one("v1", "a"), json!({"spec": {"maxReplicas": 8}})),
        merge(
            &a,
            json!({"metadata": {"annotations": {
            "autoscaling.alpha.kubernetes.io/metrics": "[]", "mine": "1"}}}),
        ),
        get(&a),
    ]
}

fn both() -> Vec<Step> {
    let (one, two) = (one("v1", "a"), one("v2", "a"));
    let in_first = |more| scaler("v1", "a", &more);
    let in_second = |more| scaler("v2", "a", &more);
    let processor = |percent: u32| {
        json!([{"type": "Resource", "resource": {"name": "cpu",
            "target": {"type": "Utilization", "averageUtilization": percent}}}])
    };
    vec![
        apply(&one, "alice", false, in_first(json!({"targetCPUUtilizationPercentage": 50}))),
        apply(&two, "bob", false, in_second(json!({"metrics": processor(50)}))),
        apply(&two, "bob", false, in_second(json!({"metrics": processor(60)}))),
        apply(&two, "bob", true, in_second(json!({"metrics": processor(60)}))),
        apply(&one, "alice", false, in_first(json!({"maxReplicas": 6}))),
        apply(&one, "alice", true, in_first(json!({"maxReplicas": 6}))),
        merge(&two, json!({"spec": {"minReplicas": 2}})),
        merge(&one, json!({"spec": {"minReplicas": 3}})),
        merge(&one, json!({"spec": {"scaleTargetRef": {"name": "other"}}})),
        merge(&two, json!({"spec": {"scaleTargetRef": {"name": "third"}}})),
        get(&one),
        get(&two),
        Step::Mark(SECOND.to_owned()),
        merge(&two, json!({"spec": {"maxReplicas": 9}})),
        get(format!("{FIRST}?watch=true&resourceVersion=$mark&timeoutSeconds=1")),
        get(format!("{SECOND}?watch=true&resourceVersion=$mark&timeoutSeconds=1")),
        delete(FIRST),
        get(SECOND),
    ]
}
