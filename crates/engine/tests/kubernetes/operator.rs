//! What is the same of the operator's process, whichever front it serves: that it dies at any point, and what
//! it knows of its own last action.

use std::collections::BTreeSet;

use engine::world::{Outcome, Pod, Uid};
use jiff::Timestamp;

/// Where the operator dies in its next look that comes this far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    BeforeStatus,
    BeforeAction,
    AfterPart,
    AfterAction,
}

/// The process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operator {
    pub(crate) crash: Option<Crash>,
    pub(crate) outcome: Outcome,
    pub(crate) wake: Option<Timestamp>,
    /// Seconds for which its caches stand still.
    pub(crate) lag: u32,
}

impl Operator {
    /// Whether its caches see what is now.
    pub(crate) fn sees(&mut self) -> bool {
        let sees = self.lag == 0;
        self.lag = self.lag.saturating_sub(1);
        sees
    }

    /// An eviction that was accepted is remembered until the Pod is seen going.
    pub(crate) fn forget(&mut self, seen: &[Pod]) {
        let standing = seen.iter().filter(|pod| pod.deletion.is_none());
        let standing: BTreeSet<&Uid> = standing.map(|pod| &pod.uid).collect();
        self.outcome.accepted.retain(|uid| standing.contains(uid));
    }

    /// Whether only a part of the action is carried out.
    pub(crate) fn does_part(&self) -> bool {
        self.crash == Some(Crash::AfterPart)
    }

    /// Whether the process ends here and another one begins, which remembers nothing: its front has to read
    /// everything anew.
    #[must_use]
    pub(crate) fn dies(&mut self, here: Crash) -> bool {
        let dies = self.crash == Some(here);
        if dies {
            (self.crash, self.outcome, self.lag) = (None, Outcome::default(), 0);
        }
        dies
    }
}
