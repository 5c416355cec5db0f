//! A partition under `RollingUpdate`: a Pod below it comes back at the old revision, so a rollout
//! that stands still does not drift.
//!
//! The StatefulSet controller replaces Pods at or above the partition by itself, one at a time and
//! asking no budget; so the partition is lowered by no more than what the budget allows at that
//! moment, and the Pods it opens are evicted together. Before the first step the set has to be at one
//! revision with `currentRevision == updateRevision`: a held Pod comes back at `currentRevision`,
//! which under OnDelete stays at whatever it was months ago.

use super::{Move, Scene, Unready, batch, is_unready, unready, victim};
use crate::account::{Account, Slot};
use crate::budget::{self, Hold};
use crate::decision::{Action, Victim};
use crate::ground::{Facts, Ground};
use crate::status::Reason;
use crate::world::{Pod, PodManagement, Strategy};

/// Turns a RollingUpdate set to OnDelete. In a write of its own, before any apply: a server-side
/// apply cannot take away a partition that somebody else (or the server's defaults) has set, and
/// OnDelete beside a partition is refused. It moves no Pod.
pub const LET_GO: Action = Action::SetStrategy { strategy: Strategy::OnDelete };

/// How a new template is applied to a set that is to be held.
#[derive(Clone, Debug, PartialEq)]
pub enum Hand {
    /// With this strategy in the same write.
    Apply(Strategy),
    /// Not yet: this comes first.
    First(Action),
    /// Not yet, or not at all.
    Wait(Hold),
}

/// How to apply a template that is not on the set yet, beside this many replicas where they are asked for.
pub fn hold(ground: &Ground<'_>, replicas: Option<u32>, account: &Account<'_>) -> Hand {
    let Facts { workload, pods, name, .. } = ground.facts;
    let replicas = replicas.unwrap_or(0).max(workload.replicas);
    let held = Strategy::RollingUpdate { partition: replicas };
    let one_revision = account
        .slots
        .iter()
        .all(|slot| slot.pod.is_none_or(|pod| pod.revision == workload.update_revision));
    let rolling = matches!(workload.strategy, Strategy::RollingUpdate { .. });
    // Under OnDelete `currentRevision` may be months old: what it holds has to be alive.
    let alive = account.slots.is_empty()
        || pods.iter().any(|pod| pod.revision == workload.current_revision);
    if rolling && alive {
        return Hand::Apply(held);
    }
    let zero = Strategy::RollingUpdate { partition: 0 };
    let all_good = one_revision && account.slots.iter().all(|slot| slot.good);
    if all_good && workload.strategy != zero {
        return Hand::First(Action::SetStrategy { strategy: zero });
    }
    if all_good {
        return Hand::Wait(Hold::new(
            Reason::Settling,
            format!(
                "waiting for StatefulSet {name} to finish at revision {} before a partition can hold it",
                workload.update_revision
            ),
        ));
    }
    if ground.terms.all {
        // Nothing needs to be held when every Pod is to move; this is also the way out of a broken set.
        return match rolling {
            true => Hand::First(LET_GO),
            false => Hand::Apply(Strategy::OnDelete),
        };
    }
    Hand::Wait(Hold::new(
        Reason::CannotHold,
        format!(
            "the Pods of StatefulSet {name} are not all ready at one revision, so no partition can hold \
             them; {}",
            ground.terms.remedies.cannot_hold
        ),
    ))
}

/// What makes a set that is at one revision ready to be held when the next template comes.
///
/// It is opened first: until `currentRevision` has caught up, a Pod below a partition would come back at
/// whatever that was. Then it is closed, so that even a template that somebody else changes
/// (`kubectl rollout restart`) waits for us.
pub fn settle(ground: &Ground<'_>, account: &Account<'_>) -> Option<Action> {
    let workload = ground.facts.workload;
    let at_update =
        |slot: &Slot<'_>| slot.pod.is_some_and(|pod| pod.revision == workload.update_revision);
    if !ground.terms.held || account.slots.is_empty() || !account.slots.iter().all(at_update) {
        return None;
    }
    let caught_up = workload.current_revision == workload.update_revision;
    let partition = match workload.strategy {
        Strategy::RollingUpdate { partition } if caught_up => partition.max(workload.replicas),
        _ if account.slots.iter().all(|slot| slot.good) => 0,
        _ => return None,
    };
    let strategy = Strategy::RollingUpdate { partition };
    (workload.strategy != strategy).then_some(Action::SetStrategy { strategy })
}

