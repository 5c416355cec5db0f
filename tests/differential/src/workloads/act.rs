//! What a sequence on workloads is made of.

use std::fmt;

use serde_json::Value;

use crate::step::Step;

/// One act on both clusters.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// A request, whose answers are compared. Paths and bodies may hold `$ns`, and `$old` for the
    /// name of the oldest ReplicaSet of `web` that has no Pods.
    Call(Step),
    /// A request whose answers tell of more than one run.
    Quietly(Step),
    /// Deletes a Pod: which of them, in the order of what they are like.
    Lose(usize),
    /// Merges this into a Pod, chosen alike.
    Pod(usize, Value),
    /// Waits until both are quiet, and compares what has become of everything.
    Rest,
    /// The object at this path holds these fields with these values, on both. After a rest.
    Shows(&'static str, Value),
    /// Lets so many seconds pass.
    Pass(u32),
}

impl From<Step> for Act {
    fn from(step: Step) -> Self {
        Self::Call(step)
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(step) | Self::Quietly(step) => write!(f, "{step}"),
            Self::Lose(which) => write!(f, "lose Pod {which}"),
            Self::Pod(which, body) => write!(f, "merge into Pod {which} {body}"),
            Self::Rest => f.write_str("rest"),
            Self::Shows(path, part) => write!(f, "{path} shows {part}"),
            Self::Pass(seconds) => write!(f, "pass {seconds} s"),
        }
    }
}

/// A rest after each.
pub(crate) fn rested(acts: Vec<Act>) -> Vec<Act> {
    acts.into_iter().flat_map(|act| [act, Act::Rest]).collect()
}
