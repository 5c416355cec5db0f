//! What a partition holds: which Pods the workload's own controller may replace, and at which revision one
//! comes back that goes.

use super::Slot;
use crate::ground::Facts;
use crate::nature::{First, Holds};
use crate::status::PodState;
use crate::world::Strategy;

/// Marks the slots; their states are known by now.
pub(super) fn mark(facts: &Facts<'_>, slots: &mut [Slot<'_>]) {
    let workload = facts.workload;
    let one_revision = workload.current_revision == workload.update_revision;
    let partition = match (facts.nature.holds, workload.strategy) {
        (_, Strategy::OnDelete) => return all(slots, false),
        (Holds::Nothing, Strategy::RollingUpdate { .. }) => return all(slots, true),
        (_, Strategy::RollingUpdate { partition }) => partition,
    };
    match facts.nature.holds {
        Holds::Lowest => {
            for slot in slots {
                slot.open = slot.index >= partition;
                slot.returns_updated = slot.open || one_revision;
            }
        }
        Holds::Any | Holds::Living | Holds::Nothing => {
            let old = count(slots, Slot::movable);
            let coming = count(slots, comes);
            // What comes fills up what is to be held, and then what is not.
            let back = match facts.nature.holds {
                Holds::Any if !one_revision => partition.saturating_sub(old).min(coming),
                _ => 0,
            };
            let updated = count(slots, |slot| slot.updated().is_some());
            let open = workload.replicas.saturating_sub(partition);
            let open = open.saturating_sub(updated).saturating_sub(coming - back);
            // One that goes leaves one fewer to be held, and comes back for it.
            let back_too = facts.nature.holds == Holds::Any && !one_revision && old <= partition;
            for slot in slots.iter_mut() {
                slot.returns_updated = comes(slot) || !(back_too && slot.movable());
            }
            any(slots, back, open, facts.nature.first);
        }
    }
}

fn all(slots: &mut [Slot<'_>], open: bool) {
    for slot in slots {
        slot.open = open;
        slot.returns_updated = true;
    }
}

/// `back` of those that come are as before, and `open` of those that stay may go; which ones makes no
/// difference to the counts, so those are taken that most likely are, and where nobody knows those that cost
/// most.
fn any(slots: &mut [Slot<'_>], back: u32, open: u32, first: First) {
    let (mut back, mut open) = (back, open);
    for slot in slots.iter_mut().filter(|slot| comes(slot)) {
        slot.returns_updated = back == 0;
        back = back.saturating_sub(1);
    }
    let mut movable: Vec<&mut Slot<'_>> = slots.iter_mut().filter(|slot| slot.movable()).collect();
    movable.sort_by_key(|slot| first.turn(slot.ready()));
    for slot in movable {
        slot.open = open > 0;
        open = open.saturating_sub(1);
    }
}

/// Whether its Pod is gone or going, and another comes.
fn comes(slot: &Slot<'_>) -> bool {
    use PodState::{Evicting, Missing, Recreating, Terminating};
    matches!(slot.state, Evicting | Terminating | Recreating | Missing)
}

fn count<'a>(slots: &[Slot<'a>], which: impl Fn(&Slot<'a>) -> bool) -> u32 {
    u32::try_from(slots.iter().filter(|slot| which(slot)).count()).unwrap_or(u32::MAX)
}