/// The Pods that may still be moved, in the order in which they would go: opened ones first, then by
/// ordinal alone.
pub fn order<'a, 'b>(scene: &Scene<'b>) -> Vec<&'a Slot<'b>>
where
    'b: 'a,
{
    let mut slots: Vec<&Slot<'_>> =
        scene.account.slots.iter().filter(|slot| slot.movable()).collect();
    slots.sort_by_key(|slot| std::cmp::Reverse(slot.ordinal));
    slots
}

pub(super) fn advance(scene: &Scene<'_>) -> Move {
    let opened = scene.account.slots.iter().filter(|slot| slot.movable() && slot.open).count();
    let left = scene.account.left();
    if scene.account.moved() > scene.account.target
        && let Some(action) = freeze(scene)
    {
        // Somebody made a new revision, or asked for less than what is open.
        return Move::Act(action);
    }
    if left == 0 && opened == 0 {
        return batch(Vec::new(), Vec::new(), None, None, scene.account);
    }
    if let Some(hold) = scene.refusal() {
        return Move::Wait(hold);
    }
    if scene.ground.terms.own_pace && scene.ground.facts.budgets.is_empty() {
        return at_its_pace(scene, left);
    }
    let workload = scene.ground.facts.workload;
    let one_at_a_time = workload.management == PodManagement::OrderedReady;
    let (mut evict, mut delete, mut held) = strays(scene);
    if !(evict.is_empty() && delete.is_empty()) {
        return batch(evict, delete, None, None, scene.account);
    }
    let (mut left, mut lowest) = (left, None);
    let mut ready_room = None;
    for slot in scene.account.slots.iter().rev() {
        if slot.moved() && !slot.movable() {
            continue;
        }
        let full = (left == 0 && !slot.open)
            || (one_at_a_time && !(evict.is_empty() && delete.is_empty()));
        if full {
            break;
        }
        let Some(pod) = slot.pod.filter(|_| slot.movable()) else {
            // On its way back at the old revision: opened as well, it would come back updated.
            left -= 1;
            lowest = Some(slot.index);
            continue;
        };
        if is_unready(slot) {
            match unready(scene, pod) {
                Unready::Evict => evict.push(victim(pod)),
                Unready::Delete => delete.push(victim(pod)),
                Unready::Held(hold) => {
                    held.get_or_insert(hold);
                    break;
                }
            }
        } else {
            let (room, hold) = ready_room.get_or_insert_with(|| scene.ready_room(u32::MAX));
            if *room == 0 {
                held = held.or(hold.take());
                break;
            }
            *room -= 1;
            evict.push(victim(pod));
        }
        if !slot.open {
            left -= 1;
            lowest = Some(slot.index);
        }
    }
    if evict.is_empty() && delete.is_empty() {
        lowest = None;
        if let (Some(hold), Some(name)) = (&mut held, locked_in(scene)) {
            if scene.ground.terms.all {
                // Nothing needs to be held when every Pod is to move, and eviction takes the broken first.
                return Move::Act(LET_GO);
            }
            hold.message.push_str(&format!(
                "; Pod {name} is broken at the revision that the partition holds, so it would come back \
                 broken{}",
                scene.ground.terms.remedies.locked_in
            ));
        }
    }
    batch(evict, delete, lowest, held, scene.account)
}

/// All that is left is opened at once, for the set's own controller to replace one Pod at a time. What
/// is broken is evicted: that controller waits for it.
fn at_its_pace(scene: &Scene<'_>, left: u32) -> Move {
    let closed = scene.account.slots.iter().rev().filter(|slot| !slot.open && !slot.moved());
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let lowest = closed.take(left).last().map(|slot| slot.index);
    let broken = scene.account.slots.iter().rev().filter(|slot| {
        let trouble = slot.pod.is_some_and(|pod| pod.trouble.is_some());
        slot.open && is_unready(slot) && trouble
    });
    let (mut evict, mut delete, mut held) = strays(scene);
    for pod in broken.filter_map(|slot| slot.pod) {
        match unready(scene, pod) {
            Unready::Evict => evict.push(victim(pod)),
            Unready::Delete => delete.push(victim(pod)),
            Unready::Held(hold) => held = held.or(Some(hold)),
        }
    }
    let opened = scene.account.slots.iter().filter(|slot| slot.open && slot.movable()).count();
    let turn = || (opened > 0).then(|| budget::its_turn(scene.ground, scene.account, opened));
    let held = held.or_else(turn);
    batch(evict, delete, lowest, held, scene.account)
}

/// A broken Pod that may go, and would come back as it is: by ordinal its turn comes after Pods for which
/// the budget has no room, because of it.
fn locked_in<'a>(scene: &Scene<'a>) -> Option<&'a str> {
    let held = &scene.ground.facts.workload.current_revision;
    let broken = |pod: &&Pod| pod.trouble.is_some() && pod.revision == *held;
    let slots = scene.account.slots.iter().filter(|slot| is_unready(slot) && !slot.open);
    let mut pods = slots.filter_map(|slot| slot.pod).filter(broken);
    pods.find(|pod| !matches!(unready(scene, pod), Unready::Held(_))).map(|pod| pod.name.as_str())
}

