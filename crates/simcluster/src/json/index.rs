//! Places in a tree: a key of a map, or an index of a list.

use std::ops::{Index, IndexMut};

use super::{Text, Value};

/// Names a place right below a value.
pub trait At {
    /// What is there.
    fn get<'v>(&self, value: &'v Value) -> Option<&'v Value>;
    /// What is there, to change it.
    fn get_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value>;
    /// The place, made where there is none.
    ///
    /// Panics where there can be none: below a text, or past the end of a list.
    fn make<'v>(&self, value: &'v mut Value) -> &'v mut Value;
}

impl At for str {
    fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.as_object()?.get(self)
    }

    fn get_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.as_object_mut()?.get_mut(self)
    }

    fn make<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        if value.is_null() {
            *value = Value::Object(super::Map::new());
        }
        match value {
            Value::Object(map) => map.entry(self).or_insert(Value::Null),
            other => panic!("there is no field {self:?} in {other}"),
        }
    }
}

impl At for usize {
    fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.as_array()?.get(*self)
    }

    fn get_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.as_array_mut()?.get_mut(*self)
    }

    fn make<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        if value.as_array().is_none_or(|list| *self >= list.len()) {
            panic!("there is no item {self} in {value}");
        }
        At::get_mut(self, value).expect("just looked")
    }
}

macro_rules! through {
    ($($type:ty),*) => { $(
        impl At for $type {
            fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
                At::get(self.as_str(), value)
            }

            fn get_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
                At::get_mut(self.as_str(), value)
            }

            fn make<'v>(&self, value: &'v mut Value) -> &'v mut Value {
                At::make(self.as_str(), value)
            }
        }
    )* };
}

through!(String, Text);

impl<T: At + ?Sized> At for &T {
    fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        (**self).get(value)
    }

    fn get_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        (**self).get_mut(value)
    }

    fn make<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        (**self).make(value)
    }
}

/// `null` where there is nothing.
impl<I: At> Index<I> for Value {
    type Output = Value;

    fn index(&self, at: I) -> &Value {
        static NULL: Value = Value::Null;
        at.get(self).unwrap_or(&NULL)
    }
}

/// A field that is not there is made; so is the map, where there was `null`.
impl<I: At> IndexMut<I> for Value {
    fn index_mut(&mut self, at: I) -> &mut Value {
        at.make(self)
    }
}
