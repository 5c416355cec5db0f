//! Bodies: JSON and YAML as the real server reads them, with the keys that are told twice.

pub(crate) mod go;
mod go_yaml;
mod reader;
pub(crate) mod text;

use bytes::Bytes;

use crate::json::Value;

use reader::{Merge, Reader, Seen};

/// A body that was read.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// What it says.
    pub value: Value,
    /// The keys that are told again, in the order of the text.
    twice: Vec<Seen>,
    /// Where it was read from, for JSON.
    source: Bytes,
}

/// Why a body can't be read, in the words of the real server's parsers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// No JSON.
    #[error("{0}")]
    Json(String),
    /// No YAML.
    #[error("yaml: {0}")]
    Yaml(String),
    /// No protobuf.
    #[error("{0}")]
    Protobuf(&'static str),
}

/// Reads JSON. With `merge`, a map that is told twice is both, as it is in a struct of Go; else the last
/// one counts.
pub fn json(source: &Bytes, merge: bool) -> Result<Body, Broken> {
    let merge = if merge { Merge::Both } else { Merge::Last };
    let mut reader = Reader::new(merge);
    let mut from = serde_json::Deserializer::from_slice(source);
    let read = reader.read::<String, _>(&mut from).and_then(|value| from.end().map(|()| value));
    let value = read.map_err(|_| Broken::Json(go::why(source)))?;
    Ok(Body { value, twice: reader.twice, source: source.clone() })
}

/// Reads YAML; nothing at all is `null`.
pub fn yaml(source: &[u8]) -> Result<Body, Broken> {
    let text = std::str::from_utf8(source)
        .map_err(|_| Broken::Yaml("invalid leading UTF-8 octet".to_owned()))?;
    if text.trim().is_empty() {
        return Ok(Body::default());
    }
    // Most bodies are JSON in YAML's name, of which one look is enough.
    let looks_like_json = text.starts_with('{');
    let text = if looks_like_json { text } else { go_yaml::first(text).map_err(Broken::Yaml)? };
    let options = serde_saphyr::options! {
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::PassThrough,
    };
    let mut reader = Reader::new(Merge::Last);
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options, |from| {
        reader.read::<serde_saphyr::Spanned<String>, _>(from)
    });
    let value = read.map_err(|error| {
        Broken::Yaml(go_yaml::first(text).err().unwrap_or_else(|| yaml_words(&error)))
    })?;
    Ok(Body { value, twice: reader.twice, source: Bytes::new() })
}

/// What only this parser finds wrong, with the line as Go's counts it: from zero, which it leaves out.
fn yaml_words(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let words = first.rsplit_once("column ").and_then(|(_, rest)| rest.split_once(": "));
    let words = words.map_or(first, |(_, words)| words);
    match error.location().map(|at| at.line()).filter(|line| *line > 1) {
        Some(line) => format!("line {}: {words}", line - 1),
        None => words.to_owned(),
    }
}

impl Body {
    /// A body that was not read from a text.
    pub fn of(value: Value) -> Self {
        Self { value, ..Self::default() }
    }

    /// The JSON that it was read from, or one that says the same.
    pub fn text(&self) -> String {
        match std::str::from_utf8(&self.source) {
            Ok(text) if !text.is_empty() => text.to_owned(),
            _ => self.value.to_string(),
        }
    }

    /// What is wrong with the fields of an object, of which `unknown` are the paths that its type does
    /// not have. `refused`: for a refusal, where a YAML parser sums up.
    pub fn complaints(&self, unknown: &[String], order: Order, refused: bool) -> Vec<String> {
        let told = self.twice.len() + unknown.len();
        if order == Order::AsTold && !self.source.is_empty() && told > 1 {
            return self.as_told(unknown);
        }
        let twice = if refused { self.twice_refused() } else { self.twice() };
        [twice, unknown.iter().map(|path| self::unknown(path)).collect()].concat()
    }

