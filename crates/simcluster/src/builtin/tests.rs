//! Recorded defaults and refusals of the real server.
#![allow(clippy::needless_pass_by_value)]

use super::*;
use crate::error::ApiError;
use crate::json::{Value, json};
use crate::kind::Registry;

fn kind(group: &str, plural: &str) -> Kind {
    let registry = Registry::built_in();
    (**registry.find(group, "v1", plural).expect("a served kind")).clone()
}

fn web() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {
            "replicas": 3, "serviceName": "web", "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "OnDelete"},
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
                "terminationGracePeriodSeconds": 1,
                "containers": [{"name": "main", "image": "app:v1",
                    "env": [{"name": "A", "value": "1"}], "ports": [{"containerPort": 80}]}]}}}})
}

/// The message of the refusal after a change of `web` at a pointer.
#[track_caller]
fn check_web(pointer: &str, value: Value, expect: &str) {
    let set = kind("apps", "statefulsets");
    let mut old = web();
    default(&set, &mut old);
    let mut new = old.clone();
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
    new.pointer_mut(parent).expect("a parent")[field] = value;
    default(&set, &mut new);
    let causes = validate_update(&set, &new, &old, None);
    let message = ApiError::invalid(&set, "web", causes).message;
    assert_eq!(message, format!("StatefulSet.apps \"web\" is invalid: {expect}"));
}

/// The message of the refusal of a new object.
#[track_caller]
fn check_new(group: &str, plural: &str, mut object: Value, expect: &str) {
    let kind = kind(group, plural);
    default(&kind, &mut object);
    let causes = validate(&kind, &object);
    let message = match causes.is_empty() {
        true => String::new(),
        false => ApiError::invalid(&kind, crate::object::name(&object), causes).message,
    };
    assert_eq!(message, expect);
}

#[test]
fn a_statefulset_gets_the_recorded_defaults() {
    let set = kind("apps", "statefulsets");
    let mut object = web();
    default(&set, &mut object);
    assert_eq!(
        object["spec"],
        json!({
            "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
                "containers": [{
                    "name": "main", "image": "app:v1",
                    "ports": [{"containerPort": 80, "protocol": "TCP"}],
                    "env": [{"name": "A", "value": "1"}], "resources": {},
                    "terminationMessagePath": "/dev/termination-log",
                    "terminationMessagePolicy": "File", "imagePullPolicy": "IfNotPresent"}],
                "restartPolicy": "Always", "terminationGracePeriodSeconds": 1,
                "dnsPolicy": "ClusterFirst", "securityContext": {},
                "schedulerName": "default-scheduler"}},
            "serviceName": "web", "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "OnDelete"}, "revisionHistoryLimit": 10,
            "persistentVolumeClaimRetentionPolicy": {
                "whenDeleted": "Retain", "whenScaled": "Retain"}})
    );
    assert_eq!(validate(&set, &object), []);
}

#[test]
fn a_rolling_update_starts_at_partition_zero() {
    let mut object = json!({"spec": {"template": {}, "updateStrategy": {
        "type": "RollingUpdate", "rollingUpdate": {}}}});
    default(&kind("apps", "statefulsets"), &mut object);
    assert_eq!(
        object["spec"]["updateStrategy"],
        json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
    );
}

#[test]
fn a_field_that_is_dropped_is_no_change() {
    let set = |generation: i64, rolling: Value| {
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
        json!({"metadata": {"generation": generation}, "spec": {"updateStrategy": strategy}})
    };
    let check = |rolling: Value, expect: Value| {
        let (before, mut after) = (set(1, json!({"partition": 0})), set(2, rolling));
        drop_gated(&kind("apps", "statefulsets"), Some(&before), &mut after);
        assert_eq!(after, expect);
    };
    check(json!({"partition": 0, "maxUnavailable": 3}), set(1, json!({"partition": 0})));
    check(json!({"partition": 1, "maxUnavailable": 3}), set(2, json!({"partition": 1})));
}

#[test]
fn changes_of_a_statefulset_are_refused_as_recorded() {
    check_web(
        "/spec/serviceName",
        json!("other"),
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', \
         'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', \
         'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    );
    check_web(
        "/spec/replicas",
        json!(-1),
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
    );
    check_web(
        "/spec/template/spec/containers",
        json!([]),
        "spec.template.spec.containers: Required value",
    );
    check_web(
        "/spec/template/spec/containers",
        json!([{"name": "main", "ports": [{"containerPort": 99999, "name": "UPPER"}]}]),
        "[spec.template.spec.containers[0].image: Required value, \
         spec.template.spec.containers[0].ports[0].name: Invalid value: \"UPPER\": must contain \
         only alpha-numeric characters (a-z, 0-9), and hyphens (-), \
         spec.template.spec.containers[0].ports[0].name: Invalid value: \"UPPER\": must contain \
         at least one letter (a-z), spec.template.spec.containers[0].ports[0].containerPort: \
         Invalid value: 99999: must be between 1 and 65535, inclusive]",
    );
    check_web(
        "/spec/template/spec/restartPolicy",
        json!("Never"),
        "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \
         \"Always\"",
    );
}

