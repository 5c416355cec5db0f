//! A rollout in one line, for lists of changes.

use super::brief::Brief;
use super::paint::Paint;

/// `RolloutInProgress  25%  3 updated (target 5) of 20; … — moving 2 Pods`.
pub(crate) fn line(all: &Brief, paint: Paint) -> String {
    let (mark, tone) = all.mark;
    let reason = match all.reason.as_str() {
        "" => String::new(),
        reason => format!(" — {reason}"),
    };
    let state = paint.text(tone, &format!("{mark} {}", all.phase));
    format!("{state}  {}  {}{reason}", all.progress, all.counts)
}
