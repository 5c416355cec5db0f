//! What may not change in the midst of a release, and what was wrong before.

use api::Severity;
use api::batches::Context;
use serde_json::{Value, json};

use super::{alpha, beta, said, with};

/// What is said of a change of a Rollout that is in `phase`.
fn change(before: &Value, phase: &str, pointer: &str, value: Value) -> Vec<String> {
    let before = with(before.clone(), "/status", json!({ "phase": phase }));
    let after = with(before.clone(), pointer, value);
    let context = Context { before: Some(&before), ..Context::default() };
    let found = said(&after, &context, Severity::Error);
    found
        .into_iter()
        .map(|(_, words)| words)
        .filter(|words| !words.contains("not served") && !words.contains("is missing"))
        .collect()
}

#[test]
fn some_things_stay_in_the_midst_of_a_release() {
    let check = |before: Value, pointer: &str, value: Value, expect: &[&str]| {
        for phase in ["Progressing", "Terminating"] {
            assert_eq!(change(&before, phase, pointer, value.clone()), expect, "{pointer}");
        }
        assert_eq!(change(&before, "Healthy", pointer, value), [""; 0], "{pointer}");
    };
    let workload = "Rollout 'ObjectRef' field is immutable";
    check(beta(), "/spec/workloadRef/name", json!("other"), &[workload]);
    check(alpha(), "/spec/objectRef/workloadRef/name", json!("other"), &[workload]);

    let canary = "/spec/strategy/canary";
    let routing = json!([{"service": "web"}]);
    let words = "Rollout 'Strategy.Canary|BlueGreen.TrafficRoutings' field is immutable";
    check(beta(), &format!("{canary}/trafficRoutings"), routing.clone(), &[words]);
    let words = "Rollout 'Strategy.Canary.TrafficRoutings' field is immutable";
    check(alpha(), &format!("{canary}/trafficRoutings"), routing, &[words]);

    let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web"});
    let words = "Rollout style and enableExtraWorkloadForCanary are immutable";
    let before = with(beta(), "/spec/workloadRef", set.clone());
    check(before, &format!("{canary}/enableExtraWorkloadForCanary"), json!(true), &[words]);
    let at = "/metadata/annotations/rollouts.kruise.io~1rolling-style";
    let words = "Rollout 'Rolling-Style' annotation is immutable";
    let before = with(alpha(), "/spec/objectRef/workloadRef", set);
    check(before.clone(), at, json!("canary"), &[words]);
    check(before, at, json!("Partition"), &[]);

    let more = json!([{"replicas": 1}, {"replicas": "100%"}]);
    let words = "Amount of Rollout steps are immutable";
    check(beta(), &format!("{canary}/steps"), more.clone(), &[words]);
    // The original has no such rule here.
    check(alpha(), &format!("{canary}/steps"), more, &[]);
    check(beta(), &format!("{canary}/steps/1/replicas"), json!("60%"), &[]);
    check(beta(), &format!("{canary}/steps/0/pause"), json!({"duration": 0}), &[]);
    check(beta(), "/spec/strategy/paused", json!(true), &[]);
    check(beta(), "/spec/disabled", json!(true), &[]);
}

#[test]
fn what_was_wrong_before_does_not_hold_up_an_update() {
    let stored = with(beta(), "/spec/strategy/canary/trafficRoutings", json!([{"service": "web"}]));
    let check = |after: Value, expect: &[&str]| {
        let context = Context { before: Some(&stored), ..Context::default() };
        let paths: Vec<String> =
            said(&after, &context, Severity::Error).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, expect);
        assert_eq!(said(&after, &context, Severity::Warning).len(), 1);
    };
    check(with(stored.clone(), "/metadata/finalizers", json!([])), &[]);
    check(with(stored.clone(), "/spec/disabled", json!(true)), &[]);
    let path = "spec.strategy.canary.failureThreshold";
    check(with(stored.clone(), "/spec/strategy/canary/failureThreshold", json!(-1)), &[path]);
}
