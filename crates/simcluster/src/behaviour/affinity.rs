//! Whether a node is one of those that a Pod asks for: by node selector and required node affinity.

use crate::json::Value;
use crate::object;

/// Whether the node has every label of `nodeSelector`, and one of the required terms holds.
pub fn asks_for(pod_spec: &Value, node: &Value) -> bool {
    let labels = &node["metadata"]["labels"];
    let wanted = pod_spec["nodeSelector"].as_object();
    if wanted.is_some_and(|all| all.iter().any(|(key, value)| labels.get(key) != Some(value))) {
        return false;
    }
    let required =
        &pod_spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let terms = required["nodeSelectorTerms"].as_array();
    terms.is_none_or(|terms| terms.iter().any(|term| term_holds(term, node)))
}

/// A term without any requirement holds for no node.
fn term_holds(term: &Value, node: &Value) -> bool {
    let part = |field: &str| term[field].as_array().filter(|all| !all.is_empty());
    let (expressions, fields) = (part("matchExpressions"), part("matchFields"));
    let label = |key: &str| object::label(node, key);
    let field = |key: &str| (key == "metadata.name").then(|| object::name(node));
    (expressions.is_some() || fields.is_some())
        && expressions.is_none_or(|all| all.iter().all(|one| holds(one, label)))
        && fields.is_none_or(|all| all.iter().all(|one| holds(one, field)))
}

fn holds<'a>(requirement: &Value, of: impl Fn(&str) -> Option<&'a str>) -> bool {
    let value = requirement["key"].as_str().and_then(of);
    let values =
        || requirement["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let listed = || value.is_some_and(|value| values().any(|one| one == value));
    let number = |text: &str| text.parse::<i64>().ok();
    let pair = || Some((value.and_then(number)?, values().next().and_then(number)?));
    match requirement["operator"].as_str() {
        Some("In") => listed(),
        Some("NotIn") => !listed(),
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        Some("Gt") => pair().is_some_and(|(value, bound)| value > bound),
        Some("Lt") => pair().is_some_and(|(value, bound)| value < bound),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[track_caller]
    fn check(terms: &Value, expect: bool) {
        let node = json!({"metadata": {"name": "node-1", "labels": {"zone": "a", "size": "4"}}});
        let spec = json!({"affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
        }}});
        assert_eq!(asks_for(&spec, &node), expect, "{terms}");
    }

    fn expression(key: &str, operator: &str, values: &[&str]) -> Value {
        json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]})
    }

    #[test]
    fn one_term_that_holds_is_enough() {
        check(&json!([expression("zone", "In", &["b"])]), false);
        let both = json!([expression("zone", "In", &["b"]), expression("size", "Gt", &["3"])]);
        check(&both, true);
        check(&json!([{}]), false);
    }

    #[test]
    fn a_node_is_found_by_its_name() {
        let named = |name: &str| {
            json!([{"matchFields": [
                {"key": "metadata.name", "operator": "In", "values": [name]},
            ]}])
        };
        check(&named("node-1"), true);
        check(&named("node-2"), false);
    }

    #[test]
    fn each_operator_means_what_the_api_says() {
        let one = |key: &str, operator: &str, values: &[&str], expect: bool| {
            check(&json!([expression(key, operator, values)]), expect);
        };
        one("zone", "NotIn", &["b"], true);
        one("none", "NotIn", &["b"], true);
        one("zone", "Exists", &[], true);
        one("none", "DoesNotExist", &[], true);
        one("size", "Lt", &["4"], false);
        one("size", "Lt", &["5"], true);
        one("zone", "Gt", &["1"], false);
    }
}
