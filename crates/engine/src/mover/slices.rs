//! A partition whose workload replaces by itself what it opens, as many at a time as its own
//! `maxUnavailable` and `maxSurge` say.
//!
//! Its controller asks no disruption budget. So where there is one, the partition is opened in slices: never
//! by more Pods than the budget lets go at that moment, less those that are open and have not moved. Pods
//! that are not ready cost nothing, once it is their turn; where nobody knows whose turn it is, ready ones
//! are counted first.

use super::{Move, Scene, Unready, batch, is_unready, partition, unready, victim};
use crate::account::{Account, Slot};
use crate::budget::{self, Hold};
use crate::decision::{Action, Victim};
use crate::ground::Ground;
use crate::nature::{First, Holds, Nature};
use crate::quantity::IntOrPercent;
use crate::world::{Strategy, Workload};

pub(super) fn advance(scene: &Scene<'_>) -> Move {
    let account = scene.account;
    if account.moved() > account.target
        && let Some(action) = draw_back(scene)
    {
        // Somebody scaled it, made a new revision, or asked for less than what is open.
        return Move::Act(action);
    }
    if account.left() == 0 && opened(account).count() == 0 {
        return batch(Vec::new(), Vec::new(), None, None, account);
    }
    if let Some(hold) = scene.refusal() {
        return Move::Wait(hold);
    }
    let (evict, delete, mut held) = match comes_back_updated(scene.ground) {
        true => sick(scene),
        false => partition::strays(scene),
    };
    if !(evict.is_empty() && delete.is_empty()) {
        return batch(evict, delete, None, None, account);
    }
    let (evict, delete, waited) = waited_for(scene);
    if !(evict.is_empty() && delete.is_empty()) {
        return batch(evict, delete, None, None, account);
    }
    held = held.or(waited);
    let (slice, hold) = slice(scene);
    if let Some(last) = slice.last() {
        return Move::Act(open(scene.ground, account, slice.len(), last.index));
    }
    let opened = opened(account).count();
    let turn = || (opened > 0).then(|| budget::its_turn(scene.ground, account, opened));
    held = held.or(hold).or_else(turn);
    batch(evict, delete, None, held, account)
}

/// Whether a Pod that goes comes back updated though it is not open, and its turn may be late.
fn comes_back_updated(ground: &Ground<'_>) -> bool {
    let (nature, workload) = (ground.facts.nature, ground.facts.workload);
    let one_revision = workload.current_revision == workload.update_revision;
    nature.holds == Holds::Living || (one_revision && nature.first != First::Unready)
}

/// Pods that are not ready, where one that goes comes back updated whatever is open: as many as the target
/// allows. To wait until it is their turn would be to wait for the budget that they use up.
fn sick(scene: &Scene<'_>) -> (Vec<Victim>, Vec<Victim>, Option<Hold>) {
    let (mut evict, mut delete, mut held) = (Vec::new(), Vec::new(), None);
    let account = scene.account;
    let mut sick: Vec<&Slot<'_>> =
        account.slots.iter().rev().filter(|slot| is_unready(slot) && !slot.open).collect();
    // What was announced may be gone already, and not seen going.
    sick.sort_by_key(|slot| !slot.announced);
    let mut left = account.left();
    for pod in sick.into_iter().filter_map(|slot| slot.pod) {
        if left == 0 {
            break;
        }
        left -= 1;
        match unready(scene, pod) {
            Unready::Evict => evict.push(victim(pod)),
            Unready::Delete => delete.push(victim(pod)),
            Unready::Held(hold) => {
                left += 1;
                held = held.or(Some(hold));
            }
        }
    }
    (evict, delete, held)
}

