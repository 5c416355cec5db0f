//! The StatefulSet stands as asked: reached, paused, or which move comes next.

use super::Standing;
use crate::account::Account;
use crate::budget::{self, Hold};
use crate::decision::Action;
use crate::front::report::{completed, pods, them};
use crate::mover::{Move, Mover, Scene, partition};
use crate::status::{Phase, Reason, Status};
use crate::world::{VersionLeak, Workload, World};

/// The StatefulSet stands as asked: reached, paused, or the next move.
pub(super) fn advance(
    world: &World,
    scene: &Scene<'_>,
    status: &Status,
    before: Phase,
) -> Standing {
    let Scene { ground, account, .. } = *scene;
    let (rollout, workload) = (&world.rollout, ground.facts.workload);
    let mover = Mover::of(ground);
    if let Some(hold) = stopped_by_leak(world, workload, account, status) {
        return frozen(mover, scene, hold);
    }
    let reached = account.left() == 0;
    let good = account.awaited() == 0 && !opened(account);
    if before == Phase::Done && reached && !opened(account) {
        let mut standing = Standing::new(Phase::Done, completed(account, rollout.percent));
        standing.action = partition::settle(ground, account);
        return standing;
    }
    if reached && good {
        if let Some(action) = partition::settle(ground, account) {
            let message = format!(
                "preparing StatefulSet {}/{} to hold revision {} when the next template comes",
                rollout.namespace, rollout.workload_name, workload.update_revision
            );
            return Standing::act(Hold::new(Reason::Settling, message), action);
        }
        // What cannot be seen is not yet true.
        if let Some(hold) = budget::unseen(ground).filter(|_| account.moved() > 0) {
            return Standing::new(Phase::InProgress, hold);
        }
        return Standing::new(Phase::Done, completed(account, rollout.percent));
    }
    if rollout.pause_requested {
        let message = format!(
            "pauseRequested is true; {} of {} Pods moved, {} wanted",
            account.moved(),
            account.replicas(),
            account.target
        );
        return frozen(mover, scene, Hold::new(Reason::PauseRequested, message));
    }
    // How Pods are paced is of interest only while some are still to be moved.
    let remark = budget::room(ground, account, scene.now).remark.filter(|_| account.left() > 0);
    let remarked = |mut hold: Hold| {
        if let Some(remark) = &remark {
            hold.message = format!("{}; {remark}", hold.message);
        }
        hold
    };
    match mover.advance(scene) {
        Move::Act(action) => {
            let hold = match action {
                Action::SetStrategy { .. } => drawing_back(scene),
                Action::Open { partition, .. } => {
                    remarked(Hold::new(Reason::Evicting, opening(scene, partition)))
                }
                _ => {
                    let pods = action.victims().iter().map(|pod| pod.name.as_str());
                    let pods: Vec<&str> = pods.collect();
                    remarked(Hold::new(Reason::Evicting, moving(scene, &pods)))
                }
            };
            Standing::act(hold, action)
        }
        // Where somebody else's turn it is, that is the news; the pace is not.
        Move::Wait(hold) if hold.reason.blocks() => Standing::new(Phase::InProgress, hold),
        Move::Wait(hold) => Standing::new(Phase::InProgress, remarked(hold)),
        Move::Rest => Standing::new(Phase::InProgress, remarked(budget::waiting(account))),
    }
}

fn opened(account: &Account<'_>) -> bool {
    account.slots.iter().any(|slot| slot.open && slot.movable())
}

fn frozen(mover: Mover, scene: &Scene<'_>, hold: Hold) -> Standing {
    Standing { phase: Phase::Paused, hold, action: mover.freeze(scene) }
}

fn drawing_back(scene: &Scene<'_>) -> Hold {
    let Scene { ground, account, .. } = *scene;
    Hold::new(
        Reason::Applying,
        format!(
            "drawing back the partition of StatefulSet {}/{}: {} Pods have moved or may, {} wanted",
            ground.facts.namespace,
            ground.facts.name,
            account.moved(),
            account.target
        ),
    )
}

fn opening(scene: &Scene<'_>, partition: u32) -> String {
    let from = scene.ground.facts.workload.first_ordinal.saturating_add(partition);
    let slots = scene.account.slots.iter().rev();
    let opened = slots.filter(|slot| slot.movable() && slot.ordinal >= from);
    let names: Vec<&str> = opened.map(|slot| slot.name.as_str()).collect();
    format!("opening the partition down to {partition}: {}", moving(scene, &names))
}

fn moving(scene: &Scene<'_>, pods: &[&str]) -> String {
    let names: Vec<&str> = pods.iter().copied().take(5).collect();
    let more = pods.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let account = scene.account;
    let budget = match scene.ground.facts.budgets {
        [budget] => {
            format!(
                "; PodDisruptionBudget {} ({}) allows {}",
                budget.name, budget.limit, budget.allowed
            )
        }
        _ => String::new(),
    };
    format!(
        "moving {}{more}; {} of {} moved before, {} wanted{budget}",
        names.join(", "),
        account.moved(),
        account.replicas(),
        account.target
    )
}

/// That the hold was lost is known from the status alone: no look in between may write another word
/// over it, or the scale-up that shows the loss would end the pause.
pub(super) fn still_lost(world: &World, standing: Standing) -> Standing {
    let rollout = &world.rollout;
    if rollout.version_leak != VersionLeak::Prevent
        || rollout.percent.is_all()
        || !lost_before(world)
    {
        return standing;
    }
    let hold = Hold::new(Reason::HoldLost, world.status.reason.clone());
    Standing { phase: Phase::Paused, hold, ..standing }
}

fn lost_before(world: &World) -> bool {
    world.status.reason_code == Some(Reason::HoldLost)
}

/// A leak under `Pause`, or a partition that was lost under `Prevent`: both go on with a new
/// `rolloutIdentity` or another `versionLeak`.
fn stopped_by_leak(
    world: &World,
    workload: &Workload,
    account: &Account<'_>,
    status: &Status,
) -> Option<Hold> {
    let rollout = &world.rollout;
    if rollout.percent.is_all() {
        return None;
    }
    let go_on = "it goes on with a new rolloutIdentity, or when versionLeak is changed";
    match rollout.version_leak {
        VersionLeak::Pause if account.leaked() > 0 => {
            let names: Vec<&str> = account
                .slots
                .iter()
                .filter(|slot| slot.leaked)
                .map(|slot| slot.name.as_str())
                .take(5)
                .collect();
            Some(Hold::new(
                Reason::LeakFound,
                format!(
                    "{} came back at the update revision though no step released {} ({}); {go_on}",
                    pods(account.leaked()),
                    them(account.leaked()),
                    names.join(", ")
                ),
            ))
        }
        VersionLeak::Prevent => {
            let two = !status.stable_revision.is_empty()
                && status.stable_revision != workload.update_revision;
            (lost_before(world) || (two && workload.replicas == 0)).then(|| {
                Hold::new(
                    Reason::HoldLost,
                    format!(
                        "StatefulSet {}/{} was scaled to 0, so its partition no longer holds revision {}: \
                         Pods come up at {}; {go_on}",
                        rollout.namespace,
                        rollout.workload_name,
                        status.stable_revision,
                        workload.update_revision
                    ),
                )
            })
        }
        _ => None,
    }
}
