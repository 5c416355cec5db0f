//! What one process remembers of a rollout between two looks. All of it may be lost in a crash.

use std::time::Duration;

use cluster::act::ActReport;
use cluster::backoff::Backoff;
use engine::world::Outcome;
use jiff::{SignedDuration, Timestamp};

/// What is remembered of one rollout.
#[derive(Debug)]
pub struct Memory {
    /// What came of our actions, as far as the caches do not show it yet.
    pub outcome: Outcome,
    /// When the status was last written.
    pub wrote_at: Option<Timestamp>,
    /// The pauses after failed writes.
    backoff: Backoff,
}

impl Memory {
    /// Nothing yet. `seed` spreads the pauses after failures.
    pub fn new(seed: u64) -> Self {
        Self { outcome: Outcome::default(), wrote_at: None, backoff: Backoff::new(seed) }
    }

    /// Takes in what came of an action.
    pub fn learn(&mut self, report: ActReport) {
        report.add_to(&mut self.outcome);
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
    /// the status is not written more than once in an interval.
    pub fn settled_at(&self, now: Timestamp, interval: SignedDuration) -> Timestamp {
        let next = self.wrote_at.and_then(|at| at.checked_add(interval).ok());
        next.map_or(now, |next| next.max(now))
    }
}
