//! Values as Go programs write them, which is how operators' manifests are written.

use std::time::Duration;

/// A Go duration: a sequence of numbers with units, `500ms`, `2s`, `1h30m`, `1.5s`; `0` alone.
/// Negative durations are refused: no flag has a use for one.
///
/// # Errors
/// Says what a duration looks like; clap adds the flag and the value.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "a duration looks like 500ms, 2s or 1h30m".to_owned();
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest.is_empty() {
        return Err(wrong());
    }
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(|| {
            format!("the unit is missing, as in {text}s; units are ns, us, ms, s, m and h")
        })?;
        let (number, tail) = rest.split_at(digits);
        let end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let part = nanoseconds(number, unit_nanoseconds(unit).ok_or_else(wrong)?);
        total = part.and_then(|part| total.checked_add(part)).ok_or_else(wrong)?;
        rest = tail;
    }
    Ok(total)
}

fn unit_nanoseconds(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        // U+00B5 and U+03BC: both are typed as micro.
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// `number` is digits with at most one point and at least one digit; what lies below a nanosecond
/// is cut off.
fn nanoseconds(number: &str, unit: u64) -> Option<Duration> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut total = whole.checked_mul(unit)?;
    let mut place = unit;
    for digit in fraction.bytes() {
        place /= 10;
        total = total.checked_add(u64::from(digit - b'0') * place)?;
    }
    Some(Duration::from_nanos(total))
}

/// A duration that can't be zero, for periods.
///
/// # Errors
/// As [`duration`], and for zero.
pub fn period(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("must be more than zero".to_owned()),
        period => Ok(period),
    }
}

/// A Go boolean: `1 t T true True TRUE` and their opposites, nothing else.
///
/// # Errors
/// Says what is taken; clap adds the flag and the value.
pub fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "True" | "TRUE" => Ok(true),
        "0" | "f" | "F" | "false" | "False" | "FALSE" => Ok(false),
        _ => Err("true or false".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_read_as_go_reads_it() {
        fn check(text: &str, expect: Duration) {
            assert_eq!(duration(text), Ok(expect), "{text}");
        }
        check("500ms", Duration::from_millis(500));
        check("2s", Duration::from_secs(2));
        check("+2s", Duration::from_secs(2));
        check("1h30m", Duration::from_secs(5400));
        check("1h30m5s", Duration::from_secs(5405));
        check("1.5s", Duration::from_millis(1500));
        check(".5s", Duration::from_millis(500));
        check("2.s", Duration::from_secs(2));
        check("0.000000001s", Duration::from_nanos(1));
        check("0.1h", Duration::from_secs(360));
        check("7us", Duration::from_micros(7));
        check("7µs", Duration::from_micros(7));
        check("3ns", Duration::from_nanos(3));
        check("0", Duration::ZERO);
        check("0s", Duration::ZERO);
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for text in [
            "",
            "+",
            "2",
            "s",
            "-2s",
            "2 s",
            "2x",
            "1..2s",
            ".s",
            "2S",
            "1d",
            "s2",
            "1s2",
            "٣s",
            "99999999999999999999h",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_missing_unit_is_named() {
        assert!(duration("2").unwrap_err().contains("the unit is missing, as in 2s"));
    }

    #[test]
    fn a_period_is_never_zero() {
        assert_eq!(period("2s"), Ok(Duration::from_secs(2)));
        assert!(period("0").is_err());
        assert!(period("0s").is_err());
    }

    #[test]
    fn a_boolean_is_read_as_go_reads_it() {
        fn check(text: &str, expect: Option<bool>) {
            assert_eq!(boolean(text).ok(), expect, "{text}");
        }
        for text in ["1", "t", "T", "true", "True", "TRUE"] {
            check(text, Some(true));
        }
        for text in ["0", "f", "F", "false", "False", "FALSE"] {
            check(text, Some(false));
        }
        for text in ["", "yes", "no", "on", "tRUE", " true"] {
            check(text, None);
        }
    }
}
