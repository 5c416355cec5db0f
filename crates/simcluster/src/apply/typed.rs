//! Whether a configuration fits its schema, in the words of the typed patch object.

use super::compare::item_segment;
use super::set::FieldSet;
use crate::body::go;
use crate::json::Value;
use crate::types::{ListKind, Shape, Ty};

/// The first thing that does not fit: a path and a reason.
pub(super) fn check(shape: Shape<'_>, config: &Value) -> Result<(), String> {
    walk(shape, config, "")
}

fn walk(shape: Shape<'_>, value: &Value, path: &str) -> Result<(), String> {
    if let Some(expected) = mismatch(shape, value) {
        let got = match value {
            Value::Object(_) | Value::Array(_) => format!("&{{{}}}", go::shown(value)),
            _ => format!("&value.valueUnstructured{{Value:{value}}}"),
        };
        return Err(format!("{path}: expected {expected}, got {got}"));
    }
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let path = format!("{path}.{key}");
                if !shape.allows(key) {
                    return Err(format!("{path}: field not declared in schema"));
                }
                walk(shape.child(key).0, inner, &path)?;
            }
        }
        Value::Array(list) => {
            let (kind, item) = (shape.list(), shape.item());
            let mut seen = FieldSet::default();
            for (index, inner) in list.iter().enumerate() {
                if let Some(why) = no_element(&kind, inner) {
                    return Err(format!("{path}: element {index}: associative list {why}"));
                }
                if let ListKind::Keys(keys) = &kind
                    && let Some(key) = keys
                        .iter()
                        .find(|key| inner.get(**key).is_none() && item.default_of(key).is_none())
                {
                    return Err(format!(
                        "{path}: element {index}: associative list with keys has an element that \
                         omits key field \"{key}\" (and doesn't have default value)"
                    ));
                }
                let segment = item_segment(&kind, item, index, inner);
                if kind != ListKind::Atomic && seen.children.contains_key(&segment) {
                    let mut named = FieldSet::default();
                    named.children.insert(segment, FieldSet::leaf());
                    let key = named.paths().concat();
                    return Err(format!("{path}: duplicate entries for key {key}"));
                }
                walk(item, inner, &format!("{path}{}", one_path(&segment)))?;
                seen.children.insert(segment, FieldSet::leaf());
            }
        }
        _ => {}
    }
    Ok(())
}

/// Why something can't be told apart from the other items of a list.
fn no_element(kind: &ListKind<'_>, item: &Value) -> Option<&'static str> {
    match kind {
        ListKind::Keys(_) if item.is_null() => Some("with keys may not have a null element"),
        ListKind::Keys(_) if !item.is_object() => Some("with keys may not have non-map elements"),
        ListKind::Set if item.is_null() => {
            Some("without keys has an element that's an explicit null")
        }
        _ => None,
    }
}

fn one_path(segment: &str) -> String {
    let mut set = FieldSet::default();
    set.children.insert(segment.to_owned(), FieldSet::leaf());
    set.paths().concat()
}

fn mismatch(shape: Shape<'_>, value: &Value) -> Option<&'static str> {
    let ty = match shape {
        Shape::Field(field) => &field.ty,
        Shape::Inner(ty) => ty,
        _ => return None,
    };
    if value.is_null() {
        return None;
    }
    match ty {
        Ty::String | Ty::Bytes | Ty::Time | Ty::MicroTime => {
            (!value.is_string()).then_some("string")
        }
        Ty::Int32 | Ty::Int64 | Ty::Float64 => {
            (!value.is_number()).then_some("numeric (int or float)")
        }
        Ty::Bool => (!value.is_boolean()).then_some("boolean"),
        Ty::List(_) => (!value.is_array()).then_some("list"),
        Ty::Map(_) | Ty::Struct(_) => (!value.is_object()).then_some("map"),
        Ty::IntOrString | Ty::Quantity | Ty::Raw => None,
    }
}
