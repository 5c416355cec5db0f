//! Each rule of the original with its words, each of ours, and what is only a warning.

use api::batches::{
    BatchRelease, Claim, Context, Plan, Rollout, Rules, Version, convert, defaulted, validate,
};
use api::{Severity, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

const BETA: &str = include_str!("../manifests/rollout-v1beta1.yaml");
const ALPHA: &str = include_str!("../manifests/rollout-v1alpha1.yaml");

fn beta() -> Value {
    parse(BETA).unwrap().remove(0)
}

fn alpha() -> Value {
    parse(ALPHA).unwrap().remove(0)
}

fn release() -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1",
        "kind": "BatchRelease",
        "metadata": {"name": "demo", "namespace": "shop"},
        "spec": {
            "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "releasePlan": {
                "batches": [{"canaryReplicas": 1}, {"canaryReplicas": "100%"}], "batchPartition": 0,
            },
        },
    })
}

/// With a field set; the path is a JSON pointer, made on the way; null removes.
fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let mut place = &mut object;
    for key in pointer.trim_start_matches('/').split('/') {
        let key = key.replace("~1", "/");
        place = match key.parse::<usize>() {
            Ok(index) if place.is_array() => &mut place[index],
            _ => &mut place[key],
        };
    }
    *place = value;
    object
}

fn said(object: &Value, context: &Context<'_>, severity: Severity) -> Vec<(String, String)> {
    let found = validate(object, context);
    found
        .into_iter()
        .filter(|finding| finding.severity == severity)
        .map(|finding| (finding.path, finding.message))
        .collect()
}

fn errors(object: &Value) -> Vec<(String, String)> {
    said(object, &Context::default(), Severity::Error)
}

fn warnings(object: &Value) -> Vec<(String, String)> {
    said(object, &Context::default(), Severity::Warning)
}

/// One error, at this place, with these words or words that begin so.
#[track_caller]
fn refuse(object: &Value, path: &str, words: &str) {
    let found = errors(object);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, path);
    assert!(found[0].1.starts_with(words), "{found:?}");
}

#[track_caller]
fn accept(object: &Value) {
    assert_eq!(errors(object), Vec::<(String, String)>::new(), "{object}");
}

#[test]
fn the_published_manifests_are_sound_and_one_plan() {
    for manifest in [beta(), alpha()] {
        accept(&manifest);
        assert_eq!(warnings(&manifest), []);
        let filled = defaulted(&manifest);
        assert_eq!(filled["spec"]["disabled"], false);
        let stored = convert(&filled, Version::V1beta1).unwrap();
        accept(&stored);
        let typed: Rollout = serde_json::from_value(stored).unwrap();
        assert_eq!(typed.spec.workload_ref.kind, "Deployment");
        let plan = Plan::of_canary(&typed.spec.strategy.canary.unwrap()).unwrap();
        assert_eq!(plan.targets(10), [1, 5, 10]);
    }
}

const STEPS: &str = "spec.strategy.canary.steps";

fn steps(steps: Value) -> Value {
    with(beta(), "/spec/strategy/canary/steps", steps)
}

fn old_steps(steps: Value) -> Value {
    with(alpha(), "/spec/strategy/canary/steps", steps)
}

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
    refuse(&kind("apps/v1", "CloneSet"), "spec.workloadRef", words);
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
fn a_rollout_has_steps_and_steps_have_sizes() {
    let empty = "The number of Canary.Steps cannot be empty";
    refuse(&steps(json!([])), STEPS, empty);
    refuse(&steps(json!(null)), STEPS, empty);
    refuse(&old_steps(json!([])), STEPS, empty);
    let none = "replicas cannot be empty";
    refuse(
        &steps(json!([{"replicas": 1}, {}, {"replicas": "100%"}])),
        &format!("{STEPS}[1].replicas"),
        none,
    );
    let none = "weight and replicas cannot be empty at the same time";
    refuse(&old_steps(json!([{}, {"replicas": "100%"}])), &format!("{STEPS}[0]"), none);
}

#[test]
fn sizes_are_above_nothing_and_at_most_everything() {
    let words = "replicas must be positive number, or a percentage with \"0%\" < canaryReplicas <= \
                 \"100%\"";
    let wrong = [
        json!(0),
        json!(-1),
        json!("0%"),
        json!("101%"),
        json!("-5%"),
        json!("5"),
        json!("half"),
        json!(""),
        json!(2_147_483_648_i64),
        json!(1.5),
    ];
    for size in wrong {
        let path = format!("{STEPS}[0].replicas");
        let list = json!([{"replicas": size}, {"replicas": "100%"}]);
        refuse(&steps(list.clone()), &path, words);
        refuse(&old_steps(list), &path, words);
    }
    for size in [json!(1), json!("1%"), json!("100%")] {
        accept(&steps(json!([{"replicas": size}, {"replicas": "100%"}])));
    }
}

