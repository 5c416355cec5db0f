//! What `kubectl` looks for.

use super::*;
use crate::json::{Text, Value, json};
use crate::kind::{Custom, Registry};

fn kinds() -> Vec<Arc<Kind>> {
    let mut registry = Registry::built_in();
    let mut gadget = (**registry.find("", "v1", "configmaps").expect("served")).clone();
    gadget.group = "example.com".to_owned();
    gadget.kind = "Gadget".to_owned();
    gadget.plural = "gadgets".to_owned();
    gadget.custom = Some(Custom {
        schema: json!({"type": "object", "properties": {"spec": {"type": "object"}}}),
        columns: Vec::new(),
        storage_version: "v1".to_owned(),
        conversion: None,
        crd: "gadgets.example.com".to_owned(),
    });
    registry.add(gadget);
    registry.iter().cloned().collect()
}

fn patch_of(document: &Value, path: &str) -> Value {
    document["paths"][path]["patch"].clone()
}

#[test]
fn the_index_names_every_group_once() {
    let index = index(&kinds());
    let paths: Vec<&Text> = index["paths"].as_object().expect("a map").keys().collect();
    assert!(paths.iter().any(|path| *path == "apis/example.com/v1"));
    assert!(paths.iter().any(|path| *path == "api/v1"));
    let url = index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().expect("a url");
    assert!(url.starts_with("/openapi/v3/apis/apps/v1?hash="), "{url}");
}

#[test]
fn a_patch_knows_field_validation_and_its_forms() {
    let kinds = kinds();
    let apps = document(&kinds, "apps", "v1").expect("apps");
    let patch = patch_of(&apps, "/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}");
    assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "StatefulSet");
    let named = patch["parameters"].as_array().expect("a list").iter();
    assert!(named.into_iter().any(|parameter| parameter["name"] == "fieldValidation"));
    let strategic = "application/strategic-merge-patch+json";
    assert!(patch["requestBody"]["content"].get(strategic).is_some());
    let custom = document(&kinds, "example.com", "v1").expect("custom");
    let patch = patch_of(&custom, "/apis/example.com/v1/namespaces/{namespace}/gadgets/{name}");
    assert!(patch["requestBody"]["content"].get(strategic).is_none());
}

#[test]
fn every_reference_leads_somewhere() {
    fn references<'a>(value: &'a Value, out: &mut Vec<&'a str>) {
        match value {
            Value::Object(map) => {
                out.extend(map.get("$ref").and_then(Value::as_str));
                map.values().for_each(|inner| references(inner, out));
            }
            Value::Array(list) => list.iter().for_each(|inner| references(inner, out)),
            _ => {}
        }
    }
    let kinds = kinds();
    for (group, version) in versions(&kinds) {
        let document = document(&kinds, group, version).expect("served");
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(!found.is_empty());
        for reference in found {
            let pointer = reference.trim_start_matches('#');
            assert!(document.pointer(pointer).is_some_and(Value::is_object), "{reference}");
        }
    }
}

#[test]
fn lists_say_how_they_merge() {
    let document = document(&kinds(), "", "v1").expect("core");
    let containers = &document["components"]["schemas"]["io.k8s.api.core.v1.PodSpec"]["properties"]
        ["containers"];
    assert_eq!(containers["x-kubernetes-patch-merge-key"], "name");
    assert_eq!(containers["x-kubernetes-list-map-keys"], json!(["name"]));
}

#[test]
fn version_2_has_the_same_schemas() {
    let document = v2(&kinds());
    let set = &document["definitions"]["io.k8s.api.apps.v1.StatefulSet"]["properties"]["spec"];
    assert_eq!(set["$ref"], "#/definitions/io.k8s.api.apps.v1.StatefulSetSpec");
    assert!(document["definitions"]["com.example.v1.Gadget"].is_object());
    assert!(!document.to_string().contains("#/components/"));
}

#[test]
fn the_document_of_v2_is_whole_protobuf() {
    /// Fields of a message that has none but strings and messages, as number and bytes.
    fn fields(mut rest: &[u8]) -> Vec<(u8, &[u8])> {
        let mut found = Vec::new();
        while let [key, length, tail @ ..] = rest {
            assert_eq!(key & 7, 2, "a field with a length");
            let (value, tail) = tail.split_at(usize::from(*length));
            found.push((key >> 3, value));
            rest = tail;
        }
        assert!(rest.is_empty(), "{rest:?}");
        found
    }
    let document = fields(EMPTY_V2);
    assert_eq!(document[0], (1, b"2.0".as_slice()));
    assert_eq!(document[1].0, 2);
    let info = fields(document[1].1);
    assert_eq!(info, [(1, b"Kubernetes".as_slice()), (2, b"1.36".as_slice())]);
    assert_eq!(document.len(), 2);
}
