//! Whether every field that is asked for stands in the live object with the same value.
//!
//! The live object has more: defaults of the API server, sidecars of webhooks, fields of others. So
//! maps are compared as subsets and lists of named things by name.

use std::collections::BTreeSet;

use serde_json::Value;

use super::quantity::same_amount;

/// Whether the live object is as asked for; see [`drift`].
pub fn matches(live: &Value, desired: &Value) -> bool {
    drift(live, desired).is_empty()
}

/// Paths of the fields that are asked for and are absent or different in the live object.
///
/// Equal are: null, absent and empty (and zero where it is absent); quantities of the same amount (under `limits`, `requests`,
/// `sizeLimit`, `divisor`); a protocol of TCP and none. A number and a string of digits are not.
pub fn drift(live: &Value, desired: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    // The API server's own answer, in which both are always as asked for.
    for field in ["metadata", "spec"] {
        let wanted = desired.get(field).unwrap_or(&Value::Null);
        compare(live.get(field), wanted, field, false, &mut paths);
    }
    paths
}

fn compare(live: Option<&Value>, desired: &Value, path: &str, amount: bool, out: &mut Vec<String>) {
    let live = live.unwrap_or(&Value::Null);
    if is_empty(live) && (is_empty(desired) || (live.is_null() && is_zero(desired))) {
        return;
    }
    match (live, desired) {
        (_, Value::Object(wanted)) if live.is_object() || is_empty(live) => {
            for (key, wanted) in wanted {
                let amount =
                    matches!(key.as_str(), "limits" | "requests" | "sizeLimit" | "divisor")
                        || (amount && desired.is_object());
                compare(live.get(key), wanted, &format!("{path}.{key}"), amount, out);
            }
        }
        (Value::Array(found), Value::Array(wanted)) => lists(found, wanted, path, out),
        _ if amount && same_amount(live, desired) == Some(true) => {}
        _ if same_scalar(live, desired) => {}
        _ => out.push(path.to_owned()),
    }
}

fn lists(live: &[Value], desired: &[Value], path: &str, out: &mut Vec<String>) {
    for keys in LIST_KEYS {
        let (Some(found), Some(wanted)) = (by_key(live, keys), by_key(desired, keys)) else {
            continue;
        };
        for (key, wanted) in wanted {
            let found = found.iter().find(|(other, _)| *other == key).map(|(_, item)| *item);
            compare(found, wanted, &format!("{path}[{key}]"), false, out);
            if found.is_none() && is_empty(wanted) {
                out.push(format!("{path}[{key}]"));
            }
        }
        return;
    }
    // Constraints, tolerations and the like: a webhook may have put its own between ours.
    if desired.iter().all(Value::is_object) {
        let mut rest = live.iter();
        let covers = |found: &Value, wanted: &Value| {
            let mut paths = Vec::new();
            compare(Some(found), wanted, path, false, &mut paths);
            paths.is_empty()
        };
        if desired.iter().all(|wanted| rest.any(|found| covers(found, wanted))) {
            return;
        }
    }
    if live.len() != desired.len() {
        out.push(path.to_owned());
        return;
    }
    for (index, (found, wanted)) in live.iter().zip(desired).enumerate() {
        compare(Some(found), wanted, &format!("{path}[{index}]"), false, out);
    }
}

/// By what things in a list are told apart, first that fits; as the API server merges them.
const LIST_KEYS: [&[&str]; 4] =
    [&["name"], &["mountPath"], &["devicePath"], &["containerPort", "protocol"]];

/// Items with their keys, if every item is an object that has them and no two are alike.
fn by_key<'a>(items: &'a [Value], keys: &[&str]) -> Option<Vec<(String, &'a Value)>> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::with_capacity(items.len());
    for item in items {
        let mut parts = Vec::with_capacity(keys.len());
        for key in keys {
            parts.push(match item.as_object()?.get(*key) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                None if *key == "protocol" => "TCP".to_owned(),
                _ => return None,
            });
        }
        let key = parts.join("/");
        if !seen.insert(key.clone()) {
            return None;
        }
        found.push((key, item));
    }
    Some(found)
}

/// What Go's `omitempty` leaves out, whether or not the field is a pointer.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_empty),
        _ => false,
    }
}

/// What Go's `omitempty` leaves out where the field is no pointer: `hostNetwork: false` is stored as
/// nothing. Where it is a pointer it is stored, and so is never compared with nothing.
fn is_zero(value: &Value) -> bool {
    *value == Value::Bool(false) || value.as_f64() == Some(0.0)
}

