//! OpenAPI v3: the index and one document per group and version.
//!
//! Enough for `kubectl`: that PATCH knows `fieldValidation` and strategic merge (apply, create,
//! replace), merge keys of lists (apply, diff), and fields with their types and what they mean
//! (explain). Schemas of the built-in kinds are those that Kubernetes publishes.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::json::{Map, Value, json};
use crate::kind::Kind;

mod custom;
mod paths;
mod published;

/// The body of `/openapi/v2`, in protobuf: the version of OpenAPI (field 1), title and version of the
/// API (fields 1 and 2 of field 2), and neither paths nor definitions.
pub const EMPTY_V2: &[u8] = b"\x0a\x032.0\x12\x12\x0a\x0aKubernetes\x12\x041.36";

/// The body of `/openapi/v3`.
pub fn index(kinds: &[Arc<Kind>]) -> Value {
    let mut paths = Map::new();
    for (group, version) in versions(kinds) {
        let place = place(group, version);
        // The hash tells clients when to read the document again: only what a definition brings
        // ever changes.
        let mut hasher = DefaultHasher::new();
        for kind in kinds.iter().filter(|kind| kind.group == group && kind.version == version) {
            kind.plural.hash(&mut hasher);
            if let Some(custom) = &kind.custom {
                (&kind.kind, kind.has_status, kind.scale.is_some()).hash(&mut hasher);
                custom.schema.hash(&mut hasher);
            }
        }
        let hash = hasher.finish();
        let url = format!("/openapi/v3/{place}?hash={hash:016X}");
        paths.insert(place, json!({"serverRelativeURL": url}));
    }
    json!({"paths": paths})
}

/// The body of `/openapi/v3/apis/{group}/{version}` (or `/openapi/v3/api/v1`).
pub fn document(kinds: &[Arc<Kind>], group: &str, version: &str) -> Option<Value> {
    let served: Vec<&Arc<Kind>> =
        kinds.iter().filter(|kind| kind.group == group && kind.version == version).collect();
    if served.is_empty() {
        return None;
    }
    let mut paths = Map::new();
    let mut schemas = BTreeMap::new();
    for kind in served {
        paths::add(kind, &mut paths);
        match &kind.custom {
            Some(custom) => custom::add(kind, &custom.schema, &mut schemas),
            None => published::add_kind(kind, &mut schemas),
        }
    }
    Some(json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "1.36"},
        "paths": paths,
        "components": {"schemas": schemas},
    }))
}

/// The body of `/openapi/v2` in JSON: the schemas of all kinds. Its paths are those of v3 alone.
pub fn v2(kinds: &[Arc<Kind>]) -> Value {
    let mut definitions = BTreeMap::new();
    for kind in kinds {
        match &kind.custom {
            Some(custom) => custom::add(kind, &custom.schema, &mut definitions),
            None => published::add_kind(kind, &mut definitions),
        }
    }
    for definition in definitions.values_mut() {
        to_v2(definition);
    }
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": "v1.36.3"},
        "paths": {},
        "definitions": definitions,
    })
}

/// A schema as version 2 writes it: references lead elsewhere, and stand alone.
fn to_v2(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Array(all)) = map.remove("allOf")
                && let [Value::Object(only)] = all.as_slice()
            {
                map.extend(only.clone());
            }
            // Neither is known to version 2.
            map.remove("nullable");
            map.remove("oneOf");
            if let Some(Value::String(reference)) = map.get_mut("$ref") {
                *reference = reference.replace("#/components/schemas/", "#/definitions/").into();
            }
            map.values_mut().for_each(to_v2);
        }
        Value::Array(list) => list.iter_mut().for_each(to_v2),
        _ => {}
    }
}

fn versions(kinds: &[Arc<Kind>]) -> Vec<(&str, &str)> {
    let mut out: Vec<(&str, &str)> =
        kinds.iter().map(|kind| (kind.group.as_str(), kind.version.as_str())).collect();
    out.sort_unstable();
    out.dedup();
    out
}

fn place(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// The mark by which a client finds an operation or a schema of a kind.
fn mark(kind: &Kind) -> Value {
    json!({"group": kind.group, "version": kind.version, "kind": kind.kind})
}

#[cfg(test)]
mod tests;
