//! Conversion by the rules of the original, and the answer to a review.

use api::batches::{Version, convert, convert_review};
use serde_json::{Value, json};

/// The object comes out as expected, and back as it was.
fn check(object: &Value, expect: &Value) {
    let to = Version::of(expect["apiVersion"].as_str().unwrap()).unwrap();
    let from = Version::of(object["apiVersion"].as_str().unwrap()).unwrap();
    let made = convert(object, to).unwrap();
    assert_eq!(without_record(&made), *expect, "of {object}");
    assert_eq!(convert(&made, from).unwrap(), *object, "back from {made}");
}

fn without_record(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(all) = object["metadata"]["annotations"].as_object_mut() {
        all.remove("sluice.dev/conversion");
        if all.is_empty() {
            object["metadata"].as_object_mut().unwrap().remove("annotations");
        }
    }
    object
}

fn has_record(object: &Value) -> bool {
    object.pointer("/metadata/annotations/sluice.dev~1conversion").is_some()
}

fn workload(kind: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": kind, "name": "web"})
}

fn old(annotations: &Value, canary: &Value) -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1alpha1",
        "kind": "Rollout",
        "metadata": {"name": "web", "namespace": "shop", "annotations": annotations},
        "spec": {"objectRef": {"workloadRef": workload("Deployment")}, "strategy": {"canary": canary}},
    })
}

fn new(annotations: &Value, canary: &Value) -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1",
        "kind": "Rollout",
        "metadata": {"name": "web", "namespace": "shop", "annotations": annotations},
        "spec": {"workloadRef": workload("Deployment"), "strategy": {"canary": canary}},
    })
}

const STYLE: &str = "rollouts.kruise.io/rolling-style";
const ROUTING: &str = "rollouts.kruise.io/trafficrouting";

#[test]
fn the_style_is_an_annotation_there_and_a_field_here() {
    let steps = json!([{"replicas": 1}]);
    for (style, is_canary) in [("partition", false), ("Partition", false), ("CANARY", true)] {
        let annotations = json!({ STYLE: style });
        check(
            &old(&annotations, &json!({"steps": steps})),
            &new(&annotations, &json!({"steps": steps, "enableExtraWorkloadForCanary": is_canary})),
        );
    }
    let none = without_record(&old(&json!({}), &json!({"steps": steps})));
    let mut expect =
        new(&json!({}), &json!({"steps": steps, "enableExtraWorkloadForCanary": true}));
    expect["metadata"].as_object_mut().unwrap().remove("annotations");
    check(&none, &expect);
}

#[test]
fn a_style_is_written_into_the_older_version_and_goes_again() {
    let steps = json!([{"replicas": 1}]);
    let mut bare = new(&json!({}), &json!({"steps": steps}));
    bare["metadata"].as_object_mut().unwrap().remove("annotations");
    check(&bare, &old(&json!({STYLE: "partition"}), &json!({"steps": steps})));
    bare["spec"]["strategy"]["canary"]["enableExtraWorkloadForCanary"] = json!(true);
    check(&bare, &old(&json!({STYLE: "canary"}), &json!({"steps": steps})));
}

#[test]
fn a_weight_is_traffic_and_replicas_where_there_are_none() {
    let style = json!({STYLE: "partition"});
    check(
        &old(&style, &json!({"steps": [{"weight": 20}, {"weight": 40, "replicas": 2}]})),
        &new(
            &style,
            &json!({
                "steps": [
                    {"replicas": "20%", "traffic": "20%"}, {"replicas": 2, "traffic": "40%"},
                ],
                "enableExtraWorkloadForCanary": false,
            }),
        ),
    );
    check(
        &new(
            &style,
            &json!({
                "steps": [{"replicas": 1, "traffic": "5%"}, {"replicas": 2, "traffic": "much"}],
                "enableExtraWorkloadForCanary": false,
            }),
        ),
        &old(&style, &json!({"steps": [{"replicas": 1, "weight": 5}, {"replicas": 2}]})),
    );
}

#[test]
fn traffic_fields_are_carried_untouched() {
    let canary = json!({
        "steps": [{
            "replicas": 1,
            "matches": [{"headers": [{"name": "a", "value": "b"}], "path": {"value": "/x"}}],
            "requestHeaderModifier": {"set": [{"name": "a", "value": "b"}]},
        }],
        "trafficRoutings": [{"service": "web", "ingress": {"name": "web"}, "customNetworkRefs": []}],
        "disableGenerateCanaryService": true,
        "failureThreshold": "10%",
        "patchPodTemplateMetadata": {"labels": {"a": "b"}},
    });
    let mut with_style = canary.clone();
    with_style["enableExtraWorkloadForCanary"] = json!(true);
    with_style["trafficRoutingRef"] = json!("routes");
    let annotations = json!({STYLE: "canary", ROUTING: "routes"});
    check(&old(&annotations, &canary), &new(&annotations, &with_style));
}

