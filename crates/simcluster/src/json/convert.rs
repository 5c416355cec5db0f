//! Into a tree, and what a tree is compared with.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{List, Map, Number, Text, Value};

/// What has a form in JSON.
pub trait Json {
    /// It as a tree; what is one already is shared.
    fn json(&self) -> Value;
}

/// Anything as a tree.
pub fn tree<T: Json + ?Sized>(value: &T) -> Value {
    value.json()
}

macro_rules! scalars {
    ($($type:ty => $make:expr),* $(,)?) => { $(
        impl Json for $type {
            fn json(&self) -> Value {
                self.clone().into()
            }
        }

        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                $make(value)
            }
        }
    )* };
}

macro_rules! wholes {
    ($($type:ty),*) => {
        scalars!($($type => |value| Value::Number(Number::from(value))),*);

        $(
            impl PartialEq<$type> for Value {
                fn eq(&self, other: &$type) -> bool {
                    matches!(self, Value::Number(number) if *number == Number::from(*other))
                }
            }

            impl PartialEq<$type> for &Value {
                fn eq(&self, other: &$type) -> bool {
                    **self == *other
                }
            }

            impl PartialEq<Value> for $type {
                fn eq(&self, other: &Value) -> bool {
                    other == self
                }
            }
        )*
    };
}

wholes!(i32, i64, u8, u16, u32, u64, usize);
scalars!(
    bool => Value::Bool,
    f64 => |value| Number::from_f64(value).map_or(Value::Null, Value::Number),
    Number => Value::Number,
    String => |value: String| Value::String(value.into()),
    Text => Value::String,
    Map => Value::Object,
    List => Value::Array,
);

impl Json for str {
    fn json(&self) -> Value {
        self.into()
    }
}

impl Json for Value {
    fn json(&self) -> Value {
        self.clone()
    }
}

impl<T: Json + ?Sized> Json for &T {
    fn json(&self) -> Value {
        (**self).json()
    }
}

impl<T: Json + ?Sized> Json for &mut T {
    fn json(&self) -> Value {
        (**self).json()
    }
}

impl<T: Json + ?Sized> Json for Arc<T> {
    fn json(&self) -> Value {
        (**self).json()
    }
}

impl<T: Json + ToOwned + ?Sized> Json for Cow<'_, T> {
    fn json(&self) -> Value {
        (**self).json()
    }
}

impl<T: Json> Json for Option<T> {
    fn json(&self) -> Value {
        self.as_ref().map_or(Value::Null, Json::json)
    }
}

impl<T: Json> Json for [T] {
    fn json(&self) -> Value {
        self.iter().map(Json::json).collect()
    }
}

impl<T: Json, const N: usize> Json for [T; N] {
    fn json(&self) -> Value {
        self.as_slice().json()
    }
}

impl<T: Json> Json for Vec<T> {
    fn json(&self) -> Value {
        self.as_slice().json()
    }
}

impl<T: Json> Json for BTreeSet<T> {
    fn json(&self) -> Value {
        self.iter().map(Json::json).collect()
    }
}

impl<K: AsRef<str>, T: Json> Json for BTreeMap<K, T> {
    fn json(&self) -> Value {
        self.iter().map(|(key, value)| (key.as_ref(), value.json())).collect()
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Self::String(text.into())
    }
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Self::Null
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Into<Value> + Clone> From<&[T]> for Value {
    fn from(items: &[T]) -> Self {
        items.iter().cloned().collect()
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect::<Vec<_>>().into())
    }
}

impl<K: Into<Text>, V: Into<Value>> FromIterator<(K, V)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
        Self::Object(fields.into_iter().collect())
    }
}

macro_rules! texts {
    ($($type:ty),*) => { $(
        impl PartialEq<$type> for Value {
            fn eq(&self, other: &$type) -> bool {
                self.as_str() == Some(AsRef::<str>::as_ref(other))
            }
        }

        impl PartialEq<Value> for $type {
            fn eq(&self, other: &Value) -> bool {
                other == self
            }
        }
    )* };
}

texts!(str, &str, String, Text);

impl PartialEq<bool> for Value {
    fn eq(&self, other: &bool) -> bool {
        self.as_bool() == Some(*other)
    }
}

impl PartialEq<f64> for Value {
    fn eq(&self, other: &f64) -> bool {
        self.as_f64() == Some(*other)
    }
}

/// As those have it who know nothing of shared trees.
impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::String(text.to_string()),
            Value::Array(list) => list.iter().map(Self::from).collect(),
            Value::Object(map) => {
                map.iter().map(|(key, value)| (key.to_string(), Self::from(value))).collect()
            }
        }
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(truth) => Self::Bool(truth),
            serde_json::Value::Number(number) => Self::Number(number),
            serde_json::Value::String(text) => Self::String(text.into()),
            serde_json::Value::Array(list) => list.into_iter().collect(),
            serde_json::Value::Object(map) => map.into_iter().collect(),
        }
    }
}
