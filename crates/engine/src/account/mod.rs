//! The account of Pods: for each ordinal where its Pod stands, and the counts that follow from it.
//!
//! Every promise is checked on this account, so it errs on the side of caution: whatever is missing,
//! going, or on its way back at the update revision counts as moved already.

mod held;
mod place;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::ground::{Facts, Ground};
use crate::status::{PodRow, PodState};
use crate::world::{
    Discovery, Outcome, Pod, PodManagement, PodPhase, Settings, Strategy, Uid, Workload,
};
use place::Place;

/// Where all Pods of one workload stand.
#[derive(Clone, Debug)]
pub struct Account<'a> {
    /// One for each place that ought to have a Pod, by ordinal or by name.
    pub slots: Vec<Slot<'a>>,
    /// How many Pods ought to run the update revision.
    pub target: u32,
    /// Whether a Pod is made only when all lower ones are ready.
    ordered: bool,
}

/// One place of the workload.
#[derive(Clone, Debug)]
pub struct Slot<'a> {
    /// How many there are before it: what the partition of an ordered set counts.
    pub index: u32,
    /// The ordinal.
    pub ordinal: u32,
    /// The name that its Pods bear.
    pub name: String,
    /// The Pod, if there is one.
    pub pod: Option<&'a Pod>,
    /// Where it stands.
    pub state: PodState,
    /// Ready for the set's minReadySeconds, of whatever revision.
    pub available: bool,
    /// Available and seen by every service that exists.
    pub good: bool,
    /// Whether service discovery sees it; `None` where it is not asked.
    pub discovered: Option<bool>,
    /// Whether a successor would come up at the update revision.
    pub returns_updated: bool,
    /// Whether the StatefulSet controller may replace it by itself (at or above a partition).
    pub open: bool,
    /// Whether we announced its eviction and do not know what came of it.
    pub announced: bool,
    /// Whether it is still there after its grace period.
    pub overdue: bool,
    /// Whether it came back at the update revision though no step released it.
    pub leaked: bool,
}

impl Slot<'_> {
    /// Whether it is, or will be without our doing, at the update revision.
    pub fn moved(&self) -> bool {
        match self.state {
            PodState::Old | PodState::OldUnready => self.open,
            PodState::Starting | PodState::Broken | PodState::Updated => true,
            PodState::Evicting
            | PodState::Terminating
            | PodState::Recreating
            | PodState::Missing => self.returns_updated,
        }
    }

    /// Its Pod, if that is at the update revision and stays.
    pub fn updated(&self) -> Option<&Pod> {
        let updated =
            matches!(self.state, PodState::Starting | PodState::Broken | PodState::Updated);
        self.pod.filter(|_| updated)
    }

    /// Whether it is at an old revision, stands still, and is ours to move.
    pub fn movable(&self) -> bool {
        matches!(self.state, PodState::Old | PodState::OldUnready)
    }

    /// Whether the rollout waits for it: gone, going, or moved and not good yet.
    pub fn awaited(&self) -> bool {
        !self.movable() && self.state != PodState::Updated
    }

    /// Ready by Kubernetes' own word, which is what disruption budgets count.
    pub fn ready(&self) -> bool {
        self.pod.is_some_and(|pod| pod.ready_since.is_some() && pod.deletion.is_none())
    }
}

impl<'a> Account<'a> {
    /// Takes the account of a workload.
    pub fn take(ground: &Ground<'a>, now: Timestamp) -> Self {
        let outcome = ground.facts.outcome;
        let rows: BTreeMap<&str, &PodRow> =
            ground.memory.rows.into_iter().flatten().map(|row| (row.name.as_str(), row)).collect();
        let evicting: BTreeSet<&Uid> = ground
            .memory
            .announced
            .iter()
            .filter(|uid| !outcome.refused.contains_key(*uid))
            .chain(&outcome.accepted)
            .collect();
        let look = Look { ground, evicting, now };
        let places = (0..).zip(place::places(&ground.facts));
        let slots = places.map(|(index, place)| {
            let row = rows.get(place.name.as_str()).copied();
            (slot(&look, index, place, row), row)
        });
        let (mut slots, rows): (Vec<_>, Vec<_>) = slots.unzip();
        held::mark(&ground.facts, &mut slots);
        for (slot, row) in slots.iter_mut().zip(rows) {
            slot.leaked = !ground.terms.all && leaked(ground, slot, row);
        }
        let ordered = ground.facts.workload.management == PodManagement::OrderedReady;
        Self { slots, target: ground.terms.target, ordered }
    }

