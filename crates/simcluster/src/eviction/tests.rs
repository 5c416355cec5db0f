use std::sync::Arc;

use super::*;

fn now() -> Timestamp {
    "2026-11-29T21:52:35Z".parse().unwrap()
}

fn pod_in(phase: &str, ready: bool) -> Object {
    Arc::new(json!({
        "metadata": {
            "name": "web-2", "namespace": "exch", "uid": "83e6d4ee-7cab-438a-9444-5f124f7321ef",
            "resourceVersion": "7", "labels": {"app": "web"},
        },
        "status": {
            "phase": phase,
            "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}],
        },
    }))
}

fn running() -> Object {
    pod_in("Running", true)
}

/// A budget with `allowed`, `healthy` and `desired`.
fn budget(allowed: i64, healthy: i64, desired: i64) -> Value {
    json!({
        "metadata": {"name": "web", "namespace": "exch", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 1},
        "status": {
            "observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": healthy,
            "desiredHealthy": desired, "expectedPods": 4,
        },
    })
}

fn ask(victim: &Object, budgets: &[Value], options: &DeleteOptions) -> Eviction {
    let budgets: Vec<Object> = budgets.iter().cloned().map(Arc::new).collect();
    decide(victim, &budgets.iter().collect::<Vec<_>>(), options, now())
}

fn plain(victim: &Object, budgets: &[Value]) -> Eviction {
    ask(victim, budgets, &DeleteOptions::default())
}

/// The recorded answer of a real 1.36.3 under this title.
fn recorded(title: &str) -> Value {
    let all: Value =
        serde_json::from_str(include_str!("../../tests/fixtures/evictions.json")).unwrap();
    all[title].clone()
}

fn check_refused(eviction: &Eviction, title: &str) {
    let error = eviction.verdict.as_ref().unwrap_err();
    let expect = recorded(title);
    assert_eq!(u64::from(error.code), expect["code"].as_u64().unwrap(), "{title}");
    assert_eq!(error.status(), expect, "{title}");
}

fn check_goes_free(eviction: &Eviction) {
    assert!(eviction.verdict.is_ok(), "{eviction:?}");
    assert_eq!(eviction.budget, None);
}

#[test]
fn an_eviction_takes_a_slot_and_marks_the_pod() {
    let eviction = plain(&running(), &[budget(1, 4, 3)]);
    let taken = eviction.budget.unwrap();
    assert_eq!(taken["status"]["disruptionsAllowed"], 0);
    assert_eq!(taken["status"]["disruptedPods"], json!({"web-2": "2026-11-29T21:52:35Z"}));
    assert_eq!(pod::condition(&taken, "DisruptionAllowed").unwrap()["reason"], "InsufficientPods");
    let going = eviction.verdict.unwrap().unwrap();
    let target = pod::condition(&going, "DisruptionTarget").unwrap();
    assert_eq!(target["reason"], "EvictionByEvictionAPI");
    assert_eq!(accepted(), recorded("evict, right uid"));
}

#[test]
fn without_a_matching_budget_the_pod_goes() {
    let mut other = budget(0, 4, 4);
    other["spec"]["selector"] = json!({"matchLabels": {"app": "db"}});
    check_goes_free(&plain(&running(), &[other]));
}

#[test]
fn pods_that_are_pending_ended_or_terminating_skip_the_budget() {
    for phase in ["Pending", "Succeeded", "Failed"] {
        check_goes_free(&plain(&pod_in(phase, false), &[budget(0, 4, 4), budget(0, 4, 4)]));
    }
    let mut terminating = Value::clone(&running());
    terminating["metadata"]["deletionTimestamp"] = "2026-11-29T21:52:19Z".into();
    check_goes_free(&plain(&Arc::new(terminating), &[budget(0, 4, 4)]));
}

#[test]
fn a_budget_of_zero_refuses_without_a_time_to_retry() {
    let eviction = plain(&running(), &[budget(0, 4, 4)]);
    check_refused(&eviction, "evict, budget of zero");
    assert_eq!(eviction.verdict.unwrap_err().retry_after, None);
    check_refused(&plain(&running(), &[budget(0, 3, 3)]), "evict another, budget used");
}

#[test]
fn an_unobserved_budget_refuses_for_ten_seconds() {
    let mut stale = budget(1, 4, 3);
    stale["metadata"]["generation"] = 2.into();
    let error = plain(&running(), &[stale]).verdict.unwrap_err();
    assert_eq!((error.code, error.retry_after), (429, Some(10)));
    assert_eq!(error.causes[0].reason, "DisruptionBudget");
}

