//! Budgets and the Eviction API, with all of its codes.

use serde_json::{Value, json};

use super::{BUDGETS, PODS, SETS, budget, pod, web};
use crate::step::{Step, delete, evict, get, merge, post};

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![("evictions", evictions()), ("budgets that are refused", refused()), ("counts", counts())]
}

fn evictions() -> Vec<Step> {
    vec![
        evict("nobody", Value::Null),
        post(PODS, pod("free", "free", "app:v1")),
        Step::Rest,
        evict("free", json!({"dryRun": ["All"]})),
        evict("free", json!({"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}})),
        evict("free", Value::Null),
        Step::Rest,
        post(SETS, web(3, json!({"type": "OnDelete"}))),
        budget("one", "web", json!({"maxUnavailable": 1})),
        Step::Rest,
        evict("web-0", json!({"dryRun": ["All"]})),
        Step::Rest,
        evict("web-0", json!({"preconditions": {"uid": format!("$uid({PODS}/web-0)")}})),
        Step::Rest,
        budget("two", "web", json!({"minAvailable": 1})),
        Step::Rest,
        evict("web-0", Value::Null),
        delete(format!("{BUDGETS}/two")),
        merge(format!("{BUDGETS}/one"), json!({"spec": {"maxUnavailable": 0}})),
        Step::Rest,
        evict("web-0", Value::Null),
        evict("web-0", json!({"gracePeriodSeconds": 0})),
        post(
            format!("{PODS}/web-0/eviction"),
            json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web-1"}}),
        ),
        post(format!("{PODS}/web-0/eviction"), json!({"metadata": {"name": "web-0"}})),
        get(format!("{PODS}/web-0/eviction")),
        // An unready Pod under a budget that is met, and under one that is not.
        post(PODS, pod("sick", "web", "broken:v1")),
        Step::Rest,
        evict("sick", json!({"dryRun": ["All"]})),
        merge(
            format!("{BUDGETS}/one"),
            json!({"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}),
        ),
        Step::Rest,
        evict("sick", Value::Null),
        Step::Rest,
        merge(format!("{BUDGETS}/one"), json!({"spec": {"maxUnavailable": "100%"}})),
        Step::Rest,
        evict("web-2", Value::Null),
        Step::Rest,
    ]
}

fn refused() -> Vec<Step> {
    vec![
        budget("both", "web", json!({"minAvailable": 1, "maxUnavailable": 1})),
        budget("neither", "web", json!({})),
        budget("negative", "web", json!({"minAvailable": -1})),
        budget("percent", "web", json!({"minAvailable": "110%"})),
        budget("words", "web", json!({"minAvailable": "some"})),
        budget("policy", "web", json!({"minAvailable": 1, "unhealthyPodEvictionPolicy": "Maybe"})),
        budget("good", "web", json!({"minAvailable": 1})),
        Step::Rest,
        merge(
            format!("{BUDGETS}/good"),
            json!({"spec": {"minAvailable": null, "maxUnavailable": 2}}),
        ),
        Step::Rest,
        merge(
            format!("{BUDGETS}/good"),
            json!({"spec": {"selector": {"matchLabels": {"app": "x"}}}}),
        ),
        Step::Rest,
        merge(format!("{BUDGETS}/good"), json!({"status": {"disruptionsAllowed": 7}})),
        Step::Rest,
    ]
}

fn counts() -> Vec<Step> {
    let mut out = vec![post(SETS, web(4, json!({"type": "OnDelete"}))), Step::Rest];
    out.push(budget("one", "web", json!({"minAvailable": "50%"})));
    out.push(Step::Rest);
    for spec in [
        json!({"minAvailable": null, "maxUnavailable": "30%"}),
        json!({"maxUnavailable": "0%"}),
        json!({"maxUnavailable": 9}),
        json!({"maxUnavailable": null, "minAvailable": 4}),
        json!({"minAvailable": 9}),
        json!({"minAvailable": "1%"}),
    ] {
        out.push(merge(format!("{BUDGETS}/one"), json!({"spec": spec})));
        out.push(Step::Rest);
    }
    out.push(post(PODS, pod("bare", "web", "app:v1")));
    out.push(Step::Rest);
    out.push(merge(format!("{BUDGETS}/one"), json!({"spec": {"minAvailable": 2}})));
    out.push(Step::Rest);
    out.push(merge(super::WEB, json!({"spec": {"replicas": 0}})));
    out.push(Step::Rest);
    out
}
