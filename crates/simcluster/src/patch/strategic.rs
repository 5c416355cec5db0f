//! Strategic merge patch: lists of objects merge by key, and directives say what a merge cannot.

use crate::error::ApiError;
use crate::json::{Map, Value};
use crate::kind::Kind;
use crate::types::Shape;

const DIRECTIVE: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// The document after the patch; an error when the patch breaks the rules of its directives.
pub fn apply(kind: &Kind, current: &Value, patch: &Value) -> Result<Value, ApiError> {
    let Some(patch) = patch.as_object() else {
        return Err(ApiError::bad_request("error decoding patch: expected an object"));
    };
    let current = current.as_object().cloned().unwrap_or_default();
    merge_map(Shape::of(kind), current, patch).map(Value::Object)
}

fn merge_map(shape: Shape<'_>, mut current: Map, patch: &Map) -> Result<Map, ApiError> {
    match patch.get(DIRECTIVE).and_then(Value::as_str) {
        Some("replace") => return Ok(fresh_map(shape, patch)),
        Some("delete") => return Ok(Map::new()),
        Some("merge") | None => {}
        Some(other) => return Err(broken(format!("unknown patch type: {other}"))),
    }
    if let Some(retained) = patch.get(RETAIN).and_then(Value::as_array) {
        current.retain(|key, _| retained.iter().any(|kept| kept == key));
    }
    for (key, gone) in directives(patch, DELETE_FROM) {
        if let (Some(Value::Array(list)), Some(gone)) = (current.get_mut(key), gone.as_array()) {
            list.retain(|entry| !gone.contains(entry));
        }
    }
    for (key, order) in directives(patch, ORDER) {
        // The list itself may be absent from the patch: then only the order changes.
        if !patch.contains_key(key)
            && let (Some(Value::Array(list)), Some(order)) = (current.get(key), order.as_array())
        {
            let sorted = reorder(list.to_vec(), order, list, shape.child(key).0.patch_key());
            current.insert(key.to_owned(), sorted.into());
        }
    }
    for (key, value) in patch.iter().filter(|(key, _)| !key.starts_with('$')) {
        let child = shape.child(key).0;
        let order = patch.get(&format!("{ORDER}{key}")).and_then(Value::as_array);
        match (current.get_mut(key), value) {
            (_, Value::Null) => {
                current.remove(key);
            }
            (Some(Value::Object(old)), Value::Object(new)) => {
                *old = merge_map(child, std::mem::take(old), new)?;
            }
            (Some(Value::Array(old)), Value::Array(new)) => {
                let merged = match child.patch_key() {
                    Some("*") => merge_scalars(old, new, order),
                    Some(by) => merge_list(child.item(), by, old, new, order)?,
                    None => fresh_list(child, new),
                };
                *old = merged.into();
            }
            _ => {
                current.insert(key.clone(), fresh(child, value));
            }
        }
    }
    Ok(current)
}

fn directives<'a>(
    patch: &'a Map,
    prefix: &'static str,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    patch.iter().filter_map(move |(key, value)| Some((key.strip_prefix(prefix)?, value)))
}

fn merge_scalars(old: &[Value], new: &[Value], order: Option<&Vec<Value>>) -> Vec<Value> {
    let mut merged = old.to_vec();
    for entry in new {
        if !merged.contains(entry) {
            merged.push(entry.clone());
        }
    }
    reorder(merged, order.map_or(new, Vec::as_slice), old, None)
}

fn merge_list(
    item: Shape<'_>,
    by: &str,
    old: &[Value],
    new: &[Value],
    order: Option<&Vec<Value>>,
) -> Result<Vec<Value>, ApiError> {
    if new.iter().any(|entry| entry[DIRECTIVE] == "replace") {
        let kept: Vec<Value> =
            new.iter().filter(|entry| entry.get(DIRECTIVE).is_none()).cloned().collect();
        return Ok(kept.iter().map(|entry| fresh(item, entry)).collect());
    }
    let mut merged = old.to_vec();
    for entry in new {
        let Some(key) = entry.get(by) else {
            return Err(ApiError::internal(format!(
                "map: {entry} does not contain declared merge key: {by}"
            )));
        };
        let place = merged.iter().position(|known| known.get(by) == Some(key));
        if entry[DIRECTIVE] == "delete" {
            merged.retain(|known| known.get(by) != Some(key));
            continue;
        }
        match (place.and_then(|place| merged.get_mut(place)), entry) {
            (Some(Value::Object(known)), Value::Object(change)) => {
                *known = merge_map(item, std::mem::take(known), change)?;
            }
            _ => merged.push(fresh(item, entry)),
        }
    }
    Ok(reorder(merged, order.map_or(new, Vec::as_slice), old, Some(by)))
}

