//! Validation by a structural schema, in the words of the server's validator.

use regex::Regex;

use super::path::At;
use crate::body::go;
use crate::builtin::FieldErrors;
use crate::error::Cause;
use crate::json::{Value, json};
use crate::kind::ScalePaths;

/// What is wrong by the schema alone, rules in CEL aside. What is as it was in `old` passes.
pub(super) fn validate(schema: &Value, object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut out = FieldErrors::default();
    if !schema.is_null() {
        walk(schema, object, old, At::Root, &mut out);
    }
    out.into_vec()
}

fn walk(schema: &Value, value: &Value, old: Option<&Value>, path: At<'_>, out: &mut FieldErrors) {
    if old == Some(value) || (value.is_null() && schema["nullable"] == true) {
        return;
    }
    if !fits(schema, value) {
        let wanted = if schema["x-kubernetes-int-or-string"] == true {
            "integer,string"
        } else {
            schema["type"].as_str().unwrap_or_default()
        };
        if schema["type"] == "integer" && value.is_number() {
            let why = format!("Checked value must be of type integer (default format) in {path}");
            out.invalid("<nil>", &json!(""), &why);
        }
        type_invalid(path, name_of(value), wanted, out);
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let child = schema["properties"]
                    .get(key)
                    .or_else(|| schema.get("additionalProperties").filter(|more| more.is_object()));
                if path.is_root() && matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
                    continue;
                }
                if let Some(child) = child {
                    let old = old.and_then(|old| old.get(key));
                    walk(child, inner, old, At::Field(&path, key), out);
                }
            }
            for key in schema["required"].as_array().into_iter().flatten() {
                let key = key.as_str().unwrap_or_default();
                if !map.contains_key(key) {
                    out.required(At::Field(&path, key).to_string(), "");
                }
            }
            count(schema, ("minProperties", "maxProperties"), "properties", map.len(), path, out);
        }
        Value::Array(list) => {
            for (index, item) in list.iter().enumerate() {
                // By place, which is only good for what is the same as before.
                let old = old.and_then(|old| old.get(index));
                walk(&schema["items"], item, old, At::Index(&path, index), out);
            }
            count(schema, ("minItems", "maxItems"), "items", list.len(), path, out);
            duplicates(schema, list, path, out);
        }
        Value::String(text) => validate_text(schema, text, path, out),
        Value::Number(_) => number(schema, value, path, out),
        _ => {}
    }
    if let Some(known) = schema["enum"].as_array()
        && !known.contains(value)
    {
        let known: Vec<String> =
            known.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        out.not_supported(path.to_string(), value, &known);
    }
    combinations(schema, value, path, out);
}

/// What a scale says of the object behind it: its numbers have to be such.
pub(super) fn scale(paths: &ScalePaths, object: &Value, out: &mut FieldErrors) {
    for path in [&paths.spec_replicas, &paths.status_replicas] {
        let found = object.pointer(&path.replace('.', "/")).unwrap_or(&Value::Null);
        match found.as_i64() {
            Some(..0) => out.invalid(path, found, "should be a non-negative integer"),
            Some(number) if number > i64::from(i32::MAX) => {
                let why = format!("should be less than or equal to {}", i32::MAX);
                out.invalid(path, found, &why);
            }
            None if !found.is_null() => {
                let (shown, name) = (go::shown(found), go_name(found));
                let why =
                    format!("{path} accessor error: {shown} is of the type {name}, expected int64");
                out.invalid(path, &json!(0), &why);
            }
            _ => {}
        }
    }
}

fn go_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

fn type_invalid(path: At<'_>, got: &str, wanted: &str, out: &mut FieldErrors) {
    out.extend([Cause::new(
        "FieldValueTypeInvalid",
        format!("Invalid value: \"{got}\": {path} in body must be of type {wanted}: \"{got}\""),
        path.to_string(),
    )]);
}

fn fits(schema: &Value, value: &Value) -> bool {
    if schema["x-kubernetes-int-or-string"] == true {
        return value.is_string() || is_integer(value);
    }
    match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => is_integer(value),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        _ => true,
    }
}

fn is_integer(value: &Value) -> bool {
    value.as_i64().is_some() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) if is_integer(value) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn count(
    schema: &Value,
    (least, most): (&str, &str),
    what: &str,
    number: usize,
    path: At<'_>,
    out: &mut FieldErrors,
) {
    let limit = |key: &str| schema[key].as_u64().and_then(|limit| usize::try_from(limit).ok());
    if let Some(limit) = limit(least).filter(|limit| number < *limit) {
        let why = format!("{path} in body should have at least {limit} {what}");
        out.invalid(path.to_string(), &json!(number), &why);
    }
    if let Some(limit) = limit(most).filter(|limit| number > *limit) {
        out.extend([Cause::new(
            "FieldValueTooMany",
            format!("Too many: {number}: must have at most {limit} items"),
            path.to_string(),
        )]);
    }
}

