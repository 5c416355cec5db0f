//! The CRDs: names, versions, columns, schemas and rules that are promised.

use api::batches;
use serde_json::{Value, json};

fn crds() -> Vec<Value> {
    let crds = batches::crds(("ops", "hook"));
    crds.iter().map(|crd| serde_json::to_value(crd).expect("a CRD is JSON")).collect()
}

/// All versions of all kinds: where, and the version itself.
fn versions() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for crd in crds() {
        for version in crd["spec"]["versions"].as_array().unwrap() {
            let name = version["name"].as_str().unwrap();
            let kind = crd["spec"]["names"]["kind"].as_str().unwrap();
            all.push((format!("{kind} {name}"), version.clone()));
        }
    }
    all
}

#[test]
fn the_stored_version_is_v1beta1_and_the_older_one_is_served() {
    let found: Vec<(String, bool, bool)> = versions()
        .into_iter()
        .map(|(name, version)| {
            assert_eq!(version["subresources"], json!({"status": {}}), "{name}");
            (name, version["served"] == true, version["storage"] == true)
        })
        .collect();
    let expect = [
        ("Rollout v1beta1", true, true),
        ("Rollout v1alpha1", true, false),
        ("BatchRelease v1beta1", true, true),
        ("BatchRelease v1alpha1", true, false),
        ("RolloutHistory v1alpha1", true, true),
    ];
    assert_eq!(found, expect.map(|(name, served, stored)| (name.to_owned(), served, stored)));
}

#[test]
fn conversion_goes_to_the_service_that_was_named() {
    for crd in crds() {
        let name = crd["metadata"]["name"].as_str().unwrap();
        let conversion = &crd["spec"]["conversion"];
        if name.starts_with("rollouthistories") {
            assert_eq!(*conversion, Value::Null, "{name} has one version");
            continue;
        }
        let service = json!({"namespace": "ops", "name": "hook", "path": "/convert", "port": 443});
        let webhook = json!({
            "clientConfig": {"service": service},
            "conversionReviewVersions": ["v1"],
        });
        assert_eq!(*conversion, json!({"strategy": "Webhook", "webhook": webhook}), "{name}");
    }
}

#[test]
fn names_are_those_of_the_original_without_short_ones() {
    let names: Vec<Value> = crds()
        .iter()
        .map(|crd| {
            assert_eq!(crd["spec"]["scope"], "Namespaced");
            let names = &crd["spec"]["names"];
            assert_eq!(names["shortNames"].as_array().map_or(0, Vec::len), 0);
            assert_eq!(names["categories"].as_array().map_or(0, Vec::len), 0);
            crd["metadata"]["name"].clone()
        })
        .collect();
    assert_eq!(
        names,
        [
            "rollouts.rollouts.kruise.io",
            "batchreleases.rollouts.kruise.io",
            "rollouthistories.rollouts.kruise.io",
        ]
    );
}

#[test]
fn columns_are_those_of_the_original_with_a_kind_that_is_there() {
    let check = |name: &str, expect: &[(&str, &str)]| {
        let (_, version) = versions().into_iter().find(|(other, _)| other == name).unwrap();
        let columns: Vec<(String, String)> = version["additionalPrinterColumns"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|column| {
                let text = |key: &str| column[key].as_str().unwrap().to_owned();
                (text("name"), text("jsonPath"))
            })
            .collect();
        let expect: Vec<(String, String)> =
            expect.iter().map(|(name, path)| ((*name).into(), (*path).into())).collect();
        assert_eq!(columns, expect, "{name}");
    };
    let age = ("AGE", ".metadata.creationTimestamp");
    let status = ("STATUS", ".status.phase");
    let message = ("MESSAGE", ".status.message");
    let (step, state) = (".status.currentStepIndex", ".status.currentStepState");
    check(
        "Rollout v1beta1",
        &[status, ("CANARY_STEP", step), ("CANARY_STATE", state), message, age],
    );
    let step = ".status.canaryStatus.currentStepIndex";
    let state = ".status.canaryStatus.currentStepState";
    check(
        "Rollout v1alpha1",
        &[status, ("CANARY_STEP", step), ("CANARY_STATE", state), message, age],
    );
    let batch = ("BATCH", ".status.canaryStatus.currentBatch");
    let state = ("BATCH-STATE", ".status.canaryStatus.batchState");
    let phase = ("PHASE", ".status.phase");
    // Kinds of Kubernetes and of Kruise have one name: which of them it is, its group says.
    let (kind, of) =
        (("KIND", ".spec.workloadRef.kind"), ("APIVERSION", ".spec.workloadRef.apiVersion"));
    check("BatchRelease v1beta1", &[kind, phase, batch, state, of, age]);
    let kind = ("KIND", ".spec.targetReference.workloadRef.kind");
    let of = ("APIVERSION", ".spec.targetReference.workloadRef.apiVersion");
    check("BatchRelease v1alpha1", &[kind, phase, batch, state, of, age]);
    check("RolloutHistory v1alpha1", &[]);
}

