//! Eviction under `OnDelete`: whatever goes comes back at the update revision.
//!
//! Order: Pods at an old revision that are not ready (they cost the budget nothing), then those whose
//! eviction was announced before a crash, then highest ordinal first; of a DaemonSet, those that never
//! started, then by deletion cost, then the newest. What was announced keeps its place in the target: it
//! may be gone already, and not seen going.

use std::cmp::Reverse;

use super::{Move, Scene, Unready, batch, is_unready, unready, victim};
use crate::account::Slot;
use crate::decision::Victim;
use crate::nature::Places;
use crate::world::{PodManagement, PodPhase};

/// The Pods that may still be moved, in the order in which they would go.
pub fn order<'a, 'b>(scene: &Scene<'b>) -> Vec<&'a Slot<'b>>
where
    'b: 'a,
{
    let ordered = scene.ground.facts.workload.management == PodManagement::OrderedReady;
    let mut slots: Vec<&Slot<'_>> =
        scene.account.slots.iter().filter(|slot| slot.movable()).collect();
    let (nature, costs) = (scene.ground.facts.nature, scene.ground.facts.costs);
    slots.sort_by_key(|slot| {
        let unready = is_unready(slot);
        // A name that is never used again says nothing: what costs least goes first, of equals the newest.
        let own = slot.pod.filter(|_| nature.places == Places::Names).map(|pod| {
            let started = pod.phase != PodPhase::Pending;
            let cost = costs.get(&pod.uid).copied().unwrap_or(0);
            (unready && started, cost, Reverse(pod.created))
        });
        // Under OrderedReady a missing Pod waits for every lower ordinal, so the lowest of the
        // broken ones has to come up first.
        let rank =
            if ordered && unready { i64::from(slot.ordinal) } else { -i64::from(slot.ordinal) };
        (Reverse(unready), Reverse(slot.announced), own, rank)
    });
    slots
}

pub(super) fn advance(scene: &Scene<'_>) -> Move {
    let left = scene.account.left();
    if left == 0 {
        return batch(Vec::new(), Vec::new(), None, None, scene.account);
    }
    if let Some(hold) = scene.refusal() {
        return Move::Wait(hold);
    }
    let chosen = choose(scene, &order(scene), left);
    batch(chosen.evict, chosen.delete, None, chosen.hold, scene.account)
}

/// Which of the candidates may go now.
pub(super) struct Chosen {
    pub(super) evict: Vec<Victim>,
    pub(super) delete: Vec<Victim>,
    pub(super) hold: Option<super::Hold>,
}

/// Takes candidates in their order: unready ones cost no room, ready ones one each.
fn choose(scene: &Scene<'_>, order: &[&Slot<'_>], left: u32) -> Chosen {
    let mut chosen = Chosen { evict: Vec::new(), delete: Vec::new(), hold: None };
    let one_at_a_time = scene.ground.facts.workload.management == PodManagement::OrderedReady;
    let most = usize::try_from(scene.ground.terms.unbudgeted).unwrap_or(usize::MAX);
    let unbudgeted = scene.ground.facts.budgets.is_empty().then_some(most);
    let mut announced = reserved(order);
    let (mut left, mut ready_room) = (left, None);
    for slot in order {
        let Some(pod) = slot.pod else { continue };
        if slot.announced {
            announced = announced.saturating_sub(1);
        }
        let full = left <= announced
            || (one_at_a_time && !(chosen.evict.is_empty() && chosen.delete.is_empty()));
        if full {
            continue;
        }
        if is_unready(slot) {
            match unready(scene, pod) {
                Unready::Evict => chosen.evict.push(victim(pod)),
                Unready::Delete => chosen.delete.push(victim(pod)),
                Unready::Held(hold) => {
                    chosen.hold.get_or_insert(hold);
                    continue;
                }
            }
            left -= 1;
            continue;
        }
        if unbudgeted.is_some_and(|most| chosen.evict.len() >= most) {
            // Without a budget so many move at a time, and those that are not ready have begun.
            break;
        }
        let (room, hold) = ready_room.get_or_insert_with(|| scene.ready_room(left));
        if *room == 0 {
            if chosen.hold.is_none() {
                chosen.hold = hold.take();
            }
            break;
        }
        *room -= 1;
        left -= 1;
        chosen.evict.push(victim(pod));
    }
    chosen
}

/// How many places of the target are kept for Pods of which nobody knows whether they are going.
fn reserved(order: &[&Slot<'_>]) -> u32 {
    let announced = order.iter().filter(|slot| slot.announced).count();
    u32::try_from(announced).unwrap_or(u32::MAX)
}