fn validate_text(schema: &Value, text: &str, path: At<'_>, out: &mut FieldErrors) {
    let (value, letters) = (json!(text), text.chars().count());
    let limit = |key: &str| schema[key].as_u64().and_then(|limit| usize::try_from(limit).ok());
    if let Some(limit) = limit("maxLength").filter(|limit| letters > *limit) {
        out.too_long(path.to_string(), limit);
    }
    // The real server ends with the first of these that a text breaks.
    if limit("maxLength").is_some_and(|limit| letters > limit) {
        return;
    }
    if let Some(limit) = limit("minLength").filter(|limit| letters < *limit) {
        let why = format!("{path} in body should be at least {limit} chars long");
        out.invalid(path.to_string(), &value, &why);
        return;
    }
    if let Some(pattern) = schema["pattern"].as_str()
        && Regex::new(pattern).is_ok_and(|form| !form.is_match(text))
    {
        out.invalid(path.to_string(), &value, &format!("{path} in body should match '{pattern}'"));
    }
    let time = |text: &str| text.parse::<jiff::Timestamp>().is_ok();
    if schema["format"] == "date-time" && !time(text) {
        out.extend([Cause::new(
            "FieldValueTypeInvalid",
            format!("Invalid value: {value}: {path} in body must be of type date-time: {value}"),
            path.to_string(),
        )]);
    }
}

fn number(schema: &Value, value: &Value, path: At<'_>, out: &mut FieldErrors) {
    let Some(number) = value.as_f64() else { return };
    if let Some(limit) = schema["maximum"].as_f64() {
        let open = schema["exclusiveMaximum"] == true;
        if number > limit || (open && number >= limit) {
            let or_equal = if open { "" } else { " or equal to" };
            let limit = &schema["maximum"];
            let why = format!("{path} in body should be less than{or_equal} {limit}");
            out.invalid(path.to_string(), value, &why);
        }
    }
    if let Some(limit) = schema["minimum"].as_f64() {
        let open = schema["exclusiveMinimum"] == true;
        if number < limit || (open && number <= limit) {
            let or_equal = if open { "" } else { " or equal to" };
            let limit = &schema["minimum"];
            let why = format!("{path} in body should be greater than{or_equal} {limit}");
            out.invalid(path.to_string(), value, &why);
        }
    }
    if let Some(step) = schema["multipleOf"].as_f64()
        && number % step != 0.0
    {
        let step = &schema["multipleOf"];
        out.invalid(
            path.to_string(),
            value,
            &format!("{path} in body should be a multiple of {step}"),
        );
    }
    if schema["format"] == "int32" && value.as_i64().is_some_and(|n| i32::try_from(n).is_err()) {
        out.extend([Cause::new(
            "FieldValueInvalid",
            format!("Invalid value: {value}: {path} in body must be of type int32: \"number\""),
            path.to_string(),
        )]);
    }
}

fn duplicates(schema: &Value, list: &[Value], path: At<'_>, out: &mut FieldErrors) {
    let named: Vec<Value> = match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => list.to_vec(),
        Some("map") => {
            let keys: Vec<&str> = schema["x-kubernetes-list-map-keys"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let key = |item: &Value| {
                keys.iter().map(|key| ((*key).to_owned(), item[*key].clone())).collect()
            };
            list.iter().map(|item| Value::Object(key(item))).collect()
        }
        _ => return,
    };
    for (index, name) in named.iter().enumerate() {
        if named[..index].contains(name) {
            out.duplicate(At::Index(&path, index).to_string(), name);
        }
    }
}

fn combinations(schema: &Value, value: &Value, path: At<'_>, out: &mut FieldErrors) {
    let passes = |branch: &Value| {
        let mut inner = FieldErrors::default();
        walk(branch, value, None, path, &mut inner);
        inner.is_empty()
    };
    let branches = |key: &str| schema[key].as_array().map_or(&[][..], Vec::as_slice);
    let refuse = |why: &str, out: &mut FieldErrors| {
        out.invalid(path.to_string(), &json!(""), &format!("\"{path}\" {why}"));
    };
    let (all, some, one) = (branches("allOf"), branches("anyOf"), branches("oneOf"));
    if !all.iter().all(passes) {
        refuse("must validate all the schemas (allOf)", out);
    }
    if !some.is_empty() && !some.iter().any(passes) {
        refuse("must validate at least one schema (anyOf)", out);
    }
    if !one.is_empty() && one.iter().filter(|branch| passes(branch)).count() != 1 {
        let found = one.iter().filter(|branch| passes(branch)).count();
        let found = if found == 0 { "none".to_owned() } else { found.to_string() };
        refuse(&format!("must validate one and only one schema (oneOf). Found {found} valid"), out);
    }
    if schema["not"].is_object() && passes(&schema["not"]) {
        refuse("must not validate the schema (not)", out);
    }
}
