//! Dropping what a schema does not know.

use serde_json::{Map, Value};

use super::join;

/// Drops unknown fields, in place; returns their paths in order. A schema of `null` knows all.
pub fn prune(schema: &Value, object: &mut Value) -> Vec<String> {
    let mut dropped = Vec::new();
    if let (false, Value::Object(map)) = (schema.is_null(), object) {
        prune_map(schema, map, "", true, &mut dropped);
    }
    dropped
}

fn walk(schema: &Value, value: &mut Value, path: &str, dropped: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let embedded = schema["x-kubernetes-embedded-resource"] == true;
            prune_map(schema, map, path, embedded, dropped);
        }
        Value::Array(list) if schema["items"].is_object() => {
            for (index, item) in list.iter_mut().enumerate() {
                walk(&schema["items"], item, &format!("{path}[{index}]"), dropped);
            }
        }
        _ => {}
    }
}

fn prune_map(
    schema: &Value,
    map: &mut Map<String, Value>,
    path: &str,
    is_object: bool,
    dropped: &mut Vec<String>,
) {
    let preserves = schema["x-kubernetes-preserve-unknown-fields"] == true;
    let more = &schema["additionalProperties"];
    let keys: Vec<String> = map.keys().cloned().collect();
    for key in keys {
        if is_object && matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
            continue;
        }
        let here = join(path, &key);
        if let (Some(child), Some(value)) = (schema["properties"].get(&key), map.get_mut(&key)) {
            walk(child, value, &here, dropped);
        } else if let (true, Some(value)) = (more.is_object(), map.get_mut(&key)) {
            walk(more, value, &here, dropped);
        } else if !preserves && *more != Value::Bool(true) {
            map.remove(&key);
            dropped.push(here);
        }
    }
}