#[test]
fn a_plain_manifest_needs_no_record() {
    let style = json!({STYLE: "partition"});
    let steps = json!([{"replicas": 1, "pause": {"duration": 5}}, {"replicas": "100%"}]);
    let canary = json!({"steps": steps, "enableExtraWorkloadForCanary": false});
    assert!(!has_record(&convert(&new(&style, &canary), Version::V1alpha1).unwrap()));
    let canary = json!({"steps": steps});
    assert!(!has_record(&convert(&old(&style, &canary), Version::V1beta1).unwrap()));
}

#[test]
fn the_columns_of_the_newer_version_are_filled_from_the_status() {
    let style = json!({STYLE: "partition"});
    let status = json!({
        "phase": "Progressing",
        "conditions": [{"type": "Progressing", "status": "True", "reason": "InRolling", "message": ""}],
        "canaryStatus": {"currentStepIndex": 2, "currentStepState": "StepPaused"},
    });
    let mut before = old(&style, &json!({"steps": []}));
    before["status"] = status.clone();
    let mut after = new(&style, &json!({"steps": [], "enableExtraWorkloadForCanary": false}));
    after["status"] = status;
    after["status"]["currentStepIndex"] = json!(2);
    after["status"]["currentStepState"] = json!("StepPaused");
    check(&before, &after);
    assert!(!has_record(&convert(&before, Version::V1beta1).unwrap()));
    before["status"] = json!({});
    after["status"] = json!({"currentStepIndex": 0, "currentStepState": ""});
    check(&before, &after);
}

#[test]
fn a_batch_release_has_its_style_in_both() {
    let release = |version: &str, annotations: Value, spec: Value| {
        json!({
            "apiVersion": format!("rollouts.kruise.io/{version}"),
            "kind": "BatchRelease",
            "metadata": {"name": "web", "annotations": annotations},
            "spec": spec,
            "status": {"canaryStatus": {"currentBatch": 1}, "message": "waits"},
        })
    };
    let batches = json!([{"canaryReplicas": 1}]);
    let there = json!({"workloadRef": workload("StatefulSet")});
    for (style, annotation) in [("Partition", "partition"), ("BlueGreen", "bluegreen")] {
        let plan = json!({"batches": batches, "batchPartition": 0, "rollingStyle": style});
        let annotations = json!({ STYLE: annotation });
        check(
            &release(
                "v1beta1",
                annotations.clone(),
                json!({"workloadRef": workload("StatefulSet"), "releasePlan": plan}),
            ),
            &release(
                "v1alpha1",
                annotations,
                json!({"targetReference": there, "releasePlan": plan}),
            ),
        );
    }
    check(
        &release(
            "v1alpha1",
            json!({STYLE: "Canary"}),
            json!({"targetReference": there, "releasePlan": {"batches": batches}}),
        ),
        &release(
            "v1beta1",
            json!({STYLE: "Canary"}),
            json!({
                "workloadRef": workload("StatefulSet"),
                "releasePlan": {"batches": batches, "rollingStyle": "Canary"},
            }),
        ),
    );
}

#[test]
fn an_edit_outranks_the_record_and_only_what_it_is_about() {
    let steps = json!([{"weight": 20}, {"weight": 100}]);
    let before = without_record(&old(&json!({}), &json!({"steps": steps})));
    let mut edited = convert(&before, Version::V1beta1).unwrap();
    assert!(has_record(&edited));
    edited["spec"]["strategy"]["canary"]["steps"][0]["replicas"] = json!(1);
    edited["spec"]["strategy"]["canary"]["enableExtraWorkloadForCanary"] = json!(false);
    let back = convert(&edited, Version::V1alpha1).unwrap();
    let canary = json!({"steps": [{"weight": 20, "replicas": 1}, {"weight": 100}]});
    assert_eq!(without_record(&back), old(&json!({STYLE: "partition"}), &canary));
    let again = convert(&back, Version::V1beta1).unwrap();
    assert_eq!(without_record(&again), without_record(&edited));
}

#[test]
fn annotations_of_others_are_not_in_the_way_of_the_record() {
    let before = without_record(&old(&json!({}), &json!({"steps": [{"weight": 20}]})));
    let mut there = convert(&before, Version::V1beta1).unwrap();
    there["metadata"]["annotations"]["other"] = json!("x");
    let back = convert(&there, Version::V1alpha1).unwrap();
    let mut expect = before;
    expect["metadata"]["annotations"] = json!({"other": "x"});
    assert_eq!(back, expect);
    assert_eq!(convert(&back, Version::V1beta1).unwrap()["spec"], there["spec"]);
}

#[test]
fn a_style_that_conversion_wrote_can_be_changed_where_it_stands() {
    let mut bare = new(&json!({}), &json!({"steps": [{"replicas": 1}]}));
    bare["metadata"].as_object_mut().unwrap().remove("annotations");
    let mut edited = convert(&bare, Version::V1alpha1).unwrap();
    edited["metadata"]["annotations"][STYLE] = json!("canary");
    let back = convert(&edited, Version::V1beta1).unwrap();
    assert_eq!(back["spec"]["strategy"]["canary"]["enableExtraWorkloadForCanary"], true);
}

