//! The published example goes through types, schema, rules and validation as it stands.

use api::bedrock::{Capabilities, StatefulsetRollout, desired, validate};
use api::{Severity, crds, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

const PUBLISHED: &str = include_str!("manifests/published.yaml");
const TESTER: &str = include_str!("manifests/bedrock-tester.yaml");

fn tester() -> Value {
    parse(TESTER).expect("the example is YAML").remove(0)
}

fn schema() -> Value {
    let crd = serde_json::to_value(&crds()[0]).expect("a CRD is JSON");
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
}

fn errors(manifest: &Value) -> Vec<String> {
    validate(manifest, &Capabilities::default())
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(ToString::to_string)
        .collect()
}

fn warnings(manifest: &Value, capabilities: Capabilities) -> Vec<String> {
    validate(manifest, &capabilities)
        .into_iter()
        .filter(|finding| finding.severity == Severity::Warning)
        .map(|finding| finding.path)
        .collect()
}

/// What the rules of the CRD say, after its defaults.
fn broken_rules(manifest: &Value) -> Vec<String> {
    let outcome = kube_cel::Validator::new().validate(&schema(), manifest, None);
    let errors = outcome.err().map(|errors| errors.into_vec()).unwrap_or_default();
    errors.into_iter().map(|error| error.message).collect()
}

/// The example with one field set; the path is a JSON pointer under `spec`, created on the way.
fn with(pointer: &str, value: Value) -> Value {
    let mut manifest = tester();
    let mut place = &mut manifest["spec"];
    for key in pointer.split('/') {
        place = &mut place[key];
    }
    *place = value;
    manifest
}

const SPEC: &str = "statefulset/spec";

#[test]
fn the_published_example_comes_out_of_the_types_as_it_went_in() {
    for (yaml, what) in [(TESTER, "with a list"), (PUBLISHED, "as published")] {
        let mut manifest = parse(yaml).unwrap().remove(0);
        let pod = "/spec/statefulset/spec/template/spec";
        manifest.pointer_mut(pod).unwrap()["fieldOfTomorrow"] = json!({"deep": [1, 2.5, null]});
        let typed: StatefulsetRollout = serde_json::from_value(manifest.clone()).unwrap();
        let back = serde_json::to_string(&typed).unwrap();
        assert_eq!(back, serde_json::to_string(&manifest).unwrap(), "{what}");
    }
}

#[test]
fn the_published_example_is_complete() {
    assert_eq!(errors(&tester()), Vec::<String>::new());
    assert_eq!(broken_rules(&tester()), Vec::<String>::new());
    assert_eq!(
        warnings(&tester(), Capabilities::default()),
        ["spec.statefulset.spec.podManagementPolicy"]
    );
}

#[test]
fn containers_as_a_map_are_refused_with_the_remedy() {
    let manifest = parse(PUBLISHED).unwrap().remove(0);
    assert_eq!(
        errors(&manifest),
        ["error: spec.statefulset.spec.template.spec.containers: must be a list, but is a map; \
         begin each entry with a dash, as in `- name: …`"]
    );
    let containers = "/properties/spec/properties/statefulset/properties/spec/properties/template\
                      /properties/spec/properties/containers";
    assert_eq!(schema().pointer(containers).unwrap()["type"], "array");
}

#[test]
fn only_the_pod_spec_keeps_unknown_fields() {
    fn walk(schema: &Value, path: &str, found: &mut Vec<String>) {
        if schema["x-kubernetes-preserve-unknown-fields"] == true {
            found.push(path.to_owned());
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            walk(property, &format!("{path}.{name}"), found);
        }
        for inner in ["items", "additionalProperties"] {
            if schema[inner].is_object() {
                walk(&schema[inner], &format!("{path}[]"), found);
            }
        }
    }
    let mut found = Vec::new();
    walk(&schema(), "", &mut found);
    let pod = ".spec.statefulset.spec.template.spec";
    assert_eq!(
        found,
        [pod.to_owned(), format!("{pod}.containers[]"), format!("{pod}.initContainers[]"),]
    );
}

#[test]
fn every_field_is_described_and_typed_and_the_whole_stays_small() {
    fn walk(schema: &Value, path: &str, keyed: bool, bare: &mut Vec<String>) {
        let typed = schema["type"].is_string() || schema["x-kubernetes-int-or-string"] == true;
        if !typed || (keyed && !schema["description"].is_string()) {
            bare.push(path.to_owned());
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            walk(property, &format!("{path}.{name}"), true, bare);
        }
        for inner in ["items", "additionalProperties"] {
            if schema[inner].is_object() {
                walk(&schema[inner], &format!("{path}[]"), false, bare);
            }
        }
    }
    let mut bare = Vec::new();
    walk(&schema(), "", true, &mut bare);
    assert_eq!(bare, Vec::<String>::new());
    // `kubectl apply` keeps the whole in an annotation of at most 256 KiB.
    for crd in crds() {
        let size = serde_json::to_string(&crd).unwrap().len();
        assert!(size < 64 * 1024, "{size} bytes");
    }
}

#[test]
fn the_crd_has_the_columns_subresources_and_names_that_are_promised() {
    let crd = serde_json::to_value(&crds()[0]).unwrap();
    assert_eq!(crd["metadata"]["name"], "statefulsetrollouts.bedrock.operator.slack.com");
    assert_eq!(crd["spec"]["names"]["shortNames"], json!(["ssr"]));
    assert_eq!(crd["spec"]["scope"], "Namespaced");
    let version = &crd["spec"]["versions"][0];
    let columns: Vec<&str> = version["additionalPrinterColumns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    assert_eq!(columns, ["Phase", "Percent", "Updated", "Ready", "Paused", "Reason", "Age"]);
    assert_eq!(
        version["subresources"],
        json!({
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.statefulset.spec.replicas",
                "statusReplicasPath": ".status.readyReplicas",
                "labelSelectorPath": ".status.selector",
            },
        })
    );
}

#[test]
fn the_defaults_of_the_schema_are_those_of_the_types() {
    let manifest = json!({"metadata": {"name": "a"}, "spec": {"statefulset": {"spec": {}}}});
    let typed: StatefulsetRollout = serde_json::from_value(manifest).unwrap();
    let spec = &schema()["properties"]["spec"]["properties"];
    let typed = &typed.spec;
    assert_eq!(spec["percent"]["default"], typed.percent());
    assert_eq!(spec["progressDeadlineSeconds"]["default"], typed.progress_deadline_seconds());
    assert_eq!(
        spec["minPodEvictionIntervalSeconds"]["default"],
        typed.min_pod_eviction_interval_seconds()
    );
    assert_eq!(spec["pauseRequested"]["default"], typed.pause_requested());
    assert_eq!(spec["notifyLevel"]["default"], json!(typed.notify_level.unwrap_or_default()));
    assert_eq!(spec["versionLeak"]["default"], json!(typed.version_leak.unwrap_or_default()));
    assert_eq!(spec["unhealthyPods"]["default"], json!(typed.unhealthy_pods.unwrap_or_default()));
}

#[test]
fn all_rules_compile() {
    fn walk(schema: &kube_cel::CompiledSchema, path: &str, bad: &mut Vec<String>) {
        for error in schema.compilation_errors() {
            bad.push(format!("{path}: {error}"));
        }
        for (name, inner) in &schema.properties {
            walk(inner, &format!("{path}.{name}"), bad);
        }
        if let Some(items) = &schema.items {
            walk(items, &format!("{path}[]"), bad);
        }
    }
    let mut bad = Vec::new();
    walk(&kube_cel::compile_schema(&schema()), "", &mut bad);
    assert_eq!(bad, Vec::<String>::new());
}

/// Both the API server's rules and our own validation refuse it, with these words.
#[track_caller]
fn refuse(manifest: &Value, rule: &str, finding: &str) {
    let rules = broken_rules(manifest);
    assert!(rules.iter().any(|message| message.contains(rule)), "rules say {rules:?}");
    find(manifest, finding);
}

#[track_caller]
fn find(manifest: &Value, finding: &str) {
    let found = errors(manifest);
    assert!(found.iter().any(|error| error.contains(finding)), "validation says {found:?}");
}

#[test]
fn what_a_rule_refuses_validation_refuses_too() {
    refuse(
        &with("bapi", json!({"bapiUrl": "http://b"})),
        "bapi needs both",
        "spec.bapi: needs both",
    );
    refuse(
        &with("bapi/bapiUrl", json!("ftp://b")),
        "must begin with http://",
        "spec.bapi.bapiUrl: \"ftp://b\" must begin",
    );
    refuse(
        &with("statefulset/metadata/name", json!("n".repeat(53))),
        "at most 52 characters",
        "spec.statefulset.metadata.name: has 53 characters",
    );
    refuse(
        &with(&format!("{SPEC}/selector"), json!({"matchLabels": {"app": "other"}})),
        "selector.matchLabels must match",
        "spec.statefulset.spec.selector.matchLabels: app: \"other\" is not among",
    );
    refuse(
        &with(&format!("{SPEC}/selector"), json!({})),
        "selector must name at least one label",
        "spec.statefulset.spec.selector: is empty",
    );
    refuse(
        &with(&format!("{SPEC}/updateStrategy/rollingUpdate"), json!({"partition": 1})),
        "goes with type RollingUpdate only",
        "spec.statefulset.spec.updateStrategy.rollingUpdate: goes with",
    );
}

#[test]
fn a_name_of_the_rollout_itself_is_measured_too() {
    let mut manifest = with("statefulset/metadata", json!({}));
    manifest["metadata"]["name"] = json!("n".repeat(53));
    refuse(&manifest, "at most 52 characters", "metadata.name: has 53 characters");
    manifest["metadata"]["name"] = json!("n".repeat(52));
    assert_eq!(broken_rules(&manifest), Vec::<String>::new());
    assert_eq!(errors(&manifest), Vec::<String>::new());
}

#[test]
fn an_empty_callback_as_go_clients_write_it_is_none() {
    let manifest = with("bapi", json!({"bapiUrl": "", "stageId": ""}));
    assert_eq!(broken_rules(&manifest), Vec::<String>::new());
    let typed: StatefulsetRollout = serde_json::from_value(manifest).unwrap();
    assert_eq!(typed.spec.callback(), None);
}

#[test]
fn what_no_rule_can_say_validation_says() {
    find(
        &with("statefulset/metadata/namespace", json!("kube-system")),
        "spec.statefulset.metadata.namespace: is \"kube-system\", but the rollout is in",
    );
    find(&with("statefulset/metadata/name", json!("Web_1")), "\"Web_1\" is no DNS label");
    find(&with(&format!("{SPEC}/template/spec"), json!({})), "spec.containers: is missing");
    find(&with(&format!("{SPEC}/template/spec/restartPolicy"), json!("Never")), "Always only");
    find(
        &with(
            &format!("{SPEC}/template/spec/containers"),
            json!([
                {"name": "a", "image": "a"}, {"name": "a", "image": "b"},
            ]),
        ),
        "containers[1].name: \"a\" is the name of another",
    );
    find(
        &with(&format!("{SPEC}/template/spec/containers"), json!([{"name": "a"}])),
        "containers[0].image: is missing",
    );
    find(
        &with(
            &format!("{SPEC}/selector/matchExpressions"),
            json!([
                {"key": "app", "operator": "NotIn", "values": ["bedrock-tester-sts-dev"]},
            ]),
        ),
        "matchExpressions[0]: does not hold",
    );
    find(&with("percent", json!(101)), "spec.percent: is 101, but must be from 0 to 100");
    find(&with("percent", json!("25")), "spec.percent: must be a whole number");
    find(&with("percentage", json!(25)), "did you mean \"percent\"?");
    find(&with("versionLeak", json!("prevent")), "\"prevent\" is not one of Ignore, Report");
    find(&json!({"metadata": {"name": "a"}}), "spec: is missing");
    find(&json!([1]), "must be an object");
    find(&json!({"kind": "StatefulSetRollout"}), "kind: is \"StatefulSetRollout\", but must be");
}

#[test]
fn what_will_block_or_surprise_is_a_warning() {
    let check = |pointer: &str, value: Value, path: &str| {
        let manifest = with(pointer, value);
        let found = warnings(&manifest, Capabilities::default());
        assert!(found.iter().any(|warning| warning == path), "{pointer} warns of {found:?}");
    };
    let set = "spec.statefulset.spec";
    check("versionLeak", json!("Prevent"), &format!("{set}.updateStrategy.type"));
    check(
        &format!("{SPEC}/updateStrategy"),
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}),
        &format!("{set}.updateStrategy.rollingUpdate.maxUnavailable"),
    );
    check(&format!("{SPEC}/replicas"), json!(null), &format!("{set}.replicas"));
    check(&format!("{SPEC}/replicas"), json!(1), "spec.percent");
    check(&format!("{SPEC}/minReadySeconds"), json!(600), "spec.progressDeadlineSeconds");
    check("serviceDiscovery", json!(null), &format!("{set}.serviceName"));
    check("bapi/bapiUrl", json!("http://169.254.169.254/x"), "spec.bapi.bapiUrl");

    let parallel = with(&format!("{SPEC}/podManagementPolicy"), json!("Parallel"));
    assert_eq!(warnings(&parallel, Capabilities::default()), Vec::<String>::new());
    let none = Capabilities { channel: false, callback: false, discovery: false };
    assert_eq!(warnings(&parallel, none), ["spec.bapi", "spec.channel", "spec.serviceDiscovery"]);
}

