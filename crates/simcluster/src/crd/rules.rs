//! Rules in CEL (`x-kubernetes-validations`): compiled once per schema, evaluated where they stand.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use kube_cel::{CompiledSchema, compile_schema, validate_compiled};
use regex::Regex;

use super::join;
use crate::error::Cause;
use crate::json::{Map, Value};

const RULES: &str = "x-kubernetes-validations";

/// Whether a schema has any rule.
fn any(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key(RULES) || map.values().any(any),
        Value::Array(list) => list.iter().any(any),
        _ => false,
    }
}

/// A schema as far as rules are in it.
pub(super) struct Node {
    own: Option<CompiledSchema>,
    /// The fields that the rules here name; `None` when they look at the value as a whole.
    named: Option<BTreeSet<String>>,
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
        let named = named_fields(schema);
        let own = schema.get(RULES).map(|_| {
            let mut alone = without_rules_below(schema, true);
            if let (Some(named), Some(properties)) =
                (&named, alone.get_mut("properties").and_then(Value::as_object_mut))
            {
                properties.retain(|key, _| named.contains(key.as_str()));
            }
            compile_schema(&plain(&alone))
        });
        let properties = schema["properties"].as_object().into_iter().flatten();
        let below = |key: &str| schema.get(key).and_then(Node::of).map(Box::new);
        let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
        Some(Self {
            own,
            named,
            properties: properties
                .filter_map(|(key, child)| Some((key.to_string(), Node::of(child)?)))
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
            && !(old.is_some() && old.map(|old| self.seen(old)) == Some(self.seen(value)))
            && let Err(errors) =
                validate_compiled(own, &self.told(value), old.map(|old| self.told(old)).as_ref())
        {
            out.extend(errors.into_vec().into_iter().map(|error| {
                let field = error.field_path.trim_start_matches('.');
                let field = match (path, field) {
                    // The root has no path, and the server says so.
                    ("", "") => "<nil>".to_owned(),
                    (path, "") => path.to_owned(),
                    (path, field) => join(path, field),
                };
                cause(error.reason.as_deref(), value, &error.message, field)
            }));
        }
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    let node = self.properties.get(key.as_str()).or(self.more.as_deref());
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

    /// What the rules here can see of a value. Turning JSON into CEL is the dear part of a rule, and
    /// an object may hold a thousand rows that no rule asks about.
    fn seen<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        match (&self.named, value) {
            (Some(named), Value::Object(map))
                if map.keys().any(|key| !named.contains(key.as_str())) =>
            {
                let kept = map.iter().filter(|(key, _)| named.contains(key.as_str()));
                let kept = kept.map(|(key, value)| (key.clone(), value.clone()));
                Cow::Owned(Value::Object(kept.collect()))
            }
            _ => Cow::Borrowed(value),
        }
    }

    fn told(&self, value: &Value) -> serde_json::Value {
        plain(&self.seen(value))
    }

    /// What the rules say of an object.
    pub(super) fn check(&self, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        let mut out = Vec::new();
        self.evaluate(object, old, "", &mut out);
        out
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

/// As those read it who evaluate CEL.
fn plain(value: &Value) -> serde_json::Value {
    value.into()
}

fn cause(reason: Option<&str>, value: &Value, message: &str, field: String) -> Cause {
    let reason = reason.unwrap_or("FieldValueInvalid");
    let head = match reason {
        "FieldValueForbidden" => "Forbidden",
        "FieldValueRequired" => "Required value",
        "FieldValueDuplicate" => "Duplicate value",
        _ => "Invalid value",
    };
    // Only a plain value is shown.
    let shown = head == "Invalid value" && !value.is_object() && !value.is_array();
    let value = if shown { format!("{value}: ") } else { String::new() };
    Cause::new(reason, format!("{head}: {value}{message}"), field)
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
                .collect::<Map>(),
        ),
        Value::Array(list) => list.iter().map(|value| without_rules_below(value, false)).collect(),
        other => other.clone(),
    }
}

/// The fields of `self` that the rules of a node name, if they use it in no other way.
fn named_fields(schema: &Value) -> Option<BTreeSet<String>> {
    static SELF: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\b(?:self|oldSelf)\b(?:\.([A-Za-z_][A-Za-z0-9_]*)(\s*\()?)?")
            .expect("the pattern is constant")
    });
    let mut named = BTreeSet::new();
    for rule in schema[RULES].as_array()? {
        for text in ["rule", "messageExpression"].iter().filter_map(|key| rule[*key].as_str()) {
            for found in SELF.captures_iter(text) {
                // `self` alone, or with a function of its own, is the value as a whole; a name that is
                // escaped (`__namespace__`) is not worth the trouble.
                let name = found.get(1)?.as_str();
                if found.get(2).is_some() || name.starts_with("__") {
                    return None;
                }
                named.insert(name.to_owned());
            }
        }
    }
    Some(named)
}

/// Why the first rule of a schema does not compile.
pub(super) fn broken(schema: &Value) -> Option<String> {
    let own = compile_schema(&plain(&without_rules_below(schema, true)));
    own.compilation_errors().first().map(|error| error.to_string())
}

struct Cached {
    hash: u64,
    schema: Value,
    node: Arc<Option<Node>>,
}

/// The rules of a schema, `None` when it has none.
///
/// Compiling takes a thousand times as long as evaluating, so the last few schemas are kept.
pub(super) fn of(schema: &Value) -> Arc<Option<Node>> {
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
