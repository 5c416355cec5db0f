//! What is, as plain values: everything a decision may look at.
//!
//! Nothing here is fetched on demand. Whoever builds a [`World`] has read it all from caches that
//! belong to one moment, and says how old the facts are that come from elsewhere.

mod around;
mod outcome;
mod workload;

use jiff::SignedDuration;

pub use around::{Budget, Discovery};
pub use outcome::{Applied, ApplyRefused, Outcome, Refusal};
pub use workload::{Claim, Pod, PodManagement, PodPhase, Strategy, Trouble, Workload};

use crate::quantity::Percent;
use crate::status::Status;

/// A UID as the API server gives it; the only safe identity of a Pod, since StatefulSets reuse names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(pub String);

impl From<&str> for Uid {
    fn from(uid: &str) -> Self {
        Self(uid.to_owned())
    }
}

impl std::fmt::Display for Uid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Everything that one decision about one `StatefulsetRollout` looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// What is asked for.
    pub rollout: Rollout,
    /// The status as it was last read; the decision writes it under the resourceVersion of this.
    pub status: Status,
    /// The StatefulSet under that name, if there is one.
    pub workload: Option<Workload>,
    /// Its Pods: those whose controller reference has the workload's UID. Any order.
    pub pods: Vec<Pod>,
    /// Another living rollout that names the same StatefulSet and came first: `KIND/NAME`.
    pub rival: Option<String>,
    /// A workload of another kind whose Pods have the names that those of the StatefulSet would have: `KIND
    /// NAME`.
    pub namesake: Option<String>,
    /// The disruption budgets whose selector matches the workload's Pod template.
    pub budgets: Vec<Budget>,
    /// What service discovery says, or why it is not asked.
    pub discovery: Discovery,
    /// What came of the last action, as far as it is known in this process.
    pub outcome: Outcome,
    /// How the operator is set.
    pub settings: Settings,
}

impl World {
    /// That the StatefulSet cannot have its Pods, since another workload has them; and what to do.
    pub fn taken(&self) -> Option<String> {
        // Where it has Pods already, it is the other that can have none.
        let other = self.namesake.as_ref().filter(|_| self.pods.is_empty())?;
        let Rollout { namespace, workload_name: name, .. } = &self.rollout;
        Some(format!(
            "{other} is there in namespace {namespace}, and Pods {name}-0, {name}-1, … are its own, so \
             StatefulSet {name} can have none: delete the {other}, or name another StatefulSet; to release the \
             {other} as it is, create a Rollout (rollouts.kruise.io) with that workloadRef in place of this one"
        ))
    }

    /// Whose the StatefulSet is, if it is not ours: who claims it, or who came first.
    pub fn other_owner(&self) -> Option<&str> {
        match self.workload.as_ref().map(|workload| &workload.claim) {
            Some(Claim::Other { owner }) => Some(owner),
            Some(Claim::Ours) => None,
            Some(Claim::Free) | None => self.rival.as_deref(),
        }
    }
}

/// How the operator is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Least time between two actions of one rollout.
    pub interval: SignedDuration,
    /// Longest time between two looks at a rollout that is not finished.
    pub slow: SignedDuration,
    /// Whether a channel can be written to; a rollout that names one is told when not.
    pub channel_configured: bool,
    /// Whether callbacks can be sent.
    pub callback_configured: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            interval: SignedDuration::from_secs(2),
            slow: SignedDuration::from_secs(30),
            channel_configured: false,
            callback_configured: false,
        }
    }
}

/// A `StatefulsetRollout`: what the user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollout {
    /// Namespace of the rollout, its StatefulSet and its Pods.
    pub namespace: String,
    /// Name of the rollout.
    pub name: String,
    /// UID of the rollout.
    pub uid: Uid,
    /// `metadata.generation`.
    pub generation: i64,
    /// Name of the StatefulSet.
    pub workload_name: String,
    /// How much of the set is to run the new revision.
    pub percent: Percent,
    /// Whether to stand still.
    pub pause_requested: bool,
    /// A new value starts the rollout again.
    pub identity: String,
    /// Least time between two evictions of ready Pods; zero for none.
    pub min_eviction_interval: SignedDuration,
    /// How long Pods may take without progress.
    pub progress_deadline: SignedDuration,
    /// What to do with an unready Pod whose eviction the budget refuses.
    pub unhealthy_pods: UnhealthyPods,
    /// What to do about Pods that come back at a revision that no step released.
    pub version_leak: VersionLeak,
    /// Hash of the StatefulSet that is asked for, without its update strategy.
    pub desired_hash: String,
    /// `replicas` of the StatefulSet, absent when somebody else (an autoscaler) owns it.
    pub replicas: Option<u32>,
    /// Slack channel to tell, if any.
    pub channel: Option<String>,
    /// Stage to call back, if any.
    pub callback_stage: Option<String>,
    /// Services that have to see a Pod, in the order given.
    pub services: Vec<String>,
    /// Where the template comes from, shown in status and messages.
    pub build: Build,
}

/// Where a template comes from: the annotations `slack.com/bedrock.git.*` and the version label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// Version label or image tag.
    pub version: String,
    /// Git branch.
    pub branch: String,
    /// Git commit.
    pub commit: String,
    /// Git origin.
    pub origin: String,
}

/// `spec.unhealthyPods`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnhealthyPods {
    /// Name the budget and its remedy.
    #[default]
    Report,
    /// Delete the Pod, with its UID and resourceVersion as preconditions.
    Replace,
}

/// `spec.versionLeak`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionLeak {
    /// Do as if nothing were wrong.
    Ignore,
    /// Count and tell.
    #[default]
    Report,
    /// Count, tell and stop.
    Pause,
    /// Hold the old revision by a partition, so that nothing leaks.
    Prevent,
}
