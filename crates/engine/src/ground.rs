//! The ground that account, budget and movers stand on: facts that are the same for every front, the
//! terms that one front gives, and what it remembers of earlier looks.
//!
//! So none of them knows a front: how far a release may be now, and how gently, is all that they are told.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::nature::Nature;
use crate::status::PodRow;
use crate::world::{Budget, Discovery, Outcome, Pod, Settings, Uid, UnhealthyPods, Workload};

/// What a decision about one workload stands on.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// What is.
    pub facts: Facts<'a>,
    /// What may be done.
    pub terms: Terms<'a>,
    /// What was.
    pub memory: Memory<'a>,
}

/// What is, whoever asks.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Which kind of workload it is.
    pub nature: Nature,
    /// Namespace of the workload and its Pods.
    pub namespace: &'a str,
    /// Name of the workload.
    pub name: &'a str,
    /// The workload.
    pub workload: &'a Workload,
    /// Its Pods, in any order.
    pub pods: &'a [Pod],
    /// The annotation `controller.kubernetes.io/pod-deletion-cost` of those Pods that have one.
    pub costs: &'a BTreeMap<Uid, i32>,
    /// The disruption budgets that select its Pods.
    pub budgets: &'a [Budget],
    /// What service discovery says.
    pub discovery: &'a Discovery,
    /// What came of the last action.
    pub outcome: &'a Outcome,
    /// How the operator is set.
    pub settings: &'a Settings,
}

/// How far a front lets it come now, and how gently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms<'a> {
    /// How many Pods ought to run the update revision.
    pub target: u32,
    /// Whether every Pod is to move in the end, so that nothing needs to be held.
    pub all: bool,
    /// Whether a partition holds the old revision.
    pub held: bool,
    /// Whether that partition holds ordinals that are new as well, so that a set that is scaled keeps its
    /// share.
    pub share: bool,
    /// What to do with an unready Pod whose eviction the budget refuses.
    pub unhealthy_pods: UnhealthyPods,
    /// Least time between two evictions of ready Pods; zero for none.
    pub interval: SignedDuration,
    /// How many Pods may be on their way where no disruption budget says it.
    pub unbudgeted: u32,
    /// The share of all that the target is, in percent, where it is one: a partition may be one as well.
    pub percent: Option<u32>,
    /// Whether the workload's own controller sets the pace where no disruption budget does: it replaces
    /// what a partition opens one at a time.
    pub own_pace: bool,
    /// How many at most, whatever a budget says.
    pub most: Option<u32>,
    /// How many Pods of the update revision may be in trouble before no more are moved.
    pub tolerated: u32,
    /// The services that have to see a Pod.
    pub services: &'a [String],
    /// What a user can do, in the words of the front.
    pub remedies: Remedies,
}

/// What a user can do about a hold, in the words of the front's resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedies {
    /// When an unready Pod's eviction is refused: after "set that policy".
    pub unready: &'static str,
    /// When a broken Pod would come back broken: after "so it would come back broken".
    pub locked_in: &'static str,
    /// When no partition can hold a set: after "so no partition can hold them;".
    pub cannot_hold: &'static str,
}

/// What a front remembers of earlier looks.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    /// One row for each Pod; `None` where a front keeps none, and so tells no leaks.
    pub rows: Option<&'a [PodRow]>,
    /// The UIDs whose eviction was announced.
    pub announced: &'a [Uid],
    /// When a ready Pod was last evicted.
    pub last_eviction: Option<Timestamp>,
    /// What the Pods ran when the release began; may be empty.
    pub stable_revision: &'a str,
    /// Services that were seen since it began.
    pub services_seen: &'a [String],
}
