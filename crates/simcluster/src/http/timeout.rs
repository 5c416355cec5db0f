//! `timeout` of a request: nothing here takes long, but what it says has to be a time.

use crate::error::ApiError;

/// The units that Go knows.
const UNITS: [&str; 8] = ["ns", "us", "\u{b5}s", "\u{3bc}s", "ms", "s", "m", "h"];

/// 400 for what is no duration of Go's.
pub(super) fn check(query: &[(String, String)]) -> Result<(), ApiError> {
    let said = query.iter().find(|(key, value)| key == "timeout" && !value.is_empty());
    let Some(why) = said.and_then(|(_, text)| wrong(text)) else { return Ok(()) };
    let message = format!("invalid timeout specified in the request URL - time: {why}");
    Err(ApiError::bad_request(message))
}

/// What is wrong with a duration, in Go's words.
fn wrong(text: &str) -> Option<String> {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return None;
    }
    let invalid = || Some(format!("invalid duration \"{text}\""));
    if rest.is_empty() {
        return invalid();
    }
    let numeric = |c: char| c.is_ascii_digit() || c == '.';
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(numeric);
        let number = &rest[..rest.len() - unit.len()];
        if number.parse::<f64>().is_err() {
            return invalid();
        }
        let end = unit.find(numeric).unwrap_or(unit.len());
        let (unit, next) = unit.split_at(end);
        if unit.is_empty() {
            return Some(format!("missing unit in duration \"{text}\""));
        }
        if !UNITS.contains(&unit) {
            return Some(format!("unknown unit \"{unit}\" in duration \"{text}\""));
        }
        rest = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_a_duration_as_go_reads_it() {
        fn check(text: &str, expect: Option<&str>) {
            assert_eq!(wrong(text).as_deref(), expect, "{text}");
        }
        for good in ["0", "0s", "1s", "-1s", "1.5h", "1h2m3s", "5m", "10ms"] {
            check(good, None);
        }
        check("abc", Some("invalid duration \"abc\""));
        check("5", Some("missing unit in duration \"5\""));
        check("5x", Some("unknown unit \"x\" in duration \"5x\""));
        check(".s", Some("invalid duration \".s\""));
    }
}
