//! Schemas of custom kinds: the CRD's own, with the fields that every object has.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{mark, schemas};
use crate::kind::Kind;
use crate::types;

/// Adds a custom kind's schema.
pub(super) fn add(kind: &Kind, schema: &Value, out: &mut BTreeMap<String, Value>) {
    let meta = types::by_name("ObjectMeta");
    if let Some(meta) = meta {
        schemas::add(meta, out);
    }
    let mut schema = if schema.is_object() {
        schema.clone()
    } else {
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
    };
    let mut properties = schema["properties"].as_object().cloned().unwrap_or_default();
    properties.insert(
        "apiVersion".to_owned(),
        json!({"type": "string", "description":
               "The group and version that this object is written in."}),
    );
    properties.insert(
        "kind".to_owned(),
        json!({"type": "string", "description": "What kind of object this is."}),
    );
    properties.insert(
        "metadata".to_owned(),
        json!({"allOf": [schemas::reference("io.k8s.ObjectMeta")],
               "description": "Name, labels and the like."}),
    );
    schema["properties"] = properties.into();
    schema["x-kubernetes-group-version-kind"] = json!([mark(kind)]);
    out.insert(schemas::key_of(kind), schema);
    out.entry("Patch".to_owned()).or_insert_with(|| json!({"type": "object"}));
}