    fn count(&self, which: impl Fn(&Slot<'a>) -> bool) -> u32 {
        u32::try_from(self.slots.iter().filter(|slot| which(slot)).count()).unwrap_or(u32::MAX)
    }

    /// How many Pods the set ought to have.
    pub fn replicas(&self) -> u32 {
        self.count(|_| true)
    }

    /// How many are, or will be without our doing, at the update revision.
    pub fn moved(&self) -> u32 {
        self.count(Slot::moved)
    }

    /// How many more may be moved.
    pub fn left(&self) -> u32 {
        self.target.saturating_sub(self.moved())
    }

    /// How many exist at the update revision.
    pub fn updated(&self) -> u32 {
        self.count(|slot| slot.updated().is_some())
    }

    /// How many are at the update revision and good.
    pub fn good(&self) -> u32 {
        self.count(|slot| slot.state == PodState::Updated)
    }

    /// How many Kubernetes calls Ready.
    pub fn ready(&self) -> u32 {
        self.count(Slot::ready)
    }

    /// How many are available, of whatever revision.
    pub fn available(&self) -> u32 {
        self.count(|slot| slot.available)
    }

    /// How many the rollout waits for.
    pub fn awaited(&self) -> u32 {
        self.count(Slot::awaited)
    }

    /// How many exist at an old revision, standing still.
    pub fn old(&self) -> u32 {
        self.count(Slot::movable)
    }

    /// How many came back at the update revision though no step released them.
    pub fn leaked(&self) -> u32 {
        self.count(|slot| slot.leaked)
    }

    /// How many service discovery sees.
    pub fn discovered(&self) -> u32 {
        self.count(|slot| slot.discovered == Some(true))
    }

    /// The Pod to name when the rollout does not get on: in trouble first, then stuck going, then
    /// the one that has been coming up longest.
    pub fn worst(&self) -> Option<&Slot<'a>> {
        self.slots.iter().filter(|slot| slot.awaited()).min_by_key(|slot| {
            let rank = match slot.state {
                PodState::Broken => 0,
                PodState::Terminating | PodState::Evicting => 1,
                _ => 2,
            };
            (rank, slot.pod.map(|pod| pod.created))
        })
    }

    /// The Pod at an old revision that the worst one waits for itself: where Pods are made one after the other,
    /// none comes before all lower ones are ready.
    pub fn locked_out_by(&self) -> Option<&Slot<'a>> {
        let missing = |it: &&Slot<'a>| matches!(it.state, PodState::Missing | PodState::Recreating);
        let worst = self.worst().filter(missing).filter(|_| self.ordered)?;
        let lower = self.slots.iter().filter(|slot| slot.ordinal < worst.ordinal);
        lower.into_iter().find(|slot| slot.movable() && !slot.ready())
    }

    /// The revision that most of the Pods run that are not at `update`; of several with as many
    /// Pods, `before`. `None` when all are at `update`.
    pub fn stable(&self, update: &str, before: &str) -> Option<&'a str> {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let pods = self.slots.iter().filter_map(|slot| slot.pod);
        for pod in pods.filter(|pod| pod.revision != update) {
            *counts.entry(&pod.revision).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(name, pods)| (*pods, *name == before)).map(|(name, _)| name)
    }
}

/// Whether an eviction that was announced, and of which nothing was heard, may still take effect:
/// after a while it would have been seen.
pub(crate) fn may_take_effect(
    last_eviction: Option<Timestamp>,
    outcome: &Outcome,
    settings: &Settings,
    now: Timestamp,
) -> bool {
    let last = last_eviction.max(outcome.acted_at);
    last.is_some_and(|at| now.duration_since(at) < settings.slow)
}

/// What every slot is looked at with.
struct Look<'a> {
    ground: &'a Ground<'a>,
    /// The UIDs whose eviction was announced in the status and not refused, or accepted since.
    evicting: BTreeSet<&'a Uid>,
    now: Timestamp,
}

