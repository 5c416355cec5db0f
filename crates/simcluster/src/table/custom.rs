//! Printer columns of custom kinds.

use jiff::Timestamp;

use super::age::since;
use crate::json::{Value, json};

/// The column that a CRD without columns has.
fn age_column() -> Value {
    json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"})
}

fn given(columns: &[Value]) -> Vec<Value> {
    if columns.is_empty() { vec![age_column()] } else { columns.to_vec() }
}

/// `columnDefinitions`, the name first.
pub(super) fn columns(columns: &[Value]) -> Vec<Value> {
    let name = json!({"name": "Name", "type": "string", "format": "name", "description": "",
                      "priority": 0});
    let mut out = vec![name];
    out.extend(given(columns).iter().map(|column| {
        let path = column["jsonPath"].as_str().unwrap_or_default();
        let text = column["description"].as_str().map_or_else(
            || format!("Custom resource definition column (in JSONPath format): {path}"),
            str::to_owned,
        );
        json!({"name": column["name"], "type": column["type"],
               "format": column["format"].as_str().unwrap_or_default(), "description": text,
               "priority": column["priority"].as_i64().unwrap_or_default()})
    }));
    out
}

/// One row; a cell is `null` where there is nothing.
pub(super) fn cells(columns: &[Value], object: &Value, now: Timestamp) -> Vec<Value> {
    let mut out = vec![object["metadata"]["name"].clone()];
    out.extend(given(columns).iter().map(|column| {
        let path = column["jsonPath"].as_str().unwrap_or_default();
        let Some(value) = find(object, path).filter(|value| !value.is_null()) else {
            return Value::Null;
        };
        match column["type"].as_str() {
            Some("date") => match value.as_str().map(str::parse::<Timestamp>) {
                Some(Ok(_)) => json!(since(value, now)),
                _ => json!("<invalid>"),
            },
            Some("string") => {
                json!(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            }
            Some("integer") => value.as_f64().map_or(Value::Null, |number| {
                value.as_i64().map_or_else(|| json!(number.trunc()), |whole| json!(whole))
            }),
            Some("number") if value.is_number() => value.clone(),
            Some("boolean") if value.is_boolean() => value.clone(),
            _ => Value::Null,
        }
    }));
    out
}

/// The first value at a simple JSONPath: fields, indices, all items, and one filter by equality.
fn find<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let mut at = object;
    let mut rest = path.trim_start_matches('$');
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let end = closing(inside)?;
            if &inside[..end] == "*" {
                let after = &inside[end + 1..];
                return at.as_array()?.iter().find_map(|item| find(item, after));
            }
            at = step(at, &inside[..end])?;
            rest = &inside[end + 1..];
        } else {
            let dotted = rest.strip_prefix('.').unwrap_or(rest);
            let (field, after) = field(dotted);
            at = at.get(field.as_str())?;
            rest = after;
        }
    }
    Some(at)
}

fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, ']') => return Some(at),
            _ => {}
        }
    }
    None
}

/// A field up to the next dot or bracket; a backslash takes the next letter as it is.
fn field(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.extend(letters.next().map(|(_, next)| next)),
            '.' | '[' => return (name, &text[at..]),
            _ => name.push(letter),
        }
    }
    (name, "")
}

fn step<'a>(at: &'a Value, inside: &str) -> Option<&'a Value> {
    let unquote = |text: &str| text.trim().trim_matches(['\'', '"']).to_owned();
    if let Some(filter) = inside.strip_prefix("?(").and_then(|text| text.strip_suffix(')')) {
        let (left, right) = filter.split_once("==")?;
        let (path, wanted) = (left.trim().trim_start_matches('@'), unquote(right));
        return at.as_array()?.iter().find(|item| {
            let value = find(item, path).filter(|value| !value.is_null());
            let text = value.map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
            text.as_deref() == Some(wanted.as_str())
        });
    }
    match inside.parse::<usize>() {
        Ok(index) => at.get(index),
        Err(_) => at.get(unquote(inside).as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_items_the_first_that_has_the_field_is_shown() {
        let object = json!({"list": [{"name": "a"}, {"name": "b", "second": 2}], "map": {"x": 1}});
        let check = |path: &str, expect: Option<Value>| {
            assert_eq!(find(&object, path), expect.as_ref(), "{path}");
        };
        check(".list[*].name", Some(json!("a")));
        check(".list[*].second", Some(json!(2)));
        check(".list[*]", Some(json!({"name": "a"})));
        check(".list[*].third", None);
        check(".nothing[*].name", None);
        check(".map[*]", None);
    }
}
