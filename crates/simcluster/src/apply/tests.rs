//! Owners of fields after recorded writes.
#![allow(clippy::needless_pass_by_value)]

mod applies;
mod model;
mod quirks;

use serde_json::{Value, json};

use super::*;
use crate::kind::{Custom, Registry};

const NOW: &str = "2026-11-29T21:52:13.5Z";

fn writer<'a>(manager: &'a str, api_version: &'a str) -> Writer<'a> {
    let now = NOW.parse().expect("a time");
    Writer { manager, api_version, subresource: None, now }
}

fn kind(group: &str, version: &str, plural: &str) -> Kind {
    let registry = Registry::built_in();
    (**registry.find(group, version, plural).expect("a served kind")).clone()
}

fn gadget() -> Kind {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "percent": {"type": "integer"}, "id": {"type": "string"},
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "rows": {"type": "array", "x-kubernetes-list-type": "map",
                     "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object",
                     "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}}}}},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}}}});
    let mut kind = kind("", "v1", "configmaps");
    kind.group = "example.com".to_owned();
    kind.kind = "Gadget".to_owned();
    kind.plural = "gadgets".to_owned();
    kind.has_status = true;
    kind.custom = Some(Custom {
        schema,
        columns: Vec::new(),
        storage_version: "v1".to_owned(),
        conversion: None,
        crd: "gadgets.example.com".to_owned(),
    });
    kind
}

/// Each entry as `manager operation subresource` with its fields.
fn owners(object: &Value) -> Vec<(String, Value)> {
    let list = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    list.iter()
        .map(|entry| {
            let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
            let title =
                format!("{} {} {}", text("manager"), text("operation"), text("subresource"));
            (title.trim_end().to_owned(), entry["fieldsV1"].clone())
        })
        .collect()
}

#[track_caller]
fn check(object: &Value, expect: &[(&str, Value)]) {
    let expect: Vec<(String, Value)> =
        expect.iter().map(|(title, fields)| ((*title).to_owned(), fields.clone())).collect();
    assert_eq!(owners(object), expect);
}

fn config(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "app"}, "data": data})
}

#[test]
fn a_create_owns_what_it_sets_and_the_defaults_but_no_struct_that_always_exists() {
    let mut web = json!({
        "kind": "StatefulSet", "apiVersion": "apps/v1",
        "metadata": {"name": "web", "uid": "u", "generation": 1, "labels": {"app": "web"}},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{
                    "name": "main", "ports": [{"containerPort": 80, "protocol": "TCP"}],
                    "env": [{"name": "A", "value": "1"}], "resources": {}}],
                    "securityContext": {}}},
            "updateStrategy": {"type": "OnDelete"},
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain"}},
        "status": {"replicas": 0, "availableReplicas": 0}});
    track(&kind("apps", "v1", "statefulsets"), None, &mut web, &writer("unknown", "apps/v1"));
    check(
        &web,
        &[(
            "unknown Update",
            json!({"f:metadata": {"f:labels": {".": {}, "f:app": {}}}, "f:spec": {
                "f:persistentVolumeClaimRetentionPolicy": {".": {}, "f:whenDeleted": {}},
                "f:replicas": {}, "f:selector": {},
                "f:template": {
                    "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
                    "f:spec": {"f:containers": {"k:{\"name\":\"main\"}": {
                        ".": {},
                        "f:env": {".": {}, "k:{\"name\":\"A\"}": {
                            ".": {}, "f:name": {}, "f:value": {}}},
                        "f:name": {},
                        "f:ports": {".": {}, "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {
                            ".": {}, "f:containerPort": {}, "f:protocol": {}}},
                        "f:resources": {}}},
                        "f:securityContext": {}}},
                "f:updateStrategy": {"f:type": {}}}}),
        )],
    );
    assert_eq!(web["metadata"]["managedFields"][0]["time"], "2026-11-29T21:52:13Z");
}

#[test]
fn an_update_takes_fields_over_and_leaves_the_rest() {
    let map = kind("", "v1", "configmaps");
    let mut one = config(json!({"a": "1"}));
    track(&map, None, &mut one, &writer("me", "v1"));
    check(&one, &[("me Update", json!({"f:data": {".": {}, "f:a": {}}}))]);

    let mut two = one.clone();
    two["data"] = json!({"b": "2"});
    track(&map, Some(&one), &mut two, &writer("me", "v1"));
    check(&two, &[("me Update", json!({"f:data": {".": {}, "f:b": {}}}))]);

    let mut three = two.clone();
    three["data"] = json!({"b": "2", "c": "3"});
    track(&map, Some(&two), &mut three, &writer("unknown", "v1"));
    check(
        &three,
        &[
            ("me Update", json!({"f:data": {".": {}, "f:b": {}}})),
            ("unknown Update", json!({"f:data": {"f:c": {}}})),
        ],
    );

    let mut four = config(json!({"a": "1"}));
    track(&map, Some(&three), &mut four, &writer("unknown", "v1"));
    check(
        &four,
        &[("me Update", json!({"f:data": {}})), ("unknown Update", json!({"f:data": {"f:a": {}}}))],
    );
}

