//! What one process remembers of a rollout between two looks. All of it may be lost in a crash.

use std::time::Duration;

use cluster::backoff::Backoff;
use cluster::{ActReport, Unseen};
use engine::front::batch_release::Action;
use engine::world::Outcome;
use jiff::{SignedDuration, Timestamp};

/// What is remembered of one rollout.
#[derive(Debug)]
pub struct Memory {
    /// What came of our actions, as far as the caches do not show it yet.
    pub outcome: Outcome,
    /// Writes that the caches do not show yet; those of the batches' fronts.
    pub unseen: Unseen,
    /// Writes of a Rollout that somebody else undoes.
    pub(crate) undone: Undone,
    /// What is left behind of releases.
    pub(crate) history: History,
    /// When the status was last written.
    pub wrote_at: Option<Timestamp>,
    /// The pauses after failed writes.
    backoff: Backoff,
    /// How many writes to the StatefulSet failed in a row.
    failed_applies: u32,
    /// No action on a release before.
    not_before: Option<Timestamp>,
}

/// What is remembered of what releases leave behind. A process that begins anew writes what is written already once more, which
/// changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    /// The id of the release that is under way, once it is written down.
    pub(crate) begun: Option<String>,
    /// Whether the last one is known to be complete.
    pub(crate) settled: bool,
}

/// An action that has to be done again and again: somebody else undoes it each time, and a race helps nobody.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undone {
    /// What was done last, and when.
    last: Option<(String, Timestamp)>,
    /// How often in a row.
    times: u32,
}

impl Undone {
    /// One done again later than this is not one that was undone.
    const MEMORY: SignedDuration = SignedDuration::from_secs(120);
    /// How long it is left alone at most.
    const LONGEST: SignedDuration = SignedDuration::from_secs(30);

    /// It was done; `what` tells it from others.
    pub(crate) fn done(&mut self, what: String, now: Timestamp) {
        let last = self.last.as_ref();
        let again =
            last.is_some_and(|(last, at)| *last == what && now.duration_since(*at) < Self::MEMORY);
        self.times = if again { self.times.saturating_add(1) } else { 0 };
        self.last = Some((what, now));
    }

    /// Until when this one has to wait. The second time it need not.
    pub(crate) fn until(&self, what: &str, now: Timestamp) -> Option<Timestamp> {
        let (_, at) = self.last.as_ref().filter(|(last, _)| last == what && self.times > 0)?;
        let pause = SignedDuration::from_secs(2_i64.saturating_pow(self.times)).min(Self::LONGEST);
        at.checked_add(pause).ok().filter(|until| *until > now)
    }
}

/// A write to the StatefulSet that fails this often in a row is told: once or twice passes by itself.
const WORTH_TELLING: u32 = 3;

impl Memory {
    /// Nothing yet. `seed` spreads the pauses after failures.
    pub fn new(seed: u64) -> Self {
        Self {
            outcome: Outcome::default(),
            unseen: Unseen::default(),
            undone: Undone::default(),
            history: History::default(),
            wrote_at: None,
            backoff: Backoff::new(seed),
            failed_applies: 0,
            not_before: None,
        }
    }

    /// Until when this action on a release has to wait, because one has failed, or it was undone before.
    pub fn held_back(&self, action: &Action, now: Timestamp) -> Option<Timestamp> {
        let failed = self.not_before.filter(|at| *at > now);
        failed.max(self.undone.until(&format!("{action:?}"), now))
    }

    /// Holds actions on a release back until then.
    pub fn hold_back(&mut self, until: Option<Timestamp>) {
        self.not_before = until;
    }

    /// An action on a release was carried out.
    pub fn done(&mut self, action: &Action, now: Timestamp) {
        self.succeeded();
        self.not_before = None;
        self.undone.done(format!("{action:?}"), now);
    }

