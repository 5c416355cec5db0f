//! Carries out decisions, one file per front, one request after another.

use std::collections::{BTreeMap, BTreeSet};

use engine::world::{Applied, ApplyRefused, Outcome, Refusal, Uid};
use jiff::{SignedDuration, Timestamp};
use kube::Client;

use crate::clock::Clock;
use crate::unseen::Unseen;

pub mod batch_release;
pub mod history;
pub mod rollout;
pub mod statefulset_rollout;
mod work;

/// How long a busy server is left alone when it does not say.
pub(crate) const BUSY: SignedDuration = SignedDuration::from_secs(5);

/// What it takes to act.
#[derive(Clone)]
pub struct Hands {
    /// The API server. Built without a retry of its own, which would hold an eviction for minutes.
    pub client: Client,
    /// The clock of the process.
    pub clock: Clock,
}

/// Whether an action may go on; asked before each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoOn {
    /// It may.
    Yes,
    /// The rollout asks for something else by now: a pause, another template, its end.
    Changed,
    /// Somebody else leads, or may by now.
    NotLeading,
    /// The process is about to stop.
    Stopping,
}

/// How far an action got.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActReport {
    /// When the last request was made; `None` if none was.
    pub acted_at: Option<Timestamp>,
    /// A write to the StatefulSet that was done.
    pub applied: Option<Applied>,
    /// A write to the StatefulSet that was refused.
    pub apply_refused: Option<ApplyRefused>,
    /// A write to the StatefulSet that the server could not do, or did not answer.
    pub apply_failed: Option<ApplyRefused>,
    /// Pods that are on their way out.
    pub accepted: BTreeSet<Uid>,
    /// Pods that are not, and why.
    pub refused: BTreeMap<Uid, Refusal>,
    /// Until when the API server wants to be left alone.
    pub hold_until: Option<Timestamp>,
    /// What `go_on` said when it stopped the action.
    pub stopped: Option<GoOn>,
    /// The request of which nobody knows what came: no answer, a conflict, a failing server.
    pub failed: Option<String>,
    /// What kind of failure that was, a word for metrics; `None` where it was a Pod that would not go.
    pub error: Option<&'static str>,
    /// What was written and is not in the caches yet.
    pub unseen: Unseen,
    /// How many requests were made.
    pub requests: u32,
}

impl ActReport {
    /// Adds what came of this action to what is known of earlier ones.
    ///
    /// One that was stopped before its first request says nothing.
    pub fn add_to(self, outcome: &mut Outcome) {
        if self.requests == 0 {
            return;
        }
        outcome.acted_at = self.acted_at.or(outcome.acted_at);
        outcome.applied = self.applied.or(outcome.applied.take());
        outcome.apply_refused = self.apply_refused;
        outcome.accepted.extend(self.accepted);
        outcome.refused = self.refused;
        outcome.hold_until = self.hold_until.or(outcome.hold_until);
    }
}