/// Pods in trouble that use up what may be unavailable, so that the workload's own controller never comes to
/// them where others are before them. What comes after them takes a place that is open.
fn waited_for(scene: &Scene<'_>) -> (Vec<Victim>, Vec<Victim>, Option<Hold>) {
    let (mut evict, mut delete, mut held) = (Vec::new(), Vec::new(), None);
    let nature = scene.ground.facts.nature;
    let any = match (nature.first, nature.holds) {
        (First::Unready, _) | (_, Holds::Living | Holds::Nothing) => return (evict, delete, held),
        (_, holds) => holds == Holds::Any,
    };
    let open = opened(scene.account).count();
    let slots = scene.account.slots.iter().rev().filter(|slot| {
        let trouble = slot.pod.is_some_and(|pod| pod.trouble.is_some());
        is_unready(slot) && trouble && slot.returns_updated && (any || slot.open)
    });
    for pod in slots.filter_map(|slot| slot.pod).take(open) {
        match unready(scene, pod) {
            Unready::Evict => evict.push(victim(pod)),
            Unready::Delete => delete.push(victim(pod)),
            Unready::Held(hold) => held = held.or(Some(hold)),
        }
    }
    (evict, delete, held)
}

/// What is open and has not moved.
fn opened<'a, 'b>(account: &'b Account<'a>) -> impl Iterator<Item = &'b Slot<'a>> {
    account.slots.iter().filter(|slot| slot.open && slot.movable())
}

