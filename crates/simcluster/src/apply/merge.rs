//! Merging a configuration into an object, and taking out what it no longer sets.

use super::compare::item_segment;
use super::set::FieldSet;
use crate::json::{Map, Value};
use crate::types::{ListKind, Shape};

/// `live` with everything that `config` sets.
pub(super) fn merge(shape: Shape<'_>, live: &Value, config: &Value) -> Value {
    match (live, config) {
        (Value::Object(live), Value::Object(config)) if !shape.is_atomic() => {
            let mut out = live.clone();
            for (key, value) in config {
                let merged = match live.get(key) {
                    Some(old) => merge(shape.child(key).0, old, value),
                    None => value.clone(),
                };
                out.insert(key.clone(), merged);
            }
            Value::Object(out)
        }
        (Value::Array(live), Value::Array(config)) if shape.list() != ListKind::Atomic => {
            merge_lists(shape, live, config).into()
        }
        // No map or list is an empty one, which takes nothing away.
        (Value::Object(_) | Value::Array(_), Value::Null) if !shape.is_atomic() => live.clone(),
        _ => config.clone(),
    }
}

/// Items of the configuration in its order; those it does not name stay before the next shared one.
fn merge_lists(shape: Shape<'_>, live: &[Value], config: &[Value]) -> Vec<Value> {
    let (kind, item) = (shape.list(), shape.item());
    let name = |(index, value): (usize, &Value)| item_segment(&kind, item, index, value);
    let old: Vec<String> = live.iter().enumerate().map(name).collect();
    let new: Vec<String> = config.iter().enumerate().map(name).collect();
    let mut out = Vec::new();
    let mut at = 0;
    for (segment, value) in new.iter().zip(config) {
        while at < old.len() && !new.contains(&old[at]) {
            out.push(live[at].clone());
            at += 1;
        }
        let mut known = (0..old.len()).filter(|&place| old[place] == *segment);
        match (known.next(), known.next()) {
            // Several of a name are replaced: nobody can say which of them is meant.
            (Some(place), Some(_)) => {
                out.push(value.clone());
                if place == at {
                    at += 1;
                }
            }
            (Some(place), None) => {
                out.push(merge(item, &live[place], value));
                if place == at {
                    at += 1;
                }
            }
            (None, _) => out.push(value.clone()),
        }
    }
    while at < old.len() {
        if !new.contains(&old[at]) {
            out.push(live[at].clone());
        }
        at += 1;
    }
    out
}

/// Takes out what the applier owned (`last`) and neither it nor anybody else owns now (`kept`).
///
/// A field or item goes with everything below it, defaults included, unless it is still owned.
pub(super) fn remove(shape: Shape<'_>, value: &mut Value, last: &FieldSet, kept: &FieldSet) {
    // A declared field is owned by whoever owns something below it. An item, or a key that no schema
    // declares, is only by whoever owns it itself: it goes with all that others have below it.
    let goes = |segment: &str, below: &FieldSet, declared: bool| {
        let owned = kept
            .children
            .get(segment)
            .is_some_and(|kept| if declared { !kept.is_empty() } else { kept.member });
        !owned && (below.member || declared)
    };
    match value {
        Value::Object(map) => {
            for (segment, below) in &last.children {
                let Some(key) = segment.strip_prefix("f:") else { continue };
                let (child, declared) = shape.child(key);
                if goes(segment, below, declared) {
                    map.remove(key);
                } else if let Some(inner) = map.get_mut(key) {
                    let held = !is_empty(inner);
                    step_down(child, inner, below, kept.children.get(segment));
                    // The real server leaves a null where it took something out, which the schema
                    // of a custom kind refuses.
                    if held && is_empty(inner) {
                        *inner = Value::Null;
                    }
                }
            }
        }
        Value::Array(list) => {
            let (kind, item) = (shape.list(), shape.item());
            let taken = std::mem::take(list);
            for (index, mut entry) in taken.into_iter().enumerate() {
                let segment = item_segment(&kind, item, index, &entry);
                if let Some(below) = last.children.get(&segment) {
                    if goes(&segment, below, false) {
                        continue;
                    }
                    step_down(item, &mut entry, below, kept.children.get(&segment));
                }
                list.push(entry);
            }
        }
        _ => {}
    }
}

fn step_down(shape: Shape<'_>, value: &mut Value, last: &FieldSet, kept: Option<&FieldSet>) {
    let nothing = FieldSet::default();
    remove(shape, value, last, kept.unwrap_or(&nothing));
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}
