//! What a rollout would do from here: which Pods, in which order, by what budget, guarded how.

use jiff::Timestamp;

use crate::account::Account;
use crate::budget::{self, Hold};
use crate::front::statefulset_rollout::terms::ground;
use crate::mover::{Mover, Scene, evict, partition, slices};
use crate::status::PodState;
use crate::world::{PodManagement, VersionLeak, World};

/// What would move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How many Pods the set ought to have.
    pub replicas: u32,
    /// How many ought to run the update revision.
    pub target: u32,
    /// How many do already, or will without our doing.
    pub moved: u32,
    /// The Pods that would go, in order.
    pub order: Vec<Planned>,
    /// How many ready Pods may go at once when nothing else is wrong.
    pub at_once: u32,
    /// How many may go right now.
    pub now: u32,
    /// Why not more.
    pub hold: Option<Hold>,
    /// What paces it, in words.
    pub pace: String,
    /// What happens to a Pod that is lost in between, in words.
    pub guard: String,
}

/// A Pod that would go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Name.
    pub name: String,
    /// Revision that it runs.
    pub revision: String,
    /// Whether it goes first because it is not ready.
    pub unready: bool,
}

/// Plans from here. A template that has not been applied yet moves every Pod: `fresh`.
/// `None` when there is no StatefulSet yet.
pub fn plan(world: &World, fresh: bool, now: Timestamp) -> Option<Plan> {
    let mut world = world.clone();
    if fresh && let Some(workload) = &mut world.workload {
        workload.update_revision = "(new)".to_owned();
    }
    let workload = world.workload.as_ref()?;
    let ground = ground(&world, workload);
    let account = Account::take(&ground, now);
    let scene = Scene { ground: &ground, account: &account, now };
    let slots = match Mover::of(&ground) {
        Mover::Evict => evict::order(&scene),
        Mover::Partition => partition::order(&scene),
        Mover::Slices => slices::order(&scene),
    };
    let left = usize::try_from(account.left()).unwrap_or(usize::MAX);
    let order = slots
        .into_iter()
        .take(left)
        .filter_map(|slot| {
            let pod = slot.pod?;
            let unready = slot.state == PodState::OldUnready;
            Some(Planned { name: slot.name.clone(), revision: pod.revision.clone(), unready })
        })
        .collect();
    let room = budget::room(&ground, &account, now);
    let (at_once, pace) = pace(&world, workload.management);
    Some(Plan {
        replicas: account.replicas(),
        target: account.target,
        moved: account.moved(),
        order,
        at_once,
        now: room.pods,
        hold: room.hold,
        pace,
        guard: guard(&world),
    })
}

fn pace(world: &World, management: PodManagement) -> (u32, String) {
    let (pods, words) = match world.budgets.as_slice() {
        [] => (1, "no PodDisruptionBudget selects the Pods: one at a time".to_owned()),
        [budget] => {
            let most = budget.expected.saturating_sub(budget.desired_healthy);
            let words =
                format!("PodDisruptionBudget {} ({}): {most} at a time", budget.name, budget.limit);
            (most, words)
        }
        several => {
            let names: Vec<&str> = several.iter().map(|budget| budget.name.as_str()).collect();
            (0, format!("PodDisruptionBudgets {} conflict: none moves", names.join(", ")))
        }
    };
    let interval = world.rollout.min_eviction_interval;
    if management == PodManagement::OrderedReady {
        return (pods.min(1), format!("{words}; OrderedReady: one at a time"));
    }
    if !interval.is_zero() {
        return (pods.min(1), format!("{words}; one each {} s", interval.as_secs()));
    }
    (pods, words)
}

fn guard(world: &World) -> String {
    match world.rollout.version_leak {
        VersionLeak::Prevent => {
            "a partition holds the old revision: a lost Pod comes back as it was"
        }
        VersionLeak::Pause => {
            "OnDelete: a lost Pod comes back at the new revision, and the rollout pauses"
        }
        VersionLeak::Report => {
            "OnDelete: a lost Pod comes back at the new revision, and is counted as leaked"
        }
        VersionLeak::Ignore => "OnDelete: a lost Pod comes back at the new revision",
    }
    .to_owned()
}
