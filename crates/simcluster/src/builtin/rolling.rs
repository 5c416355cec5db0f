//! Amounts that are a number or a percentage, as rolling updates have them.

use serde_json::Value;

use super::causes::Causes;

/// What is wrong with one, more than a whole not among it.
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
pub(super) fn quoted(strategy: &Value) -> String {
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