/// Every schema below `schema`, each with its path.
fn walk(schema: &Value, path: &str, visit: &mut impl FnMut(&str, &Value)) {
    visit(path, schema);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        walk(property, &format!("{path}.{name}"), visit);
    }
    for inner in ["items", "additionalProperties"] {
        if schema[inner].is_object() {
            walk(&schema[inner], &format!("{path}[]"), visit);
        }
    }
}

#[test]
fn every_field_is_described_and_typed_and_none_but_times_may_be_null() {
    for (name, version) in versions() {
        let schema = &version["schema"]["openAPIV3Schema"];
        let mut bare = Vec::new();
        walk(schema, "", &mut |path, schema| {
            let typed = schema["type"].is_string() || schema["x-kubernetes-int-or-string"] == true;
            let described = schema["description"].is_string() || path.ends_with("[]");
            let null = schema["nullable"] == true && schema["format"] != "date-time";
            let root = path.matches('.').count() < 2;
            if !typed || (!described && !root) || (null && !root) || schema["anyOf"].is_array() {
                bare.push(path.to_owned());
            }
        });
        assert_eq!(bare, Vec::<String>::new(), "{name}");
    }
    for crd in crds() {
        // `kubectl apply` keeps the whole in an annotation of at most 256 KiB.
        assert!(crd.to_string().len() < 64 * 1024);
    }
}

#[test]
fn only_what_is_not_served_keeps_unknown_fields() {
    for (name, version) in versions() {
        walk(&version["schema"]["openAPIV3Schema"], "", &mut |path, schema| {
            if schema["x-kubernetes-preserve-unknown-fields"] == true {
                let carried = [
                    ".blueGreen",
                    ".blueGreenStatus",
                    ".trafficRoutings[]",
                    ".matches[]",
                    ".requestHeaderModifier",
                    ".data",
                ];
                assert!(carried.iter().any(|end| path.ends_with(end)), "{name}{path}");
            }
        });
    }
}

#[test]
fn all_rules_compile() {
    fn bad(schema: &kube_cel::CompiledSchema, path: &str, out: &mut Vec<String>) {
        out.extend(schema.compilation_errors().iter().map(|error| format!("{path}: {error}")));
        for (name, inner) in &schema.properties {
            bad(inner, &format!("{path}.{name}"), out);
        }
        if let Some(items) = &schema.items {
            bad(items, &format!("{path}[]"), out);
        }
    }
    for (name, version) in versions() {
        let mut found = Vec::new();
        let schema = &version["schema"]["openAPIV3Schema"];
        bad(&kube_cel::compile_schema(schema), "", &mut found);
        assert_eq!(found, Vec::<String>::new(), "{name}");
    }
}

/// What the rules of a version say of an object, and of its change from `old`.
fn broken(version: &str, object: &Value, old: Option<&Value>) -> Vec<String> {
    let (_, version) = versions().into_iter().find(|(name, _)| name == version).unwrap();
    let schema = &version["schema"]["openAPIV3Schema"];
    let outcome = kube_cel::Validator::new().validate(schema, object, old);
    let errors = outcome.err().map(|errors| errors.into_vec()).unwrap_or_default();
    errors.into_iter().map(|error| error.message).collect()
}

fn rollout(strategy: &Value) -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1",
        "kind": "Rollout",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "strategy": strategy,
        },
    })
}

#[test]
fn rules_refuse_with_the_words_of_the_original() {
    let check = |strategy: Value, expect: &[&str]| {
        assert_eq!(broken("Rollout v1beta1", &rollout(&strategy), None), expect, "{strategy}");
    };
    check(json!({"canary": {"steps": [{"replicas": 1}, {"replicas": "50%"}]}}), &[]);
    check(json!({"blueGreen": {"steps": []}}), &[]);
    check(json!({}), &["Canary and BlueGreen cannot both be empty"]);
    let steps = json!([{"replicas": 1}]);
    check(
        json!({"canary": {"steps": steps}, "blueGreen": {}}),
        &["Canary and BlueGreen cannot both be set"],
    );
    check(json!({"canary": {}}), &["The number of Canary.Steps cannot be empty"]);
    check(json!({"canary": {"steps": []}}), &["The number of Canary.Steps cannot be empty"]);
    check(json!({"canary": {"steps": [{}]}}), &["replicas cannot be empty"]);
}

