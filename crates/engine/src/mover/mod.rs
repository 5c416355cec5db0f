//! Movers: given how far a rollout may be, the one write that brings it there safely.
//!
//! A mover knows no front. Each answers the same questions: with which update strategy a new template
//! is applied (`hold`), what to write when the rollout stands still (`freeze`), and which write comes
//! next (`advance`).

pub mod evict;
pub mod partition;
pub mod slices;
pub mod replica_sets;

use jiff::{SignedDuration, Timestamp};

use crate::account::{Account, Slot};
use crate::budget::{self, Hold, Room};
use crate::decision::{Action, Victim};
use crate::ground::{Facts, Ground};
use crate::nature::{Holds, Replaced};
use crate::status::{PodState, Reason};
use crate::world::{Outcome, Pod, Refusal, Settings, Strategy, UnhealthyPods};

/// What a mover says.
#[derive(Clone, Debug, PartialEq)]
pub enum Move {
    /// The next write.
    Act(Action),
    /// None now, and why.
    Wait(Hold),
    /// None any more.
    Rest,
}

/// Which mover serves a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mover {
    /// OnDelete: evicted Pods come back at the update revision.
    Evict,
    /// RollingUpdate: a partition holds the old revision, and what it opens is evicted.
    Partition,
    /// RollingUpdate: a partition holds the old revision, and the workload's own controller replaces what it
    /// opens.
    Slices,
}

impl Mover {
    /// The mover for what the front asks and how the workload stands. A set that cannot be held any
    /// more (it was asked for in the middle of a rollout) is finished by eviction.
    pub fn of(ground: &Ground<'_>) -> Self {
        match ground.facts.workload.strategy {
            Strategy::RollingUpdate { .. } if ground.terms.held => {
                match ground.facts.nature.replaced {
                    Replaced::OneByOne => Self::Partition,
                    Replaced::Together => Self::Slices,
                }
            }
            _ => Self::Evict,
        }
    }

    /// The next write towards the target.
    pub fn advance(self, scene: &Scene<'_>) -> Move {
        match self {
            Self::Evict => evict::advance(scene),
            Self::Partition => partition::advance(scene),
            Self::Slices => slices::advance(scene),
        }
    }

    /// The write that makes sure that nothing moves while the rollout stands still.
    pub fn freeze(self, scene: &Scene<'_>) -> Option<Action> {
        match self {
            Self::Evict => None,
            Self::Partition => partition::freeze(scene),
            Self::Slices => slices::freeze(scene),
        }
    }
}

/// The strategy that stands, drawn back above every Pod that it has opened and that has not moved: a
/// write that carries it moves nothing.
pub fn keep(ground: &Ground<'_>, account: &Account<'_>) -> Strategy {
    let workload = ground.facts.workload;
    let closed = match ground.facts.nature.holds {
        Holds::Lowest => partition::closed(account),
        Holds::Any | Holds::Living | Holds::Nothing => slices::closed(workload, account),
    };
    match (workload.strategy, closed) {
        (Strategy::RollingUpdate { .. }, Some(partition)) => Strategy::RollingUpdate { partition },
        (strategy, _) => strategy,
    }
}

/// What a mover looks at.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// What is, what may be done, and what was.
    pub ground: &'a Ground<'a>,
    /// Where the Pods stand.
    pub account: &'a Account<'a>,
    /// The time.
    pub now: Timestamp,
}

