//! Which fields two versions of an object differ in, and which fields a configuration sets.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::set::FieldSet;
use crate::types::{ListKind, Shape};

/// The difference of two versions.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    /// Fields that are new or have another value, parents that are new included.
    pub(super) set: FieldSet,
    /// Fields that are gone.
    pub(super) removed: FieldSet,
}

/// Compares two versions of an object.
pub(super) fn compare(shape: Shape<'_>, old: &Value, new: &Value) -> Changes {
    let mut changes = Changes::default();
    let old = with_value_structs(shape, old);
    let new = with_value_structs(shape, new);
    walk(shape, Some(&old), Some(&new), &mut changes.set, &mut changes.removed);
    changes
}

/// What the real server holds by value is in every object, given or not.
fn with_value_structs(shape: Shape<'_>, value: &Value) -> Value {
    let mut out = value.clone();
    fill(shape, &mut out);
    out
}

fn fill(shape: Shape<'_>, value: &mut Value) {
    for (name, child) in shape.by_value() {
        if let Value::Object(map) = &mut *value {
            let absent = if child.is_list() { Value::Array(Vec::new()) } else { json!({}) };
            fill(child, map.entry(name).or_insert(absent));
        }
    }
}

fn walk(
    shape: Shape<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
    set: &mut FieldSet,
    removed: &mut FieldSet,
) {
    if old == new {
        return;
    }
    // A list or map that is there as null is an empty one: only what it gains is new.
    let nothing = match new {
        Some(Value::Array(_)) => Value::Array(Vec::new()),
        _ => json!({}),
    };
    let container = new.is_some_and(|new| new.is_array() || new.is_object());
    let old = old.map(|old| if old.is_null() && container { &nothing } else { old });
    let whole = |value: Option<&Value>| match value {
        Some(Value::Object(_)) => shape.is_atomic(),
        Some(Value::Array(_)) => shape.list() == ListKind::Atomic,
        Some(_) => true,
        None => false,
    };
    let same_form = match (old, new) {
        (Some(old), Some(new)) => {
            old.is_object() == new.is_object() && old.is_array() == new.is_array()
        }
        _ => true,
    };
    if whole(old) || whole(new) || !same_form {
        match new {
            Some(_) => set.member = true,
            None => removed.member = true,
        }
        return;
    }
    match (old, new) {
        (None, Some(_)) => set.member = true,
        (Some(_), None) => removed.member = true,
        _ => {}
    }
    let (old, new) = (entries(shape, old), entries(shape, new));
    let empty = BTreeMap::new();
    let (old, new) = (old.as_ref().unwrap_or(&empty), new.as_ref().unwrap_or(&empty));
    for segment in old.keys().chain(new.keys().filter(|segment| !old.contains_key(*segment))) {
        let (before, after) = (old.get(segment), new.get(segment));
        if before.map(|(value, _)| value) == after.map(|(value, _)| value) {
            continue;
        }
        let Some((_, child)) = after.or(before) else { continue };
        let (mut s, mut r) = (FieldSet::default(), FieldSet::default());
        walk(*child, before.map(|(v, _)| *v), after.map(|(v, _)| *v), &mut s, &mut r);
        set.graft(segment.clone(), s);
        removed.graft(segment.clone(), r);
    }
}

type Entries<'v, 's> = BTreeMap<String, (&'v Value, Shape<'s>)>;

fn entries<'v, 's>(shape: Shape<'s>, value: Option<&'v Value>) -> Option<Entries<'v, 's>> {
    match value? {
        Value::Object(map) => Some(
            map.iter()
                .map(|(key, value)| (format!("f:{key}"), (value, shape.child(key).0)))
                .collect(),
        ),
        Value::Array(list) => {
            let (kind, item) = (shape.list(), shape.item());
            let named = list.iter().enumerate();
            Some(
                named
                    .map(|(index, value)| (item_segment(&kind, item, index, value), (value, item)))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// How a list's item is named in a path.
pub(super) fn item_segment(
    kind: &ListKind<'_>,
    item: Shape<'_>,
    index: usize,
    value: &Value,
) -> String {
    match kind {
        ListKind::Set => format!("v:{value}"),
        ListKind::Keys(keys) => {
            let named: BTreeMap<&str, Value> = keys
                .iter()
                .filter_map(|&key| {
                    let given = value.get(key).cloned();
                    Some((key, given.or_else(|| item.default_of(key))?))
                })
                .collect();
            if named.is_empty() {
                format!("i:{index}")
            } else {
                format!("k:{}", serde_json::json!(named))
            }
        }
        ListKind::Atomic => format!("i:{index}"),
    }
}

/// The fields that a configuration sets: leaves, items of lists, and maps that are empty.
pub(super) fn field_set(shape: Shape<'_>, value: &Value) -> FieldSet {
    let mut out = FieldSet::default();
    let leaf = match value {
        Value::Object(_) => shape.is_atomic(),
        Value::Array(_) => shape.list() == ListKind::Atomic,
        _ => true,
    };
    if leaf {
        out.member = true;
        return out;
    }
    let is_list = value.is_array();
    for (segment, (value, child)) in entries(shape, Some(value)).unwrap_or_default() {
        let mut below = field_set(child, value);
        let declared = segment.strip_prefix("f:").is_some_and(|key| shape.child(key).1);
        let empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        if is_list || empty || !declared {
            below.member = true;
        }
        out.graft(segment, below);
    }
    out
}