#[test]
fn in_a_release_the_workload_and_the_number_of_steps_stay() {
    let check = |phase: &str, change: &dyn Fn(&mut Value), expect: &[&str]| {
        let mut old = rollout(&json!({"canary": {"steps": [{"replicas": 1}]}}));
        old["status"] = json!({"phase": phase, "currentStepIndex": 1, "currentStepState": ""});
        let mut new = old.clone();
        change(&mut new);
        assert_eq!(broken("Rollout v1beta1", &new, Some(&old)), expect, "{phase}: {new}");
    };
    let name = |new: &mut Value| new["spec"]["workloadRef"]["name"] = json!("other");
    let step = |new: &mut Value| {
        new["spec"]["strategy"]["canary"]["steps"] = json!([{"replicas": 1}, {"replicas": 2}]);
    };
    let value = |new: &mut Value| {
        new["spec"]["strategy"]["canary"]["steps"] = json!([{"replicas": "50%"}]);
    };
    for phase in ["Progressing", "Terminating"] {
        check(phase, &name, &["Rollout 'ObjectRef' field is immutable"]);
        check(phase, &step, &["Amount of Rollout steps are immutable"]);
        check(phase, &value, &[]);
    }
    check("Healthy", &name, &[]);
    check("Healthy", &step, &[]);
}

#[test]
fn in_a_release_the_workload_stays_in_whichever_version() {
    let check = |version: &str, at: &str, phase: &str, expect: &[&str]| {
        let workload = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
        let mut old = json!({
            "metadata": {"name": "web"},
            "spec": {"strategy": {"canary": {"steps": [{"replicas": 1}]}}, "releasePlan": {}},
            "status": {"phase": phase},
        });
        let mut place = &mut old;
        for key in at.split('.') {
            place = &mut place[key];
        }
        *place = workload;
        let mut new = old.clone();
        *new.pointer_mut(&format!("/{}/name", at.replace('.', "/"))).unwrap() = json!("other");
        assert_eq!(broken(version, &new, Some(&old)), expect, "{version} {phase}");
        assert_eq!(broken(version, &old, Some(&old)), [""; 0], "{version} {phase}");
    };
    let rollout = ["Rollout 'ObjectRef' field is immutable"];
    check("Rollout v1alpha1", "spec.objectRef.workloadRef", "Progressing", &rollout);
    check("Rollout v1alpha1", "spec.objectRef.workloadRef", "Healthy", &[]);
    let release = ["workloadRef is immutable until the BatchRelease is Completed"];
    check("BatchRelease v1beta1", "spec.workloadRef", "Preparing", &release);
    check("BatchRelease v1beta1", "spec.workloadRef", "Completed", &[]);
    let there = "spec.targetReference.workloadRef";
    check("BatchRelease v1alpha1", there, "Progressing", &release);
    check("BatchRelease v1alpha1", there, "Completed", &[]);
}

/// An object with every field of a schema, once.
fn full(schema: &Value) -> Value {
    if schema["x-kubernetes-int-or-string"] == true {
        return json!("50%");
    }
    match schema["type"].as_str() {
        Some("array") => json!([full(&schema["items"])]),
        Some("string") if schema["format"] == "date-time" => json!("2026-11-30T00:00:00Z"),
        Some("string") => json!("x"),
        Some("integer") => json!(1),
        Some("boolean") => json!(true),
        _ => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            Value::Object(properties.map(|(key, inner)| (key.clone(), full(inner))).collect())
        }
    }
}

#[test]
fn a_conversion_makes_nothing_that_the_other_schema_drops() {
    for (name, version) in versions() {
        let (kind, version_name) = name.split_once(' ').unwrap();
        if kind == "RolloutHistory" {
            continue;
        }
        let other = if version_name == "v1beta1" { "v1alpha1" } else { "v1beta1" };
        let mut object = full(&version["schema"]["openAPIV3Schema"]);
        object["apiVersion"] = json!(format!("rollouts.kruise.io/{version_name}"));
        object["kind"] = json!(kind);
        object["metadata"] = json!({"name": "web"});
        let to = batches::Version::of(&format!("rollouts.kruise.io/{other}")).unwrap();
        let made = batches::convert(&object, to).unwrap();
        let found = batches::validate(&made, &batches::Context::default());
        let lost: Vec<_> =
            found.iter().filter(|finding| finding.message.contains("not a field")).collect();
        assert!(lost.is_empty(), "{name}: {lost:?}");
        let from = batches::Version::of(object["apiVersion"].as_str().unwrap()).unwrap();
        assert_eq!(batches::convert(&made, from).unwrap(), object, "{name}");
    }
}
