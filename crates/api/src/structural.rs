//! A manifest against the schema of its CRD, without a server: shapes, limits, unknown fields.
//!
//! The words are for people who write manifests; the API server has its own. Rules in CEL are not
//! evaluated here: validation says the same things by itself.

use serde_json::{Map, Value};

use crate::finding::Finding;

/// Checks `metadata`-less parts of an object against its `openAPIV3Schema`.
pub fn check(object: &Value, schema: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(map) = object.as_object() else {
        return vec![Finding::error("", format!("must be an object, but is {}", kind_of(object)))];
    };
    let known = ["apiVersion", "kind", "metadata"];
    let rest: Map<String, Value> = map
        .iter()
        .filter(|(key, _)| !known.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    walk(&Value::Object(rest), schema, "", &mut findings);
    findings
}

fn walk(value: &Value, schema: &Value, path: &str, out: &mut Vec<Finding>) {
    if schema["x-kubernetes-int-or-string"] == true {
        if !(value.is_i64() || value.is_u64() || value.is_f64() || value.is_string()) {
            out.push(Finding::error(path, wrong("a number or a string", value)));
        }
        return;
    }
    match (schema["type"].as_str(), value) {
        (Some("object"), Value::Object(map)) => object(map, schema, path, out),
        (Some("array"), Value::Array(items)) => {
            if items.is_empty() && schema["minItems"].as_u64().is_some_and(|least| least > 0) {
                out.push(Finding::error(path, "is empty, but needs at least one entry"));
            }
            if let Some(most) = schema["maxItems"].as_u64()
                && items.len() as u64 > most
            {
                out.push(Finding::error(
                    path,
                    format!("has {} entries, at most {most} are allowed", items.len()),
                ));
            }
            for (index, item) in items.iter().enumerate() {
                walk(item, &schema["items"], &format!("{path}[{index}]"), out);
            }
        }
        (Some("string"), Value::String(text)) => string(text, schema, path, out),
        (Some("integer"), Value::Number(number)) if number.is_i64() || number.is_u64() => {
            limits(number.as_f64().unwrap_or_default(), value, schema, path, out);
        }
        (Some("number"), Value::Number(_)) | (Some("boolean"), Value::Bool(_)) | (None, _) => {}
        // A null means the same as none, but for what is required.
        (_, Value::Null) => {}
        (Some(wanted), _) => {
            let wanted = match wanted {
                "object" => "a map",
                "array" => "a list",
                "string" => "a string",
                "integer" => "a whole number",
                "boolean" => "true or false",
                other => other,
            };
            out.push(Finding::error(path, wrong(wanted, value)));
        }
    }
}

fn object(map: &Map<String, Value>, schema: &Value, path: &str, out: &mut Vec<Finding>) {
    let nothing = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&nothing);
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if map.get(required).is_none_or(Value::is_null) {
            out.push(Finding::error(join(path, required), "is missing"));
        }
    }
    for (key, value) in map {
        let path = join(path, key);
        if let Some(schema) = properties.get(key) {
            walk(value, schema, &path, out);
        } else if schema["additionalProperties"].is_object() {
            walk(value, &schema["additionalProperties"], &path, out);
        } else if schema["x-kubernetes-preserve-unknown-fields"] != true {
            let mut message = "is not a field of this resource and would be dropped".to_owned();
            if let Some(near) = nearest(key, properties.keys()) {
                message.push_str(&format!("; did you mean {near:?}?"));
            }
            out.push(Finding::error(path, message));
        }
    }
}

fn string(text: &str, schema: &Value, path: &str, out: &mut Vec<Finding>) {
    let length = text.chars().count() as u64;
    if let Some(choices) = schema["enum"].as_array()
        && !choices.iter().any(|choice| choice == text)
    {
        let choices: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
        out.push(Finding::error(path, format!("{text:?} is not one of {}", choices.join(", "))));
    }
    if schema["maxLength"].as_u64().is_some_and(|most| length > most) {
        let most = &schema["maxLength"];
        out.push(Finding::error(
            path,
            format!("has {length} characters, at most {most} are allowed"),
        ));
    }
    if schema["minLength"].as_u64().is_some_and(|least| length < least) {
        out.push(Finding::error(path, "is empty"));
    }
}