#[test]
fn an_immutable_field_that_would_change_is_named_with_the_remedy() {
    let mut stored: StatefulsetRollout = serde_json::from_value(tester()).unwrap();
    stored.metadata.uid = Some("u-1".into());
    let desired = desired(&stored).unwrap();
    let mut live = desired.document().clone();
    live["spec"]["podManagementPolicy"] = json!("OrderedReady");
    let changes = |live: &Value, wanted: &Value| -> Vec<String> {
        api::bedrock::immutable_changes(live, wanted).into_iter().map(|f| f.path).collect()
    };
    assert_eq!(changes(&live, desired.document()), Vec::<String>::new());

    let mut wanted = desired.document().clone();
    wanted["spec"]["podManagementPolicy"] = json!("Parallel");
    wanted["spec"]["selector"] = json!({"matchLabels": {}});
    wanted["spec"]["serviceName"] = json!("web");
    wanted["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}}]);
    let set = "spec.statefulset.spec";
    assert_eq!(
        changes(&live, &wanted),
        [
            format!("{set}.selector"),
            format!("{set}.serviceName"),
            format!("{set}.podManagementPolicy"),
            format!("{set}.volumeClaimTemplates"),
        ]
    );
    let finding = api::bedrock::immutable_changes(&live, &wanted).remove(0);
    assert!(finding.message.contains("--cascade=orphan"), "{finding}");
}

/// Values of the wrong shape, put at any place of the example.
fn vandal() -> impl Strategy<Value = (usize, Value)> {
    let value = prop_oneof![
        Just(Value::Null),
        Just(json!(true)),
        any::<i64>().prop_map(Value::from),
        Just(json!(1.5)),
        ".{0,60}".prop_map(Value::from),
        Just(json!([])),
        Just(json!([null, {"name": 5}])),
        Just(json!({})),
        Just(json!({"matchLabels": [], "metadata": 5, "spec": null})),
    ];
    (0..200_usize, value)
}

fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                places(
                    inner,
                    &format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")),
                    found,
                );
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                places(inner, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn no_manifest_however_wrong_makes_anything_panic((place, value) in vandal()) {
        let mut manifest = tester();
        let mut all = Vec::new();
        places(&manifest, "", &mut all);
        let place = &all[place % all.len()];
        *manifest.pointer_mut(place).expect("it was just found") = value;
        let _ = validate(&manifest, &Capabilities::default());
        if let Ok(mut typed) = serde_json::from_value::<StatefulsetRollout>(manifest) {
            typed.metadata.uid = Some("u-1".into());
            if let Ok((_, desired)) = api::bedrock::engine_rollout(&typed) {
                prop_assert!(api::bedrock::matches(desired.document(), desired.document()));
            }
            let status = api::bedrock::status(&Default::default(), &typed);
            prop_assert_eq!(status.percent_requested, None);
        }
    }
}

#[test]
fn two_entries_of_one_name_are_refused_where_an_apply_merges_by_it() {
    let container = json!([{
        "name": "c",
        "image": "app:v1",
        "env": [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A", "value": "2"}],
        "ports": [{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}],
    }]);
    let manifest = with(&format!("{SPEC}/template/spec/containers"), container);
    let found = errors(&manifest);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("containers[0].env[2]: is the second entry for A"), "{found:?}");
}

#[test]
fn a_number_beyond_32_bits_is_refused_as_the_api_server_does() {
    let found = errors(&with(&format!("{SPEC}/minReadySeconds"), json!(99_999_999_999_u64)));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("must be from 0 to 2147483647"), "{found:?}");
}

#[test]
fn a_digit_too_many_in_replicas_is_refused() {
    let words = errors(&with("statefulset/spec/replicas", json!(1_000_000))).join("\n");
    assert!(words.contains("spec.replicas") && words.contains("100000"), "{words}");
}