/// Puts the patch's items in the patch's order, and the others between them as near to where they
/// were as that allows; an item that the server did not know comes before what it is compared with.
fn reorder(merged: Vec<Value>, order: &[Value], before: &[Value], by: Option<&str>) -> Vec<Value> {
    let key = |entry: &Value| match by {
        Some(by) if by != "*" => entry.get(by).cloned().unwrap_or(Value::Null),
        _ => entry.clone(),
    };
    let place = |list: &[Value], entry: &Value| list.iter().position(|x| key(x) == key(entry));
    let (mut named, others): (Vec<Value>, Vec<Value>) =
        merged.into_iter().partition(|entry| place(order, entry).is_some());
    named.sort_by_key(|entry| place(order, entry));
    let (mut named, mut others) = (named.into_iter().peekable(), others.into_iter().peekable());
    let mut out = Vec::new();
    loop {
        let other_first = match (others.peek(), named.peek()) {
            (None, None) => return out,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(other), Some(name)) => match (place(before, other), place(before, name)) {
                (Some(other), Some(name)) => other < name,
                _ => false,
            },
        };
        out.extend(if other_first { others.next() } else { named.next() });
    }
}

/// A value of the patch where nothing was before: directives and nulls do not get in.
fn fresh(shape: Shape<'_>, value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(fresh_map(shape, map)),
        Value::Array(list) => fresh_list(shape, list).into(),
        other => other.clone(),
    }
}

fn fresh_map(shape: Shape<'_>, map: &Map) -> Map {
    // What the schema does not describe may have keys with a dollar of its own.
    let raw = shape.is_atomic()
        && matches!(shape, Shape::Field(field) if field.ty == crate::types::Ty::Raw);
    map.iter()
        .filter(|(key, value)| raw || !(key.starts_with('$') || value.is_null()))
        .map(|(key, value)| {
            let value = if raw { value.clone() } else { fresh(shape.child(key).0, value) };
            (key.clone(), value)
        })
        .collect()
}

fn fresh_list(shape: Shape<'_>, list: &[Value]) -> Vec<Value> {
    list.iter()
        .filter(|entry| entry[DIRECTIVE] != "delete")
        .filter(|entry| !matches!(entry.as_object(), Some(map) if map.len() == 1 && map.contains_key(DIRECTIVE)))
        .map(|entry| fresh(shape.item(), entry))
        .collect()
}

fn broken(message: String) -> ApiError {
    ApiError::new(422, "Invalid", message)
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value)]
mod tests {
    use super::*;
    use crate::json::json;
    use crate::kind::Registry;

    #[track_caller]
    fn check(current: Value, patch: Value, expect: Value) {
        let registry = Registry::built_in();
        let kind = registry.find("", "v1", "pods").expect("pods");
        assert_eq!(apply(kind, &current, &patch).expect("applies"), expect);
    }

    fn pod(env: Value) -> Value {
        json!({"spec": {"containers": [{"name": "main", "image": "app:v1", "env": env}]}})
    }

    #[test]
    fn containers_and_env_merge_by_name_and_what_is_new_comes_first() {
        check(
            pod(json!([{"name": "A", "value": "1"}])),
            json!({"spec": {"containers": [
                {"name": "main", "image": "app:v2", "env": [{"name": "B", "value": "2"}]}]}}),
            json!({"spec": {"containers": [{"name": "main", "image": "app:v2", "env": [
                {"name": "B", "value": "2"}, {"name": "A", "value": "1"}]}]}}),
        );
    }

    #[test]
    fn an_item_is_deleted_by_its_key() {
        check(
            pod(json!([{"name": "B", "value": "2"}, {"name": "A", "value": "1"}])),
            json!({"spec": {"containers": [
                {"name": "main", "env": [{"name": "A", "$patch": "delete"}]}]}}),
            pod(json!([{"name": "B", "value": "2"}])),
        );
    }

    #[test]
    fn the_order_that_kubectl_sends_is_kept() {
        check(
            pod(json!([{"name": "A"}, {"name": "B"}])),
            json!({"spec": {"$setElementOrder/containers": [{"name": "main"}], "containers": [
                {"name": "main", "$setElementOrder/env": [{"name": "B"}, {"name": "C"}, {"name": "A"}],
                 "env": [{"name": "C", "value": "3"}]}]}}),
            pod(json!([{"name": "B"}, {"name": "C", "value": "3"}, {"name": "A"}])),
        );
    }

    #[test]
    fn a_list_or_map_can_be_replaced_as_a_whole() {
        check(
            pod(json!([{"name": "A"}])),
            json!({"spec": {"containers": [
                {"name": "main", "env": [{"$patch": "replace"}, {"name": "C"}]}]}}),
            pod(json!([{"name": "C"}])),
        );
        check(
            json!({"metadata": {"labels": {"a": "1"}}}),
            json!({"metadata": {"labels": {"$patch": "replace", "b": "2"}}}),
            json!({"metadata": {"labels": {"b": "2"}}}),
        );
    }

    #[test]
    fn keys_that_are_not_retained_go_and_null_deletes() {
        check(
            json!({"spec": {"volumes": [{"name": "v", "emptyDir": {}}], "nodeName": "n"}}),
            json!({"spec": {"nodeName": null, "volumes": [
                {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}]}}),
            json!({"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}}),
        );
    }

    #[test]
    fn finalizers_merge_as_a_set_and_can_be_taken_out_by_value() {
        check(
            json!({"metadata": {"finalizers": ["a/x", "b/x"]}}),
            json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/x"],
                                "finalizers": ["c/x"]}}),
            json!({"metadata": {"finalizers": ["c/x", "b/x"]}}),
        );
    }
}
