//! The parts that the schemas of all three kinds are put together from.

use crate::json::{Map, Value, json};

/// A string.
pub(super) fn text() -> Value {
    json!({"type": "string"})
}

/// A truth value.
pub(super) fn flag() -> Value {
    json!({"type": "boolean"})
}

/// An amount that is not below zero.
pub(super) fn count() -> Value {
    json!({"type": "integer", "format": "int32", "minimum": 0})
}

/// A count or a percentage.
pub(super) fn amount() -> Value {
    json!({"x-kubernetes-int-or-string": true})
}

/// One of some words.
pub(super) fn one_of(words: &[&str]) -> Value {
    json!({"type": "string", "enum": words})
}

/// What another schema allows, with a default.
pub(super) fn or(mut schema: Value, default: impl Into<Value>) -> Value {
    schema["default"] = default.into();
    schema
}

/// Anything at all: what the schema does not go into.
pub(super) fn free() -> Value {
    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

/// A list of something.
pub(super) fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

/// A map with these fields.
pub(super) fn map<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let properties: Map =
        fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({"type": "object", "properties": properties})
}

/// The fields of a spec that all kinds have, with a kind's own.
pub(super) fn spec<const N: usize>(own: [(&str, Value); N]) -> Value {
    let mut spec = map(own);
    let common = [
        ("selector", selector()),
        ("template", free()),
        ("minReadySeconds", count()),
        ("revisionHistoryLimit", or(count(), 10)),
        ("lifecycle", free()),
    ];
    for (name, schema) in common {
        spec["properties"][name] = schema;
    }
    spec["required"] = json!(["selector", "template"]);
    spec
}

/// The fields of a status that all kinds have, with a kind's own counts.
pub(super) fn status<const N: usize>(counts: [&str; N]) -> Value {
    let mut status = map([
        ("observedGeneration", json!({"type": "integer", "format": "int64"})),
        ("collisionCount", count()),
        ("conditions", list(&free())),
    ]);
    for name in counts {
        status["properties"][name] = count();
    }
    status
}

/// A LabelSelector.
pub(super) fn selector() -> Value {
    let expression = map([("key", text()), ("operator", text()), ("values", list(&text()))]);
    map([
        ("matchLabels", json!({"type": "object", "additionalProperties": {"type": "string"}})),
        ("matchExpressions", list(&expression)),
    ])
}

/// In which order Pods are updated.
pub(super) fn priority() -> Value {
    let weight = map([("weight", count()), ("matchSelector", selector())]);
    map([
        ("orderPriority", list(&map([("orderedKey", text())]))),
        ("weightPriority", list(&weight)),
    ])
}

/// How long a Pod is taken out of service before its containers are replaced.
pub(super) fn in_place() -> Value {
    map([("gracePeriodSeconds", count())])
}
