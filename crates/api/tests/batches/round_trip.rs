//! Whatever is in an object, it comes back from the other version as it was; and from the types.

use api::batches::{BatchRelease, Rollout, Version, convert};
use api::parse;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const BETA: &str = include_str!("../manifests/rollout-v1beta1.yaml");
const ALPHA: &str = include_str!("../manifests/rollout-v1alpha1.yaml");

fn manifest(yaml: &str) -> Value {
    parse(yaml).expect("the manifest is YAML").remove(0)
}

#[test]
fn the_published_manifests_are_one_rollout() {
    let (beta, alpha) = (manifest(BETA), manifest(ALPHA));
    let mut made = convert(&alpha, Version::V1beta1).unwrap();
    assert_eq!(convert(&made, Version::V1alpha1).unwrap(), alpha);
    made["metadata"].as_object_mut().unwrap().remove("annotations");
    assert_eq!(made, beta);
    let there = convert(&beta, Version::V1alpha1).unwrap();
    assert_eq!(convert(&there, Version::V1beta1).unwrap(), beta);
    assert_eq!(there["spec"], alpha["spec"]);
}

/// A few plain values, null and empty ones among them.
fn leaf() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!({})),
        Just(json!([])),
        any::<bool>().prop_map(Value::from),
        (-3i64..200).prop_map(Value::from),
        "[a-zA-Z0-9%~/ü]{0,6}".prop_map(Value::from),
        Just(json!({"a/b": [1, {"c~d": null}]})),
    ]
    .boxed()
}

/// A map of no particular fields.
fn any_map() -> BoxedStrategy<Value> {
    prop_oneof![Just(json!({})), Just(json!({"a/b": [1, {"c~d": null}], "e": "f"}))].boxed()
}

/// What is in each object that a schema admits.
const REQUIRED: &[&str] =
    &["spec", "strategy", "objectRef", "workloadRef", "targetReference", "releasePlan"];

/// A field that is there with this chance.
pub(crate) fn field(
    key: &str,
    value: BoxedStrategy<Value>,
    chance: f64,
) -> BoxedStrategy<(String, Option<Value>)> {
    let key = key.to_owned();
    let value = if chance < 1.0 {
        prop::option::weighted(chance, value).boxed()
    } else {
        value.prop_map(Some).boxed()
    };
    value.prop_map(move |value| (key.clone(), value)).boxed()
}

/// A map with some of these fields, and at times one that nobody knows.
fn map(fields: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let mut all: Vec<BoxedStrategy<(String, Option<Value>)>> = fields
        .into_iter()
        .map(|(key, value)| field(key, value, if REQUIRED.contains(&key) { 1.0 } else { 0.7 }))
        .collect();
    all.push(field("fieldOfTomorrow", leaf(), 0.2));
    all.prop_map(|fields| {
        let there = fields.into_iter().filter_map(|(key, value)| Some((key, value?)));
        Value::Object(there.collect::<Map<_, _>>())
    })
    .boxed()
}

fn list(item: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop::collection::vec(item, 0..4).prop_map(Value::from).boxed()
}

fn one_of(values: &'static [&'static str]) -> BoxedStrategy<Value> {
    prop::sample::select(values).prop_map(Value::from).boxed()
}

fn size() -> BoxedStrategy<Value> {
    prop_oneof![(0i64..50).prop_map(Value::from), one_of(&["20%", "100%", "x", "020%"])].boxed()
}

const STYLES: &[&str] =
    &["partition", "Partition", "PARTITION", "canary", "Canary", "blueGreen", ""];

fn metadata() -> BoxedStrategy<Value> {
    let annotations = map(vec![
        ("rollouts.kruise.io/rolling-style", one_of(STYLES)),
        ("rollouts.kruise.io/trafficrouting", one_of(&["routes", ""])),
        ("other", one_of(&["x"])),
        // A record comes from a conversion alone; these are what is left when somebody was at it.
        ("sluice.dev/conversion", one_of(&["", "[]", "{", "[{}]"])),
    ]);
    let annotations = annotations.prop_map(|mut all| {
        all.as_object_mut().unwrap().remove("fieldOfTomorrow");
        all
    });
    map(vec![
        ("name", one_of(&["web"])),
        ("annotations", annotations.boxed()),
        ("labels", Just(json!({"a": "b"})).boxed()),
    ])
}

fn canary_status() -> BoxedStrategy<Value> {
    map(vec![
        ("currentStepIndex", (0i64..4).prop_map(Value::from).boxed()),
        ("currentStepState", one_of(&["StepPaused", "Completed", ""])),
        ("podTemplateHash", one_of(&["", "abc"])),
        ("nextStepIndex", (-1i64..4).prop_map(Value::from).boxed()),
    ])
}

