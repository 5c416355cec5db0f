//! Defaults of a schema.

use crate::json::Value;

/// Fills in the defaults of fields that are missing, or `null` where `null` is not allowed.
pub fn apply_defaults(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(map) => {
            let properties = schema["properties"].as_object();
            for (key, child) in properties.into_iter().flatten() {
                let missing = match map.get(key) {
                    None => true,
                    Some(given) => given.is_null() && child["nullable"] != true,
                };
                if let (true, Some(default)) = (missing, child.get("default")) {
                    map.insert(key.clone(), default.clone());
                }
                if let Some(inner) = map.get_mut(key) {
                    apply_defaults(child, inner);
                }
            }
            let more = &schema["additionalProperties"];
            if more.is_object() {
                let known = |key: &str| schema["properties"].get(key).is_some();
                for (_, inner) in map.iter_mut().filter(|(key, _)| !known(key)) {
                    apply_defaults(more, inner);
                }
            }
        }
        Value::Array(list) if mentions_default(&schema["items"]) => {
            for item in list {
                apply_defaults(&schema["items"], item);
            }
        }
        _ => {}
    }
}

/// Most schemas of long lists have no default, and then nobody has to look at the items.
fn mentions_default(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key("default") || map.values().any(mentions_default),
        _ => false,
    }
}
