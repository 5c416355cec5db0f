//! Kubernetes as one workload sees it, by the rules of 1.36: the workload's controller, of each kind; kubelets
//! that bring Pods up and take them away; a disruption budget and the Eviction API.
//!
//! One tick is one second. Everything follows from the calls made to it. What a front serves, what users ask
//! of it and the operator's loop are in the tests of that front.

mod clones;
mod daemons;
mod disruption;
mod facts;
mod operator;
mod ordered;
mod replica_sets;

use std::collections::{BTreeMap, BTreeSet};

use engine::mover::replica_sets::ReplicaSet;
use engine::world::{Budget, Pod, PodPhase, Strategy, Trouble, Uid, Workload};
use jiff::Timestamp;

pub(crate) use clones::Clones;
pub(crate) use facts::{
    ago, ahead, budget_over, noon, pod, seconds, sized, trouble, uid, workload,
};
pub(crate) use operator::{Crash, Operator};

/// Who replaces the Pods of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Controller {
    StatefulSet,
    DaemonSet,
    Deployment,
    CloneSet(Clones),
    AdvancedStatefulSet { unordered: bool },
    AdvancedDaemonSet,
}

/// What users have written of a workload, and what its controller answers.
#[derive(Debug)]
pub(crate) struct Written<'a> {
    pub(crate) workload: &'a mut Workload,
    /// The revision that its template has.
    pub(crate) revision: &'a str,
    /// Whether a Deployment is paused.
    pub(crate) paused: bool,
}

/// The Pods of one workload, and all who move them but the operator.
#[derive(Clone, Debug)]
pub(crate) struct Kubernetes {
    pub(crate) now: Timestamp,
    pub(crate) controller: Controller,
    /// Seconds from a Pod's first to its being ready; those whose revision begins with `bad` never are.
    pub(crate) start_up: i64,
    /// Seconds that a Pod takes to go.
    pub(crate) grace: i64,
    /// The workload's own `maxUnavailable`; the surge of a Deployment is 1.
    pub(crate) max_unavailable: u32,
    /// The `maxUnavailable` of the disruption budget, if there is one.
    pub(crate) budget_of: Option<u32>,
    pub(crate) pods: Vec<Pod>,
    /// Of a Deployment.
    pub(crate) sets: Vec<ReplicaSet>,
    /// As its controller has written it.
    pub(crate) budget: Option<Budget>,
    /// Pods that do not get ready again.
    pub(crate) sick: BTreeSet<Uid>,
    /// When a Pod that was updated in place began again.
    restarted: BTreeMap<Uid, Timestamp>,
    born: u32,
    /// Seconds for which the workload's controller stands still.
    pub(crate) controller_lag: u32,
    /// Seconds for which the budget's controller stands still.
    pub(crate) budget_lag: u32,
    /// Evictions that a webhook still refuses.
    pub(crate) refusals: u32,
}

impl Kubernetes {
    /// At noon, without a Pod.
    pub(crate) fn new(controller: Controller) -> Self {
        Self {
            now: noon(),
            controller,
            start_up: 1,
            grace: 1,
            max_unavailable: 1,
            budget_of: None,
            pods: Vec::new(),
            sets: Vec::new(),
            budget: None,
            sick: BTreeSet::new(),
            restarted: BTreeMap::new(),
            born: 0,
            controller_lag: 0,
            budget_lag: 0,
            refusals: 0,
        }
    }

    /// One second; without a workload no controller does anything.
    pub(crate) fn tick(&mut self, mut written: Option<Written<'_>>) {
        self.now += seconds(1);
        self.kubelets();
        if self.controller_lag > 0 {
            self.controller_lag -= 1;
        } else if let Some(Written { workload, revision, paused }) = &mut written {
            workload.observed_generation = workload.generation;
            (*revision).clone_into(&mut workload.update_revision);
            match self.controller {
                Controller::StatefulSet => self.stateful_set(workload),
                Controller::DaemonSet => self.daemon_set(workload),
                Controller::Deployment => self.deployment(workload, *paused),
                Controller::CloneSet(clones) => self.clone_set(workload, clones),
                Controller::AdvancedStatefulSet { unordered } => {
                    self.advanced_stateful_set(workload, unordered);
                }
                Controller::AdvancedDaemonSet => self.advanced_daemon_set(workload),
            }
        }
        self.disruption_controller(written.map(|written| written.workload.replicas));
    }

    fn kubelets(&mut self) {
        let (now, start_up) = (self.now, seconds(self.start_up));
        self.pods.retain(|pod| pod.deletion.is_none_or(|at| at > now));
        for pod in self.pods.iter_mut().filter(|pod| pod.deletion.is_none()) {
            let began = self.restarted.get(&pod.uid).copied().unwrap_or(pod.created);
            if now < began + start_up {
                continue;
            }
            if pod.revision.starts_with("bad") {
                pod.trouble = Some(trouble("ImagePullBackOff"));
                continue;
            }
            pod.phase = PodPhase::Running;
            if pod.ready_since.is_none() && !self.sick.contains(&pod.uid) {
                pod.ready_since = Some(now);
            }
        }
    }

    /// A name that no Pod has had.
    fn next_name(&self) -> String {
        format!("web-{}", self.born)
    }

    fn make_pod(&mut self, ordinal: u32, name: String, revision: &str) {
        self.born += 1;
        self.pods.push(Pod {
            name,
            uid: Uid(format!("uid-{:04}", self.born)),
            phase: PodPhase::Pending,
            ready_since: None,
            created: self.now,
            ..pod(ordinal, revision)
        });
    }

    fn good(&self, pod: &Pod, workload: &Workload) -> bool {
        engine::account::is_available(pod, workload, self.now)
    }

    /// From now on it is going.
    fn end(&mut self, nth: usize) {
        let at = self.now + seconds(self.grace);
        self.pods[nth].deletion.get_or_insert(at);
    }

    fn end_all(&mut self, which: impl Fn(&Pod) -> bool) {
        for nth in 0..self.pods.len() {
            if which(&self.pods[nth]) {
                self.end(nth);
            }
        }
    }

    // What chance does, and what can be asked.

    /// The node goes: no budget is asked.
    pub(crate) fn lose(&mut self, nth: usize) {
        if nth < self.pods.len() {
            self.end(nth);
        }
    }

    /// Not ready any more, until it is replaced or healed.
    pub(crate) fn sicken(&mut self, nth: usize, trouble: Option<Trouble>) {
        if let Some(pod) = self.pods.get_mut(nth) {
            (pod.ready_since, pod.trouble) = (None, trouble);
            self.sick.insert(pod.uid.clone());
        }
    }

    pub(crate) fn at(&self, revision: &str) -> u32 {
        count(self.pods.iter().filter(|pod| pod.revision == revision))
    }
}

/// How many a partition holds, at most all; `None` under `OnDelete`.
fn partition(workload: &Workload) -> Option<usize> {
    match workload.strategy {
        Strategy::OnDelete => None,
        Strategy::RollingUpdate { partition } => Some(partition.min(workload.replicas) as usize),
    }
}

fn count<T>(of: impl Iterator<Item = T>) -> u32 {
    u32::try_from(of.count()).expect("few")
}
