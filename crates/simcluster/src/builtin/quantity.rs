//! Quantities of resources: just enough to compare two.

use serde_json::Value;

/// The value of `500m`, `1Gi`, `2`; `None` for what is no quantity.
pub(super) fn parse(value: &Value) -> Option<f64> {
    let text = value.as_str()?;
    let end = text
        .char_indices()
        .find(|(_, letter)| !(letter.is_ascii_digit() || matches!(letter, '.' | '+' | '-')))
        .map_or(text.len(), |(at, _)| at);
    let number: f64 = text[..end].parse().ok()?;
    let scale = match &text[end..] {
        "" => 1.0,
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 1024.0,
        "Mi" => 1024f64.powi(2),
        "Gi" => 1024f64.powi(3),
        "Ti" => 1024f64.powi(4),
        "Pi" => 1024f64.powi(5),
        "Ei" => 1024f64.powi(6),
        _ => return text.parse().ok(),
    };
    Some(number * scale)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn suffixes_scale() {
        for (text, value) in [("500m", 0.5), ("1Ki", 1024.0), ("2", 2.0), ("1e3", 1000.0)] {
            assert_eq!(parse(&json!(text)), Some(value), "{text}");
        }
        assert_eq!(parse(&json!("x")), None);
    }
}
