//! Recorded rows.
#![allow(clippy::needless_pass_by_value)]

use jiff::Timestamp;

use super::*;
use crate::json::{Value, json};
use crate::kind::{Custom, Registry};

fn now() -> Timestamp {
    "2026-11-29T21:52:14Z".parse().expect("a time")
}

#[track_caller]
fn check(group: &str, plural: &str, object: &Value, expect: &Value) {
    let registry = Registry::built_in();
    let kind = registry.find(group, "v1", plural).expect("a served kind");
    let row = cells(kind, object, now());
    assert_eq!(row.len(), columns(kind).len(), "one cell per column");
    assert_eq!(json!(row), *expect);
}

fn pod(state: &Value, ready: bool) -> Value {
    json!({"metadata": {"name": "web-0", "creationTimestamp": "2026-11-29T21:52:13Z"},
           "spec": {"nodeName": "node-3", "containers": [{"name": "main"}]},
           "status": {"phase": "Running", "podIP": "10.1.2.25", "containerStatuses": [
               {"name": "main", "ready": ready, "restartCount": 0, "state": state}]}})
}

#[test]
fn a_statefulset_shows_how_many_are_ready() {
    check(
        "apps",
        "statefulsets",
        &json!({"metadata": {"name": "web", "creationTimestamp": "2026-11-29T21:52:13Z"},
                "spec": {"replicas": 3, "template": {"spec": {"containers": [
                    {"name": "main", "image": "app:v1"}]}}}, "status": {"readyReplicas": 3}}),
        &json!(["web", "3/3", "1s", "main", "app:v1"]),
    );
}

#[test]
fn a_pod_shows_what_its_containers_say() {
    let end = json!(["1s", "10.1.2.25", "node-3", "<none>", "<none>"]);
    let expect = |start: Value| {
        let mut row = start.as_array().cloned().unwrap_or_default();
        row.extend(end.as_array().cloned().unwrap_or_default());
        Value::from(row)
    };
    let up = json!({"running": {}});
    check("", "pods", &pod(&up, true), &expect(json!(["web-0", "1/1", "Running", "0"])));
    let stuck = json!({"waiting": {"reason": "ImagePullBackOff"}});
    check(
        "",
        "pods",
        &pod(&stuck, false),
        &expect(json!(["web-0", "0/1", "ImagePullBackOff", "0"])),
    );
    let mut going = pod(&up, true);
    going["metadata"]["deletionTimestamp"] = json!("2026-11-29T21:52:14Z");
    check("", "pods", &going, &expect(json!(["web-0", "1/1", "Terminating", "0"])));
    let mut back = pod(&up, true);
    back["status"]["containerStatuses"][0]["restartCount"] = json!(2);
    back["status"]["containerStatuses"][0]["lastState"] =
        json!({"terminated": {"finishedAt": "2026-11-29T21:52:04Z"}});
    check("", "pods", &back, &expect(json!(["web-0", "1/1", "Running", "2 (10s ago)"])));
}

#[test]
fn a_budget_shows_the_amount_that_it_has() {
    check(
        "policy",
        "poddisruptionbudgets",
        &json!({"metadata": {"name": "web", "creationTimestamp": "2026-11-29T21:52:12Z"},
                "spec": {"maxUnavailable": 1}, "status": {"disruptionsAllowed": 1}}),
        &json!(["web", "N/A", "1", 1, "2s"]),
    );
}

#[test]
fn a_cordoned_node_says_so() {
    check(
        "",
        "nodes",
        &json!({"metadata": {"name": "node-1"}, "spec": {"unschedulable": true},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
        &json!([
            "node-1",
            "Ready,SchedulingDisabled",
            "<none>",
            "<unknown>",
            "",
            "<none>",
            "<none>",
            "<unknown>",
            "<unknown>",
            "<unknown>"
        ]),
    );
}

#[test]
fn an_event_of_either_group_shows_the_same() {
    let row = json!(["4s", "Normal", "Done", "statefulset/web", "", "c", "n", "4s", 1, "e"]);
    let time = "2026-11-29T21:52:10.000000Z";
    check(
        "events.k8s.io",
        "events",
        &json!({"metadata": {"name": "e"}, "eventTime": time, "reportingController": "c",
                "reason": "Done", "type": "Normal", "note": "n",
                "regarding": {"kind": "StatefulSet", "name": "web"}}),
        &row,
    );
    check(
        "",
        "events",
        &json!({"metadata": {"name": "e"}, "eventTime": time, "reportingComponent": "c",
                "reason": "Done", "type": "Normal", "message": "n",
                "involvedObject": {"kind": "StatefulSet", "name": "web"}}),
        &row,
    );
}

#[test]
fn custom_columns_follow_their_paths_and_types() {
    let registry = Registry::built_in();
    let mut kind = (**registry.find("", "v1", "configmaps").expect("served")).clone();
    let columns_of = json!([
        {"name": "Percent", "type": "integer", "jsonPath": ".spec.percent"},
        {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
        {"name": "Ok", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
        {"name": "Team", "type": "string", "priority": 1,
         "jsonPath": ".metadata.labels.example\\.com/team"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]);
    kind.custom = Some(Custom {
        schema: Value::Null,
        columns: columns_of.as_array().cloned().unwrap_or_default(),
        storage_version: "v1".to_owned(),
        conversion: None,
        crd: "gadgets.example.com".to_owned(),
    });
    let object = json!({"metadata": {"name": "a", "labels": {"example.com/team": "t"},
                                     "creationTimestamp": "2026-11-29T21:52:14Z"},
        "spec": {"percent": 7}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    assert_eq!(json!(cells(&kind, &object, now())), json!(["a", 7, null, "True", "t", "0s"]));
    assert_eq!(
        columns(&kind)[1],
        json!({"name": "Percent", "type": "integer", "format": "", "priority": 0, "description":
               "Custom resource definition column (in JSONPath format): .spec.percent"})
    );
}

#[test]
fn durations_get_coarser_as_they_grow() {
    for (seconds, text) in [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (185, "3m5s"),
        (3600, "60m"),
        (4 * 3600 + 60, "4h1m"),
        (30 * 3600, "30h"),
        (75 * 3600, "3d3h"),
        (20 * 86_400, "20d"),
        (800 * 86_400, "2y70d"),
        (-5, "<invalid>"),
    ] {
        assert_eq!(human_duration(seconds), text);
    }
}
