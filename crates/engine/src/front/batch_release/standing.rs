//! Where a release stands after one look.

use super::decision::Action;
use crate::budget::Hold;

/// Why it stands there: a word for conditions and events, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remark {
    pub(super) word: String,
    pub(super) message: String,
    /// How it can go on.
    pub(super) course: Course,
}

/// How a release can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// By itself.
    On,
    /// When the batch after this one is allowed, or not at all: there is nothing to do.
    Rest,
    /// When somebody else has done something: a budget, an approval, a pause.
    Held,
    /// Not before somebody has put right what is wrong.
    Degraded,
}

impl Remark {
    fn new(course: Course, word: &str, message: impl Into<String>) -> Self {
        Self { word: word.to_owned(), message: message.into(), course }
    }

    pub(super) fn on(word: &str, message: impl Into<String>) -> Self {
        Self::new(Course::On, word, message)
    }

    pub(super) fn rest(word: &str, message: impl Into<String>) -> Self {
        Self::new(Course::Rest, word, message)
    }

    pub(super) fn held(word: &str, message: impl Into<String>) -> Self {
        Self::new(Course::Held, word, message)
    }

    /// Whether somebody has told it to stand still, and nothing is waited for but his word.
    pub(super) fn is_paused(&self) -> bool {
        matches!(self.word.as_str(), "Paused" | "WorkloadPaused")
    }

    pub(super) fn degraded(word: &str, message: impl Into<String>) -> Self {
        Self::new(Course::Degraded, word, message)
    }
}

impl From<Hold> for Remark {
    fn from(hold: Hold) -> Self {
        let course = if hold.reason.blocks() { Course::Held } else { Course::On };
        Self { word: hold.reason.name().to_owned(), message: hold.message, course }
    }
}

/// Where a release stands.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) remark: Remark,
    pub(super) action: Option<Action>,
    /// Whether the status has to be seen as it is before it goes on.
    pub(super) again: bool,
    /// That more Pods have moved than are asked for.
    pub(super) surplus: Option<String>,
}

impl Standing {
    pub(super) fn new(remark: Remark) -> Self {
        Self { remark, action: None, again: false, surplus: None }
    }

    pub(super) fn act(remark: Remark, action: Action) -> Self {
        Self { action: Some(action), ..Self::new(remark) }
    }
}