#[test]
fn two_budgets_are_an_error_of_the_server() {
    let mut second = budget(1, 4, 3);
    second["metadata"]["name"] = "web2".into();
    check_refused(&plain(&running(), &[budget(1, 4, 3), second]), "evict, two budgets");
}

#[test]
fn a_negative_or_overfull_budget_is_forbidden() {
    assert_eq!(plain(&running(), &[budget(-1, 4, 3)]).verdict.unwrap_err().code, 403);
    let mut full = budget(1, 4, 3);
    for i in 0..=UNCONFIRMED_LIMIT {
        full["status"]["disruptedPods"][format!("p{i}")] = "2026-11-29T21:52:35Z".into();
    }
    assert_eq!(plain(&running(), &[full]).verdict.unwrap_err().code, 403);
}

#[test]
fn an_unready_pod_goes_free_while_the_healthy_ones_meet_the_budget() {
    let unready = pod_in("Running", false);
    check_goes_free(&plain(&unready, &[budget(0, 3, 3)]));
    check_goes_free(&plain(&unready, &[budget(1, 3, 2)]));
    assert!(plain(&unready, &[budget(0, 2, 3)]).verdict.is_err());
    assert!(plain(&unready, &[budget(0, 0, 0)]).verdict.is_err());
}

#[test]
fn always_allow_lets_an_unready_pod_go_whatever_the_numbers() {
    let mut lenient = budget(0, 2, 4);
    lenient["spec"]["unhealthyPodEvictionPolicy"] = "AlwaysAllow".into();
    check_goes_free(&plain(&pod_in("Running", false), std::slice::from_ref(&lenient)));
    assert!(plain(&running(), &[lenient]).verdict.is_err());
}

#[test]
fn a_wrong_uid_is_refused_and_costs_the_slot_all_the_same() {
    let options = DeleteOptions {
        uid: Some("00000000-0000-0000-0000-000000000000".to_owned()),
        ..DeleteOptions::default()
    };
    let eviction = ask(&running(), &[budget(1, 4, 3)], &options);
    check_refused(
        &eviction,
        "evict, wrong uid: refused, and the slot of the budget is gone until the controller recounts",
    );
    assert_eq!(eviction.budget.unwrap()["status"]["disruptionsAllowed"], 0);
}

#[test]
fn an_unready_pod_with_a_wrong_uid_is_answered_as_a_race() {
    let options = DeleteOptions { uid: Some("other".to_owned()), ..DeleteOptions::default() };
    let eviction = ask(&pod_in("Running", false), &[budget(0, 3, 3)], &options);
    let error = eviction.verdict.unwrap_err();
    assert_eq!((error.code, error.retry_after), (429, Some(10)));
}

#[test]
fn a_dry_run_checks_and_changes_nothing() {
    let options = DeleteOptions { dry_run: true, ..DeleteOptions::default() };
    let allowed = ask(&running(), &[budget(1, 4, 3)], &options);
    assert_eq!(allowed, Eviction { budget: None, verdict: Ok(None) });
    assert!(ask(&running(), &[budget(0, 4, 4)], &options).verdict.is_err());
}

#[test]
fn the_body_must_name_the_pod_of_the_url() {
    let body = json!({"metadata": {"name": "web-2"}});
    assert_eq!(check_name("web-2", &body), Ok(()));
    assert_eq!(check_name("web-1", &body).unwrap_err().status(), recorded("evict, name mismatch"));
    assert_eq!(missing("web-99").status(), recorded("evict, missing"));
}

#[test]
fn a_budget_that_failed_to_sync_says_why() {
    let mut failed = budget(0, 4, 3);
    failed["status"]["conditions"] = json!([{
        "type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "why",
    }]);
    let error = plain(&running(), &[failed]).verdict.unwrap_err();
    assert!(error.causes[0].message.ends_with("because it failed sync: why"), "{error:?}");
}

#[test]
fn an_eviction_keeps_the_generation_that_a_taint_noted() {
    let mut victim = Value::clone(&running());
    let taint = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
        "observedGeneration": 3,
    });
    pod::put_condition(&mut victim, taint);
    let going = plain(&Arc::new(victim), &[]).verdict.unwrap().unwrap();
    let said = pod::condition(&going, "DisruptionTarget").unwrap();
    assert_eq!(said["reason"], "EvictionByEvictionAPI");
    assert_eq!(said["observedGeneration"], 3);
}
