//! How long ago, as kubectl writes it.

use jiff::Timestamp;

/// `5s`, `3m10s`, `4h5m`, `2d3h`, `12d`; nothing below zero.
pub(crate) fn age(since: Timestamp, now: Timestamp) -> String {
    span(now.duration_since(since).as_secs())
}

/// A number of seconds in the same words.
pub(crate) fn span(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let two = |large: i64, a: &str, small: i64, b: &str| {
        if small == 0 { format!("{large}{a}") } else { format!("{large}{a}{small}{b}") }
    };
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        _ => format!("{days}d"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_as_precise_as_it_is_of_use() {
        fn check(seconds: i64, expect: &str) {
            assert_eq!(span(seconds), expect, "{seconds}");
        }
        check(-5, "0s");
        check(0, "0s");
        check(119, "119s");
        check(120, "2m");
        check(190, "3m10s");
        check(3600, "60m");
        check(4 * 3600 + 300, "4h5m");
        check(30 * 3600, "30h");
        check(51 * 3600, "2d3h");
        check(40 * 86_400, "40d");
    }
}
