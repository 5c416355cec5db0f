//! What came of the actions of this process.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::Uid;

/// What came of the actions of this process, as far as it is not yet seen in the caches. All of it
/// can be lost in a crash: without it a decision repeats a write that is safe to repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// When the last action was taken.
    pub acted_at: Option<Timestamp>,
    /// The last successful apply.
    pub applied: Option<Applied>,
    /// Pods whose eviction or deletion was accepted and that have not been seen going.
    pub accepted: BTreeSet<Uid>,
    /// Pods whose eviction was refused in the last action.
    pub refused: BTreeMap<Uid, Refusal>,
    /// The last write to the StatefulSet was refused.
    pub apply_refused: Option<ApplyRefused>,
    /// The API server asked to be left alone until then.
    pub hold_until: Option<Timestamp>,
}

/// A StatefulSet as it was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// UID of the StatefulSet: another one of the same name knows nothing of it.
    pub uid: Uid,
    /// Hash of what was asked for.
    pub hash: String,
    /// The StatefulSet's generation that the API server answered with.
    pub generation: i64,
}

/// Why an eviction was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The budget has no room (429 with the cause `DisruptionBudget`).
    Budget(String),
    /// The server is busy (429 without it).
    Overloaded,
    /// More than one budget selects the Pod (500).
    AmbiguousBudget(String),
    /// A webhook or a permission forbids it; the server's words.
    Policy(String),
    /// It is another Pod by now, or gone: nothing to do.
    Gone,
    /// The batch was stopped before its turn came.
    NotTried,
}

/// Why a write to the StatefulSet was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyRefused {
    /// Hash of what was asked for.
    pub hash: String,
    /// Whether trying again cannot help until the rollout is changed (422).
    pub invalid: bool,
    /// The server's words.
    pub message: String,
}