    /// All complaints in the order of the text: only now is it worth going through it again. Below what
    /// is unknown nothing is told twice.
    fn as_told(&self, unknown: &[String]) -> Vec<String> {
        let mut reader = Reader::new(Merge::Last);
        reader.all = Some(Vec::new());
        let mut from = serde_json::Deserializer::from_slice(&self.source);
        reader.read::<String, _>(&mut from).expect("it was read before");
        let mut out = Vec::new();
        for (path, again) in reader.all.unwrap_or_default() {
            let text = match unknown.iter().find(|above| is_at_or_below(above, &path)) {
                Some(above) if *above == path => self::unknown(&path),
                None if again => duplicate(&path),
                _ => continue,
            };
            if !out.contains(&text) {
                out.push(text);
            }
        }
        // Inside maps a type's paths are written another way than the text's.
        let rest = unknown.iter().map(|path| self::unknown(path));
        let rest: Vec<String> = rest.filter(|text| !out.contains(text)).collect();
        out.extend(rest);
        out
    }

    /// What is told twice, one complaint each.
    pub fn twice(&self) -> Vec<String> {
        self.twice.iter().map(Seen::complaint).collect()
    }

    /// The paths that are told twice.
    pub fn twice_at(&self) -> impl Iterator<Item = &str> {
        self.twice.iter().map(|seen| seen.path.as_str())
    }

    /// The same as [`Self::twice`] in a refusal, where a YAML parser sums up.
    pub fn twice_refused(&self) -> Vec<String> {
        if self.twice.iter().any(|seen| seen.line.is_some()) {
            return vec![format!("yaml: unmarshal errors:\n  {}", self.twice().join("\n  "))];
        }
        self.twice()
    }
}

/// In which order complaints about fields come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In that of the text: one who decodes finds them as he goes.
    AsTold,
    /// What is told twice first: the rest is found in what came of the text.
    TwiceFirst,
}

/// What Go's decoder calls a value.
pub fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// How a field is called that a type does not have.
pub fn unknown(path: &str) -> String {
    format!("unknown field \"{path}\"")
}

fn duplicate(path: &str) -> String {
    format!("duplicate field \"{path}\"")
}

fn is_at_or_below(above: &str, path: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[track_caller]
    fn check_json(text: &str, merge: bool, value: Value, twice: &[&str]) {
        let body = json(&Bytes::copy_from_slice(text.as_bytes()), merge).expect("is JSON");
        assert_eq!(
            (body.value.clone(), body.twice()),
            (value, twice.iter().map(|t| (*t).to_owned()).collect())
        );
    }

    #[test]
    fn a_key_told_twice_is_named_with_its_path() {
        check_json(
            r#"{"a": [{"b": 1, "b": 2}], "c": {"d": {}, "d": 1}}"#,
            false,
            json!({"a": [{"b": 2}], "c": {"d": 1}}),
            &["duplicate field \"a[0].b\"", "duplicate field \"c.d\""],
        );
    }

    #[test]
    fn a_map_told_twice_is_both_or_the_last() {
        let text = r#"{"m": {"a": 1, "b": {"x": 1}}, "m": {"a": 2, "b": {"y": 1}}}"#;
        let twice = &["duplicate field \"m\""];
        check_json(text, true, json!({"m": {"a": 2, "b": {"x": 1, "y": 1}}}), twice);
        check_json(text, false, json!({"m": {"a": 2, "b": {"y": 1}}}), twice);
    }

    #[test]
    fn a_key_told_twice_in_yaml_is_named_with_its_line() {
        let body = yaml(b"a: 1\nb:\n  c: 1\n  c: 2\na: 2\n").expect("is YAML");
        assert_eq!(body.value, json!({"a": 2, "b": {"c": 2}}));
        assert_eq!(
            body.twice_refused(),
            [
                "yaml: unmarshal errors:\n  line 4: key \"c\" already set in map\n  line 5: key \"a\" \
              already set in map"
            ]
        );
    }

    #[test]
    fn complaints_come_in_the_order_of_the_text() {
        let text = r#"{"zoo": {"a": 1, "a": 2}, "b": 1, "aaa": 1, "b": 2, "zoo": 1}"#;
        let body = json(&Bytes::from_static(text.as_bytes()), true).expect("is JSON");
        assert_eq!(
            body.complaints(&["aaa".to_owned(), "zoo".to_owned()], Order::AsTold, false),
            ["unknown field \"zoo\"", "unknown field \"aaa\"", "duplicate field \"b\""]
        );
    }
}