impl Scene<'_> {
    /// The eviction of Pods in trouble at another revision, where what comes after them is at the update
    /// revision: they cost nobody anything, and a StatefulSet's own controller would wait for them. A budget
    /// may refuse it for good, which nobody waits for; who refused it otherwise is asked again.
    pub fn broken(&self) -> Move {
        let slots = self.account.slots.iter().rev();
        let pods = slots.filter(|slot| is_unready(slot) && slot.returns_updated);
        let pods = pods.filter_map(|slot| slot.pod).filter(|pod| pod.trouble.is_some());
        let pods = pods.filter(|pod| matches!(unready(self, pod), Unready::Evict));
        let pods: Vec<Victim> = pods.map(victim).collect();
        let budget =
            |hold: &Hold| matches!(hold.reason, Reason::BudgetExhausted | Reason::AmbiguousBudget);
        match self.refusal() {
            _ if pods.is_empty() => Move::Rest,
            Some(hold) if budget(&hold) => Move::Rest,
            Some(hold) => Move::Wait(hold),
            None => Move::Act(Action::Evict { pods }),
        }
    }

    fn room(&self) -> Room {
        budget::room(self.ground, self.account, self.now)
    }

    /// How long until the next ready Pod may go, by `minPodEvictionIntervalSeconds`.
    fn interval_hold(&self) -> Option<Hold> {
        let interval = self.ground.terms.interval;
        if interval <= SignedDuration::ZERO || self.refused_last() {
            return None;
        }
        let next = self.ground.memory.last_eviction?.checked_add(interval).ok()?;
        (next > self.now).then(|| {
            Hold::new(
                Reason::WaitingForInterval,
                format!(
                    "minPodEvictionIntervalSeconds is {}: the next Pod may go at {}",
                    interval.as_secs(),
                    next.strftime("%Y-%m-%dT%H:%M:%SZ")
                ),
            )
        })
    }

    /// Whether the last eviction that the status speaks of did not come about: then the interval has
    /// passed already, or it would not have been tried.
    fn refused_last(&self) -> bool {
        let Facts { outcome, pods, settings, .. } = self.ground.facts;
        let (Some(acted), Some(last)) = (outcome.acted_at, self.ground.memory.last_eviction) else {
            return false;
        };
        let refused =
            |pod: &Pod| pod.ready_since.is_some() && outcome.refused.contains_key(&pod.uid);
        acted.duration_since(last) <= settings.interval && pods.iter().any(refused)
    }

    /// How many ready Pods may go now, at most `left`.
    fn ready_room(&self, left: u32) -> (u32, Option<Hold>) {
        let room = self.room();
        if room.pods == 0 {
            return (0, room.hold);
        }
        if let Some(hold) = self.interval_hold() {
            return (0, Some(hold));
        }
        let spaced = self.ground.terms.interval > SignedDuration::ZERO;
        (room.pods.min(left).min(if spaced { 1 } else { u32::MAX }), None)
    }

    /// What the last batch met, when it is worth waiting for.
    fn refusal(&self) -> Option<Hold> {
        let refused = |pod: &'_ Pod| {
            let refusal = self.ground.facts.outcome.refused.get(&pod.uid)?;
            let trivial = matches!(refusal, Refusal::Gone | Refusal::NotTried);
            (!trivial && !self.is_deleted_next(pod)).then_some(refusal)
        };
        let (name, refusal) =
            self.pods().find_map(|pod| Some((pod.name.as_str(), refused(pod)?)))?;
        let (reason, words) = match refusal {
            Refusal::Budget(words) => (Reason::BudgetExhausted, words.as_str()),
            Refusal::AmbiguousBudget(words) => (Reason::AmbiguousBudget, words.as_str()),
            Refusal::Policy(words) => (Reason::EvictionRefused, words.as_str()),
            Refusal::Overloaded => (Reason::ApiServerBusy, "the API server is busy"),
            Refusal::Gone | Refusal::NotTried => return None,
        };
        let acted = self.ground.facts.outcome.acted_at?;
        let pause = pause_after_refusal(self.ground.facts.settings);
        let again = acted.checked_add(pause).ok()?;
        (again > self.now)
            .then(|| Hold::new(reason, format!("the eviction of Pod {name} was refused: {words}")))
    }

    /// Whether the answer to the refusal is a guarded delete, which needs no waiting.
    fn is_deleted_next(&self, pod: &Pod) -> bool {
        self.ground.terms.unhealthy_pods == UnhealthyPods::Replace
            && pod.ready_since.is_none()
            && refused_by_budget(self.ground, pod)
    }

    fn pods(&self) -> std::slice::Iter<'_, Pod> {
        self.ground.facts.pods.iter()
    }
}

/// A refusal is answered by waiting, not by asking again at once.
fn pause_after_refusal(settings: &Settings) -> SignedDuration {
    (settings.interval * 5).max(SignedDuration::from_secs(10))
}

/// When a refusal of the last batch has been waited out.
pub(crate) fn refusal_over(outcome: &Outcome, settings: &Settings) -> Option<Timestamp> {
    let refused = outcome
        .refused
        .values()
        .any(|refusal| !matches!(refusal, Refusal::Gone | Refusal::NotTried));
    outcome.acted_at.filter(|_| refused)?.checked_add(pause_after_refusal(settings)).ok()
}

pub(crate) fn victim(pod: &Pod) -> Victim {
    Victim {
        name: pod.name.clone(),
        uid: pod.uid.clone(),
        resource_version: pod.resource_version.clone(),
    }
}

/// What may be done about an unready Pod at an old revision.
enum Unready {
    Evict,
    Delete,
    Held(Hold),
}

fn unready(scene: &Scene<'_>, pod: &Pod) -> Unready {
    let ground = scene.ground;
    // A Pod in no trouble may recover where it is; where others don't come up it would not.
    if pod.trouble.is_none()
        && let Some(hold) = budget::broken_update(ground, scene.account)
    {
        return Unready::Held(hold);
    }
    match (budget::unready_may_go(ground, pod), ground.terms.unhealthy_pods) {
        (Ok(()), UnhealthyPods::Replace) if refused_by_budget(ground, pod) => Unready::Delete,
        (Ok(()), _) => Unready::Evict,
        (Err(_), UnhealthyPods::Replace) => Unready::Delete,
        (Err(hold), UnhealthyPods::Report) => Unready::Held(hold),
    }
}

fn refused_by_budget(ground: &Ground<'_>, pod: &Pod) -> bool {
    let refusal = ground.facts.outcome.refused.get(&pod.uid);
    matches!(refusal, Some(Refusal::Budget(_) | Refusal::AmbiguousBudget(_)))
}

/// What a choice of Pods comes to: evictions first, then guarded deletes, else the reason.
fn batch(
    evict: Vec<Victim>,
    delete: Vec<Victim>,
    partition: Option<u32>,
    hold: Option<Hold>,
    account: &Account<'_>,
) -> Move {
    if let Some(partition) = partition {
        return Move::Act(Action::Open { partition, percent: None });
    }
    if !evict.is_empty() {
        return Move::Act(Action::Evict { pods: evict });
    }
    if !delete.is_empty() {
        return Move::Act(Action::Delete { pods: delete });
    }
    match hold {
        // Pods of ours that do not come up use up the budget themselves.
        Some(hold) if hold.reason == Reason::UnhealthyPodsHoldBudget && account.awaited() > 0 => {
            Move::Wait(budget::waiting(account))
        }
        Some(hold) => Move::Wait(hold),
        None if account.awaited() > 0 => Move::Wait(budget::waiting(account)),
        None => Move::Rest,
    }
}

fn is_unready(slot: &Slot<'_>) -> bool {
    slot.state == PodState::OldUnready && !slot.ready()
}
