//! Rules in CEL (`x-kubernetes-validations`): compiled once per schema, evaluated where they stand.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use kube_cel::{CompiledSchema, compile_schema, validate_compiled};
use serde_json::{Map, Value};

use super::join;
use crate::error::Cause;

const RULES: &str = "x-kubernetes-validations";

/// Whether a schema has any rule.
pub(super) fn any(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key(RULES) || map.values().any(any),
        Value::Array(list) => list.iter().any(any),
        _ => false,
    }
}

/// A schema as far as rules are in it.
struct Node {
    own: Option<CompiledSchema>,
    properties: BTreeMap<String, Node>,
    items: Option<Box<Node>>,
    more: Option<Box<Node>>,
    /// Keys of a list-map: its items are compared with their old selves.
    keys: Vec<String>,
}

impl Node {
    fn of(schema: &Value) -> Option<Self> {
        if !any(schema) {
            return None;
        }
        let own = schema.get(RULES).map(|_| compile_schema(&without_rules_below(schema, true)));
        let properties = schema["properties"].as_object().into_iter().flatten();
        let below = |key: &str| schema.get(key).and_then(Node::of).map(Box::new);
        let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
        Some(Self {
            own,
            properties: properties
                .filter_map(|(key, child)| Some((key.clone(), Node::of(child)?)))
                .collect(),
            items: below("items"),
            more: below("additionalProperties"),
            keys: keys.filter_map(|key| key.as_str().map(str::to_owned)).collect(),
        })
    }

    fn evaluate(&self, value: &Value, old: Option<&Value>, path: &str, out: &mut Vec<Cause>) {
        // What did not change was accepted before.
        if old == Some(value) {
            return;
        }
        if let Some(own) = &self.own
            && let Err(errors) = validate_compiled(own, value, old)
        {
            out.extend(errors.into_vec().into_iter().map(|error| {
                let field = error.field_path.trim_start_matches('.');
                let field = if field.is_empty() { path.to_owned() } else { join(path, field) };
                cause(error.reason.as_deref(), &error.message, field)
            }));
        }
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    let node = self.properties.get(key).or(self.more.as_deref());
                    if let Some(node) = node {
                        let old = old.and_then(|old| old.get(key));
                        node.evaluate(inner, old, &join(path, key), out);
                    }
                }
            }
            Value::Array(list) => {
                let Some(node) = &self.items else { return };
                for (index, item) in list.iter().enumerate() {
                    let old = old.and_then(|old| self.before(old, item));
                    node.evaluate(item, old, &format!("{path}[{index}]"), out);
                }
            }
            _ => {}
        }
    }

    fn before<'a>(&self, old: &'a Value, item: &Value) -> Option<&'a Value> {
        if self.keys.is_empty() {
            return None;
        }
        old.as_array()?
            .iter()
            .find(|other| self.keys.iter().all(|key| other.get(key) == item.get(key)))
    }
}

fn cause(reason: Option<&str>, message: &str, field: String) -> Cause {
    let reason = reason.unwrap_or("FieldValueInvalid");
    let head = match reason {
        "FieldValueForbidden" => "Forbidden",
        "FieldValueRequired" => "Required value",
        "FieldValueDuplicate" => "Duplicate value",
        _ => "Invalid value",
    };
    Cause::new(reason, format!("{head}: {message}"), field)
}

fn without_rules_below(schema: &Value, keep: bool) -> Value {
    match schema {
        Value::Object(map) => Value::Object(
            map.iter()
                .filter(|(key, _)| keep || *key != RULES)
                .map(|(key, value)| {
                    let value = if key == RULES {
                        value.clone()
                    } else {
                        without_rules_below(value, false)
                    };
                    (key.clone(), value)
                })
                .collect::<Map<_, _>>(),
        ),
        Value::Array(list) => list.iter().map(|value| without_rules_below(value, false)).collect(),
        other => other.clone(),
    }
}

/// What the rules say of an object.
pub(super) fn evaluate(schema: &Value, object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut out = Vec::new();
    if let Some(node) = compiled(schema).as_ref() {
        node.evaluate(object, old, "", &mut out);
    }
    out
}

/// Rules that do not compile, with their place in the schema, as (path, index, message).
pub(super) fn broken(schema: &Value) -> Option<String> {
    let own = compile_schema(&without_rules_below(schema, true));
    own.compilation_errors().first().map(|error| error.to_string())
}

struct Cached {
    hash: u64,
    schema: Value,
    node: Arc<Option<Node>>,
}

/// Compiling takes a thousand times as long as evaluating, so the last few schemas are kept.
fn compiled(schema: &Value) -> Arc<Option<Node>> {
    static CACHE: Mutex<Vec<Cached>> = Mutex::new(Vec::new());
    const KEPT: usize = 16;
    // `DefaultHasher::new` has fixed keys; what it finds is compared in full all the same.
    let mut hasher = DefaultHasher::new();
    schema.hash(&mut hasher);
    let hash = hasher.finish();
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = cache.iter().find(|known| known.hash == hash && known.schema == *schema);
    if let Some(known) = known {
        return known.node.clone();
    }
    let node = Arc::new(Node::of(schema));
    if cache.len() == KEPT {
        cache.remove(0);
    }
    cache.push(Cached { hash, schema: schema.clone(), node: node.clone() });
    node
}
