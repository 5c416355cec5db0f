//! How soon a failed Pod is replaced on a node where others failed before it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

/// First and longest wait; it doubles each time, and is forgotten after twice the longest.
const FIRST: SignedDuration = SignedDuration::from_secs(1);
const LONGEST: SignedDuration = SignedDuration::from_secs(15 * 60);

/// By place: when the last failed Pod there was taken away, and how long the next one waits.
#[derive(Debug, Default)]
pub struct Backoff(BTreeMap<String, (Timestamp, SignedDuration)>);

impl Backoff {
    /// Takes note of a failed Pod. `None` when it may go now, else until when it waits.
    pub fn next(&mut self, place: &str, now: Timestamp) -> Option<Timestamp> {
        let (last, wait) = self.0.get(place).copied().unwrap_or((now, SignedDuration::ZERO));
        let end = last + wait;
        if end > now {
            return Some(end);
        }
        let forgotten = now.duration_since(last) > LONGEST * 2;
        let wait = if forgotten { SignedDuration::ZERO } else { wait };
        let wait = if wait.is_zero() { FIRST } else { (wait * 2).min(LONGEST) };
        self.0.insert(place.to_owned(), (now, wait));
        None
    }

    /// Forgets the places of a DaemonSet.
    pub fn forget(&mut self, prefix: &str) {
        self.0.retain(|place, _| !place.starts_with(prefix));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_and_ends() {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let at = |seconds: i64| start + SignedDuration::from_secs(seconds);
        let mut backoff = Backoff::default();
        let mut check = |seconds: i64, until: Option<i64>| {
            assert_eq!(backoff.next("a", at(seconds)), until.map(at), "{seconds}");
        };
        check(0, None);
        check(0, Some(1));
        check(1, None);
        check(2, Some(3));
        check(3, None);
        check(4, Some(7));
        check(100_000, None);
        check(100_000, Some(100_001));
    }
}
