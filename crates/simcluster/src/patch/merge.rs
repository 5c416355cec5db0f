//! JSON merge patch (RFC 7396): maps merge, `null` deletes, everything else replaces.

use serde_json::Value;

/// The document after the patch.
pub fn apply(current: &Value, patch: &Value) -> Value {
    let mut out = current.clone();
    json_patch::merge(&mut out, patch);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_merge_and_null_deletes_and_lists_are_replaced() {
        let current = json!({"data": {"a": "1"}, "list": [1, 2]});
        let patch = json!({"data": {"a": null, "b": "2"}, "list": [3]});
        assert_eq!(apply(&current, &patch), json!({"data": {"b": "2"}, "list": [3]}));
    }
}
