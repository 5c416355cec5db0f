//! Amounts that are a number of Pods or a percentage of all.

use crate::json::Value;

/// A number, or a percentage of `whole`.
pub fn scaled(value: &Value, whole: i64, up: bool) -> i64 {
    let Some(percent) = value.as_str().and_then(|text| text.strip_suffix('%')) else {
        return value.as_i64().unwrap_or(0);
    };
    let hundredths = percent.parse::<i64>().unwrap_or(0) * whole;
    if up { (hundredths + 99).div_euclid(100) } else { hundredths.div_euclid(100) }
}
