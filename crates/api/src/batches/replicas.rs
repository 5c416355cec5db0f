//! Counts and percentages as they are written.

use engine::quantity::IntOrPercent;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// What a manifest has where a number or a percentage goes, kept as it is written.
///
/// Any JSON can be in it: one object with nonsense must not make the whole watch fail.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(transparent)]
pub struct IntOrString(pub Value);

impl IntOrString {
    /// What it says.
    pub fn read(&self) -> Result<IntOrPercent, NotACount> {
        count(&self.0)
    }
}

impl From<IntOrPercent> for IntOrString {
    fn from(value: IntOrPercent) -> Self {
        Self(match value {
            IntOrPercent::Int(count) => Value::from(count),
            IntOrPercent::Percent(percent) => Value::from(format!("{percent}%")),
        })
    }
}

impl JsonSchema for IntOrString {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "IntOrString".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "x-kubernetes-int-or-string": true })
    }
}

/// Neither a number of Pods nor a percentage.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0} is neither a whole number of Pods nor a percentage such as \"20%\"")]
pub struct NotACount(pub String);

/// Reads `5` and `"20%"`, nothing below 0 and nothing of more than 31 bits. A string of digits alone is no
/// number: the original refuses it too.
pub fn count(value: &Value) -> Result<IntOrPercent, NotACount> {
    let small = |number: i64| u32::try_from(number).ok().filter(|n| i32::try_from(*n).is_ok());
    let read = match value {
        Value::Number(number) => number.as_i64().and_then(small).map(IntOrPercent::Int),
        Value::String(text) => text
            .strip_suffix('%')
            .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .and_then(small)
            .map(IntOrPercent::Percent),
        _ => None,
    };
    read.ok_or_else(|| NotACount(value.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: &Value, expect: Option<IntOrPercent>) {
        assert_eq!(count(value).ok(), expect, "{value}");
    }

    #[test]
    fn a_whole_number_or_a_percentage_is_a_count() {
        check(&json!(0), Some(IntOrPercent::Int(0)));
        check(&json!(2_147_483_647), Some(IntOrPercent::Int(2_147_483_647)));
        check(&json!("20%"), Some(IntOrPercent::Percent(20)));
        check(&json!("120%"), Some(IntOrPercent::Percent(120)));
        check(&json!("007%"), Some(IntOrPercent::Percent(7)));
        let wrong = [
            json!(-1),
            json!(2_147_483_648_i64),
            json!(1.5),
            json!("5"),
            json!("%"),
            json!("-5%"),
            json!("+5%"),
            json!("5 %"),
            json!("5%%"),
            json!("99999999999%"),
            json!(""),
            json!(null),
            json!([5]),
        ];
        for value in wrong {
            check(&value, None);
        }
        let error = count(&json!("5")).unwrap_err().to_string();
        assert!(error.starts_with("\"5\" is neither"), "{error}");
    }

    #[test]
    fn a_count_is_written_as_it_is_read() {
        for value in [json!(3), json!("20%")] {
            let read = IntOrString(value.clone()).read().unwrap();
            assert_eq!(IntOrString::from(read).0, value);
        }
    }
}
