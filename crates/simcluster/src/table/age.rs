//! How long ago, in the few letters that a table has room for.

use jiff::Timestamp;

use crate::json::Value;

/// `5s`, `3m20s`, `2h`, `4d3h`, …: two units while the first is small.
pub fn human_duration(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let two = |large: i64, unit: char, small: i64, below: char| {
        if small == 0 { format!("{large}{unit}") } else { format!("{large}{unit}{small}{below}") }
    };
    match (seconds, minutes, hours) {
        (..-1, ..) => "<invalid>".to_owned(),
        (-1, ..) => "0s".to_owned(),
        (..120, ..) => format!("{seconds}s"),
        (_, ..10, _) => two(minutes, 'm', seconds % 60, 's'),
        (_, ..180, _) => format!("{minutes}m"),
        (_, _, ..8) => two(hours, 'h', minutes % 60, 'm'),
        (_, _, ..48) => format!("{hours}h"),
        (_, _, ..192) => two(hours / 24, 'd', hours % 24, 'h'),
        (_, _, ..17_520) => format!("{}d", hours / 24),
        (_, _, ..70_080) => two(hours / 24 / 365, 'y', hours / 24 % 365, 'd'),
        _ => format!("{}y", hours / 24 / 365),
    }
}

/// Time since a timestamp of an object; `<unknown>` when there is none.
pub(crate) fn since(time: &Value, now: Timestamp) -> String {
    let then: Option<Timestamp> = time.as_str().and_then(|text| text.parse().ok());
    match then {
        Some(then) => human_duration(now.duration_since(then).as_secs()),
        None => "<unknown>".to_owned(),
    }
}
