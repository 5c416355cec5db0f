//! JSON merge patch (RFC 7396): maps merge, `null` deletes, everything else replaces.

use crate::json::{Map, Value};

/// The document after the patch.
pub fn apply(current: &Value, patch: &Value) -> Value {
    let mut out = current.clone();
    merge(&mut out, patch);
    out
}

fn merge(into: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        into.clone_from(patch);
        return;
    };
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    let Value::Object(into) = into else { return };
    for (key, value) in patch {
        if value.is_null() {
            into.remove(key);
        } else {
            merge(into.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn maps_merge_and_null_deletes_and_lists_are_replaced() {
        let current = json!({"data": {"a": "1"}, "list": [1, 2]});
        let patch = json!({"data": {"a": null, "b": "2"}, "list": [3], "new": {"c": null, "d": 1}});
        let expect = json!({"data": {"b": "2"}, "list": [3], "new": {"d": 1}});
        assert_eq!(apply(&current, &patch), expect);
    }
}
