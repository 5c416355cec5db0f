//! A rollout in one line, for lists of changes.

use super::paint::{Paint, phase};
use super::view::Summary;

/// `RolloutInProgress  25%  3 updated (target 5) of 20; … — moving 2 Pods`.
pub(crate) fn line(all: &Summary, paint: Paint) -> String {
    let (mark, tone) = phase(&all.phase);
    let reason = match (&all.blocked, all.reason.is_empty()) {
        (_, false) => format!(" — {}", all.reason),
        (Some(blocked), true) => format!(" — {}", blocked.message),
        (None, true) => String::new(),
    };
    let state = paint.text(tone, &format!("{mark} {}", all.phase));
    format!("{state}  {}%  {}{reason}", all.percent, super::tree::counts(all))
}
