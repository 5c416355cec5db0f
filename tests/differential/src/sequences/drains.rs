//! Evictions with every kind of option, Pods that a budget counts in its own way, and budgets that select
//! in theirs.

use serde_json::{Value, json};

use super::{BUDGETS, PODS, SETS, WEB, budget, pod, web};
use crate::step::{Step, delete, evict, get, merge, post};

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("evictions with options", options()),
        ("Pods that are no longer or not yet there", states()),
        ("what a budget selects", selectors()),
        ("shares of what has no controller", shares()),
    ]
}

fn rested(steps: Vec<Step>) -> Vec<Step> {
    steps.into_iter().flat_map(|step| [step, Step::Rest]).collect()
}

fn set(replicas: u32) -> Step {
    post(SETS, web(replicas, json!({"type": "OnDelete"})))
}

fn bound(spec: Value) -> Step {
    merge(format!("{BUDGETS}/one"), json!({"spec": spec}))
}

fn options() -> Vec<Step> {
    let pod = format!("{PODS}/web-0");
    let body = json!({
        "apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": {"name": "web-0", "namespace": "$ns"},
    });
    let with = |field: &str, value: Value| {
        let mut body = body.clone();
        body[field] = value;
        post(format!("{pod}/eviction"), body)
    };
    let query = |query: &str| post(format!("{pod}/eviction?{query}"), body.clone());
    rested(vec![
        set(3),
        budget("one", "web", json!({"maxUnavailable": "34%"})),
        evict("web-0", json!({"preconditions": {"resourceVersion": "1"}})),
        evict("web-0", json!({"preconditions": {"resourceVersion": format!("$rv({pod})")}})),
        evict("web-0", json!({"gracePeriodSeconds": 0})),
        evict("web-0", json!({"gracePeriodSeconds": -1})),
        evict("web-0", json!({"propagationPolicy": "Foreground"})),
        evict("web-0", json!({"propagationPolicy": "Nonsense"})),
        evict("web-0", json!({"orphanDependents": true})),
        evict("web-0", json!({"dryRun": ["Some"]})),
        query("dryRun=All"),
        query("dryRun=Some"),
        query("fieldValidation=Strict&fieldManager=me"),
        with("apiVersion", json!("policy/v1beta1")),
        with("kind", json!("Pod")),
        with("unknown", json!(1)),
        with("metadata", json!({"name": "web-0", "namespace": "elsewhere"})),
        with("deleteOptions", json!({"apiVersion": "v1", "kind": "DeleteOptions"})),
        post(format!("{pod}/eviction"), json!([])),
        post(format!("{pod}/eviction"), json!("{")),
    ])
}

fn states() -> Vec<Step> {
    let phase = |name: &str, phase: &str| {
        merge(format!("{PODS}/{name}/status"), json!({"status": {"phase": phase}}))
    };
    let finalizers = |name: &str, finalizers: Value| {
        merge(format!("{PODS}/{name}"), json!({"metadata": {"finalizers": finalizers}}))
    };
    let mut nowhere = pod("nowhere", "web", "app:v1");
    nowhere["spec"]["nodeSelector"] = json!({"no": "such"});
    rested(vec![
        set(2),
        budget("one", "web", json!({"maxUnavailable": 0})),
        post(PODS, nowhere),
        evict("nowhere", Value::Null),
        post(PODS, pod("over", "web", "app:v1")),
        phase("over", "Succeeded"),
        evict("over", Value::Null),
        finalizers("web-0", json!(["example.com/hold"])),
        evict("web-0", Value::Null),
        delete(format!("{PODS}/web-0")),
        evict("web-0", Value::Null),
        bound(json!({"maxUnavailable": 1})),
        evict("web-1", Value::Null),
        finalizers("web-0", Value::Null),
        evict("web-1", Value::Null),
        bound(json!({"maxUnavailable": null, "minAvailable": 1})),
        finalizers("web-1", json!(["example.com/hold"])),
        evict("web-1", Value::Null),
        evict("web-1", Value::Null),
        evict("web-0", Value::Null),
        finalizers("web-1", Value::Null),
        delete(WEB),
    ])
}

fn selectors() -> Vec<Step> {
    let selecting = |name: &str, selector: Value| {
        let body = json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
            "spec": {"minAvailable": 1, "selector": selector},
        });
        post(BUDGETS, body)
    };
    let to = |selector: Value| {
        // What is not named in a merge stays.
        merge(
            format!("{BUDGETS}/some"),
            json!({"spec": {"selector": {"matchLabels": null, "matchExpressions": selector}}}),
        )
    };
    let one = |key: &str, operator: &str, values: Value| json!([{"key": key, "operator": operator, "values": values}]);
    rested(vec![
        set(2),
        post(PODS, pod("spare", "spare", "app:v1")),
        selecting("all", json!({})),
        selecting("none", Value::Null),
        selecting("some", json!({"matchLabels": {"app": "web"}})),
        evict("web-0", Value::Null),
        evict("spare", json!({"dryRun": ["All"]})),
        to(one("app", "In", json!(["spare", "web"]))),
        to(one("app", "NotIn", json!(["web"]))),
        to(one("app", "Exists", json!([]))),
        to(one("app", "DoesNotExist", json!([]))),
        to(one("app", "Exists", json!(["x"]))),
        to(one("app", "In", json!([]))),
        to(one("app", "Like", json!(["x"]))),
        to(one("not a key", "Exists", json!([]))),
        // Of several budgets, the real controller looks at any one of them.
        delete(format!("{BUDGETS}/all")),
        merge(format!("{PODS}/spare"), json!({"metadata": {"labels": {"app": null}}})),
        evict("spare", Value::Null),
        delete(WEB),
        get(BUDGETS),
    ])
}

fn shares() -> Vec<Step> {
    rested(vec![
        post(PODS, pod("a", "web", "app:v1")),
        post(PODS, pod("b", "web", "app:v1")),
        budget("one", "web", json!({"minAvailable": 1})),
        bound(json!({"minAvailable": "50%"})),
        evict("a", Value::Null),
        bound(json!({"minAvailable": null, "maxUnavailable": 1})),
        set(2),
        bound(json!({"maxUnavailable": "50%"})),
        delete(format!("{PODS}/a")),
        delete(format!("{PODS}/b")),
        evict("web-0", json!({"dryRun": ["All"]})),
        merge(WEB, json!({"spec": {"replicas": 3}})),
        bound(json!({"maxUnavailable": "34%"})),
        bound(json!({"maxUnavailable": "33%"})),
        bound(json!({"maxUnavailable": null, "minAvailable": "67%"})),
        bound(json!({"minAvailable": "100%"})),
        bound(json!({"minAvailable": 0})),
        bound(json!({"minAvailable": 2_147_483_647})),
        bound(json!({"minAvailable": 2_147_483_648_u32})),
        delete(WEB),
    ])
}
