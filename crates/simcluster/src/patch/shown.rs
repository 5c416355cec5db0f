//! What a refusal shows of the object that a patch has made: the text that the real server's encoder and
//! its library for patches come to.
//!
//! An object is encoded with its fields as Go declares them. The library takes apart the maps that it
//! goes through, and puts those together in the order of their keys; what it leaves alone stays as it
//! was, and what a JSON patch puts in stays as it was sent.

use std::collections::BTreeMap;

use crate::body::text;
use crate::json::{Text, Value};
use crate::types::{Ty, Type, at};

/// What a patch did to a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Touch {
    /// Took it apart; what it did to the parts, by key or index.
    Apart(BTreeMap<String, Touch>),
    /// Put this text there.
    Put(String),
}

impl Touch {
    /// What a merge patch does.
    pub fn merge(patch: &Value) -> Self {
        match patch {
            Value::Object(map) => Self::Apart(
                map.iter().map(|(key, value)| (key.to_string(), Self::merge(value))).collect(),
            ),
            other => Self::Put(text::compact(&other.to_string())),
        }
    }

    /// What a JSON patch does, which was sent as this text.
    pub fn json(patch: &str) -> Self {
        let patch = text::compact(patch);
        let mut all = BTreeMap::new();
        for operation in text::items(&patch) {
            let fields = text::fields(operation);
            let path = |field| -> Option<String> { serde_json::from_str(fields.get(field)?).ok() };
            if let Some(from) = path("from") {
                reach(&mut all, &from);
            }
            let Some(path) = path("path") else { continue };
            let puts = matches!(fields.get("op"), Some(&"\"add\"" | &"\"replace\""));
            if let Some((map, key)) = reach(&mut all, &path) {
                match fields.get("value").filter(|_| puts) {
                    Some(value) => map.insert(key, Self::Put((*value).to_owned())),
                    None => map.remove(&key),
                };
            }
        }
        Self::Apart(all)
    }

    fn part(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Apart(parts) => parts.get(key),
            Self::Put(_) => None,
        }
    }
}

/// Takes apart everything on the way to a path: where it ends, and its last part.
fn reach<'a>(
    from: &'a mut BTreeMap<String, Touch>,
    path: &str,
) -> Option<(&'a mut BTreeMap<String, Touch>, String)> {
    let mut parts: Vec<String> =
        path.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
    let last = parts.pop()?;
    let mut at = from;
    for part in parts {
        at = match at.entry(part).or_insert_with(|| Touch::Apart(BTreeMap::new())) {
            Touch::Apart(parts) => parts,
            Touch::Put(_) => return None,
        };
    }
    Some((at, last))
}

/// What of the table of types a value is.
#[derive(Clone, Copy)]
enum As {
    Struct(&'static Type),
    Each(&'static Ty),
    Plain,
}

impl As {
    fn of(ty: &'static Ty) -> Self {
        match ty {
            Ty::Struct(index) => Self::Struct(at(*index)),
            Ty::List(item) | Ty::Map(item) => Self::Each(item),
            _ => Self::Plain,
        }
    }

    fn part(self, key: &str) -> Self {
        match self {
            Self::Struct(ty) => ty.fields.get(key).map_or(Self::Plain, |field| Self::of(&field.ty)),
            Self::Each(item) => Self::of(item),
            Self::Plain => Self::Plain,
        }
    }
}

/// An object of this type, or of none that Go knows, after the patch.
pub fn text(ty: Option<&'static Type>, object: &Value, touch: &Touch) -> String {
    let mut out = String::new();
    write(&mut out, ty.map_or(As::Plain, As::Struct), object, Some(touch));
    out
}

fn write(out: &mut String, what: As, value: &Value, touch: Option<&Touch>) {
    let part = |out: &mut String, key: &str, value: &Value| {
        write(out, what.part(key), value, touch.and_then(|touch| touch.part(key)));
    };
    match (value, touch) {
        (_, Some(Touch::Put(text))) => out.push_str(text),
        (Value::Object(map), _) => {
            let mut fields: Vec<(&Text, &Value)> = map.iter().collect();
            if let (As::Struct(ty), None) = (what, touch) {
                fields.sort_by_key(|(name, _)| ty.place(name));
            }
            out.push('{');
            for (index, (name, value)) in fields.into_iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                out.push_str(&text::compact(&Value::from(name.as_str()).to_string()));
                out.push(':');
                part(out, name, value);
            }
            out.push('}');
        }
        (Value::Array(items), _) => {
            out.push('[');
            for (index, value) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                part(out, &index.to_string(), value);
            }
            out.push(']');
        }
        (plain, _) => out.push_str(&text::compact(&plain.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    fn check(touch: &Touch, expect: &str) {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "<", "a": "1"},
            "metadata": {"uid": "u", "name": "a", "labels": {"y": "1", "x": "1"}},
        });
        assert_eq!(text(crate::types::by_name("ConfigMap"), &object, touch), expect);
    }

    #[test]
    fn what_a_patch_leaves_alone_has_its_fields_as_they_are_declared() {
        check(
            &Touch::merge(&json!({"data": {"b": "<"}})),
            "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"1\",\"b\":\"\\u003c\"},\"kind\":\"ConfigMap\",\
             \"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"labels\":{\"x\":\"1\",\"y\":\"1\"}}}",
        );
    }

    #[test]
    fn what_it_goes_through_is_sorted() {
        check(
            &Touch::merge(&json!({"metadata": {"labels": {"x": "1"}}})),
            "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"1\",\"b\":\"\\u003c\"},\"kind\":\"ConfigMap\",\
             \"metadata\":{\"labels\":{\"x\":\"1\",\"y\":\"1\"},\"name\":\"a\",\"uid\":\"u\"}}",
        );
    }

    #[test]
    fn what_a_json_patch_puts_in_is_as_it_was_sent() {
        check(
            &Touch::json(
                r#"[{"op": "add", "path": "/data", "value": {"b": "1", "a": 1, "a": "<"}}]"#,
            ),
            "{\"apiVersion\":\"v1\",\"data\":{\"b\":\"1\",\"a\":1,\"a\":\"\\u003c\"},\"kind\":\
             \"ConfigMap\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"labels\":{\"x\":\"1\",\"y\":\
             \"1\"}}}",
        );
    }
}
