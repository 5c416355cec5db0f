//! What is known of a Deployment and its ReplicaSets, and what follows for their sizes.

use crate::quantity::IntOrPercent;

/// A Deployment as its ReplicaSets are sized by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// `spec.replicas`.
    pub replicas: u32,
    /// Pods that may run the new revision by now.
    pub target: u32,
    /// How many Pods there may be, and have to be available.
    pub bounds: Bounds,
    /// Nothing moves but by a change of `replicas`.
    pub paused: bool,
    /// The ReplicaSet of the template; `None` until it is created.
    pub new: Option<ReplicaSet>,
    /// All others, empty ones too, in any order.
    pub old: Vec<ReplicaSet>,
    /// Name of the one that is known to be stable: it gets what is to be added besides the new one.
    pub stable: Option<String>,
}

/// One ReplicaSet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicaSet {
    /// Name.
    pub name: String,
    /// Annotation `deployment.kubernetes.io/revision`: a later template has a larger one.
    pub revision: u64,
    /// `spec.replicas`.
    pub size: u32,
    /// `status.availableReplicas`.
    pub available: u32,
    /// The Deployment's replicas when this one was last sized: annotation `desired-replicas`, or the
    /// replicas of now where it is missing.
    pub sized_for: u32,
    /// Whether its controller has seen its last write (`observedGeneration`).
    pub seen: bool,
}

impl ReplicaSet {
    /// Pods that are sure to stay available: what is still to be removed takes the others first.
    pub(super) fn sound(&self) -> u32 {
        self.available.min(self.size)
    }

    /// Pods that are not available, going or missing ones not counted.
    pub(super) fn unsound(&self) -> u32 {
        self.size - self.sound()
    }
}

/// `maxSurge` and `maxUnavailable` in Pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Pods above the replicas, at most.
    pub surge: u32,
    /// Pods below the replicas that may be unavailable.
    pub unavailable: u32,
}

impl Bounds {
    /// Surge rounded up, unavailable rounded down; where both come to none, one may be unavailable, or
    /// nothing could ever move.
    pub fn of(max_surge: IntOrPercent, max_unavailable: IntOrPercent, replicas: u32) -> Self {
        // A surge may be larger than the Deployment.
        let surge = match max_surge {
            IntOrPercent::Int(pods) => pods,
            IntOrPercent::Percent(percent) => {
                let pods = (u64::from(percent) * u64::from(replicas)).div_ceil(100);
                u32::try_from(pods).unwrap_or(u32::MAX)
            }
        };
        let unavailable = max_unavailable.of_rounded_down(replicas);
        Self { surge, unavailable: if surge == 0 { unavailable.max(1) } else { unavailable } }
    }
}

impl Deployment {
    pub(super) fn sets(&self) -> impl Iterator<Item = &ReplicaSet> {
        self.new.iter().chain(&self.old)
    }

    pub(super) fn new_size(&self) -> u32 {
        self.new.as_ref().map_or(0, |set| set.size)
    }

    pub(super) fn old_size(&self) -> u32 {
        self.old.iter().fold(0, |sum, set| sum.saturating_add(set.size))
    }

    pub(super) fn pods(&self) -> u32 {
        self.new_size().saturating_add(self.old_size())
    }

    /// Pods there may be at once.
    pub(super) fn most(&self) -> u32 {
        self.replicas.saturating_add(self.bounds.surge)
    }

    /// Pods that have to be available.
    pub(super) fn least(&self) -> u32 {
        self.replicas.saturating_sub(self.bounds.unavailable)
    }

    pub(super) fn available(&self) -> u32 {
        self.sets().fold(0, |sum, set| sum.saturating_add(set.sound()))
    }

    /// How far the new revision may grow: no further than it is while paused.
    pub(super) fn goal(&self) -> u32 {
        let goal = self.target.min(self.replicas);
        if self.paused { goal.min(self.new_size()) } else { goal }
    }

    /// Pods that are to run the new revision: the goal, and what has moved beyond it. Of that, scaling
    /// in leaves the same share, or more where old Pods are too few to make up for it.
    pub(super) fn wanted_new(&self) -> u32 {
        let kept = self.new.as_ref().map_or(0, |set| {
            if set.sized_for <= self.replicas {
                return set.size;
            }
            let share = u64::from(set.size) * u64::from(self.replicas) / u64::from(set.sized_for);
            let share = u32::try_from(share).expect("a share of a u32");
            share.max(self.replicas.saturating_sub(self.old_size()).min(set.size))
        });
        kept.max(self.goal()).min(self.replicas)
    }

    /// Pods that are to run old revisions.
    pub(super) fn wanted_old(&self) -> u32 {
        self.replicas - self.wanted_new()
    }

    /// Whether somebody changed the replicas, and not all sizes follow yet.
    pub(super) fn scaled(&self) -> bool {
        self.sets().any(|set| set.size > 0 && set.sized_for != self.replicas)
    }
}