#[test]
fn a_custom_object_owns_its_maps_too_and_its_status_through_the_subresource() {
    let mut a = json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a"},
        "spec": {"any": {"free": {"form": 1}}, "percent": 5}});
    track(&gadget(), None, &mut a, &writer("unknown", "example.com/v1"));
    let spec = json!({"f:spec": {".": {}, "f:any": {".": {}, "f:free": {".": {}, "f:form": {}}},
                                 "f:percent": {}}});
    check(&a, &[("unknown Update", spec.clone())]);

    let mut b = a.clone();
    b["status"] = json!({"phase": "On"});
    let status = Writer { subresource: Some("status"), ..writer("unknown", "example.com/v1") };
    track(&gadget(), Some(&a), &mut b, &status);
    check(
        &b,
        &[
            ("unknown Update", spec),
            ("unknown Update status", json!({"f:status": {".": {}, "f:phase": {}}})),
        ],
    );
}

#[test]
fn owner_references_and_finalizers_are_owned_one_by_one() {
    let mut owned = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "owned", "finalizers": ["example.com/hold"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "e"}]}});
    track(&kind("", "v1", "configmaps"), None, &mut owned, &writer("unknown", "v1"));
    check(
        &owned,
        &[(
            "unknown Update",
            json!({"f:metadata": {
                "f:finalizers": {".": {}, "v:\"example.com/hold\"": {}},
                "f:ownerReferences": {".": {}, "k:{\"uid\":\"e\"}": {}}}}),
        )],
    );
}

#[test]
fn what_scale_wrote_is_owned_through_scale_without_a_time() {
    let set = kind("apps", "v1", "statefulsets");
    let mut old = json!({"metadata": {"name": "web"}, "spec": {"replicas": 3, "serviceName": "w"}});
    track(&set, None, &mut old, &writer("unknown", "apps/v1"));
    let mut new = old.clone();
    new["spec"]["replicas"] = json!(4);
    let scale = Writer { subresource: Some("scale"), ..writer("unknown", "apps/v1") };
    track(&set, Some(&old), &mut new, &scale);
    check(
        &new,
        &[
            ("unknown Update scale", json!({"f:spec": {"f:replicas": {}}})),
            ("unknown Update", json!({"f:spec": {"f:serviceName": {}}})),
        ],
    );
    assert!(new["metadata"]["managedFields"][0].get("time").is_none());
}

#[test]
fn the_manager_is_the_parameter_then_the_user_agent() {
    assert_eq!(manager_name(Some("me"), Some("kubectl/v1.36")), "me");
    assert_eq!(manager_name(Some(""), Some("kubectl/v1.36 (linux)")), "kubectl");
    assert_eq!(manager_name(None, None), "unknown");
}

#[test]
fn an_emptied_map_ends_as_null_in_a_custom_object_and_is_gone_in_others() {
    let map = kind("", "v1", "configmaps");
    let alice = writer("alice", "v1");
    let one = apply(&map, None, &config(json!({"x": "1"})), &alice, false).expect("applies");
    let two = apply(&map, Some(&one), &config(json!({})), &alice, false).expect("empties");
    assert!(two.get("data").is_none());
    check(&two, &[("alice Apply", json!({"f:data": {}}))]);
    let mut gadget = gadget();
    let notes = json!({"type": "object", "additionalProperties": {"type": "string"}});
    gadget.custom.as_mut().expect("a custom kind").schema = json!({
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"notes": notes}}},
    });
    let with = |notes: Value| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a"},
            "spec": {"notes": notes},
        })
    };
    let alice = writer("alice", "example.com/v1");
    let one = apply(&gadget, None, &with(json!({"x": "1"})), &alice, false).expect("applies");
    let two = apply(&gadget, Some(&one), &with(json!({})), &alice, false).expect("empties");
    assert_eq!(two["spec"], json!({"notes": null}));
    assert_eq!(two["metadata"]["name"], "a");
}

#[test]
fn what_nobody_was_noted_for_belongs_to_before_first_apply() {
    let map = kind("", "v1", "configmaps");
    let live = config(json!({"x": "1"}));
    let mut changed = config(json!({"x": "2"}));
    track(&map, Some(&live), &mut changed, &writer("bob", "v1"));
    check(&changed, &[]);
    let alice = writer("alice", "v1");
    let applied = apply(&map, Some(&live), &config(json!({"y": "1"})), &alice, false);
    check(
        &applied.expect("applies"),
        &[
            ("alice Apply", json!({"f:data": {"f:y": {}}})),
            ("before-first-apply Update", json!({"f:data": {".": {}, "f:x": {}}})),
        ],
    );
}

#[test]
fn a_scale_of_zero_leaves_the_number_without_an_owner() {
    let set = kind("apps", "v1", "statefulsets");
    let mut one = json!({"metadata": {"name": "a", "labels": {"l": "1"}}, "spec": {"replicas": 1}});
    let alice = writer("alice", "apps/v1");
    let scale = Writer { subresource: Some("scale"), ..writer("bob", "apps/v1") };
    track(&set, None, &mut one, &alice);
    let mut zero = one.clone();
    zero["spec"]["replicas"] = json!(0);
    track(&set, Some(&one), &mut zero, &scale);
    let left = [("alice Update", json!({"f:metadata": {"f:labels": {".": {}, "f:l": {}}}}))];
    check(&zero, &left);
    let mut two = zero.clone();
    two["spec"]["replicas"] = json!(2);
    track(&set, Some(&zero), &mut two, &scale);
    check(&two, &left);
}
