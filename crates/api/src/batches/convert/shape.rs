//! Fields of a raw object, with a word for the one that has the wrong shape.

use serde_json::{Map, Value};

use super::ConvertError;

/// One map of an object, and where it is.
pub(super) struct Fields<'a> {
    pub(super) map: &'a mut Map<String, Value>,
    /// `Rollout shop/web`.
    object: &'a str,
    /// `spec.strategy`; empty at the root.
    path: String,
}

impl<'a> Fields<'a> {
    pub(super) fn root(value: &'a mut Value, object: &'a str) -> Result<Self, ConvertError> {
        match value {
            Value::Object(map) => Ok(Self { map, object, path: String::new() }),
            _ => Err(ConvertError::NotAnObject(object.to_owned())),
        }
    }

    /// The map at `key`; `None` if there is none.
    pub(super) fn child(&mut self, key: &str) -> Result<Option<Fields<'_>>, ConvertError> {
        let path = self.at(key);
        let object = self.object;
        match self.map.get_mut(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Fields { map, object, path })),
            Some(other) => Err(wrong(object, path, "a map", other)),
        }
    }

    /// The map at `key`, made if there is none.
    pub(super) fn made(&mut self, key: &str) -> Result<Fields<'_>, ConvertError> {
        if self.map.get(key).is_none_or(Value::is_null) {
            self.map.insert(key.into(), Value::Object(Map::new()));
        }
        let error = wrong(self.object, self.at(key), "a map", &Value::Null);
        self.child(key)?.ok_or(error)
    }

    /// Does something with each map of the list at `key`.
    pub(super) fn each(
        &mut self,
        key: &str,
        mut change: impl FnMut(&mut Fields<'_>) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        let path = self.at(key);
        let object = self.object;
        let list = match self.map.get_mut(key) {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Array(list)) => list,
            Some(other) => return Err(wrong(object, path, "a list", other)),
        };
        for (index, item) in list.iter_mut().enumerate() {
            let path = format!("{path}[{index}]");
            match item {
                Value::Object(map) => change(&mut Fields { map, object, path })?,
                other => return Err(wrong(object, path, "a map", other)),
            }
        }
        Ok(())
    }

    /// The string at `key`; `None` if there is none or an empty one.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, ConvertError> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(other) => Err(wrong(self.object, self.at(key), "a string", other)),
        }
    }

    /// The boolean at `key`; false if there is none.
    pub(super) fn flag(&self, key: &str) -> Result<bool, ConvertError> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong(self.object, self.at(key), "true or false", other)),
        }
    }

    /// The whole number at `key`; `None` if there is none.
    pub(super) fn integer(&self, key: &str) -> Result<Option<i64>, ConvertError> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_i64()
                .map(Some)
                .ok_or_else(|| wrong(self.object, self.at(key), "a whole number", value)),
        }
    }

    fn at(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

fn wrong(object: &str, field: String, wanted: &'static str, found: &Value) -> ConvertError {
    let mut found: String = found.to_string().chars().take(60).collect();
    if found.len() >= 60 {
        found.push('…');
    }
    ConvertError::Shape { object: object.to_owned(), field, wanted, found }
}

/// The annotation `key` of an object.
pub(super) fn annotation(root: &mut Fields<'_>, key: &str) -> Result<Option<String>, ConvertError> {
    let Some(mut metadata) = root.child("metadata")? else { return Ok(None) };
    match metadata.child("annotations")? {
        Some(annotations) => annotations.text(key),
        None => Ok(None),
    }
}

/// Writes an annotation, unless it says the same in other letters.
pub(super) fn annotate(
    root: &mut Fields<'_>,
    key: &str,
    value: &str,
    same: impl Fn(&str, &str) -> bool,
) -> Result<(), ConvertError> {
    let mut metadata = root.made("metadata")?;
    let annotations = metadata.made("annotations")?;
    if !annotations.text(key)?.is_some_and(|found| same(&found, value)) {
        annotations.map.insert(key.into(), Value::from(value));
    }
    Ok(())
}
