//! Schemas of custom kinds: the CRD's own, with the fields that every object has.

use std::collections::BTreeMap;

use super::{mark, published};
use crate::json::{Value, json};
use crate::kind::Kind;

/// What the server says of `apiVersion` and `kind` of every object.
const API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an \
    object. Servers should convert recognized schemas to the latest internal value, and may reject \
    unrecognized values. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const KIND: &str = "Kind is a string value representing the REST resource this object represents. \
    Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In \
    CamelCase. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const METADATA: &str = "Standard object's metadata. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// Adds a custom kind's schema.
pub(super) fn add(kind: &Kind, schema: &Value, out: &mut BTreeMap<String, Value>) {
    published::add(published::META, out);
    let mut schema = if schema.is_object() {
        schema.clone()
    } else {
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
    };
    let mut properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let text = |description: &str| json!({"type": "string", "description": description});
    properties.insert("apiVersion".to_owned(), text(API_VERSION));
    properties.insert("kind".to_owned(), text(KIND));
    let metadata = published::reference(published::META);
    properties.insert("metadata".to_owned(), json!({"allOf": [metadata], "description": METADATA}));
    schema["properties"] = properties.into();
    schema["x-kubernetes-group-version-kind"] = json!([mark(kind)]);
    out.insert(published::key_of(kind), schema);
    published::add(published::PATCH, out);
}
