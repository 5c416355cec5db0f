//! A tree, and what can be asked of it.

use std::fmt;

use super::{At, List, Map, Number, Text};

/// A value of JSON.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Text),
    /// A list.
    Array(List),
    /// A map.
    Object(Map),
}

impl Value {
    /// What is at a place right below.
    pub fn get<I: At>(&self, at: I) -> Option<&Self> {
        at.get(self)
    }

    /// The same, to change it.
    pub fn get_mut<I: At>(&mut self, at: I) -> Option<&mut Self> {
        at.get_mut(self)
    }

    /// What a JSON pointer (RFC 6901) leads to.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        steps(pointer)?.try_fold(self, |at, step| match at {
            Self::Array(_) => at.get(number(&step)?),
            _ => at.get(step),
        })
    }

    /// The same, to change it.
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        steps(pointer)?.try_fold(self, |at, step| match at {
            Self::Array(_) => at.get_mut(number(&step)?),
            _ => at.get_mut(step),
        })
    }

    /// What it is, leaving `null`.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// The map, if it is one.
    pub fn as_object(&self) -> Option<&Map> {
        if let Self::Object(map) = self { Some(map) } else { None }
    }

    /// The map, to change it.
    pub fn as_object_mut(&mut self) -> Option<&mut Map> {
        if let Self::Object(map) = self { Some(map) } else { None }
    }

    /// The list, if it is one.
    pub fn as_array(&self) -> Option<&Vec<Self>> {
        if let Self::Array(list) = self { Some(list) } else { None }
    }

    /// The list, to change it.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Self>> {
        if let Self::Array(list) = self { Some(list) } else { None }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The truth, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// The number, if it is a whole one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Number(number) = self { number.as_i64() } else { None }
    }

    /// The number, if it is a whole one that fits.
    pub fn as_u64(&self) -> Option<u64> {
        if let Self::Number(number) = self { number.as_u64() } else { None }
    }

    /// The number, as near as it gets.
    pub fn as_f64(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.as_f64() } else { None }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether it is `true` or `false`.
    pub fn is_boolean(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Whether it is a whole number that fits.
    pub fn is_i64(&self) -> bool {
        self.as_i64().is_some()
    }

    /// Whether it is a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Whether it is a list.
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Whether it is a map.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }
}

fn steps(pointer: &str) -> Option<impl Iterator<Item = String>> {
    let rest = if pointer.is_empty() { None } else { Some(pointer.strip_prefix('/')?) };
    let parts = rest.into_iter().flat_map(|rest| rest.split('/'));
    Some(parts.map(|part| part.replace("~1", "/").replace("~0", "~")))
}

fn number(step: &str) -> Option<usize> {
    let leading = step.starts_with('+') || (step.starts_with('0') && step.len() > 1);
    if leading { None } else { step.parse().ok() }
}

/// As JSON; with `{:#}` over many lines.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if f.alternate() {
            serde_json::to_string_pretty(self)
        } else {
            serde_json::to_string(self)
        };
        f.write_str(&text.map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
