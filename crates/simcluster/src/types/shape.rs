//! How one place in an object merges: a view over the table of types or over a custom schema.

use super::{Field, Ty, Type, at};
use crate::json::Value;
use crate::kind::Kind;

/// How server-side apply sees a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListKind<'a> {
    /// Owned and replaced as a whole.
    Atomic,
    /// Scalars, each owned by itself.
    Set,
    /// Objects, told apart by these fields.
    Keys(Vec<&'a str>),
}

/// One place in an object.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'a> {
    /// The root of a built-in kind.
    Root(&'static Type),
    /// A field of a built-in type.
    Field(&'static Field),
    /// What a list or map of a built-in type holds.
    Inner(&'static Ty),
    /// The root of a custom kind, with its schema (`null` when there is none).
    CustomRoot(&'a Value),
    /// Below it.
    Custom(&'a Value),
    /// Nothing is known: maps merge key by key, lists are atomic.
    Untyped,
}

impl<'a> Shape<'a> {
    /// The shape of a whole object of this kind.
    pub fn of(kind: &'a Kind) -> Self {
        match &kind.custom {
            Some(custom) => Shape::CustomRoot(&custom.schema),
            None => match super::of_kind(&kind.group, &kind.version, &kind.kind) {
                Some(root) => Shape::Root(root),
                None => Shape::Untyped,
            },
        }
    }

    fn ty(&self) -> Option<&'static Ty> {
        match self {
            Shape::Field(field) => Some(&field.ty),
            Shape::Inner(ty) => Some(ty),
            _ => None,
        }
    }

    fn as_struct(&self) -> Option<&'static Type> {
        match (self, self.ty()) {
            (Shape::Root(root), _) => Some(root),
            (_, Some(Ty::Struct(index))) => Some(at(*index)),
            _ => None,
        }
    }

    /// The shape below a key, and whether the schema names that key (a field, not a map's key).
    pub fn child(&self, key: &str) -> (Shape<'a>, bool) {
        if let Some(ty) = self.as_struct() {
            return match ty.fields.get(key) {
                Some(field) => (Shape::Field(field), true),
                None => (Shape::Untyped, is_type_meta(key)),
            };
        }
        match self {
            Shape::CustomRoot(_) if key == "metadata" => {
                (super::by_name("ObjectMeta").map_or(Shape::Untyped, Shape::Root), true)
            }
            Shape::CustomRoot(_) if is_type_meta(key) => (Shape::Untyped, true),
            Shape::CustomRoot(schema) | Shape::Custom(schema) => custom_child(schema, key),
            _ => match self.ty() {
                Some(Ty::Map(value)) => (Shape::Inner(value), false),
                _ => (Shape::Untyped, false),
            },
        }
    }

    /// Whether `key` may stand here at all.
    pub fn allows(&self, key: &str) -> bool {
        if let Some(ty) = self.as_struct() {
            return ty.fields.contains_key(key) || (ty.says_its_kind() && is_type_meta(key));
        }
        match self {
            Shape::CustomRoot(_) if matches!(key, "apiVersion" | "kind" | "metadata") => true,
            Shape::CustomRoot(schema) | Shape::Custom(schema) => {
                schema.is_null()
                    || preserves(schema)
                    || schema["properties"].get(key).is_some()
                    || schema["additionalProperties"].is_object()
                    || schema["additionalProperties"] == Value::Bool(true)
                    || (schema["x-kubernetes-embedded-resource"] == true
                        && matches!(key, "apiVersion" | "kind" | "metadata"))
            }
            _ => true,
        }
    }

    /// The shape of a list's items.
    pub fn item(&self) -> Shape<'a> {
        match (self, self.ty()) {
            (_, Some(Ty::List(item))) => Shape::Inner(item),
            (Shape::Custom(schema), _) if schema["items"].is_object() => {
                Shape::Custom(&schema["items"])
            }
            _ => Shape::Untyped,
        }
    }

    /// Whether a built-in type has a list here.
    pub fn is_list(&self) -> bool {
        matches!(self.ty(), Some(Ty::List(_)))
    }

    /// How a list at this place merges in server-side apply.
    pub fn list(&self) -> ListKind<'a> {
        match self {
            Shape::Field(field) => field.list.clone(),
            Shape::Custom(schema) => match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => ListKind::Set,
                Some("map") => ListKind::Keys(
                    schema["x-kubernetes-list-map-keys"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_str)
                        .collect(),
                ),
                _ => ListKind::Atomic,
            },
            _ => ListKind::Atomic,
        }
    }

    /// The value that a key of a list-map has when it is left out.
    pub fn default_of(&self, key: &str) -> Option<Value> {
        match self {
            Shape::Custom(schema) => schema["properties"][key].get("default").cloned(),
            // Ports of containers and Services.
            _ if key == "protocol" => Some(Value::from("TCP")),
            // What the server's types hold by value is its zero when it is left out.
            _ => match self.as_struct()?.fields.get(key) {
                Some(Field { ty: Ty::String, required: true, .. }) => Some(Value::from("")),
                Some(Field { ty: Ty::Int32, required: true, .. }) => Some(Value::from(0)),
                _ => None,
            },
        }
    }

    /// Whether a map at this place is owned as a whole.
    pub fn is_atomic(&self) -> bool {
        match self {
            Shape::Field(field) => {
                field.atomic || field.ty == Ty::Raw || self.as_struct().is_some_and(|ty| ty.atomic)
            }
            Shape::Inner(ty) => **ty == Ty::Raw || self.as_struct().is_some_and(|ty| ty.atomic),
            Shape::Custom(schema) => schema["x-kubernetes-map-type"] == "atomic",
            _ => false,
        }
    }

    /// Whether every object has this field because the server holds it by value.
    pub fn is_by_value(&self) -> bool {
        matches!(self, Shape::Field(field) if field.by_value)
    }

    /// Strategic merge key of a list at this place.
    pub fn patch_key(&self) -> Option<&'static str> {
        match self {
            Shape::Field(field) => field.patch.as_deref(),
            _ => None,
        }
    }
}

fn is_type_meta(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind")
}

fn preserves(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
}

fn custom_child<'a>(schema: &'a Value, key: &str) -> (Shape<'a>, bool) {
    if let Some(child) = schema["properties"].get(key) {
        return (Shape::Custom(child), true);
    }
    if schema["x-kubernetes-embedded-resource"] == true && key == "metadata" {
        return (super::by_name("ObjectMeta").map_or(Shape::Untyped, Shape::Root), true);
    }
    match schema.get("additionalProperties") {
        Some(value) if value.is_object() => (Shape::Custom(value), false),
        _ => (Shape::Untyped, false),
    }
}