    /// Takes in what came of an action.
    pub fn learn(&mut self, mut report: ActReport) {
        let failed = report.apply_failed.take();
        if report.requests > 0 {
            self.failed_applies = failed.as_ref().map_or(0, |_| self.failed_applies + 1);
        }
        report.add_to(&mut self.outcome);
        if let Some(failed) = failed.filter(|_| self.failed_applies >= WORTH_TELLING) {
            self.outcome.apply_refused = Some(failed);
        }
    }

    /// A write failed: how long to leave it.
    pub fn failed(&mut self) -> Duration {
        self.backoff.pause()
    }

    /// A write went through.
    pub fn succeeded(&mut self) {
        self.backoff.reset();
    }

    /// The earliest time at which an event, as opposed to a change of the rollout, is worth a look:
    /// the status is not written more than once in an interval, and nothing is done within one of the
    /// last action, so that a look before would only tell of a move that is not made.
    pub fn settled_at(&self, now: Timestamp, interval: SignedDuration) -> Timestamp {
        let last = self.wrote_at.max(self.outcome.acted_at);
        let next = last.and_then(|at| at.checked_add(interval).ok());
        next.map_or(now, |next| next.max(now))
    }
}

#[cfg(test)]
mod tests {
    use engine::world::ApplyRefused;

    use super::*;

    fn told(memory: &Memory) -> Option<&str> {
        memory.outcome.apply_refused.as_ref().map(|refused| refused.message.as_str())
    }

    fn failure() -> ActReport {
        let message = "failed calling webhook".to_owned();
        let failed = ApplyRefused { hash: "hash".to_owned(), invalid: false, message };
        ActReport { requests: 1, apply_failed: Some(failed), ..ActReport::default() }
    }

    #[test]
    fn a_write_that_is_undone_each_time_is_done_less_and_less_often() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let mut undone = Undone::default();
        let mut done = Vec::new();
        for second in 0..100 {
            if undone.until("hold", at(second)).is_none() {
                undone.done("hold".to_owned(), at(second));
                done.push(second);
            }
        }
        assert_eq!(done, [0, 1, 3, 7, 15, 31, 61, 91]);
        assert_eq!(undone.until("label", at(100)), None, "another one need not wait");
        undone.done("hold".to_owned(), at(300));
        assert_eq!(undone.until("hold", at(300)), None, "that was long ago");
    }

    #[test]
    fn an_event_waits_for_an_interval_after_the_last_write_and_the_last_action() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let settled = |wrote, acted| {
            let mut memory = Memory::new(1);
            (memory.wrote_at, memory.outcome.acted_at) = (wrote, acted);
            memory.settled_at(at(10), SignedDuration::from_secs(2))
        };
        assert_eq!(settled(None, None), at(10));
        assert_eq!(settled(Some(at(9)), None), at(11));
        assert_eq!(settled(Some(at(8)), Some(at(10))), at(12));
        assert_eq!(settled(Some(at(1)), Some(at(2))), at(10));
    }

    #[test]
    fn after_a_failure_every_action_waits() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let mut memory = Memory::new(1);
        memory.hold_back(Some(at(9)));
        assert_eq!(memory.held_back(&Action::RemoveFinalizer, at(8)), Some(at(9)));
        assert_eq!(memory.held_back(&Action::RemoveFinalizer, at(9)), None);
    }

    #[test]
    fn a_write_that_goes_on_failing_is_told_until_one_goes_through() {
        let mut memory = Memory::new(1);
        for expect in [None, None, Some("failed calling webhook"), Some("failed calling webhook")] {
            memory.learn(failure());
            assert_eq!(told(&memory), expect);
        }
        memory.learn(ActReport::default());
        assert_eq!(told(&memory), Some("failed calling webhook"), "nothing was asked in between");
        memory.learn(ActReport { requests: 1, ..ActReport::default() });
        assert_eq!(told(&memory), None);
        memory.learn(failure());
        assert_eq!(told(&memory), None, "the count starts anew");
    }
}
