//! Strategies that may be a rolling update, with amounts that are a number or a percentage.

use super::causes::{Causes, text};
use super::pod_set as set;
use crate::json::{Map, Value};

/// Fills in the strategy at `field`: a rolling update unless it says otherwise, with these amounts.
pub(super) fn default(
    spec: &mut Value,
    field: &str,
    unavailable: impl Into<Value>,
    surge: impl Into<Value>,
) {
    set(spec, field, Map::new());
    let strategy = &mut spec[field];
    if text(strategy, "type").is_empty() {
        strategy["type"] = "RollingUpdate".into();
    }
    if strategy["type"] == "RollingUpdate" {
        set(strategy, "rollingUpdate", Map::new());
        set(&mut strategy["rollingUpdate"], "maxUnavailable", unavailable);
        set(&mut strategy["rollingUpdate"], "maxSurge", surge);
    }
}

/// A strategy of a type that is not `known`.
pub(super) fn unknown_type(path: &str, strategy: &Value, known: &[&str], out: &mut Causes) {
    out.not_supported_text(path, &quoted(strategy), known);
}

/// What is wrong with an amount, more than a whole not among it.
pub(super) fn validate(path: &str, value: &Value, out: &mut Causes) {
    match value {
        Value::String(text) if percent(text).is_none() => out.invalid(
            path,
            value,
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%', \
             \u{20}or '93%', regex used for validation is '[0-9]+%')",
        ),
        other => out.not_negative(path, other),
    }
}

/// A percentage above 100.
pub(super) fn at_most_all(path: &str, value: &Value, out: &mut Causes) {
    if value.as_str().and_then(percent).is_some_and(|percent| percent > 100) {
        out.invalid(path, value, "must not be greater than 100%");
    }
}

/// Whether it comes to nothing whatever it is a part of.
pub(super) fn is_zero(value: &Value) -> bool {
    match value {
        Value::String(text) => match percent(text) {
            Some(percent) => percent == 0,
            None => text.parse::<i64>().unwrap_or(0) == 0,
        },
        other => other.as_i64().unwrap_or(0) == 0,
    }
}

fn percent(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('%')?;
    let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    plain.then(|| digits.parse().unwrap_or(i64::MAX))
}

/// A strategy as the server quotes it: its own struct, in the order of its fields.
fn quoted(strategy: &Value) -> String {
    let part = &strategy["rollingUpdate"];
    let amount = |field: &str| match &part[field] {
        Value::Null => Value::from(0),
        other => other.clone(),
    };
    let rolling = if part.is_object() {
        let (unavailable, surge) = (amount("maxUnavailable"), amount("maxSurge"));
        format!("{{\"MaxUnavailable\":{unavailable},\"MaxSurge\":{surge}}}")
    } else {
        "null".to_owned()
    };
    let type_ = Value::from(strategy["type"].as_str().unwrap_or_default());
    format!("{{\"Type\":{type_},\"RollingUpdate\":{rolling}}}")
}
