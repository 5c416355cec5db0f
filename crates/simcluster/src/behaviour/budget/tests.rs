use std::sync::Arc;

use super::*;
use crate::store::Store;

fn at(seconds: i64) -> Timestamp {
    let start: Timestamp = "2026-11-29T21:52:00Z".parse().unwrap();
    start + SignedDuration::from_secs(seconds)
}

fn store(replicas: i64, ready: usize, unready: usize) -> Store {
    let mut store = Store::new(1000);
    let set = json!({
        "metadata": {"name": "web", "namespace": "exch", "uid": "set"},
        "spec": {"replicas": replicas},
    });
    store.put(Key::of(STATEFULSETS, &set), set);
    for i in 0..ready + unready {
        put_pod(&mut store, &format!("web-{i}"), i < ready);
    }
    store
}

fn put_pod(store: &mut Store, name: &str, ready: bool) {
    let pod = json!({
        "metadata": {
            "name": name, "namespace": "exch", "uid": name, "labels": {"app": "web"},
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "set",
                "controller": true,
            }],
        },
        "status": {"phase": "Running", "conditions": [
            {"type": "Ready", "status": if ready { "True" } else { "False" }},
        ]},
    });
    store.put(Key::of(PODS, &pod), pod);
}

fn budget(spec: &Value) -> Value {
    let mut spec = spec.clone();
    spec["selector"] = json!({"matchLabels": {"app": "web"}});
    json!({
        "metadata": {"name": "web", "namespace": "exch", "uid": "pdb", "generation": 1},
        "spec": spec,
        "status": {
            "disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0,
        },
    })
}

fn step_on(store: &mut Store, budget: Value, now: Timestamp) -> Step {
    let key = Key::of(BUDGETS, &budget);
    store.put(key.clone(), budget);
    Budgets.step(store, &key, now, &mut fastrand::Rng::with_seed(0))
}

fn status(step: &Step) -> Value {
    step.writes
        .iter()
        .find_map(|write| match write {
            Write::Update { object, .. } => Some(object["status"].clone()),
            _ => None,
        })
        .expect("a status write")
}

/// (spec, replicas, ready, unready) gives (allowed, healthy, desired, expected).
fn check(spec: &Value, (replicas, ready, unready): (i64, usize, usize), expect: [i64; 4]) {
    let mut store = store(replicas, ready, unready);
    let status = status(&step_on(&mut store, budget(spec), at(0)));
    let names = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];
    assert_eq!(names.map(|name| status[name].as_i64().unwrap()), expect, "{spec}");
}

#[test]
fn percentages_of_both_kinds_round_up() {
    check(&json!({"maxUnavailable": "30%"}), (4, 4, 0), [2, 4, 2, 4]);
    check(&json!({"maxUnavailable": "1%"}), (10, 10, 0), [1, 10, 9, 10]);
    check(&json!({"maxUnavailable": "1%"}), (250, 250, 0), [3, 250, 247, 250]);
    check(&json!({"minAvailable": "90%"}), (15, 15, 0), [1, 15, 14, 15]);
}

#[test]
fn an_integer_min_available_counts_pods_and_the_rest_counts_the_scale() {
    check(&json!({"minAvailable": 2}), (9, 4, 0), [2, 4, 2, 4]);
    check(&json!({"maxUnavailable": 1}), (9, 4, 0), [0, 4, 8, 9]);
    check(&json!({"maxUnavailable": 0}), (4, 4, 0), [0, 4, 4, 4]);
    check(&json!({"maxUnavailable": 9}), (4, 4, 0), [4, 4, 0, 4]);
    check(&json!({"maxUnavailable": 1}), (4, 3, 1), [0, 3, 3, 4]);
}

#[test]
fn a_budget_without_pods_allows_nothing() {
    check(&json!({"minAvailable": 0}), (0, 0, 0), [0, 0, 0, 0]);
}

#[test]
fn the_status_is_as_recorded() {
    let all: Value =
        serde_json::from_str(include_str!("../../../tests/fixtures/budgets.json")).unwrap();
    let recorded = &all["budget, status"];
    let mut fresh = recorded.clone();
    fresh["status"] = budget(&json!({}))["status"].clone();
    let step = step_on(&mut store(4, 4, 0), fresh, "2026-11-29T21:52:16Z".parse().unwrap());
    assert_eq!(status(&step), recorded["status"]);
}

