//! Behind the gate `RolloutHistory`: each release leaves one behind.

use cluster::act::history;
use cluster::observe::rollout::Observed;
use engine::front::rollout::{ConditionKind, Finalising, Phase, Reason, Status};
use tracing::{debug, warn};

use crate::context::Shop;
use crate::memory::{History, Memory};

/// Keeps it; `false` where that has to be tried again.
pub(super) async fn keep(
    shop: &Shop,
    seen: &Observed,
    status: &Status,
    memory: &mut Memory,
) -> bool {
    let Some(canary) = &status.canary else { return true };
    let reason = status.condition(ConditionKind::Progressing).map(|it| it.reason);
    let id = canary.observed_rollout_id.as_str();
    let rolls = matches!(reason, Some(Reason::InRolling | Reason::Paused | Reason::Finalising));
    let over = canary.finalising == Some(Finalising::End);
    match status.phase {
        Some(Phase::Progressing) if rolls && memory.history.begun.as_deref() != Some(id) => {
            // One that another change came on top of is as complete as it will ever be.
            if let Some(before) = memory.history.begun.take()
                && !done(&history::complete(&shop.hands, seen, &before).await)
            {
                memory.history.begun = Some(before);
                return false;
            }
            if !done(&history::begin(&shop.hands, seen, id).await) {
                return false;
            }
            memory.history = History { begun: Some(id.to_owned()), settled: false };
            true
        }
        Some(Phase::Healthy | Phase::Disabled) if over && !memory.history.settled => {
            let id = memory.history.begun.as_deref().unwrap_or(id);
            if !done(&history::complete(&shop.hands, seen, id).await) {
                return false;
            }
            memory.history = History { begun: None, settled: true };
            true
        }
        _ => true,
    }
}

/// Whether there is nothing to be tried again.
fn done(written: &Result<(), cluster::Error>) -> bool {
    match written {
        Ok(()) => true,
        Err(error) if error.may_pass() => {
            debug!(%error, "history is written later");
            false
        }
        Err(error) => {
            warn!(%error, "no history of this release");
            true
        }
    }
}