fn limits(number: f64, value: &Value, schema: &Value, path: &str, out: &mut Vec<Finding>) {
    // The format is a limit too: the API server takes no larger number.
    let widest = (schema["format"] == "int32").then_some(f64::from(i32::MAX));
    let widest = widest.filter(|widest| number > *widest);
    let (least, most) = (schema["minimum"].as_f64(), schema["maximum"].as_f64().or(widest));
    if least.is_some_and(|least| number < least) || most.is_some_and(|most| number > most) {
        let range = match (least, most) {
            (Some(least), Some(most)) => format!("from {least} to {most}"),
            (Some(least), None) => format!("{least} or more"),
            (None, Some(most)) => format!("{most} or less"),
            (None, None) => return,
        };
        out.push(Finding::error(path, format!("is {value}, but must be {range}")));
    }
}

fn wrong(wanted: &str, value: &Value) -> String {
    let mut message = format!("must be {wanted}, but is {}", kind_of(value));
    match (wanted, value) {
        ("a list", Value::Object(_)) => {
            message.push_str("; begin each entry with a dash, as in `- name: …`");
        }
        ("a whole number", Value::String(text)) if text.parse::<i64>().is_ok() => {
            message.push_str("; leave out the quotes");
        }
        ("a string", Value::Number(_) | Value::Bool(_)) => {
            message.push_str(&format!("; put quotes around it: \"{value}\""));
        }
        _ => {}
    }
    message
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The known name that is at most two slips away, or of which this is a longer or shorter form.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Option<&'a str> {
    let name = name.to_lowercase();
    known
        .filter_map(|other| {
            let lower = other.to_lowercase();
            let form = name.len().min(lower.len()) >= 4
                && (name.starts_with(&lower) || lower.starts_with(&name));
            let slips = distance(&name, &lower);
            (form || (slips <= 2 && slips < lower.len())).then_some((slips, other.as_str()))
        })
        .min()
        .map(|(_, other)| other)
}

fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let swap = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = swap.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_one(spec: &Value, expect: &[&str]) {
        let schema = json!({"type": "object", "properties": {"spec": {
            "type": "object",
            "required": ["percent"],
            "properties": {
                "percent": {"type": "integer", "minimum": 0, "maximum": 100},
                "mode": {"type": "string", "enum": ["A", "B"], "maxLength": 3},
                "list": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "size": {"x-kubernetes-int-or-string": true},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        }}});
        let object = json!({"apiVersion": "v1", "kind": "K", "metadata": {"x": 1}, "spec": spec});
        let found: Vec<String> = check(&object, &schema).iter().map(ToString::to_string).collect();
        assert_eq!(found, expect, "{spec}");
    }

    #[test]
    fn a_good_object_has_no_findings() {
        check_one(
            &json!({"percent": 5, "mode": "A", "list": ["x"], "size": "5%", "free": {"any": 1},
                "labels": {"a": "b"}}),
            &[],
        );
        check_one(&json!({"percent": 5, "mode": null, "size": 5}), &[]);
    }

    #[test]
    fn wrong_shapes_come_with_a_remedy() {
        check_one(
            &json!({"percent": "5"}),
            &["error: spec.percent: must be a whole number, but is a string; leave out the quotes"],
        );
        check_one(
            &json!({"percent": 1.5}),
            &["error: spec.percent: must be a whole number, but is a number"],
        );
        check_one(
            &json!({"percent": 101}),
            &["error: spec.percent: is 101, but must be from 0 to 100"],
        );
        check_one(
            &json!({"percent": 1, "list": {"name": "x"}}),
            &[
                "error: spec.list: must be a list, but is a map; begin each entry with a dash, as in \
             `- name: …`",
            ],
        );
        check_one(
            &json!({"percent": 1, "labels": {"a": true}}),
            &[
                "error: spec.labels.a: must be a string, but is true or false; put quotes around it: \
             \"true\"",
            ],
        );
        check_one(
            &json!({"percent": 1, "list": []}),
            &["error: spec.list: is empty, but needs at least one entry"],
        );
        check_one(
            &json!({"percent": 1, "size": []}),
            &["error: spec.size: must be a number or a string, but is a list"],
        );
    }

    #[test]
    fn missing_unknown_and_impossible_fields_are_named() {
        check_one(&json!({}), &["error: spec.percent: is missing"]);
        check_one(
            &json!({"percent": 1, "mdoe": "A"}),
            &[
                "error: spec.mdoe: is not a field of this resource and would be dropped; did you mean \
             \"mode\"?",
            ],
        );
        check_one(
            &json!({"percent": 1, "mode": "C"}),
            &["error: spec.mode: \"C\" is not one of A, B"],
        );
    }
}