fn same_scalar(live: &Value, desired: &Value) -> bool {
    match (live, desired) {
        // `1` and `1.0` are one number in JSON.
        (Value::Number(live), Value::Number(desired)) => {
            live == desired
                || (live.as_f64() == desired.as_f64() && live.is_f64() != desired.is_f64())
        }
        _ => live == desired,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(live: &Value, desired: &Value, expect: &[&str]) {
        let (live, desired) = (json!({"spec": live}), json!({"spec": desired}));
        assert_eq!(drift(&live, &desired), expect, "live {live}, desired {desired}");
    }

    #[test]
    fn fields_of_others_and_defaults_are_no_drift() {
        check(
            &json!({"replicas": 3, "revisionHistoryLimit": 10, "template": {"spec": {
            "containers": [
                {"name": "app", "image": "a:1", "imagePullPolicy": "IfNotPresent"},
                {"name": "sidecar", "image": "s:1"},
            ]}}}),
            &json!({"template": {"spec": {"containers": [{"name": "app", "image": "a:1"}]}}}),
            &[],
        );
    }

    #[test]
    fn a_different_or_missing_field_is_drift_and_named() {
        let image = |image: &str| json!({"template": {"spec": {"containers": [{"name": "app", "image": image}]}}});
        check(&image("a:1"), &image("a:2"), &["spec.template.spec.containers[app].image"]);
        check(&json!({"replicas": 1}), &json!({"replicas": 0}), &["spec.replicas"]);
        check(&json!({}), &json!({"replicas": 1}), &["spec.replicas"]);
        check(&json!({"replicas": 1}), &json!({"replicas": 2}), &["spec.replicas"]);
        check(&json!({"a": {"b": 1}}), &json!({"a": "b"}), &["spec.a"]);
        check(&json!({"a": "b"}), &json!({"a": {"b": 1}}), &["spec.a"]);
        check(&json!({"tty": true}), &json!({"tty": false}), &["spec.tty"]);
    }

    #[test]
    fn null_absent_and_empty_are_the_same() {
        check(&json!({}), &json!({"a": null, "b": {}, "c": [], "d": "", "e": {"f": null}}), &[]);
        check(&json!({"a": {}, "b": []}), &json!({"a": null}), &[]);
        // Not so inside lists: an entry that is asked for and absent is missing.
        check(&json!({"l": [{"name": "a"}]}), &json!({"l": [{"name": "b"}]}), &["spec.l[b].name"]);
    }

    #[test]
    fn zero_and_false_are_stored_as_nothing() {
        check(&json!({}), &json!({"hostNetwork": false, "minReadySeconds": 0}), &[]);
    }

    #[test]
    fn a_constraint_that_another_put_between_ours_is_no_drift() {
        let list = |keys: &[&str]| {
            let items: Vec<Value> = keys.iter().map(|key| json!({"key": key})).collect();
            json!({"tolerations": items})
        };
        check(&list(&["a", "x", "b"]), &list(&["a", "b"]), &[]);
        check(
            &list(&["b", "a"]),
            &list(&["a", "b"]),
            &["spec.tolerations[0].key", "spec.tolerations[1].key"],
        );
        check(&list(&["a"]), &list(&["a", "b"]), &["spec.tolerations"]);
    }

    #[test]
    fn an_empty_volume_source_is_as_good_as_the_default() {
        let volumes = |source: Value| json!({"volumes": [{"name": "v", "emptyDir": source}]});
        check(&volumes(json!({})), &volumes(json!({})), &[]);
    }

    #[test]
    fn quantities_are_compared_by_amount_and_only_quantities() {
        let limits = |cpu: Value| json!({"resources": {"limits": {"cpu": cpu}}});
        check(&limits(json!("1")), &limits(json!(1)), &[]);
        check(&limits(json!("500m")), &limits(json!("0.5")), &[]);
        check(&limits(json!("1")), &limits(json!("2")), &["spec.resources.limits.cpu"]);
        check(&json!({"port": 80}), &json!({"port": "80"}), &["spec.port"]);
        check(&json!({"n": 1}), &json!({"n": 1.0}), &[]);
    }

    #[test]
    fn ports_are_told_apart_by_number_and_protocol() {
        check(
            &json!({"ports": [
                {"containerPort": 53, "protocol": "TCP"},
                {"containerPort": 53, "protocol": "UDP"},
            ]}),
            &json!({"ports": [{"containerPort": 53, "protocol": "UDP"}, {"containerPort": 53}]}),
            &[],
        );
        check(
            &json!({"ports": [{"containerPort": 53, "protocol": "TCP"}]}),
            &json!({"ports": [{"containerPort": 54}]}),
            &["spec.ports[54/TCP].containerPort"],
        );
    }

    #[test]
    fn lists_without_a_key_are_compared_by_position_and_length() {
        check(&json!({"args": ["a", "b"]}), &json!({"args": ["a", "b"]}), &[]);
        check(
            &json!({"args": ["a", "b"]}),
            &json!({"args": ["b", "a"]}),
            &["spec.args[0]", "spec.args[1]"],
        );
        check(&json!({"args": ["a", "b"]}), &json!({"args": ["a"]}), &["spec.args"]);
        check(
            &json!({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}),
            &json!({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "3"}]}),
            &["spec.env[1].value"],
        );
    }

    #[test]
    fn status_is_not_compared() {
        assert!(matches(&json!({}), &json!({"status": {"replicas": 1}, "apiVersion": "apps/v1"})));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i16>().prop_map(Value::from),
            "[a-c0-9]{0,3}".prop_map(Value::from),
        ];
        let key = prop_oneof![
            Just("name".to_owned()),
            Just("containerPort".to_owned()),
            Just("limits".to_owned()),
            "[a-c]".prop_map(String::from),
        ];
        leaf.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(key.clone(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// Adds what an API server or another writer adds: fields in maps.
    fn enrich(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.values_mut().for_each(enrich);
                map.insert("addedByAnother".into(), json!(1));
            }
            Value::Array(items) => items.iter_mut().for_each(enrich),
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn whatever_is_asked_for_matches_itself_and_what_others_add_to_it(desired in any_json()) {
            let desired = json!({"spec": desired});
            prop_assert_eq!(drift(&desired, &desired), Vec::<String>::new());
            let mut live = desired.clone();
            enrich(&mut live);
            prop_assert_eq!(drift(&live, &desired), Vec::<String>::new());
        }
    }
}
