//! What a conversion could not express, as an annotation of the converted object.
//!
//! It is a list of changes to what the rules make on the way back. A change is made where its `was`
//! still stands, so that an edit between the two conversions wins over the record, and only over the
//! part of it that the edit is about.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::batches::names::CONVERSION;

/// One field that comes out different.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Change {
    /// JSON pointer.
    at: String,
    /// What the rules make there; absent for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    was: Option<Value>,
    /// What is to be there; absent for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    is: Option<Value>,
}

/// A null that is written is a null, and not an absent field.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Whether an object has a record.
pub(super) fn is_in(object: &Value) -> bool {
    annotations(object).is_some_and(|all| all.contains_key(CONVERSION))
}

/// The object without its record, and the record; one that cannot be read is as none.
pub(super) fn take(object: &Value) -> (Value, Vec<Change>) {
    let mut bare = object.clone();
    if !is_in(object) {
        return (bare, Vec::new());
    }
    let found = annotations_mut(&mut bare).and_then(|all| all.remove(CONVERSION));
    let text = found.as_ref().and_then(Value::as_str).unwrap_or_default();
    let changes = serde_json::from_str(text).unwrap_or_default();
    (normal(bare), changes)
}

/// The object with this record in it.
pub(super) fn put(changes: &[Change], mut object: Value) -> Value {
    let Ok(text) = serde_json::to_string(changes) else { return object };
    let Some(root) = object.as_object_mut() else { return object };
    let metadata = root.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    let Some(metadata) = metadata.as_object_mut() else { return object };
    let all = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    if let Some(all) = all.as_object_mut() {
        all.insert(CONVERSION.into(), Value::from(text));
    }
    object
}

/// With a map of metadata, and without an empty one of annotations: a record that was the only
/// annotation takes the map with it when it goes, so there must have been none before.
pub(super) fn normal(mut object: Value) -> Value {
    let Some(root) = object.as_object_mut() else { return object };
    let metadata = root.entry("metadata").or_insert(Value::Null);
    if metadata.is_null() {
        *metadata = Value::Object(Map::new());
    }
    let Some(metadata) = metadata.as_object_mut() else { return object };
    let all = metadata.get("annotations");
    if all.is_some_and(|all| all.is_null() || all.as_object().is_some_and(Map::is_empty)) {
        metadata.remove("annotations");
    }
    object
}

/// Makes those changes whose place is still as it was.
pub(super) fn apply(changes: &[Change], object: &mut Value) {
    for change in changes {
        if object.pointer(&change.at) != change.was.as_ref() {
            continue;
        }
        let Some((parent, key)) = change.at.rsplit_once('/') else { continue };
        let key = key.replace("~1", "/").replace("~0", "~");
        match object.pointer_mut(parent) {
            Some(Value::Object(map)) => {
                match &change.is {
                    Some(value) => map.insert(key, value.clone()),
                    None => map.remove(&key),
                };
            }
            Some(Value::Array(list)) => {
                let place = key.parse().ok().and_then(|index: usize| list.get_mut(index));
                if let (Some(place), Some(value)) = (place, &change.is) {
                    *place = value.clone();
                }
            }
            _ => {}
        }
    }
}

/// The changes that make `from` into `to`, in order of their places.
pub(super) fn difference(from: &Value, to: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(Some(from), Some(to), "", &mut changes);
    changes
}

fn compare(from: Option<&Value>, to: Option<&Value>, at: &str, out: &mut Vec<Change>) {
    match (from, to) {
        (from, to) if from == to => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for key in keys {
                let place = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                compare(old.get(key), new.get(key), &place, out);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                compare(Some(old), Some(new), &format!("{at}/{index}"), out);
            }
        }
        (from, to) => {
            out.push(Change { at: at.to_owned(), was: from.cloned(), is: to.cloned() });
        }
    }
}

fn annotations(object: &Value) -> Option<&Map<String, Value>> {
    object.pointer("/metadata/annotations").and_then(Value::as_object)
}

fn annotations_mut(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut)
}
