//! What a conversion could not express, as an annotation of the converted object.
//!
//! It is a list of changes to what the rules make on the way back. A change is made where its `was`
//! still stands, so that an edit between the two conversions wins over the record, and only over the
//! part of it that the edit is about.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::batches::names::CONVERSION;

const ANNOTATIONS: &str = "/metadata/annotations";

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

/// The object without its record, and the record; one that cannot be read is as none.
///
/// The object comes with a map of metadata, and without an empty one of annotations, as the API
/// server has it too: a record that was the only annotation takes the map with it when it goes.
pub(super) fn take(object: &Value) -> (Value, Vec<Change>) {
    let mut bare = object.clone();
    let Some(root) = bare.as_object_mut() else { return (bare, Vec::new()) };
    let metadata = root.entry("metadata").or_insert(Value::Null);
    if metadata.is_null() {
        *metadata = Value::Object(Map::new());
    }
    let Some(metadata) = metadata.as_object_mut() else { return (bare, Vec::new()) };
    let found = metadata.get_mut("annotations").and_then(Value::as_object_mut);
    let record = found.and_then(|all| all.remove(CONVERSION));
    let all = metadata.get("annotations");
    if all.is_some_and(|all| all.is_null() || all.as_object().is_some_and(Map::is_empty)) {
        metadata.remove("annotations");
    }
    let changes = record.and_then(|record| serde_json::from_str(record.as_str()?).ok());
    (bare, changes.unwrap_or_default())
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

/// The object with those changes whose place is still as it was; none to what an object is, or to
/// a record.
pub(super) fn apply(changes: &[Change], object: &Value) -> Value {
    let mut object = object.clone();
    for change in changes.iter().filter(|change| change.is_allowed()) {
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
    object
}

impl Change {
    /// What a conversion may change at all: the API server refuses other metadata, and with it the
    /// whole list.
    fn is_allowed(&self) -> bool {
        let within = |place: &str| {
            self.at.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_record = self.at.ends_with(&CONVERSION.replace('/', "~1"));
        let is_text = |value: &Value| value.is_string();
        let texts = match (&self.is, self.at == ANNOTATIONS) {
            (None, _) => true,
            (Some(Value::Object(all)), true) => all.values().all(is_text),
            (Some(one), false) => !within(ANNOTATIONS) || is_text(one),
            (Some(_), true) => false,
        };
        let places = ["/spec", "/status", ANNOTATIONS];
        places.into_iter().any(within) && !is_record && texts
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
        // One by one: others write annotations as well, and must not be in the way.
        (Some(Value::Object(_)), None) if at == ANNOTATIONS => {
            let none = Value::Object(Map::new());
            compare(from, Some(&none), at, out);
            out.push(Change { at: at.to_owned(), was: Some(none), is: None });
        }
        (None, Some(Value::Object(_))) if at == ANNOTATIONS => {
            let none = Value::Object(Map::new());
            out.push(Change { at: at.to_owned(), was: None, is: Some(none.clone()) });
            compare(Some(&none), to, at, out);
        }
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
