//! The queue: who is looked at next, and when.
//!
//! Ordered by time and then by subject, so that the same history gives the same order in every run. One
//! that is being looked at waits in the queue until that look is over: it is never looked at
//! twice at once.

use std::collections::{BTreeMap, BTreeSet};

use cluster::Subject;
use jiff::Timestamp;

/// Subjects that are due, now or later.
#[derive(Debug, Default)]
pub struct Queue {
    due: BTreeSet<(Timestamp, Subject)>,
    at: BTreeMap<Subject, Timestamp>,
    running: BTreeSet<Subject>,
}

impl Queue {
    /// Asks for a look at `subject`, no later than `at`. An earlier request stands.
    pub fn ask(&mut self, subject: &Subject, at: Timestamp) {
        match self.at.get(subject) {
            Some(earlier) if *earlier <= at => {}
            Some(later) => {
                self.due.remove(&(*later, subject.clone()));
                self.put(subject, at);
            }
            None => self.put(subject, at),
        }
    }

    fn put(&mut self, subject: &Subject, at: Timestamp) {
        self.due.insert((at, subject.clone()));
        self.at.insert(subject.clone(), at);
    }

    /// The next rollout that is due and not being looked at; it counts as being looked at from now.
    pub fn take(&mut self, now: Timestamp) -> Option<Subject> {
        let subject = self
            .due
            .iter()
            .take_while(|(at, _)| *at <= now)
            .find(|(_, subject)| !self.running.contains(subject))
            .map(|(_, subject)| subject.clone())?;
        let at = self.at.remove(&subject)?;
        self.due.remove(&(at, subject.clone()));
        self.running.insert(subject.clone());
        Some(subject)
    }

    /// Whether `subject` is being looked at.
    pub fn is_running(&self, subject: &Subject) -> bool {
        self.running.contains(subject)
    }

    /// A look at `subject` is over.
    pub fn over(&mut self, subject: &Subject) {
        self.running.remove(subject);
    }

    /// When the next rollout is due that is not being looked at.
    pub fn next(&self) -> Option<Timestamp> {
        self.due.iter().find(|(_, subject)| !self.running.contains(subject)).map(|(at, _)| *at)
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
    use cluster::{Front, Key};

    use super::*;

    fn subject(name: &str) -> Subject {
        Subject::new(Front::Rollout, Key::new("ns", name))
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn rollouts_come_out_by_time_and_then_by_name() {
        let mut queue = Queue::default();
        queue.ask(&subject("b"), at(1));
        queue.ask(&subject("a"), at(1));
        queue.ask(&subject("c"), at(0));
        let order: Vec<_> =
            std::iter::from_fn(|| queue.take(at(1))).map(|subject| subject.key.name).collect();
        assert_eq!(order, ["c", "a", "b"]);
    }

    #[test]
    fn the_earlier_of_two_requests_stands() {
        let mut queue = Queue::default();
        queue.ask(&subject("a"), at(5));
        queue.ask(&subject("a"), at(9));
        assert_eq!(queue.next(), Some(at(5)));
        queue.ask(&subject("a"), at(2));
        assert_eq!((queue.next(), queue.len()), (Some(at(2)), 1));
    }

    #[test]
    fn a_rollout_is_never_looked_at_twice_at_once() {
        let mut queue = Queue::default();
        queue.ask(&subject("a"), at(0));
        assert_eq!(queue.take(at(0)), Some(subject("a")));
        queue.ask(&subject("a"), at(0));
        assert_eq!((queue.take(at(9)), queue.next()), (None, None));
        assert!(queue.is_running(&subject("a")));
        queue.over(&subject("a"));
        assert_eq!(queue.take(at(0)), Some(subject("a")));
    }
}