/// Where one place stands, but for what a partition says of it.
fn slot<'a>(look: &Look<'_>, index: u32, place: Place<'a>, row: Option<&PodRow>) -> Slot<'a> {
    let Look { ground, now, .. } = *look;
    let Facts { workload, outcome, .. } = ground.facts;
    let Place { number: ordinal, name, pod } = place;
    let available = pod.is_some_and(|pod| is_available(pod, workload, now));
    let discovered = pod.and_then(|pod| discovered(ground.facts.discovery, pod));
    let good = available && discovered != Some(false);
    let state = state(look, pod, row, available, good);
    let announced = pod.is_some_and(|pod| {
        pod.deletion.is_none()
            && look.evicting.contains(&pod.uid)
            && !outcome.accepted.contains(&pod.uid)
            && pod.revision != workload.update_revision
            && may_take_effect(ground.memory.last_eviction, outcome, ground.facts.settings, now)
    });
    Slot {
        index,
        ordinal,
        name,
        pod,
        state,
        available,
        good,
        discovered,
        returns_updated: false,
        open: false,
        announced,
        overdue: pod.is_some_and(|pod| pod.deletion.is_some_and(|at| at < now)),
        leaked: false,
    }
}

fn state(
    look: &Look<'_>,
    pod: Option<&Pod>,
    row: Option<&PodRow>,
    available: bool,
    good: bool,
) -> PodState {
    let Some(pod) = pod else {
        let ours = row.is_some_and(|row| {
            matches!(row.state, PodState::Evicting | PodState::Recreating)
                || look.evicting.contains(&row.uid)
        });
        return if ours { PodState::Recreating } else { PodState::Missing };
    };
    let ours = look.evicting.contains(&pod.uid);
    if pod.deletion.is_some() {
        return if ours { PodState::Evicting } else { PodState::Terminating };
    }
    if look.ground.facts.outcome.accepted.contains(&pod.uid) {
        return PodState::Evicting;
    }
    match (pod.revision == look.ground.facts.workload.update_revision, pod.trouble.is_some()) {
        (false, _) if available => PodState::Old,
        (false, _) => PodState::OldUnready,
        (true, _) if good => PodState::Updated,
        (true, true) => PodState::Broken,
        (true, false) => PodState::Starting,
    }
}

/// A Pod has leaked when it runs the update revision, its predecessor did not, and neither we nor an
/// opened partition let that one go. What was leaked stays leaked until its Pod goes.
fn leaked(ground: &Ground<'_>, slot: &Slot<'_>, row: Option<&PodRow>) -> bool {
    let (workload, memory) = (ground.facts.workload, &ground.memory);
    let Some(pod) = slot.pod else { return false };
    if pod.revision != workload.update_revision || memory.rows.is_none() {
        return false;
    }
    let Some(row) = row.filter(|row| !row.revision.is_empty()) else {
        // A new ordinal: scaled up in the middle of a rollout, it comes at the update revision.
        return !memory.stable_revision.is_empty()
            && memory.stable_revision != workload.update_revision;
    };
    if row.uid == pod.uid {
        return row.leaked;
    }
    let ours = matches!(row.state, PodState::Evicting | PodState::Recreating)
        || memory.announced.contains(&row.uid);
    let by_partition = slot.open && matches!(workload.strategy, Strategy::RollingUpdate { .. });
    if row.revision == workload.update_revision {
        return row.leaked;
    }
    !ours && !by_partition
}

/// Whether a Pod has been Ready for the set's minReadySeconds by our clock.
pub fn is_available(pod: &Pod, workload: &Workload, now: Timestamp) -> bool {
    pod.deletion.is_none()
        && pod.phase == PodPhase::Running
        && pod.ready_since.is_some_and(|since| now.duration_since(since) >= workload.min_ready)
}

fn discovered(discovery: &Discovery, pod: &Pod) -> Option<bool> {
    match discovery {
        Discovery::NotAsked | Discovery::NotConfigured | Discovery::Unreachable { .. } => None,
        Discovery::Read { services, .. } if services.is_empty() => None,
        Discovery::Read { passing, .. } => Some(passing.contains(&pod.name)),
    }
}
