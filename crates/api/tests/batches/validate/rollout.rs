//! The rules for a Rollout beside its steps.

use api::Severity;
use api::batches::{Claim, Context, Rules, Version, convert};
use serde_json::{Value, json};

use super::{STEPS, accept, alpha, beta, errors, old_steps, refuse, said, steps, warnings, with};

#[test]
fn kinds_that_are_not_released_are_refused() {
    let kind = |api_version: &str, kind: &str| {
        let workload = json!({"apiVersion": api_version, "kind": kind, "name": "web"});
        with(beta(), "/spec/workloadRef", workload)
    };
    for version in ["apps/v1", "apps.kruise.io/v1alpha1", "apps.kruise.io/v1beta1"] {
        accept(&kind(version, "StatefulSet"));
        accept(&kind(version, "DaemonSet"));
    }
    accept(&kind("apps.kruise.io/v1alpha1", "CloneSet"));
    let words = "WorkloadRef kind is not supported";
    let mistaken = kind("apps/v1", "CloneSet");
    refuse(&mistaken, "spec.workloadRef", &format!("{words}: CloneSet of apps/v1; name a"));
    refuse(&kind("apps/v1", "ReplicaSet"), "spec.workloadRef", words);
    refuse(&kind("batch/v1", "Job"), "spec.workloadRef", words);
    refuse(&kind("v1", "Pod"), "spec.workloadRef", words);
    let at = "/spec/objectRef/workloadRef/kind";
    refuse(&with(alpha(), at, json!("Job")), "spec.objectRef.workloadRef", words);
    let rules = Rules { filter_workload_type: false, ..Rules::default() };
    let context = Context { rules, ..Context::default() };
    assert_eq!(said(&kind("games.io/v1", "GameServerSet"), &context, Severity::Error), []);
}

#[test]
fn a_rollout_names_its_workload() {
    refuse(
        &with(alpha(), "/spec/objectRef", json!({})),
        "spec.objectRef.workloadRef",
        "WorkloadRef is required",
    );
    let found = errors(&with(beta(), "/spec/workloadRef", json!(null)));
    let words: Vec<&str> = found.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(words, ["is missing", "WorkloadRef is required"]);
    let nameless = with(beta(), "/spec/workloadRef/name", json!(""));
    refuse(&nameless, "spec.workloadRef.name", "is empty");
    let found = errors(&with(beta(), "/spec/workloadRef", json!({"kind": "Deployment"})));
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["spec.workloadRef.apiVersion", "spec.workloadRef.name"]);
}

#[test]
fn a_rollout_has_one_strategy() {
    let strategy = |strategy: Value| with(beta(), "/spec/strategy", strategy);
    refuse(&strategy(json!({})), "spec.strategy", "Canary and BlueGreen cannot both be empty");
    let both = errors(&with(beta(), "/spec/strategy/blueGreen", json!({"steps": []})));
    assert_eq!(both[0].1, "Canary and BlueGreen cannot both be set");
    let none = with(alpha(), "/spec/strategy", json!({}));
    refuse(&none, "spec.strategy.canary", "Canary cannot be empty");
}

#[test]
fn a_style_is_one_of_two_in_any_letters() {
    let at = "/metadata/annotations/rollouts.kruise.io~1rolling-style";
    let path = "metadata.annotations.rollouts.kruise.io/rolling-style";
    for style in ["partition", "Partition", "PARTITION"] {
        accept(&with(alpha(), at, json!(style)));
    }
    let other = with(alpha(), "/spec/objectRef/workloadRef/kind", json!("StatefulSet"));
    for style in ["Canary", "canary", ""] {
        accept(&with(other.clone(), at, json!(style)));
    }
    let words = "Rolling style must be 'Canary', 'Partition' or empty";
    refuse(&with(other, at, json!("blueGreen")), path, words);
}

#[test]
fn what_is_not_released_in_batches_is_refused_and_told() {
    let words = "blue-green releases are not served";
    let strategy = json!({"blueGreen": {"steps": [{"replicas": 1}]}});
    refuse(&with(beta(), "/spec/strategy", strategy), "spec.strategy.blueGreen", words);

    let words = "releases by a canary Deployment are not served";
    let at = "/spec/strategy/canary/enableExtraWorkloadForCanary";
    let extra = "spec.strategy.canary.enableExtraWorkloadForCanary";
    refuse(&with(beta(), at, json!(true)), extra, words);
    let style = "metadata.annotations.rollouts.kruise.io/rolling-style";
    refuse(&with(alpha(), "/metadata/annotations", json!({})), style, words);
    // Other kinds go in batches whatever is asked.
    let cloneset =
        json!({"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet", "name": "w"});
    let other = with(beta(), "/spec/workloadRef", cloneset.clone());
    accept(&with(other, at, json!(true)));
    let other = with(alpha(), "/spec/objectRef/workloadRef", cloneset);
    accept(&with(other, "/metadata/annotations", json!({})));

    let words = "traffic routing is not served";
    let routings = "spec.strategy.canary.trafficRoutings";
    let at = "/spec/strategy/canary/trafficRoutings";
    let routing = json!({"service": "web", "ingress": {"name": "web"}});
    for manifest in [beta(), alpha()] {
        refuse(&with(manifest.clone(), at, json!([routing])), routings, words);
        accept(&with(manifest.clone(), at, json!([])));
        let two = errors(&with(manifest, at, json!([routing, routing])));
        assert_eq!(two[0].1, "Rollout currently only support single TrafficRouting.");
    }
    let at = "/spec/strategy/canary/trafficRoutingRef";
    let named = "spec.strategy.canary.trafficRoutingRef";
    refuse(&with(beta(), at, json!("routes")), named, words);
    accept(&with(beta(), at, json!("")));
    let at = "/metadata/annotations/rollouts.kruise.io~1trafficrouting";
    let named = "metadata.annotations.rollouts.kruise.io/trafficrouting";
    for manifest in [beta(), alpha()] {
        refuse(&with(manifest, at, json!("routes")), named, words);
    }
}