fn rollout(version: Version) -> BoxedStrategy<Value> {
    let is_new = version == Version::V1beta1;
    let workload = Just(json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "w"}));
    let mut step = vec![
        ("replicas", size()),
        ("matches", list(any_map())),
        ("pause", map(vec![("duration", (-1i64..5).prop_map(Value::from).boxed())])),
    ];
    // What only the other version has is an unknown field here.
    step.push(("traffic", if is_new { size_text() } else { leaf() }));
    step.push(("weight", if is_new { leaf() } else { (0i64..120).prop_map(Value::from).boxed() }));
    let flag = any::<bool>().prop_map(Value::from).boxed();
    let canary = map(vec![
        ("steps", list(map(step))),
        ("trafficRoutings", list(any_map())),
        ("failureThreshold", size()),
        ("enableExtraWorkloadForCanary", if is_new { flag } else { leaf() }),
        ("trafficRoutingRef", if is_new { one_of(&["routes", "other", ""]) } else { leaf() }),
        ("disableGenerateCanaryService", any::<bool>().prop_map(Value::from).boxed()),
    ]);
    let strategy = map(vec![
        ("paused", any::<bool>().prop_map(Value::from).boxed()),
        ("canary", canary),
        ("blueGreen", any_map()),
    ]);
    let holder = map(vec![("workloadRef", workload.clone().boxed())]);
    let spec = map(vec![
        ("workloadRef", if is_new { workload.boxed() } else { leaf() }),
        ("objectRef", if is_new { leaf() } else { holder }),
        ("strategy", strategy),
        ("disabled", any::<bool>().prop_map(Value::from).boxed()),
        ("rolloutID", if is_new { leaf() } else { one_of(&["", "r1"]) }),
    ]);
    let index = (0i64..4).prop_map(Value::from).boxed();
    let status = map(vec![
        ("phase", one_of(&["Healthy", "Progressing"])),
        ("canaryStatus", canary_status()),
        ("currentStepIndex", if is_new { index } else { leaf() }),
        ("currentStepState", if is_new { one_of(&["StepPaused", ""]) } else { leaf() }),
    ]);
    object(version, "Rollout", spec, status)
}

fn size_text() -> BoxedStrategy<Value> {
    one_of(&["20%", "100%", "x", "020%", "200%", ""])
}

fn release(version: Version) -> BoxedStrategy<Value> {
    let is_new = version == Version::V1beta1;
    let workload = Just(json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "w"}));
    let plan = map(vec![
        ("batches", list(map(vec![("canaryReplicas", size())]))),
        ("batchPartition", (0i64..3).prop_map(Value::from).boxed()),
        ("rollingStyle", one_of(STYLES)),
        ("enableExtraWorkloadForCanary", any::<bool>().prop_map(Value::from).boxed()),
    ]);
    let holder = map(vec![("workloadRef", workload.clone().boxed())]);
    let spec = map(vec![
        ("workloadRef", if is_new { workload.boxed() } else { leaf() }),
        ("targetReference", if is_new { leaf() } else { holder }),
        ("releasePlan", plan),
    ]);
    let status = map(vec![("message", one_of(&["waits"])), ("canaryStatus", any_map())]);
    object(version, "BatchRelease", spec, status)
}

fn object(
    version: Version,
    kind: &'static str,
    spec: BoxedStrategy<Value>,
    status: BoxedStrategy<Value>,
) -> BoxedStrategy<Value> {
    map(vec![("metadata", metadata()), ("spec", spec), ("status", status), ("more", leaf())])
        .prop_map(move |mut object| {
            object["apiVersion"] = json!(version.api_version());
            object["kind"] = json!(kind);
            object
        })
        .boxed()
}

fn any_object() -> BoxedStrategy<(Version, Value)> {
    let with = |version: Version, object: BoxedStrategy<Value>| {
        object.prop_map(move |object| (version, object)).boxed()
    };
    let (alpha, beta) = (Version::V1alpha1, Version::V1beta1);
    prop_oneof![
        with(alpha, rollout(alpha)),
        with(beta, rollout(beta)),
        with(alpha, release(alpha)),
        with(beta, release(beta)),
    ]
    .boxed()
}

pub(crate) fn other(version: Version) -> Version {
    if version == Version::V1alpha1 { Version::V1beta1 } else { Version::V1alpha1 }
}

/// As the API server would have it: a record is ours, and what stands in its place goes; there is
/// metadata, and no empty map of annotations.
fn without_record(object: &Value) -> Value {
    let mut object = object.clone();
    if object["metadata"].is_null() {
        object["metadata"] = json!({});
    }
    let metadata = object["metadata"].as_object_mut().unwrap();
    if let Some(all) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        all.remove("sluice.dev/conversion");
        if all.is_empty() {
            metadata.remove("annotations");
        }
    }
    object
}

