//! How soon a failed Pod is replaced on a node where others failed before it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::behaviour::Change;
use crate::object::{self, Collection};

/// First and longest wait; it doubles each time, and is forgotten after twice the longest.
const FIRST: SignedDuration = SignedDuration::from_secs(1);
const LONGEST: SignedDuration = SignedDuration::from_secs(15 * 60);

/// When the last failed Pod of a place was taken away, and how long the next one there waits.
type Places = BTreeMap<String, (Timestamp, SignedDuration)>;

/// The waits of all places, which a controller remembers from one look to the next.
#[derive(Debug, Default)]
pub struct Backoff(Mutex<Places>);

impl Backoff {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of a failed Pod. `None` when it may go now, else until when it waits.
    pub fn next(&self, place: &str, now: Timestamp) -> Option<Timestamp> {
        let mut places = self.places();
        let (last, wait) = places.get(place).copied().unwrap_or((now, SignedDuration::ZERO));
        let end = last + wait;
        if end > now {
            return Some(end);
        }
        let forgotten = now.duration_since(last) > LONGEST * 2;
        let wait = if forgotten { SignedDuration::ZERO } else { wait };
        let wait = if wait.is_zero() { FIRST } else { (wait * 2).min(LONGEST) };
        places.insert(place.to_owned(), (now, wait));
        None
    }

    /// Forgets the places of a DaemonSet that is gone.
    pub fn learn(&self, change: &Change, sets: &Collection) {
        if change.key.collection == *sets
            && let (Some(before), None) = (&change.before, &change.after)
        {
            self.places().retain(|place, _| !place.starts_with(object::uid(before)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_and_ends() {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let at = |seconds: i64| start + SignedDuration::from_secs(seconds);
        let backoff = Backoff::default();
        let check = |seconds: i64, until: Option<i64>| {
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
