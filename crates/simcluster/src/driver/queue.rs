//! Who has to look at what, and when: ordered, so that the same reasons give the same order of looks.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::object::Key;

/// First and longest wait after a write that failed; it doubles each time, in milliseconds.
const RETRY: i64 = 5;
const RETRY_LIMIT: i64 = 60_000;

/// A key, and which of the behaviours looks at it.
pub type Slotted = (usize, Key);

/// What waits to be looked at.
#[derive(Debug, Default)]
pub struct Queue {
    order: BTreeSet<(Timestamp, usize, Key)>,
    due: BTreeMap<Slotted, Timestamp>,
    failures: BTreeMap<Slotted, u32>,
}

impl Queue {
    /// A key waits once for each behaviour, for the earliest of its reasons.
    pub fn put(&mut self, of: Slotted, at: Timestamp) {
        let at = round_up(at);
        match self.due.get_mut(&of) {
            Some(known) if *known <= at => return,
            Some(known) => {
                self.order.remove(&(*known, of.0, of.1.clone()));
                *known = at;
            }
            None => {
                self.due.insert(of.clone(), at);
            }
        }
        self.order.insert((at, of.0, of.1));
    }

    /// As [`Self::put`], some milliseconds from now.
    pub fn put_after(&mut self, of: Slotted, now: Timestamp, millis: i64) {
        let wait = SignedDuration::from_millis(millis);
        self.put(of, now.checked_add(wait).unwrap_or(Timestamp::MAX));
    }

    /// Takes out the first that is due.
    pub fn take(&mut self, now: Timestamp) -> Option<Slotted> {
        if self.next_due()? > now {
            return None;
        }
        let (_, slot, key) = self.order.pop_first().expect("it was there a line ago");
        let of = (slot, key);
        self.due.remove(&of);
        Some(of)
    }

    /// When the first is due.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.order.first().map(|(due, _, _)| *due)
    }

    /// Which is the first.
    pub fn first(&self) -> Option<&Key> {
        self.order.first().map(|(_, _, key)| key)
    }

    /// A write was refused: looks again, later each time.
    pub fn failed(&mut self, of: Slotted, now: Timestamp) {
        let failures = self.failures.entry(of.clone()).or_default();
        let wait = (RETRY << (*failures).min(20)).min(RETRY_LIMIT);
        *failures += 1;
        self.put_after(of, now, wait);
    }

    /// All writes of a look were taken.
    pub fn worked(&mut self, of: &Slotted) {
        self.failures.remove(of);
    }
}

/// tokio's timers have millisecond grain, so all due times have too.
fn round_up(at: Timestamp) -> Timestamp {
    let nanos = at.as_nanosecond();
    let millis = nanos.div_euclid(1_000_000) + i128::from(nanos.rem_euclid(1_000_000) > 0);
    Timestamp::from_nanosecond(millis * 1_000_000).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::PODS;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(millis).unwrap()
    }

    fn of(name: &str) -> Slotted {
        (0, Key::new(PODS, "ns", name))
    }

    #[test]
    fn a_key_waits_once_for_the_earliest_of_its_reasons() {
        let mut queue = Queue::default();
        for millis in [30, 10, 20] {
            queue.put(of("a"), at(millis));
        }
        queue.put(of("b"), at(15));
        assert_eq!(queue.take(at(9)), None);
        assert_eq!(queue.take(at(99)), Some(of("a")));
        assert_eq!(queue.take(at(99)), Some(of("b")));
        assert_eq!(queue.take(at(99)), None);
    }

    #[test]
    fn what_fails_waits_longer_each_time_until_it_works() {
        let mut queue = Queue::default();
        let mut wait = || {
            queue.failed(of("a"), at(0));
            let due = queue.next_due().unwrap().as_millisecond();
            queue.take(at(due)).unwrap();
            due
        };
        assert_eq!([wait(), wait(), wait()], [5, 10, 20]);
        assert_eq!((0..20).map(|_| wait()).max(), Some(RETRY_LIMIT));
        queue.worked(&of("a"));
        queue.failed(of("a"), at(0));
        assert_eq!(queue.next_due(), Some(at(5)));
    }
}
