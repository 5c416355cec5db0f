//! Schemas of the built-in kinds, as Kubernetes publishes them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::json::{Value, json};
use crate::kind::Kind;

/// Group, version and kind of each schema that has them → its name; and each schema by name.
struct Published {
    keys: BTreeMap<(String, String, String), String>,
    schemas: BTreeMap<String, Value>,
}

/// `published.txt`, packed: unpacked and read when a schema is first asked for.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/published.packed"));

fn published() -> &'static Published {
    static READ: OnceLock<Published> = OnceLock::new();
    READ.get_or_init(|| {
        let text = miniz_oxide::inflate::decompress_to_vec(PACKED).expect("it was packed so");
        let text = String::from_utf8(text).expect("it is a text");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let read = |schema| serde_json::from_str(schema).expect("a schema is JSON");
        let schemas: BTreeMap<String, Value> = lines
            .filter_map(|line| line.split_once(' '))
            .map(|(name, schema)| (name.to_owned(), read(schema)))
            .collect();
        let mut keys = BTreeMap::new();
        for (name, schema) in &schemas {
            let marks = schema["x-kubernetes-group-version-kind"].as_array();
            // What is marked for many groups is none's own.
            if let Some([mark]) = marks.map(Vec::as_slice) {
                let text = |field: &str| mark[field].as_str().unwrap_or_default().to_owned();
                keys.insert((text("group"), text("version"), text("kind")), name.clone());
            }
        }
        Published { keys, schemas }
    })
}

/// A `$ref` to a schema of the same document.
pub(super) fn reference(key: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{key}")})
}

/// Metadata that every object has.
pub(super) const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
/// The body of a patch.
pub(super) const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";

/// The key of a kind's schema.
pub(super) fn key_of(kind: &Kind) -> String {
    let mark = (kind.group.clone(), kind.version.clone(), kind.kind.clone());
    match published().keys.get(&mark).filter(|_| kind.custom.is_none()) {
        Some(key) => key.clone(),
        None => {
            let mut parts: Vec<&str> = kind.group.split('.').collect();
            parts.reverse();
            format!("{}.{}.{}", parts.join("."), kind.version, kind.kind)
        }
    }
}

/// Adds a kind's schema and all that it leads to.
pub(super) fn add_kind(kind: &Kind, schemas: &mut BTreeMap<String, Value>) {
    add(&key_of(kind), schemas);
    add(PATCH, schemas);
}

/// Adds a schema and all that it leads to.
pub(super) fn add(key: &str, schemas: &mut BTreeMap<String, Value>) {
    let Some(schema) = published().schemas.get(key) else { return };
    if schemas.insert(key.to_owned(), schema.clone()).is_none() {
        follow(schema, schemas);
    }
}

fn follow(schema: &Value, schemas: &mut BTreeMap<String, Value>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                add(reference.rsplit('/').next().unwrap_or_default(), schemas);
            }
            map.values().for_each(|inner| follow(inner, schemas));
        }
        Value::Array(list) => list.iter().for_each(|inner| follow(inner, schemas)),
        _ => {}
    }
}
