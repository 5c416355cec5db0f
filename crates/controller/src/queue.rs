//! The queue: which rollout is looked at next, and when.
//!
//! Ordered by time and then by key, so that the same history gives the same order in every run. A
//! rollout that is being looked at waits in the queue until that look is over: it is never looked at
//! twice at once.

use std::collections::{BTreeMap, BTreeSet};

use cluster::Key;
use jiff::Timestamp;

/// Rollouts that are due, now or later.
#[derive(Debug, Default)]
pub struct Queue {
    due: BTreeSet<(Timestamp, Key)>,
    at: BTreeMap<Key, Timestamp>,
    running: BTreeSet<Key>,
}

impl Queue {
    /// Asks for a look at `key`, no later than `at`. An earlier request stands.
    pub fn ask(&mut self, key: &Key, at: Timestamp) {
        match self.at.get(key) {
            Some(earlier) if *earlier <= at => {}
            Some(later) => {
                self.due.remove(&(*later, key.clone()));
                self.put(key, at);
            }
            None => self.put(key, at),
        }
    }

    fn put(&mut self, key: &Key, at: Timestamp) {
        self.due.insert((at, key.clone()));
        self.at.insert(key.clone(), at);
    }

    /// The next rollout that is due and not being looked at; it counts as being looked at from now.
    pub fn take(&mut self, now: Timestamp) -> Option<Key> {
        let key = self
            .due
            .iter()
            .take_while(|(at, _)| *at <= now)
            .find(|(_, key)| !self.running.contains(key))
            .map(|(_, key)| key.clone())?;
        let at = self.at.remove(&key)?;
        self.due.remove(&(at, key.clone()));
        self.running.insert(key.clone());
        Some(key)
    }

    /// Whether `key` is being looked at.
    pub fn is_running(&self, key: &Key) -> bool {
        self.running.contains(key)
    }

    /// A look at `key` is over.
    pub fn over(&mut self, key: &Key) {
        self.running.remove(key);
    }

    /// When the next rollout is due that is not being looked at.
    pub fn next(&self) -> Option<Timestamp> {
        self.due.iter().find(|(_, key)| !self.running.contains(key)).map(|(at, _)| *at)
    }

    /// How many rollouts are in the queue.
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::new("ns", name)
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn rollouts_come_out_by_time_and_then_by_name() {
        let mut queue = Queue::default();
        queue.ask(&key("b"), at(1));
        queue.ask(&key("a"), at(1));
        queue.ask(&key("c"), at(0));
        let order: Vec<_> = std::iter::from_fn(|| queue.take(at(1))).map(|key| key.name).collect();
        assert_eq!(order, ["c", "a", "b"]);
    }

    #[test]
    fn the_earlier_of_two_requests_stands() {
        let mut queue = Queue::default();
        queue.ask(&key("a"), at(5));
        queue.ask(&key("a"), at(9));
        assert_eq!(queue.next(), Some(at(5)));
        queue.ask(&key("a"), at(2));
        assert_eq!((queue.next(), queue.len()), (Some(at(2)), 1));
    }

    #[test]
    fn a_rollout_is_never_looked_at_twice_at_once() {
        let mut queue = Queue::default();
        queue.ask(&key("a"), at(0));
        assert_eq!(queue.take(at(0)), Some(key("a")));
        queue.ask(&key("a"), at(0));
        assert_eq!((queue.take(at(9)), queue.next()), (None, None));
        assert!(queue.is_running(&key("a")));
        queue.over(&key("a"));
        assert_eq!(queue.take(at(0)), Some(key("a")));
    }
}
