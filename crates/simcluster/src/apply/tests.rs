//! Owners of fields after recorded writes.
#![allow(clippy::needless_pass_by_value)]

mod applies;
mod emptied;
mod model;
mod quirks;
mod tracks;

use super::*;
use crate::json::{Text, Value, json};
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
fn the_manager_is_the_parameter_then_the_user_agent() {
    assert_eq!(manager_name(Some("me"), Some("kubectl/v1.36")), "me");
    assert_eq!(manager_name(Some(""), Some("kubectl/v1.36 (linux)")), "kubectl");
    assert_eq!(manager_name(None, None), "unknown");
}
