//! What ought to be told as Events: what a status says that the one before did not.

use super::status::{BatchState, ConditionKind, Phase, Status};
use crate::front::Notice;

/// What `new` says and `old` did not. It follows from the two alone: told after the status is written, a
/// crash loses the last one at worst.
pub fn news(old: &Status, new: &Status) -> Vec<Notice> {
    let mut news = Vec::new();
    let mut tell = |reason: &str, warning: bool, text: &str| {
        let (reason, text) = (reason.to_owned(), text.to_owned());
        news.push(Notice { reason, warning, text });
    };
    if old.phase != new.phase && new.phase == Some(Phase::Completed) {
        tell("ReleaseCompleted", false, &new.message);
    }
    let ready = |status: &Status| {
        let is = status.batch_state == Some(BatchState::Ready);
        (is, status.current_batch, status.observed_rollout_id.clone())
    };
    let progresses = new.phase == Some(Phase::Progressing);
    if progresses && ready(new).0 && ready(old) != ready(new) {
        tell("BatchReady", false, &new.message);
    }
    let warnings = [
        ConditionKind::Stuck,
        ConditionKind::Degraded,
        ConditionKind::Surplus,
        ConditionKind::StrategyLost,
    ];
    for kind in warnings {
        let Some(now) = new.condition(kind).filter(|now| now.holds) else { continue };
        let before = old.condition(kind).filter(|before| before.holds);
        if before.is_none_or(|before| before.reason != now.reason) {
            tell(&now.reason, true, &now.message);
        }
    }
    news
}