#[test]
fn steps_of_one_type_do_not_go_back() {
    let words = "Steps.CanaryReplicas must be a non decreasing sequence";
    let check = |sizes: [Value; 3], at: Option<usize>| {
        let list: Vec<Value> = sizes.iter().map(|size| json!({"replicas": size})).collect();
        for object in [steps(json!(list)), old_steps(json!(list))] {
            match at {
                Some(index) => refuse(&object, &format!("{STEPS}[{index}].replicas"), words),
                None => accept(&object),
            }
        }
    };
    check([json!(5), json!(4), json!("100%")], Some(1));
    check([json!("20%"), json!("20%"), json!("10%")], Some(2));
    check([json!("20%"), json!("20%"), json!("100%")], None);
    // Which of these is more depends on the workload.
    check([json!("20%"), json!(5), json!("10%")], None);
    let weights = old_steps(json!([{"weight": 20}, {"replicas": "10%"}, {"replicas": "100%"}]));
    refuse(&weights, &format!("{STEPS}[1].replicas"), words);
}

#[test]
fn at_most_50_steps_where_the_original_has_that_limit() {
    let many = json!(vec![json!({"replicas": "100%"}); 51]);
    refuse(&steps(many.clone()), STEPS, "has 51 entries, at most 50 are allowed");
    accept(&old_steps(many));
}

#[test]
fn a_step_with_traffic_is_a_small_one_and_its_traffic_a_share() {
    let path = |key: &str| format!("{STEPS}[0].{key}");
    let words = "For partition style rollout: step[x].replicas must not greater than \
                 partition-percent-limit if traffic specified";
    let one = |step: Value| steps(json!([step, {"replicas": "100%"}]));
    refuse(&one(json!({"replicas": "51%", "traffic": "5%"})), &path("replicas"), words);
    refuse(&one(json!({"replicas": "51%", "matches": [{}]})), &path("replicas"), words);
    accept(&one(json!({"replicas": "51%", "matches": []})));
    accept(&one(json!({"replicas": "50%", "traffic": "5%"})));
    accept(&one(json!({"replicas": 51, "traffic": "100%"})));
    let words = "traffic must be percentage with \"0%\" < traffic <= \"100%\" in canary strategy";
    for traffic in ["0%", "101%", "5", "much", ""] {
        refuse(&one(json!({"replicas": 1, "traffic": traffic})), &path("traffic"), words);
    }
    let rules = Rules { partition_percent_limit: 60, ..Rules::default() };
    let context = Context { rules, ..Context::default() };
    let step = one(json!({"replicas": "60%", "traffic": "5%"}));
    assert_eq!(said(&step, &context, Severity::Error), []);
}

