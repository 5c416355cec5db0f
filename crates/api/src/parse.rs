//! YAML (and so JSON) manifests as raw values, with line and column when they are malformed.

use serde_json::Value;
use thiserror::Error;

/// A manifest that is no YAML, or not what a manifest may be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseError {
    /// Malformed, with the place; lines and columns count from 1.
    #[error("line {line}, column {column}: {message}")]
    Malformed { line: u64, column: u64, message: String },
    /// Malformed as a whole (too large, too many aliases).
    #[error("{0}")]
    Refused(String),
    /// A document that is a list or a scalar.
    #[error("document {position} is {found}, not an object with apiVersion, kind and metadata")]
    NotAnObject { position: usize, found: &'static str },
}

/// All objects of a file, in order: several documents, and the items of a `List`.
///
/// Reads what `kubectl` reads: YAML 1.1 booleans and octal numbers (`defaultMode: 0644`) included,
/// duplicate keys refused. Empty documents are skipped.
pub fn parse(yaml: &str) -> Result<Vec<Value>, ParseError> {
    let options = serde_saphyr::options! { legacy_octal_numbers: true, with_snippet: false };
    let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(yaml, options)
        .map_err(|error| malformed(&error))?;
    let mut objects = Vec::new();
    for (index, document) in documents.into_iter().enumerate() {
        let found = match &document {
            Value::Object(_) => {
                flatten(document, &mut objects);
                continue;
            }
            Value::Array(_) => "a list",
            _ => "a single value",
        };
        return Err(ParseError::NotAnObject { position: index + 1, found });
    }
    Ok(objects)
}

fn flatten(object: Value, objects: &mut Vec<Value>) {
    let is_list = object.get("kind").and_then(Value::as_str) == Some("List");
    match object.get("items").and_then(Value::as_array) {
        Some(items) if is_list => {
            for item in items {
                flatten(item.clone(), objects);
            }
        }
        _ => objects.push(object),
    }
}

fn malformed(error: &serde_saphyr::Error) -> ParseError {
    let whole = error.to_string();
    let Some(place) = error.location() else { return ParseError::Refused(whole) };
    // The library repeats the place at the end of its message.
    let message = match whole.rfind(" at line ") {
        Some(end) if whole[end..].contains("column") => whole[..end].to_owned(),
        _ => whole,
    };
    // Its advice is for whoever calls it, not for the author of the manifest.
    let message = match message.split_once(", set DuplicateKeyPolicy") {
        Some((said, _)) => format!("{said}; keep one of the two"),
        None if message.starts_with("budget breached") => {
            format!("is too deep, too large or has too many aliases ({message})")
        }
        None => message,
    };
    ParseError::Malformed { line: place.line(), column: place.column(), message }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(yaml: &str, expect: &[Value]) {
        assert_eq!(parse(yaml).unwrap(), expect, "{yaml}");
    }

    fn refuse(yaml: &str, expect: &str) {
        let error = parse(yaml).unwrap_err().to_string();
        assert!(error.starts_with(expect), "{yaml:?} says {error:?}");
    }

    #[test]
    fn documents_and_lists_become_single_objects() {
        check("a: 1\n---\n---\nb: 2\n", &[json!({"a": 1}), json!({"b": 2})]);
        check("kind: List\nitems:\n- {a: 1}\n- {b: 2}\n", &[json!({"a": 1}), json!({"b": 2})]);
        check(r#"{"a": [1, "1", null, 1.5]}"#, &[json!({"a": [1, "1", null, 1.5]})]);
        check("", &[]);
    }

    #[test]
    fn scalars_are_read_as_kubectl_reads_them() {
        check(
            "mode: 0644\nflag: yes\ntext: \"0644\"",
            &[json!({"mode": 420, "flag": true, "text": "0644"})],
        );
    }

    #[test]
    fn a_malformed_manifest_is_told_with_its_place() {
        refuse("a: 1\nb: [1, 2\n", "line ");
        refuse("a:\n  b: 1\n c: 2\n", "line 3, column ");
        refuse("a: 1\na: 2\n", "line 2, column 1: duplicate mapping key: a; keep one of the two");
        refuse("a: 1\n\tb: 2\n", "line 1, column 4: while scanning a plain scalar, found a tab");
    }

    #[test]
    fn a_list_or_a_scalar_is_no_manifest() {
        refuse("- a\n- b\n", "document 1 is a list");
        refuse("a: 1\n---\nhello\n", "document 2 is a single value");
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[ a-z:\\-\\[\\]{}&*!#|>'\"%@`\n\t0-9]{0,80}") {
            let _ = parse(&text);
        }
    }
}