#[test]
fn observed_generation_follows_and_a_second_look_writes_nothing() {
    let mut store = store(4, 4, 0);
    let mut changed = budget(&json!({"maxUnavailable": 1}));
    changed["metadata"]["generation"] = 3.into();
    let step = step_on(&mut store, changed.clone(), at(0));
    assert_eq!(status(&step)["observedGeneration"], 3);
    changed["status"] = status(&step);
    let again = step_on(&mut store, changed, at(60));
    assert!(again.writes.is_empty(), "{again:?}");
}

#[test]
fn an_evicted_pod_is_left_out_by_name_for_two_minutes() {
    let mut disrupted = budget(&json!({"maxUnavailable": 1}));
    disrupted["status"]["disruptedPods"] =
        json!({"web-3": pod::stamp(at(0)), "web-9": pod::stamp(at(0))});
    let mut store = store(4, 4, 0);
    let early = step_on(&mut store, disrupted.clone(), at(119));
    assert_eq!(status(&early)["currentHealthy"], 3);
    assert_eq!(status(&early)["disruptionsAllowed"], 0);
    assert_eq!(status(&early)["disruptedPods"], json!({"web-3": pod::stamp(at(0))}));
    assert_eq!(early.wake, Some(at(120)));
    let late = step_on(&mut store, disrupted, at(120));
    assert_eq!(status(&late)["currentHealthy"], 4);
    assert!(status(&late).get("disruptedPods").is_none());
}

#[test]
fn a_terminating_pod_is_neither_healthy_nor_kept_among_the_disrupted() {
    let mut store = store(4, 4, 0);
    let key = Key::new(PODS, "exch", "web-3");
    let mut going = Value::clone(store.get(&key).unwrap());
    going["metadata"]["deletionTimestamp"] = pod::stamp(at(1)).into();
    store.put(key, going);
    let mut disrupted = budget(&json!({"maxUnavailable": 1}));
    disrupted["status"]["disruptedPods"] = json!({"web-3": pod::stamp(at(0))});
    let status = status(&step_on(&mut store, disrupted, at(1)));
    assert_eq!(status["currentHealthy"], 3);
    assert!(status.get("disruptedPods").is_none());
}

#[test]
fn pods_of_a_daemon_set_or_of_nobody_known_fail_the_sync() {
    let check = |kind: &str, why: &str| {
        let mut store = store(0, 0, 0);
        put_pod(&mut store, "p", true);
        let key = Key::new(PODS, "exch", "p");
        let mut pod = Value::clone(store.get(&key).unwrap());
        pod["metadata"]["ownerReferences"][0]["kind"] = kind.into();
        pod["metadata"]["ownerReferences"][0]["uid"] = "gone".into();
        store.put(key, pod);
        let step = step_on(&mut store, budget(&json!({"maxUnavailable": 1})), at(0));
        let status = status(&step);
        assert_eq!(status["disruptionsAllowed"], 0);
        assert_eq!(status["conditions"][0]["reason"], "SyncFailed");
        assert_eq!(status["conditions"][0]["message"], why);
    };
    check("DaemonSet", "daemonsets.apps does not implement the scale subresource");
    check("StatefulSet", "found no controllers for pod \"p\"");
}

#[test]
fn only_what_matters_about_selected_pods_wakes_the_controller() {
    let mut store = store(1, 1, 0);
    let pdb = budget(&json!({"maxUnavailable": 1}));
    store.put(Key::of(BUDGETS, &pdb), pdb);
    let key = Key::new(PODS, "exch", "web-0");
    let before = store.get(&key).unwrap().clone();
    let mut bound = Value::clone(&before);
    bound["spec"]["nodeName"] = "node-1".into();
    let mut broken = bound.clone();
    broken["status"]["conditions"][0]["status"] = "False".into();
    let check = |before: &Object, after: &Value, expect: usize| {
        let after = Some(Arc::new(after.clone()));
        let change = Change { key: key.clone(), before: Some(before.clone()), after };
        assert_eq!(Budgets.concerns(&store, &change).len(), expect);
    };
    check(&before, &bound, 0);
    check(&before, &broken, 1);
}
