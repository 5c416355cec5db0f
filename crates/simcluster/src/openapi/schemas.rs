//! Schemas of the built-in kinds, out of the table of types.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::mark;
use crate::kind::Kind;
use crate::types::{self, Field, ListKind, Ty, Type};

/// A `$ref` to a schema of the same document.
pub(super) fn reference(key: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{key}")})
}

/// The key of a kind's schema.
pub(super) fn key_of(kind: &Kind) -> String {
    match types::of_kind(&kind.group, &kind.kind).filter(|_| kind.custom.is_none()) {
        Some(ty) => key(ty),
        None => {
            let mut parts: Vec<&str> = kind.group.split('.').collect();
            parts.reverse();
            format!("{}.{}.{}", parts.join("."), kind.version, kind.kind)
        }
    }
}

fn key(ty: &Type) -> String {
    format!("io.k8s.{}", ty.name)
}

/// Adds a kind's schema and all that it leads to.
pub(super) fn add_kind(kind: &Kind, schemas: &mut BTreeMap<String, Value>) {
    if let Some(ty) = types::of_kind(&kind.group, &kind.kind) {
        add(ty, schemas);
        if let Some(schema) = schemas.get_mut(&key(ty)) {
            schema["x-kubernetes-group-version-kind"] = json!([mark(kind)]);
        }
    }
    schemas.entry("Patch".to_owned()).or_insert_with(|| json!({"type": "object"}));
}

/// Adds a type and all that it leads to.
pub(super) fn add(ty: &'static Type, schemas: &mut BTreeMap<String, Value>) {
    if schemas.contains_key(&key(ty)) {
        return;
    }
    // In place before the descent, so that a type that holds itself comes to an end.
    schemas.insert(key(ty), Value::Null);
    let mut properties = Map::new();
    if ty.says_its_kind() {
        properties.insert("apiVersion".to_owned(), json!({"type": "string"}));
        properties.insert("kind".to_owned(), json!({"type": "string"}));
    }
    for (name, field) in &ty.fields {
        properties.insert(name.clone(), of_field(field));
        add_inner(&field.ty, schemas);
    }
    let mut schema = json!({"type": "object", "properties": properties});
    let required: Vec<&String> =
        ty.fields.iter().filter(|(_, field)| field.required).map(|(name, _)| name).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if ty.atomic {
        schema["x-kubernetes-map-type"] = json!("atomic");
    }
    schemas.insert(key(ty), schema);
}

fn add_inner(ty: &'static Ty, schemas: &mut BTreeMap<String, Value>) {
    match ty {
        Ty::Struct(index) => add(types::at(*index), schemas),
        Ty::List(inner) | Ty::Map(inner) => add_inner(inner, schemas),
        _ => {}
    }
}

fn of_field(field: &'static Field) -> Value {
    let mut schema = of_type(&field.ty);
    if let Ty::List(_) = field.ty {
        match &field.list {
            ListKind::Atomic => schema["x-kubernetes-list-type"] = json!("atomic"),
            ListKind::Set => schema["x-kubernetes-list-type"] = json!("set"),
            ListKind::Keys(keys) => {
                schema["x-kubernetes-list-type"] = json!("map");
                schema["x-kubernetes-list-map-keys"] = json!(keys);
            }
        }
    }
    match field.patch.as_deref() {
        Some("*") => schema["x-kubernetes-patch-strategy"] = json!("merge"),
        Some(by) => {
            schema["x-kubernetes-patch-strategy"] = json!("merge");
            schema["x-kubernetes-patch-merge-key"] = json!(by);
        }
        None => {}
    }
    if field.atomic {
        schema["x-kubernetes-map-type"] = json!("atomic");
    }
    schema
}

fn of_type(ty: &'static Ty) -> Value {
    match ty {
        Ty::String => json!({"type": "string"}),
        Ty::Bytes => json!({"type": "string", "format": "byte"}),
        Ty::Int32 => json!({"type": "integer", "format": "int32"}),
        Ty::Int64 => json!({"type": "integer", "format": "int64"}),
        Ty::Float64 => json!({"type": "number", "format": "double"}),
        Ty::Bool => json!({"type": "boolean"}),
        Ty::IntOrString => json!({"oneOf": [{"type": "integer"}, {"type": "string"}],
                                  "format": "int-or-string"}),
        Ty::Quantity => json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
        Ty::Time | Ty::MicroTime => json!({"type": "string", "format": "date-time"}),
        Ty::Raw => json!({"type": "object"}),
        Ty::Struct(index) => json!({"allOf": [reference(&key(types::at(*index)))]}),
        Ty::List(item) => json!({"type": "array", "items": of_type(item)}),
        Ty::Map(value) => json!({"type": "object", "additionalProperties": of_type(value)}),
    }
}