#[test]
fn a_template_whose_labels_are_not_selected_is_refused() {
    let mut object = web();
    object["spec"]["selector"] = json!({"matchLabels": {"app": "zzz"}});
    check_new(
        "apps",
        "statefulsets",
        object,
        "StatefulSet.apps \"web\" is invalid: spec.template.metadata.labels: Invalid value: \
         {\"app\":\"web\"}: `selector` does not match template `labels`",
    );
}

#[test]
fn a_bad_name_is_refused_as_recorded() {
    check_new(
        "",
        "configmaps",
        json!({"metadata": {"name": "Not_A_Name"}}),
        "ConfigMap \"Not_A_Name\" is invalid: metadata.name: Invalid value: \"Not_A_Name\": a \
         lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
         '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex \
         used for validation is \
         '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    );
}

#[test]
fn a_budget_takes_one_of_its_two_amounts() {
    let budget = |spec: Value| json!({"metadata": {"name": "both"}, "spec": spec});
    check_new(
        "policy",
        "poddisruptionbudgets",
        budget(json!({"selector": {"matchLabels": {"app": "w"}}, "maxUnavailable": 1,
                      "minAvailable": 1})),
        "PodDisruptionBudget.policy \"both\" is invalid: spec: Invalid value: \
         {\"MinAvailable\":1,\"Selector\":{\"matchLabels\":{\"app\":\"w\"}},\
         \"MaxUnavailable\":1,\"UnhealthyPodEvictionPolicy\":null}: minAvailable and \
         maxUnavailable cannot be both set",
    );
    check_new(
        "policy",
        "poddisruptionbudgets",
        budget(json!({"minAvailable": "101%"})),
        "PodDisruptionBudget.policy \"both\" is invalid: spec.minAvailable: Invalid value: \
         \"101%\": must not be greater than 100%",
    );
    check_new("policy", "poddisruptionbudgets", budget(json!({"maxUnavailable": "30%"})), "");
}

#[test]
fn an_event_says_when_and_what_about() {
    let object = json!({"metadata": {"name": "e2", "namespace": "exch"}});
    let causes = validate(&kind("events.k8s.io", "events"), &object);
    // Both groups store the core kind, and refusals name that.
    let message = ApiError::invalid(&kind("", "events"), "e2", causes).message;
    assert_eq!(
        message,
        "Event \"e2\" is invalid: [involvedObject.namespace: Invalid value: \"\": does not match \
         event.namespace, eventTime: Required value, type: Invalid value: \"\": has invalid value: ]"
    );
}

#[test]
fn a_finalizer_added_in_deletion_is_refused_twice() {
    let map = kind("", "configmaps");
    let old = json!({"metadata": {"name": "fin", "deletionTimestamp": "2026-11-29T21:52:13Z",
                                  "finalizers": ["example.com/hold"]}});
    let mut new = old.clone();
    new["metadata"]["finalizers"] = json!(["example.com/hold", "example.com/more"]);
    let causes = validate_update(&map, &new, &old, None);
    assert_eq!(causes.len(), 2);
    assert_eq!(
        causes[0].message,
        "Forbidden: no new finalizers can be added if the object is being deleted, found new \
         finalizers []string{\"example.com/more\"}"
    );
}

#[test]
fn a_pod_is_bound_once_and_its_image_may_change() {
    let pods = kind("", "pods");
    let old = json!({"metadata": {"name": "a"}, "spec": {
        "containers": [{"name": "m", "image": "x:1"}]}});
    let mut bound = old.clone();
    bound["spec"]["nodeName"] = json!("node-1");
    bound["spec"]["containers"][0]["image"] = json!("x:2");
    assert_eq!(validate_update(&pods, &bound, &old, None), []);
    let mut moved = bound.clone();
    moved["spec"]["nodeName"] = json!("node-2");
    assert_eq!(validate_update(&pods, &moved, &bound, None).len(), 1);
}

#[test]
fn a_mount_needs_its_volume() {
    let mut object = web();
    object["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] =
        json!([{"name": "data", "mountPath": "/data"}]);
    check_new(
        "apps",
        "statefulsets",
        object.clone(),
        "StatefulSet.apps \"web\" is invalid: \
         spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"data\"",
    );
    object["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]);
    check_new("apps", "statefulsets", object, "");
}

#[test]
fn text_in_a_secret_is_kept_encoded() {
    let mut object = json!({"metadata": {"name": "s"}, "stringData": {"a": "b"}});
    default(&kind("", "secrets"), &mut object);
    assert_eq!(object, json!({"metadata": {"name": "s"}, "type": "Opaque", "data": {"a": "Yg=="}}));
}
