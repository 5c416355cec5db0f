//! Schemas of single fields: limits, defaults and rules, as the API server enforces them.
//!
//! Messages of rules are the original's where it has one.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

/// A count or a percentage. What it may be is left to the webhook: a rule would have to ask for its
/// type, and one with a regular expression costs more than the API server allows.
pub(super) fn count(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-int-or-string": true })
}

pub(super) fn disabled(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "boolean", "default": false })
}

/// Seconds; a negative number of them is none that anybody can mean.
pub(super) fn seconds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "format": "int32", "minimum": 0 })
}

pub(super) fn small_integer(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "format": "int32" })
}

/// RFC 3339, as `metav1.Time`.
pub(super) fn date_time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time", "nullable": true })
}

/// Of another kind of release: kept as it is, and not looked into.
pub(super) fn carried(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

pub(super) fn matches(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array", "maxItems": 16,
        "items": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
    })
}

pub(super) fn traffic_routings(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["service"],
            "properties": {
                "service": { "type": "string", "description": "Service of the stable Pods." },
                "gracePeriodSeconds": {
                    "type": "integer", "format": "int32", "default": 3,
                    "description": "Seconds that a change of routes may take.",
                },
            },
            "x-kubernetes-preserve-unknown-fields": true,
        },
    })
}

pub(super) fn pod_template_metadata(_: &mut SchemaGenerator) -> Schema {
    let map = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let (mut annotations, mut labels) = (map.clone(), map);
    annotations["description"] = json!("Annotations for the Pods of a canary Deployment.");
    labels["description"] = json!("Labels for the Pods of a canary Deployment.");
    json_schema!({
        "type": "object",
        "properties": { "annotations": annotations, "labels": labels },
    })
}

/// The spec of an object as it was, whatever it is an object of.
pub(super) fn any_spec(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

/// An optional field is one that may be absent: a null is dropped by the API server, and a default
/// of serde is for reading.
pub(super) fn plain(schema: &mut Schema) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|all| all.values_mut()) {
        let Some(property) = property.as_object_mut() else { continue };
        // Those that are meant are `false`; serde's are empty objects.
        if property.get("default").is_some_and(Value::is_object) {
            property.remove("default");
        }
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|one| one != "null");
            if let [one] = &types[..] {
                let one = one.clone();
                property.insert("type".into(), one);
            }
        }
        only_choice(property);
    }
}

/// `anyOf: [x, null]` is x.
fn only_choice(property: &mut Map<String, Value>) {
    let Some(Value::Array(mut choices)) = property.remove("anyOf") else { return };
    choices.retain(|choice| choice["type"] != "null");
    if choices.len() != 1 {
        property.insert("anyOf".into(), Value::Array(choices));
        return;
    }
    let own = property.get("description").cloned();
    for choice in choices {
        let Value::Object(choice) = choice else { continue };
        property.extend(choice);
    }
    if let Some(own) = own {
        property.insert("description".into(), own);
    }
}

/// [`plain`], and no default is written into it by the API server.
pub(super) fn status(schema: &mut Schema) {
    plain(schema);
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|all| all.values_mut()) {
        if let Some(property) = property.as_object_mut() {
            property.remove("default");
        }
    }
}
