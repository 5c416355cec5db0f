//! JSON patch (RFC 6902), with the one liberty that the real server takes.

use serde_json::Value;

use crate::error::ApiError;

/// The document after the patch; 422 when an operation cannot be carried out or a test fails.
///
/// `test` of `null` at a path that is not there holds, as on the real server; the finalizer code of
/// kube relies on that.
pub fn apply(current: &Value, patch: &Value) -> Result<Value, ApiError> {
    let operations: json_patch::Patch = serde_json::from_value(patch.clone())
        .map_err(|error| ApiError::bad_request(format!("error decoding patch: {error}")))?;
    let mut out = current.clone();
    for operation in operations.0 {
        if let json_patch::PatchOperation::Test(test) = &operation
            && test.value.is_null()
            && out.pointer(test.path.as_str()).is_none()
        {
            continue;
        }
        json_patch::patch(&mut out, &[operation]).map_err(|_| ApiError::unprocessable())?;
    }
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(patch: Value, expect: Result<Value, u16>) {
        let current = json!({"data": {"b": "2"}, "metadata": {}});
        assert_eq!(apply(&current, &patch).map_err(|error| error.code), expect);
    }

    #[test]
    fn operations_follow_each_other() {
        check(
            json!([{"op": "test", "path": "/data/b", "value": "2"},
                   {"op": "add", "path": "/data/c", "value": "3"}]),
            Ok(json!({"data": {"b": "2", "c": "3"}, "metadata": {}})),
        );
    }

    #[test]
    fn a_failing_test_and_a_missing_path_are_unprocessable() {
        check(json!([{"op": "test", "path": "/data/b", "value": "x"}]), Err(422));
        check(json!([{"op": "remove", "path": "/data/zzz"}]), Err(422));
        check(json!({"op": "remove"}), Err(400));
    }

    #[test]
    fn a_test_for_null_holds_where_nothing_is() {
        check(
            json!([{"op": "test", "path": "/metadata/finalizers", "value": null},
                   {"op": "add", "path": "/metadata/finalizers", "value": ["x/y"]}]),
            Ok(json!({"data": {"b": "2"}, "metadata": {"finalizers": ["x/y"]}})),
        );
    }
}
