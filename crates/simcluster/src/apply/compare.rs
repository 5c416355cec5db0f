//! Which fields two versions of an object differ in, and which fields a configuration sets.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::set::FieldSet;
use crate::json::{Map, Value, json};
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
    walk(shape, Some(old), Some(new), &mut changes.set, &mut changes.removed);
    changes
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
    // A list or map that is there as null is an empty one: only what it gains or loses counts.
    let either = |value: &Value| value.is_array() || value.is_object();
    let (before, after) = (old, new);
    let old = old.map(|old| match after {
        Some(after) if old.is_null() && either(after) => empty(after.is_array()),
        _ => old,
    });
    let new = new.map(|new| match before {
        Some(before) if new.is_null() && either(before) => empty(before.is_array()),
        _ => new,
    });
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
    if old.or(new).is_some_and(Value::is_object) {
        walk_maps(
            shape,
            old.and_then(Value::as_object),
            new.and_then(Value::as_object),
            set,
            removed,
        );
    } else {
        walk_lists(shape, old, new, set, removed);
    }
}

fn walk_maps(
    shape: Shape<'_>,
    old: Option<&Map>,
    new: Option<&Map>,
    set: &mut FieldSet,
    removed: &mut FieldSet,
) {
    let mut step = |key: &str, before: Option<&Value>, after: Option<&Value>| {
        if before == after {
            return;
        }
        let child = shape.child(key).0;
        // What the real server holds by value is in every object, given or not.
        let implied = child.is_by_value().then(|| empty(child.is_list()));
        let before = before.or(implied.filter(|_| old.is_some()));
        let after = after.or(implied.filter(|_| new.is_some()));
        descend(format!("f:{key}"), child, (before, after), set, removed);
    };
    for (key, after) in new.into_iter().flatten() {
        step(key, old.and_then(|old| old.get(key)), Some(after));
    }
    for (key, before) in old.into_iter().flatten() {
        if new.is_none_or(|new| !new.contains_key(key)) {
            step(key, Some(before), None);
        }
    }
}

fn walk_lists(
    shape: Shape<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
    set: &mut FieldSet,
    removed: &mut FieldSet,
) {
    let (old, new) = (items(shape, old), items(shape, new));
    for segment in old.keys().chain(new.keys().filter(|segment| !old.contains_key(*segment))) {
        let (before, after) = (old.get(segment), new.get(segment));
        match (before.map(Vec::as_slice), after.map(Vec::as_slice)) {
            (None | Some([_]), None | Some([_])) => {
                let pair = (before.map(|items| items[0]), after.map(|items| items[0]));
                descend(segment.clone(), shape.item(), pair, set, removed);
            }
            (before, after) if before == after => {}
            (_, Some(_)) => set.graft(segment.clone(), FieldSet::leaf()),
            (_, None) => removed.graft(segment.clone(), FieldSet::leaf()),
        }
    }
}

fn descend(
    segment: String,
    child: Shape<'_>,
    (before, after): (Option<&Value>, Option<&Value>),
    set: &mut FieldSet,
    removed: &mut FieldSet,
) {
    let (mut s, mut r) = (FieldSet::default(), FieldSet::default());
    walk(child, before, after, &mut s, &mut r);
    set.graft(segment.clone(), s);
    removed.graft(segment, r);
}

fn empty(list: bool) -> &'static Value {
    static EMPTY: LazyLock<[Value; 2]> = LazyLock::new(|| [json!({}), json!([])]);
    &EMPTY[usize::from(list)]
}

/// The items of a list by name. More than one of a name, as plain writes may bring in, are one field
/// that nobody looks into.
fn items<'v>(shape: Shape<'_>, list: Option<&'v Value>) -> BTreeMap<String, Vec<&'v Value>> {
    let (kind, item) = (shape.list(), shape.item());
    let mut out: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for (index, value) in list.and_then(Value::as_array).into_iter().flatten().enumerate() {
        out.entry(item_segment(&kind, item, index, value)).or_default().push(value);
    }
    out
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
                format!("k:{}", crate::json::json!(named))
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
    for (key, value) in value.as_object().into_iter().flatten() {
        let (child, declared) = shape.child(key);
        let mut below = field_set(child, value);
        if value.is_null() || value.as_object().is_some_and(Map::is_empty) || !declared {
            below.member = true;
        }
        out.graft(format!("f:{key}"), below);
    }
    for (segment, values) in items(shape, Some(value)) {
        let mut below = match values.as_slice() {
            [one] => field_set(shape.item(), one),
            _ => FieldSet::default(),
        };
        below.member = true;
        out.graft(segment, below);
    }
    out
}