/// The Pods that may be opened now, in the order in which they would be replaced; and why not more.
fn slice<'a, 'b>(scene: &Scene<'b>) -> (Vec<&'a Slot<'b>>, Option<Hold>)
where
    'b: 'a,
{
    let Scene { ground, account, .. } = *scene;
    let broken = budget::broken_update(ground, account);
    let mut slice: Vec<&Slot<'_>> = Vec::new();
    let mut room: Option<(u32, Option<Hold>)> = None;
    let doubtful = |slot: &&Slot<'_>| slot.announced && !slot.open && slot.returns_updated;
    let doubtful = account.slots.iter().filter(doubtful).count();
    let mut left = account.left().saturating_sub(u32::try_from(doubtful).unwrap_or(u32::MAX));
    let have_successors = taken(ground, account) - opened(account).count();
    for slot in closed_ones(ground.facts.nature, account).into_iter().skip(have_successors) {
        if left == 0 {
            break;
        }
        if !slot.movable() {
            // On its way back at the old revision: opened as well, it comes back updated.
            slice.push(slot);
            left -= 1;
            continue;
        }
        let pod = slot.pod.filter(|_| is_unready(slot));
        match (&broken, pod) {
            // One in no trouble may recover where it is; where others don't come up it would not.
            (Some(hold), pod) if pod.is_none_or(|pod| pod.trouble.is_none()) => {
                return (slice, Some(hold.clone()));
            }
            (_, Some(_)) => {}
            (_, None) if ground.facts.budgets.is_empty() => {}
            (_, None) => {
                let (room, hold) = room.get_or_insert_with(|| {
                    let (room, hold) = scene.ready_room(u32::MAX);
                    (room.saturating_sub(going(ground, account)), hold)
                });
                if *room == 0 {
                    let hold = hold.take().or_else(|| Some(budget::waiting(account)));
                    return (slice, hold);
                }
                *room -= 1;
            }
        }
        slice.push(slot);
        left -= 1;
    }
    (slice, None)
}

/// How many Pods the workload's own controller may take as it is: those that are open, and those that have
/// their successor already.
fn taken(ground: &Ground<'_>, account: &Account<'_>) -> usize {
    let held = match ground.facts.workload.strategy {
        Strategy::RollingUpdate { partition } if ground.facts.nature.holds == Holds::Any => {
            partition
        }
        _ => u32::MAX,
    };
    let taken = account.old().saturating_sub(held).max(opens(account));
    usize::try_from(taken).unwrap_or(usize::MAX)
}

/// How many of those are ready.
fn going(ground: &Ground<'_>, account: &Account<'_>) -> u32 {
    let closed = closed_ones(ground.facts.nature, account);
    let slots = opened(account).chain(closed.into_iter().filter(|slot| slot.movable()));
    let ready = slots.take(taken(ground, account)).filter(|slot| slot.ready()).count();
    u32::try_from(ready).unwrap_or(u32::MAX)
}

/// The Pods that may still be moved, in the order in which they would go.
pub fn order<'a, 'b>(scene: &Scene<'b>) -> Vec<&'a Slot<'b>>
where
    'b: 'a,
{
    let mut slots = closed_ones(scene.ground.facts.nature, scene.account);
    slots.retain(|slot| slot.movable());
    opened(scene.account).chain(slots).collect()
}

/// What has not moved and is not open, in the order in which its own controller would replace it.
fn closed_ones<'a, 'b>(nature: Nature, account: &'a Account<'b>) -> Vec<&'a Slot<'b>> {
    let closed = account.slots.iter().filter(|slot| !slot.open && !slot.moved());
    let mut slots: Vec<&Slot<'_>> = match nature.holds {
        Holds::Lowest => return closed.rev().collect(),
        _ => closed.filter(|slot| slot.movable()).collect(),
    };
    // Of those that are not ready, nobody knows which are in trouble.
    let trouble = |slot: &Slot<'_>| slot.pod.is_some_and(|pod| pod.trouble.is_some());
    slots.sort_by_key(|slot| (nature.first.turn(slot.ready()), trouble(slot)));
    slots
}

/// The write that opens so many more, the last of them at this index.
fn open(ground: &Ground<'_>, account: &Account<'_>, slice: usize, index: u32) -> Action {
    let replicas = ground.facts.workload.replicas;
    let slice = u32::try_from(slice).unwrap_or(u32::MAX);
    let moved = account.moved().saturating_add(slice);
    let partition = match ground.facts.nature.holds {
        Holds::Lowest => index,
        _ => replicas.saturating_sub(moved),
    };
    let whole = ground.facts.nature.percent && moved >= account.target;
    // What a plan of this share leaves is right for any other number of Pods too.
    let left = ground.terms.percent.filter(|_| whole).map(|share| 100_u32.saturating_sub(share));
    // As it is read: parts count as a whole one, and of several Pods one is left to move.
    let comes_to = |percent: u32| IntOrPercent::Percent(percent).of_deployment(replicas);
    let percent = left.filter(|percent| comes_to(*percent) == partition);
    Action::Open { partition, percent }
}

/// Closes what is open and has not moved.
pub(super) fn freeze(scene: &Scene<'_>) -> Option<Action> {
    let Scene { ground, account, .. } = *scene;
    if ground.facts.nature.holds == Holds::Lowest {
        return partition::freeze(scene);
    }
    closed(ground.facts.workload, account).map(set)
}

/// Closes as much as is open beyond the target.
fn draw_back(scene: &Scene<'_>) -> Option<Action> {
    let Scene { ground, account, .. } = *scene;
    let workload = ground.facts.workload;
    let stay = match ground.facts.nature.holds {
        Holds::Lowest => return partition::freeze(scene),
        // What is still to come comes at the old revision, once more of them are held.
        Holds::Any => account.updated(),
        Holds::Living | Holds::Nothing => account.moved() - opens(account),
    };
    let stands = match workload.strategy {
        Strategy::RollingUpdate { partition } => partition,
        Strategy::OnDelete => return None,
    };
    let partition = workload.replicas.saturating_sub(stay.max(account.target));
    (partition > stands).then(|| set(partition))
}

/// The partition that closes what is open and has not moved; `None` if nothing is.
pub(super) fn closed(workload: &Workload, account: &Account<'_>) -> Option<u32> {
    let open = opens(account);
    (open > 0).then(|| workload.replicas.saturating_sub(account.moved() - open))
}

fn opens(account: &Account<'_>) -> u32 {
    u32::try_from(opened(account).count()).unwrap_or(u32::MAX)
}

fn set(partition: u32) -> Action {
    Action::SetStrategy { strategy: Strategy::RollingUpdate { partition } }
}
