//! Kubernetes resource quantities, far enough to say whether two of them are the same amount.

use serde_json::Value;

/// Whether two quantities are the same amount: `1`, `"1"`, `"1000m"` and `"1e0"` are.
///
/// `None` when one of them is no quantity, or too large to be compared exactly.
pub(super) fn same_amount(left: &Value, right: &Value) -> Option<bool> {
    Some(nanos(left)? == nanos(right)?)
}

/// One spelling for every quantity of one amount; `None` for what is no quantity.
pub fn amount(value: &Value) -> Option<String> {
    nanos(value).map(|nanos| nanos.to_string())
}

/// Billionths; finer parts are rounded away from zero, as the API server does.
fn nanos(value: &Value) -> Option<i128> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let (number, suffix) = digits.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
    let (binary, decimal) = scale(suffix)?;
    let exponent = decimal.checked_add(9)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;

    let scaled = mantissa.checked_mul(1_i128.checked_shl(binary)?)?;
    let amount = if exponent >= 0 {
        scaled.checked_mul(10_i128.checked_pow(exponent.unsigned_abs())?)?
    } else {
        match 10_i128.checked_pow(exponent.unsigned_abs()) {
            Some(divisor) => scaled / divisor + i128::from(scaled % divisor != 0),
            None => i128::from(scaled != 0),
        }
    };
    Some(if negative { -amount } else { amount })
}

/// Suffix as (power of two, power of ten).
fn scale(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "" => (0, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        exponent => (0, exponent.strip_prefix(['e', 'E'])?.parse().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(left: impl Into<Value>, right: impl Into<Value>, expect: Option<bool>) {
        let (left, right) = (left.into(), right.into());
        assert_eq!(same_amount(&left, &right), expect, "{left} and {right}");
        assert_eq!(same_amount(&right, &left), expect, "{right} and {left}");
    }

    #[test]
    fn quantities_are_compared_by_amount() {
        check(1, "1", Some(true));
        check("1000m", "1", Some(true));
        check(0.5, "500m", Some(true));
        check("1Gi", "1024Mi", Some(true));
        check("1Gi", "1G", Some(false));
        check("1e3", "1k", Some(true));
        check("1E", "1000P", Some(true));
        check("1.5Gi", "1536Mi", Some(true));
        check("16Ei", "16384Pi", Some(true));
        check("0.1n", "1n", Some(true));
        check("-1", "1", Some(false));
        check(".5", "0.5", Some(true));
        check("0", "0Gi", Some(true));
    }

    #[test]
    fn what_is_no_quantity_has_no_amount() {
        check("1x", "1", None);
        check("", "1", None);
        check("1.2.3", "1", None);
        check(true, "1", None);
        check("1e999999999999", "1", None);
        check("1e2000000000", "1", None);
    }
}