/// The answer to a review of these objects.
fn review(objects: &Value, wanted: &str) -> Value {
    let review = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": {"uid": "u-1", "desiredAPIVersion": wanted, "objects": objects},
    });
    let answer = convert_review(&review);
    assert_eq!(answer["apiVersion"], "apiextensions.k8s.io/v1");
    assert_eq!(answer["kind"], "ConversionReview");
    assert_eq!(answer["response"]["uid"], "u-1");
    answer["response"].clone()
}

#[test]
fn a_review_is_answered_with_all_objects_in_order() {
    let style = json!({STYLE: "partition"});
    let canary = json!({"steps": [{"replicas": 1}], "enableExtraWorkloadForCanary": false});
    let there = new(&style, &canary);
    let here = old(&style, &json!({"steps": [{"replicas": 1}]}));
    let answer = review(&json!([there, here]), "rollouts.kruise.io/v1beta1");
    assert_eq!(answer["result"], json!({"status": "Success"}));
    assert_eq!(answer["convertedObjects"], json!([there, there]));
    let answer = review(&json!([]), "rollouts.kruise.io/v1alpha1");
    assert_eq!(answer["convertedObjects"], json!([]));
}

#[test]
fn a_review_that_cannot_be_answered_names_object_and_field() {
    let check = |objects: Value, wanted: &str, expect: &str| {
        let answer = review(&objects, wanted);
        assert_eq!(answer["result"]["status"], "Failure", "{objects}");
        assert_eq!(answer["result"]["message"], expect);
        assert_eq!(answer["convertedObjects"], json!([]));
    };
    let beta = "rollouts.kruise.io/v1beta1";
    let style = json!({STYLE: "partition"});
    let good = old(&style, &json!({"steps": [{"replicas": 1}]}));
    check(
        json!([good, old(&style, &json!({"steps": [{"replicas": 1}, {"weight": "20"}]}))]),
        beta,
        "Rollout shop/web: spec.strategy.canary.steps[1].weight must be a whole number, but is \
         \"20\"",
    );
    check(
        json!([old(&style, &json!({"steps": {"replicas": 1}}))]),
        beta,
        "Rollout shop/web: spec.strategy.canary.steps must be a list, but is {\"replicas\":1}",
    );
    check(
        json!([old(&json!({STYLE: 5}), &json!({}))]),
        beta,
        "Rollout shop/web: metadata.annotations.rollouts.kruise.io/rolling-style must be a string, \
         but is 5",
    );
    check(json!([5]), beta, "5 is no object");
    check(
        json!([{"apiVersion": "apps/v1", "kind": "Rollout", "metadata": {"name": "a"}}]),
        beta,
        "Rollout a: apiVersion is \"apps/v1\", but must be rollouts.kruise.io/v1alpha1 or \
         rollouts.kruise.io/v1beta1",
    );
    check(
        json!([{"apiVersion": beta, "kind": "TrafficRouting"}]),
        beta,
        "TrafficRouting without a name: kind is \"TrafficRouting\", but must be Rollout or \
         BatchRelease",
    );
    check(
        json!([good]),
        "rollouts.kruise.io/v1",
        "desiredAPIVersion is \"rollouts.kruise.io/v1\", which is not served",
    );
    check(
        json!([1, 2, 3, 4, 5]),
        beta,
        "1 is no object; 2 is no object; 3 is no object; and 2 more",
    );
    let answer = convert_review(&json!({}));
    assert_eq!(answer["response"]["result"]["status"], "Failure");
    assert_eq!(convert_review(&json!(5))["kind"], "ConversionReview");
}

#[test]
fn a_record_that_somebody_wrote_cannot_spoil_an_object() {
    let check = |change: Value| {
        let record = json!([change]).to_string();
        let style = json!({STYLE: "partition", "sluice.dev/conversion": record});
        let forged = old(&style, &json!({"steps": [{"replicas": 1}]}));
        let made = convert(&forged, Version::V1beta1).unwrap();
        let canary = json!({"steps": [{"replicas": 1}], "enableExtraWorkloadForCanary": false});
        assert_eq!(made, new(&json!({STYLE: "partition"}), &canary), "{change}");
    };
    let steps = "/spec/strategy/canary/steps";
    check(json!({"at": steps, "was": [{"replicas": 1}], "is": 5}));
    check(json!({"at": steps, "was": [{"replicas": 1}], "is": [5]}));
    check(json!({"at": "/spec/strategy/paused", "is": "yes"}));
    check(json!({"at": "/metadata/name", "was": "web", "is": "other"}));
    check(json!({"at": "/metadata/finalizers", "is": []}));
    check(json!({"at": "/metadata/annotations/a", "is": 5}));
    check(json!({"at": "/metadata/annotations/sluice.dev~1conversion", "is": "[]"}));
    check(json!({"at": "/kind", "was": "Rollout", "is": "Other"}));
    check(json!({"at": "", "is": {}}));
    check(json!({"at": "spec", "is": {}}));
    check(json!({"at": "/specs", "is": {}}));
    check(json!({}));
    check(json!(5));
}