#[test]
fn a_weight_alone_is_a_small_share() {
    let path = format!("{STEPS}[0].weight");
    let one = |step: Value| old_steps(json!([step, {"replicas": "100%"}]));
    let words = "weight must be positive number, and less than or equal to \
                 replicasLimitWithTraffic (defaults to 30)";
    for weight in [0, -1, 101] {
        refuse(&one(json!({ "weight": weight })), &path, words);
    }
    let words = "For patition style rollout: step[x].weight must not greater than \
                 replicasLimitWithTraffic if replicas is not specified";
    refuse(&one(json!({"weight": 51})), &path, words);
    accept(&one(json!({"weight": 50})));
    let words = "For patition style rollout: step[x].replicas must not greater than \
                 replicasLimitWithTraffic if traffic or matches specified";
    let replicas = format!("{STEPS}[0].replicas");
    refuse(&one(json!({"weight": 5, "replicas": "51%"})), &replicas, words);
    refuse(&one(json!({"matches": [], "replicas": "51%"})), &replicas, words);
    let routed = with(
        old_steps(json!([
            {"weight": 20, "replicas": 1}, {"weight": 10, "replicas": 2}, {"replicas": "100%"},
        ])),
        "/spec/strategy/canary/trafficRoutings",
        json!([{"service": "web"}]),
    );
    let words = "Steps.Weight must be a non decreasing sequence";
    assert!(errors(&routed).contains(&(format!("{STEPS}[1].weight"), words.into())));
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

/// What is said of a change of a Rollout that is in `phase`.
fn change(before: &Value, phase: &str, pointer: &str, value: Value) -> Vec<String> {
    let before = with(before.clone(), "/status", json!({ "phase": phase }));
    let after = with(before.clone(), pointer, value);
    let before = match phase {
        "Progressing" | "Terminating" | "Healthy" => before,
        other => panic!("{other}"),
    };
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

#[test]
fn a_batch_release_of_ones_own_is_checked() {
    accept(&release());
    accept(&convert(&release(), Version::V1alpha1).unwrap());
    serde_json::from_value::<BatchRelease>(release()).unwrap();
    let plan =
        |key: &str, value: Value| with(release(), &format!("/spec/releasePlan/{key}"), value);
    let batches = "spec.releasePlan.batches";
    refuse(&plan("batches", json!([])), batches, "is empty");
    refuse(
        &plan("batches/0/canaryReplicas", json!(0)),
        &format!("{batches}[0].canaryReplicas"),
        "replicas must be positive number",
    );
    refuse(
        &plan("batches", json!([{"canaryReplicas": 3}, {"canaryReplicas": 2}])),
        &format!("{batches}[1].canaryReplicas"),
        "Steps.CanaryReplicas must be a non decreasing sequence",
    );
    let at = |key: &str| format!("spec.releasePlan.{key}");
    refuse(&plan("batchPartition", json!(-1)), &at("batchPartition"), "is negative");
    accept(&plan("batchPartition", json!(null)));
    let past = plan("batchPartition", json!(2));
    accept(&past);
    assert_eq!(warnings(&past)[0].1, "is 2, past the last batch, which is 1");
    refuse(&plan("finalizingPolicy", json!("Later")), &at("finalizingPolicy"), "\"Later\" is not");
    refuse(&plan("failureThreshold", json!("x")), &at("failureThreshold"), "must be a number");
    accept(&plan("rollingStyle", json!("Partition")));
    for style in ["BlueGreen", "Canary", "Rolling"] {
        refuse(&plan("rollingStyle", json!(style)), &at("rollingStyle"), "");
    }
    let extra = "enableExtraWorkloadForCanary";
    refuse(&plan(extra, json!(true)), &at(extra), "releases by a canary Deployment");
    let set = with(plan(extra, json!(true)), "/spec/workloadRef/kind", json!("StatefulSet"));
    accept(&set);
    let kind = with(release(), "/spec/workloadRef/kind", json!("Job"));
    refuse(&kind, "spec.workloadRef", "WorkloadRef kind is not supported");
    let none = with(release(), "/spec/workloadRef", json!(null));
    refuse(&none, "spec.workloadRef", "WorkloadRef is required");
}

#[test]
fn a_batch_release_stays_with_its_workload() {
    for stored in [release(), convert(&release(), Version::V1alpha1).unwrap()] {
        let mut after = stored.clone();
        let place = match after["spec"].get("workloadRef") {
            Some(_) => "/spec/workloadRef/name",
            None => "/spec/targetReference/workloadRef/name",
        };
        *after.pointer_mut(place).unwrap() = json!("other");
        for (phase, is_refused) in [("Progressing", true), ("Completed", false), ("", false)] {
            let before = with(stored.clone(), "/status", json!({ "phase": phase }));
            let context = Context { before: Some(&before), ..Context::default() };
            let found = said(&after, &context, Severity::Error);
            assert_eq!(found.len(), usize::from(is_refused), "{phase}: {found:?}");
        }
    }
}

proptest! {
    #[test]
    fn no_manifest_however_wrong_makes_anything_panic(
        which in 0..3_usize,
        place in 0..40_usize,
        wrong in prop_oneof![
            Just(json!(null)), Just(json!(true)), Just(json!([])), Just(json!({})),
            Just(json!([null, 5])), any::<i64>().prop_map(Value::from), Just(json!(1.5)),
            ".{0,20}".prop_map(Value::from),
        ],
    ) {
        let mut object = vec![beta(), alpha(), release()].swap_remove(which);
        let mut places = Vec::new();
        find(&object, "", &mut places);
        let place = places[place % places.len()].clone();
        *object.pointer_mut(&place).unwrap() = wrong;
        let stored = vec![beta(), alpha(), release()].swap_remove(which);
        let others: Vec<Claim> = Claim::of(&object).into_iter().collect();
        for (before, after) in [(&stored, &object), (&object, &stored)] {
            let context = Context { before: Some(before), others: &others, ..Context::default() };
            let _ = validate(after, &context);
        }
        let _ = defaulted(&object);
        for version in [Version::V1alpha1, Version::V1beta1] {
            let _ = convert(&object, version);
        }
        if let Ok(typed) = serde_json::from_value::<Rollout>(object) {
            let _ = typed.spec.strategy.canary.map(|canary| Plan::of_canary(&canary));
        }
    }
}

fn find(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                find(inner, &format!("{path}/{}", key.replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                find(inner, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}
