//! Whether a `LabelSelector` of a spec selects an object, and the labels it asks for.

use crate::json::Value;

/// Whether a `metav1.LabelSelector` selects labels. An absent selector selects nothing, an empty
/// one everything.
pub fn selects(selector: &Value, labels: &Value) -> bool {
    let Some(selector) = selector.as_object() else {
        return false;
    };
    let equal = selector.get("matchLabels").and_then(Value::as_object);
    if equal.is_some_and(|equal| equal.iter().any(|(key, value)| labels.get(key) != Some(value))) {
        return false;
    }
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    expressions.is_none_or(|all| all.iter().all(|one| holds(one, labels)))
}

fn holds(expression: &Value, labels: &Value) -> bool {
    let value = expression["key"].as_str().and_then(|key| labels.get(key));
    let listed = || {
        let values = expression["values"].as_array();
        value.is_some_and(|value| values.is_some_and(|values| values.contains(value)))
    };
    match expression["operator"].as_str() {
        Some("In") => listed(),
        Some("NotIn") => !listed(),
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    fn check(selector: &Value, expect: bool) {
        assert_eq!(selects(selector, &json!({"app": "web", "zone": "a"})), expect, "{selector}");
    }

    #[test]
    fn selectors_select_as_the_api_says() {
        check(&Value::Null, false);
        check(&json!({}), true);
        check(&json!({"matchLabels": {"app": "web"}}), true);
        check(&json!({"matchLabels": {"app": "db"}}), false);
        check(&json!({"matchLabels": {"none": "x"}}), false);
        let one = |operator: &str, values: &[&str], key: &str| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        check(&one("In", &["a", "b"], "zone"), true);
        check(&one("In", &["b"], "zone"), false);
        check(&one("NotIn", &["b"], "zone"), true);
        check(&one("NotIn", &["b"], "none"), true);
        check(&one("Exists", &[], "zone"), true);
        check(&one("DoesNotExist", &[], "zone"), false);
    }
}