/// Broken Pods of a template that was superseded, below the partition: they come back at the revision that
/// is held, and no longer use up the budget that all others wait for.
pub(super) fn strays(scene: &Scene<'_>) -> (Vec<Victim>, Vec<Victim>, Option<Hold>) {
    let (mut evict, mut delete, mut held) = (Vec::new(), Vec::new(), None);
    let workload = scene.ground.facts.workload;
    if workload.current_revision == workload.update_revision {
        // They would come back updated, which is for the target to allow.
        return (evict, delete, held);
    }
    let below = scene.account.slots.iter().filter(|slot| is_unready(slot) && !slot.open);
    for pod in below.rev().filter_map(|slot| slot.pod) {
        if pod.revision == workload.current_revision {
            continue;
        }
        match unready(scene, pod) {
            Unready::Evict => evict.push(victim(pod)),
            Unready::Delete => delete.push(victim(pod)),
            Unready::Held(hold) => held = held.or(Some(hold)),
        }
    }
    (evict, delete, held)
}

/// Draws the partition back above every Pod that it has opened and that has not moved.
pub(super) fn freeze(scene: &Scene<'_>) -> Option<Action> {
    let closed = closed(scene.account);
    let partition = closed.max(shared(scene))?;
    Some(Action::SetStrategy { strategy: Strategy::RollingUpdate { partition } })
}

/// The partition under which a set that is scaled keeps its share: as many of the ordinals that have no
/// Pod yet are closed, from the lowest up, as would come up beyond the target.
fn shared(scene: &Scene<'_>) -> Option<u32> {
    let Scene { ground, account, .. } = *scene;
    let surplus = account.moved().saturating_sub(account.target);
    let coming = account.slots.iter().filter(|slot| slot.open && slot.updated().is_none());
    let surplus = usize::try_from(surplus).unwrap_or(usize::MAX);
    let highest = coming.take(surplus).last().filter(|_| ground.terms.share)?;
    Some(highest.index + 1)
}

/// The partition that closes what is open and has not moved; `None` if nothing is.
pub(super) fn closed(account: &Account<'_>) -> Option<u32> {
    let open = account.slots.iter().filter(|slot| slot.movable() && slot.open);
    Some(open.map(|slot| slot.index).max()? + 1)
}
