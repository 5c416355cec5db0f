//! What a status says beside its numbers: what is about to be evicted, and conditions.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::clock::stuck_at;
use super::decision::{Action, Original};
use super::standing::{Course, Standing};
use super::status::{Condition, ConditionKind, Phase, Status};
use super::take::original;
use super::world::{Control, Release, Rolling, Target, World};
use crate::account::may_take_effect;
use crate::decision::{Action as Motion, Victim};
use crate::world::{Pod, Strategy, Uid};

/// Writes the intent down: the UIDs that are about to go, beside those that have not been seen going.
pub(super) fn announce(
    status: &mut Status,
    world: &World,
    action: Option<&Action>,
    now: Timestamp,
) {
    let Target::Found(body) = &world.target else {
        status.evicting.clear();
        return;
    };
    let outcome = &world.outcome;
    let doubt = may_take_effect(status.last_eviction, outcome, &world.settings, now);
    let announced: BTreeSet<&Uid> =
        status.evicting.iter().filter(|uid| !outcome.refused.contains_key(*uid)).collect();
    let going = |pod: &&Pod| {
        let may_go =
            pod.deletion.is_some() || (doubt && pod.revision != body.workload.update_revision);
        outcome.accepted.contains(&pod.uid) || (may_go && announced.contains(&pod.uid))
    };
    let victims = victims(action);
    let evicting: BTreeSet<Uid> = world
        .pods
        .iter()
        .filter(going)
        .map(|pod| &pod.uid)
        .chain(victims.iter().map(|victim| &victim.uid))
        .cloned()
        .collect();
    status.evicting = evicting.into_iter().collect();
    if !victims.is_empty() {
        status.last_eviction = Some(now);
    }
}

fn victims(action: Option<&Action>) -> &[Victim] {
    match action {
        Some(Action::Move(motion)) => Motion::victims(motion),
        _ => &[],
    }
}

/// That the user's own strategy cannot be given back as it was, what will be instead, and what to do.
fn lost(world: &World) -> Option<String> {
    let Target::Found(body) = &world.target else { return None };
    let annotation = body.spoilt.as_ref().filter(|_| body.control == Control::Ours)?;
    let own = match original(body) {
        Original::Strategy(Strategy::OnDelete) => "OnDelete".to_owned(),
        Original::Strategy(Strategy::RollingUpdate { partition: 0 }) => "RollingUpdate".to_owned(),
        Original::Strategy(Strategy::RollingUpdate { partition }) => {
            format!("RollingUpdate and the partition {partition}")
        }
        Original::Rolling(Rolling { max_surge, max_unavailable }) => {
            format!("RollingUpdate, maxSurge {max_surge} and maxUnavailable {max_unavailable}")
        }
    };
    let Release { kind, workload_name: name, .. } = &world.release;
    Some(format!(
        "annotation {annotation} of {kind} {name} cannot be read, and with it the strategy is lost that was put \
         aside there: it will be given back with {own}; apply its own strategy to the {kind} again, and that one \
         is kept"
    ))
}

/// The conditions that follow from where the release stands.
pub(super) fn conditions(
    world: &World,
    status: &Status,
    standing: &Standing,
    now: Timestamp,
) -> Vec<Condition> {
    let remark = &standing.remark;
    let mut conditions = Vec::new();
    let mut push = |kind, holds: bool, reason: &str, message: &str| {
        let before = world.status.condition(kind);
        let same = before.filter(|before| {
            before.holds == holds && before.reason == reason && before.message == message
        });
        if let Some(same) = same {
            conditions.push(same.clone());
            return;
        }
        let since =
            before.filter(|before| before.holds == holds).map_or(now, |before| before.since);
        let (reason, message) = (reason.to_owned(), message.to_owned());
        conditions.push(Condition { kind, holds, reason, message, since, updated: now });
    };
    let over = status.phase == Some(Phase::Completed);
    let goes_on = matches!(remark.course, Course::On | Course::Rest) && !over;
    push(ConditionKind::Progressing, goes_on, &remark.word, &remark.message);
    let stuck = stuck_at(world, status).is_some_and(|at| at <= now);
    if stuck {
        let message = format!(
            "no progress for {} s: {}",
            world.release.progress_deadline.as_secs(),
            remark.message
        );
        push(ConditionKind::Stuck, true, "ProgressDeadlineExceeded", &message);
    }
    if remark.course == Course::Degraded {
        push(ConditionKind::Degraded, true, &remark.word, &remark.message);
    }
    if let Some(message) = lost(world).filter(|_| !over) {
        push(ConditionKind::StrategyLost, true, "AnnotationSpoilt", &message);
    }
    if let Some(message) = &standing.surplus {
        push(ConditionKind::Surplus, true, "MoreThanTheBatch", message);
    }
    conditions
}