#[test]
fn what_nobody_can_mean_is_refused() {
    let threshold = |value: Value| with(beta(), "/spec/strategy/canary/failureThreshold", value);
    for good in [json!(0), json!(3), json!("0%"), json!("100%")] {
        accept(&threshold(good));
    }
    for wrong in [json!(-1), json!("101%"), json!("x"), json!("3")] {
        let path = "spec.strategy.canary.failureThreshold";
        refuse(&threshold(wrong), path, "must be a number of Pods, or a percentage");
    }
    let pause = |seconds: i64| {
        steps(json!([{"replicas": 1, "pause": {"duration": seconds}}, {"replicas": "100%"}]))
    };
    accept(&pause(0));
    refuse(&pause(-5), &format!("{STEPS}[0].pause.duration"), "is negative");
    let misspelt = with(beta(), "/spec/strategy/canary/step", json!([]));
    refuse(&misspelt, "spec.strategy.canary.step", "is not a field of this resource");
    refuse(&json!({"kind": "Rollout"}), "kind", "\"Rollout\" of apiVersion null is not served");
}

#[test]
fn one_workload_has_one_rollout() {
    let mine = with(beta(), "/metadata/namespace", json!("shop"));
    let claim = |namespace: &str, name: &str, api_version: &str, workload: &str| {
        let mut other = with(mine.clone(), "/spec/workloadRef/name", json!(workload));
        other["metadata"] = json!({"namespace": namespace, "name": name});
        other["spec"]["workloadRef"]["apiVersion"] = json!(api_version);
        Claim::of(&other).unwrap()
    };
    let check = |other: Claim, is_refused: bool| {
        let others = [other];
        let context = Context { others: &others, ..Context::default() };
        for object in [mine.clone(), convert(&mine, Version::V1alpha1).unwrap()] {
            let found = said(&object, &context, Severity::Error);
            let words: Vec<&str> = found.iter().map(|(_, words)| words.as_str()).collect();
            let conflict = "This rollout conflict with Rollout(shop/other), one workload only have \
                            less than one Rollout";
            assert_eq!(words, if is_refused { vec![conflict] } else { vec![] }, "{others:?}");
        }
    };
    check(claim("shop", "other", "apps/v1", "workload-demo"), true);
    // Another version of the group is the same workload.
    check(claim("shop", "other", "apps/v1beta2", "workload-demo"), true);
    check(claim("shop", "rollouts-demo", "apps/v1", "workload-demo"), false);
    check(claim("shop", "other", "apps/v1", "another"), false);
    check(claim("elsewhere", "other", "apps/v1", "workload-demo"), false);
    let old = Claim::of(&with(alpha(), "/metadata/namespace", json!("shop"))).unwrap();
    assert_eq!((old.namespace.as_str(), old.workload.name.as_str()), ("shop", "workload-demo"));
    assert_eq!(Claim::of(&json!({"kind": "Rollout"})), None);
}

#[test]
fn what_a_record_would_put_into_the_stored_version_counts() {
    let record = json!([{"at": "/spec/strategy/canary/trafficRoutingRef", "is": "routes"}]);
    let at = "/metadata/annotations/sluice.dev~1conversion";
    let forged = with(alpha(), at, json!(record.to_string()));
    refuse(&forged, "spec.strategy.canary.trafficRoutingRef", "traffic routing is not served");
    let there = convert(&beta(), Version::V1alpha1).unwrap();
    assert!(there.pointer(at).is_some());
    accept(&there);
}

#[test]
fn what_has_no_effect_or_surprises_is_a_warning() {
    let check = |object: Value, expect: &[&str]| {
        accept(&object);
        let paths: Vec<String> = warnings(&object).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, expect);
    };
    let step = |step: Value| steps(json!([step, {"replicas": "100%"}]));
    let at = |key: &str| format!("{STEPS}[0].{key}");
    check(step(json!({"replicas": 1, "traffic": "5%"})), &[&at("traffic")]);
    check(step(json!({"replicas": 1, "matches": [{}]})), &[&at("matches")]);
    let weights = json!([{"replicas": 1, "weight": 5}, {"weight": 40}, {"replicas": "100%"}]);
    check(old_steps(weights), &[&at("weight")]);
    check(steps(json!([{"replicas": "60%"}])), &[&at("replicas")]);
    check(steps(json!([{"replicas": 100}])), &[&at("replicas")]);
    let labels = with(
        beta(),
        "/spec/strategy/canary/patchPodTemplateMetadata",
        json!({"labels": {"a": "b"}}),
    );
    check(labels, &["spec.strategy.canary.patchPodTemplateMetadata"]);
}
