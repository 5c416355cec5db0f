//! Dropping what a schema does not know.

use super::path::At;
use crate::json::{Map, Value};

/// Drops unknown fields, in place; returns their paths in order. A schema of `null` knows all.
pub fn prune(schema: &Value, object: &mut Value) -> Vec<String> {
    let mut dropped = Vec::new();
    if let (false, Value::Object(map)) = (schema.is_null(), object) {
        prune_map(schema, map, At::Root, true, &mut dropped);
    }
    dropped
}

fn walk(schema: &Value, value: &mut Value, at: At<'_>, dropped: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let embedded = schema["x-kubernetes-embedded-resource"] == true;
            prune_map(schema, map, at, embedded, dropped);
        }
        Value::Array(list) if schema["items"].is_object() => {
            for (index, item) in list.iter_mut().enumerate() {
                walk(&schema["items"], item, At::Index(&at, index), dropped);
            }
        }
        _ => {}
    }
}

/// Drops nulls, in place, where a field takes none and has no default: as if it were not there.
pub fn drop_nulls(schema: &Value, object: &mut Value) {
    match object {
        Value::Object(map) => map.retain(|key, value| {
            let child = match schema["properties"].get(key) {
                Some(child) => child,
                None => &schema["additionalProperties"],
            };
            if !child.is_object() {
                return true;
            }
            drop_nulls(child, value);
            !value.is_null() || child["nullable"] == true || child.get("default").is_some()
        }),
        Value::Array(list) => list.iter_mut().for_each(|item| drop_nulls(&schema["items"], item)),
        _ => {}
    }
}

fn prune_map(
    schema: &Value,
    map: &mut Map,
    at: At<'_>,
    is_object: bool,
    dropped: &mut Vec<String>,
) {
    let preserves = schema["x-kubernetes-preserve-unknown-fields"] == true;
    let more = &schema["additionalProperties"];
    map.retain(|key, value| {
        if is_object && matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
            return true;
        }
        let here = At::Field(&at, key);
        if let Some(child) = schema["properties"].get(key) {
            walk(child, value, here, dropped);
        } else if more.is_object() {
            walk(more, value, here, dropped);
        } else if !preserves && *more != Value::Bool(true) {
            dropped.push(here.to_string());
            return false;
        }
        true
    });
}
