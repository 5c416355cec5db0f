//! Whether a `StatefulsetRollout` is let in, and what its author ought to know.

use jiff::Timestamp;

use crate::account::Account;
use crate::budget;
use crate::front::statefulset_rollout::terms::ground;
use crate::status::Reason;
use crate::world::{PodManagement, Rollout, VersionLeak, World};

/// A rollout that asks to be let in.
#[derive(Clone, Debug, PartialEq)]
pub struct Admission {
    /// What it was before; `None` when it is new.
    pub before: Option<Rollout>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Let in, with what its author ought to know.
    Allow {
        /// One sentence each.
        warnings: Vec<String>,
    },
    /// Kept out.
    Deny {
        /// JSON path of the field that is at fault.
        field: &'static str,
        /// Object, reason and remedy.
        message: String,
    },
}

/// Judges a rollout as it would be written (`world.rollout`), by what the cluster holds now.
pub fn admit(admission: &Admission, world: &World, now: Timestamp) -> Verdict {
    let rollout = &world.rollout;
    let place = format!("{}/{}", rollout.namespace, rollout.workload_name);
    let before = admission.before.as_ref();
    let owns_nothing = world.status.reason_code == Some(Reason::OwnedByAnother);
    if let Some(before) = before.filter(|before| before.workload_name != rollout.workload_name)
        && !owns_nothing
    {
        return Verdict::Deny {
            field: "spec.statefulset.metadata.name",
            message: format!(
                "this rollout owns StatefulSet {}/{}; to roll out {place}, create another rollout",
                rollout.namespace, before.workload_name
            ),
        };
    }
    let mut warnings = warnings(admission, world, now);
    let owned = world.other_owner().map(|owner| {
        format!(
            "StatefulSet {place} belongs to {owner}; delete that one, or name another StatefulSet"
        )
    });
    if let Some(message) = owned.or_else(|| world.taken()) {
        if before.is_none_or(|before| before.workload_name != rollout.workload_name) {
            return Verdict::Deny { field: "spec.statefulset.metadata.name", message };
        }
        // It is in already, and does nothing; keeping its author from changing it would not help.
        warnings.insert(0, message);
    }
    Verdict::Allow { warnings }
}

/// What will block or slow the rollout, as far as it can be known now.
fn warnings(admission: &Admission, world: &World, now: Timestamp) -> Vec<String> {
    let mut warnings = Vec::new();
    let Some(workload) = &world.workload else { return warnings };
    let ground = ground(world, workload);
    let account = Account::take(&ground, now);
    let room = budget::room(&ground, &account, now);
    if let Some(hold) = room.hold.filter(|hold| hold.reason.blocks()) {
        warnings.push(format!("will be blocked: {}", hold.message));
    }
    warnings.extend(room.remark.filter(|_| workload.management == PodManagement::Parallel));
    if workload.management == PodManagement::OrderedReady {
        warnings.push(
            "podManagementPolicy OrderedReady: Pods move one at a time whatever the budget allows"
                .to_owned(),
        );
    }
    let moved = account.moved();
    let two = world.status.stable_revision != world.status.update_revision;
    let lower =
        admission.before.as_ref().is_some_and(|before| before.percent > world.rollout.percent);
    if two && lower && moved > account.target {
        warnings.push(format!(
            "{moved} of {} Pods have moved already, more than {} asks for; none is moved back",
            account.replicas(),
            world.rollout.percent
        ));
    }
    let late =
        admission.before.as_ref().is_some_and(|before| before.version_leak != VersionLeak::Prevent);
    if late && world.rollout.version_leak == VersionLeak::Prevent && two && account.old() > 0 {
        warnings.push(
            "versionLeak Prevent takes hold from the next template on: the Pods are at two revisions now"
                .to_owned(),
        );
    }
    warnings
}
