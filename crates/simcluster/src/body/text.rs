//! JSON as it stands in a text: what Go's encoder passes on of it, and its parts.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::de::IgnoredAny;

/// The same without the spaces between its words, and with what HTML could take for its own escaped.
pub(crate) fn compact(text: &str) -> String {
    let (mut out, mut quoted, mut escaped) = (String::new(), false, false);
    for c in text.chars().filter(|c| !c.is_ascii_control()) {
        match c {
            ' ' if !quoted => continue,
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("a text takes everything");
            }
            _ => out.push(c),
        }
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
    }
    out
}

/// The items of a list that is told in a compact text.
pub(crate) fn items(list: &str) -> Vec<&str> {
    let mut rest = list.trim_start_matches('[');
    let mut out = Vec::new();
    while !rest.is_empty() && !rest.starts_with(']') {
        let (item, after) = first(rest);
        out.push(item);
        rest = after.strip_prefix(',').unwrap_or_default();
    }
    out
}

/// The fields of a map that is told in a compact text. Of one that is told twice, the last.
pub(crate) fn fields(map: &str) -> BTreeMap<String, &str> {
    let mut rest = map.trim_start_matches('{');
    let mut out = BTreeMap::new();
    while rest.starts_with('"') {
        let (name, after) = first(rest);
        let (value, after) = first(after.strip_prefix(':').unwrap_or_default());
        out.insert(serde_json::from_str(name).unwrap_or_default(), value);
        rest = after.strip_prefix(',').unwrap_or_default();
    }
    out
}

/// The first value of a text, and what follows it.
fn first(text: &str) -> (&str, &str) {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => text.split_at(values.byte_offset()),
        _ => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compact_text_has_spaces_only_in_its_words() {
        let check = |text: &str, expect: &str| assert_eq!(compact(text), expect);
        check("{ \"a b\" :\n\t[ 1, 2 ] }", "{\"a b\":[1,2]}");
        check(r#"{"a": "\" ", "b": "\\", "c": 1}"#, r#"{"a":"\" ","b":"\\","c":1}"#);
        check("[\"<a> & b\"]", "[\"\\u003ca\\u003e \\u0026 b\"]");
    }

    #[test]
    fn a_text_is_known_by_its_parts() {
        assert_eq!(items(r#"[1,{"a":[2,"]"]},null]"#), ["1", r#"{"a":[2,"]"]}"#, "null"]);
        assert!(items("[]").is_empty());
        let map = fields(r#"{"b":1,"a":{"x":1,"x":2},"b":"}"}"#);
        let expect = [("a".to_owned(), r#"{"x":1,"x":2}"#), ("b".to_owned(), r#""}""#)];
        assert_eq!(map, expect.into());
        assert!(fields("{}").is_empty());
    }
}