proptest! {
    #[test]
    fn an_object_comes_back_as_it_was((from, object) in any_object()) {
        let there = convert(&object, other(from)).unwrap();
        prop_assert_eq!(&there["apiVersion"], &json!(other(from).api_version()));
        let back = convert(&there, from).unwrap();
        prop_assert_eq!(&back, &without_record(&object), "by way of {}", there);
        prop_assert_eq!(convert(&back, other(from)).unwrap(), there);
        prop_assert_eq!(convert(&object, from).unwrap(), object);
    }

    #[test]
    fn an_object_that_is_edited_in_the_other_version_comes_back_as_edited(
        ((from, object), (_, edit), which) in (any_object(), any_object(), 0..4_usize),
    ) {
        let mut there = convert(&object, other(from)).unwrap();
        let path = ["/spec/strategy", "/spec/strategy/canary", "/metadata/annotations", "/spec"];
        let new = convert(&edit, other(from)).unwrap();
        let is_alike = new["kind"] == there["kind"];
        if let (Some(old), Some(new)) = (there.pointer_mut(path[which]), new.pointer(path[which]))
            && is_alike
        {
            *old = new.clone();
        }
        let back = convert(&there, from).unwrap();
        let again = convert(&back, other(from)).unwrap();
        prop_assert_eq!(without_record(&again), without_record(&there), "by way of {}", back);
        prop_assert_eq!(convert(&again, from).unwrap(), back, "by way of {}", again);
    }

    #[test]
    fn metadata_that_conversion_may_not_touch_stays((from, object) in any_object()) {
        let there = convert(&object, other(from)).unwrap();
        for key in ["name", "namespace", "uid", "resourceVersion", "labels"] {
            prop_assert_eq!(&there["metadata"][key], &object["metadata"][key]);
        }
    }

    #[test]
    fn nothing_that_is_asked_makes_it_panic(object in any_object(), wrong in leaf(), at in 0..6_usize) {
        let (from, mut object) = object;
        let places = ["/spec", "/metadata", "/status", "/spec/strategy/canary/steps", "/kind", ""];
        if let Some(place) = object.pointer_mut(places[at]) {
            *place = wrong;
        }
        let _ = convert(&object, other(from));
    }
}

/// What the types know and what they don't: nulls and empty defaults aside, all of it.
fn through_types(object: &Value) -> Value {
    let back = match object["kind"].as_str() {
        Some("Rollout") => serde_json::from_value::<Rollout>(object.clone())
            .map(|typed| serde_json::to_value(typed).unwrap()),
        _ => serde_json::from_value::<BatchRelease>(object.clone())
            .map(|typed| serde_json::to_value(typed).unwrap()),
    };
    back.unwrap()
}

#[test]
fn an_object_comes_out_of_the_types_as_it_went_in() {
    let mut rollout = manifest(BETA);
    rollout["status"] = json!({
        "observedGeneration": 2, "phase": "Progressing", "message": "Rollout is in step(1/3)",
        "currentStepIndex": 1, "currentStepState": "StepPaused", "fieldOfTomorrow": 1,
        "conditions": [{
            "type": "Progressing", "status": "True", "reason": "InRolling", "message": "",
            "lastUpdateTime": "2026-11-30T01:00:00Z", "lastTransitionTime": "2026-11-30T01:00:00Z",
            "fieldOfTomorrow": [1.5],
        }],
        "canaryStatus": {
            "observedWorkloadGeneration": 2, "observedRolloutID": "r1", "rolloutHash": "h",
            "stableRevision": "a", "canaryRevision": "b", "podTemplateHash": "b",
            "canaryReplicas": 0, "canaryReadyReplicas": 0, "currentStepIndex": 1,
            "nextStepIndex": 2, "currentStepState": "StepPaused", "finalisingStep": "",
            "message": "m", "lastUpdateTime": "2026-11-30T01:00:00Z", "fieldOfTomorrow": null,
        },
    });
    rollout["spec"]["fieldOfTomorrow"] = json!({"deep": [null]});
    rollout["spec"]["strategy"]["fieldOfTomorrow"] = json!("x");
    rollout["spec"]["strategy"]["canary"]["fieldOfTomorrow"] = json!("x");
    rollout["spec"]["strategy"]["canary"]["steps"][0] = json!({
        "replicas": [5], "traffic": "5%", "matches": [{"headers": []}], "pause": {"until": "noon"},
        "fieldOfTomorrow": 1,
    });
    assert_eq!(through_types(&rollout), rollout);
    let release = json!({
        "apiVersion": "rollouts.kruise.io/v1beta1",
        "kind": "BatchRelease",
        "metadata": {"name": "web"},
        "spec": {
            "workloadRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web"},
            "releasePlan": {
                "batches": [{"canaryReplicas": "20%", "fieldOfTomorrow": 1}], "batchPartition": 0,
                "rolloutID": "r1", "failureThreshold": "x", "finalizingPolicy": "Immediate",
                "rollingStyle": "Partition", "enableExtraWorkloadForCanary": false,
                "fieldOfTomorrow": 1,
            },
            "fieldOfTomorrow": 1,
        },
        "status": {
            "canaryStatus": {
                "batchState": "Ready", "currentBatch": 0, "updatedReplicas": 1,
                "updatedReadyReplicas": 1, "noNeedUpdateReplicas": 0, "fieldOfTomorrow": 1,
                "batchReadyTime": "2026-11-30T01:00:00Z",
            },
            "stableRevision": "a", "updateRevision": "b", "observedGeneration": 1,
            "observedRolloutID": "r1", "observedWorkloadReplicas": -1, "collisionCount": 0,
            "observedReleasePlanHash": "h", "phase": "Progressing", "message": "m",
            "fieldOfTomorrow": 1,
        },
    });
    assert_eq!(through_types(&release), release);
}
