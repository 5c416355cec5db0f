//! A StatefulsetRollout in a small cluster: what its users do, and the loop that looks, writes the status and
//! acts.

mod looking;
mod writes;

use engine::quantity::Percent;
use engine::status::Status;
use engine::world::{
    Budget, Discovery, Pod, PodManagement, Rollout, Settings, Strategy, Uid, Workload, World,
};

use crate::fixture::rollout;
use crate::kubernetes::{Controller, Kubernetes, Operator};

/// How a cluster is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Make {
    pub(crate) replicas: u32,
    pub(crate) first_ordinal: u32,
    /// Whether the rollout gives `replicas`.
    pub(crate) owns_replicas: bool,
    pub(crate) management: PodManagement,
    pub(crate) min_ready: i64,
    pub(crate) start_up: i64,
    pub(crate) grace: i64,
    pub(crate) max_unavailable: Option<u32>,
    /// Whether a service has to see the Pods; it does two seconds after they are ready.
    pub(crate) discovery: bool,
}

impl Default for Make {
    fn default() -> Self {
        Self {
            replicas: 4,
            first_ordinal: 0,
            owns_replicas: false,
            management: PodManagement::Parallel,
            min_ready: 0,
            start_up: 3,
            grace: 1,
            max_unavailable: Some(1),
            discovery: false,
        }
    }
}

/// What is stored of the StatefulSet beside what a world shows.
#[derive(Clone, Debug, PartialEq)]
struct Set {
    shown: Workload,
    template: String,
    restarts: u32,
}

impl Set {
    fn revision(&self) -> String {
        match self.restarts {
            0 => self.template.clone(),
            n => format!("{}+{n}", self.template),
        }
    }
}

/// What the operator's caches hold.
#[derive(Clone, Debug, PartialEq)]
struct View {
    set: Option<Set>,
    pods: Vec<Pod>,
    budget: Option<Budget>,
    discovery: Discovery,
}

/// The cluster and the operator's loop over its one rollout.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    make: Make,
    pub(crate) kubernetes: Kubernetes,
    pub(crate) operator: Operator,
    pub(crate) rollout: Rollout,
    template: String,
    set: Option<Set>,
    pub(crate) status: Status,
    view: View,
    looked_at: Option<(View, Rollout)>,
    /// Whether service discovery cannot be reached.
    pub(crate) unreachable: bool,
    /// Writes to the StatefulSet that are still forbidden.
    pub(crate) forbidden: u32,
    /// How many sets there have been, one after another.
    sets: u32,
}

impl Cluster {
    /// Every Pod at template `a`, rolled out by us, nothing to do.
    pub(crate) fn new(make: Make, rollout_of: impl FnOnce(&mut Rollout)) -> Self {
        let mut asked = Rollout { generation: 1, ..rollout() };
        asked.services = make.discovery.then(|| "web".to_owned()).into_iter().collect();
        asked.replicas = make.owns_replicas.then_some(make.replicas);
        rollout_of(&mut asked);
        let mut kubernetes = Kubernetes::new(Controller::StatefulSet);
        kubernetes.start_up = make.start_up;
        kubernetes.grace = make.grace;
        kubernetes.budget_of = make.max_unavailable;
        let mut cluster = Self {
            make,
            kubernetes,
            operator: Operator::default(),
            rollout: asked,
            template: "a".into(),
            set: None,
            status: Status::default(),
            view: View {
                set: None,
                pods: Vec::new(),
                budget: None,
                discovery: Discovery::NotAsked,
            },
            looked_at: None,
            unreachable: false,
            forbidden: 0,
            sets: 0,
        };
        cluster.hash();
        cluster
    }

    // What users and the world do.

    fn hash(&mut self) {
        self.rollout.desired_hash = format!("{}/{:?}", self.template, self.rollout.replicas);
    }

    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Rollout)) {
        let before = self.rollout.clone();
        change(&mut self.rollout);
        if self.rollout != before {
            self.rollout.generation += 1;
        }
        self.hash();
    }

    pub(crate) fn percent(&mut self, percent: i64) {
        self.change(|rollout| rollout.percent = Percent::new(percent).expect("a percentage"));
    }

    /// Templates that begin with `bad` never come up.
    pub(crate) fn template(&mut self, template: &str) {
        if self.template != template {
            self.template = template.into();
            self.rollout.generation += 1;
            self.hash();
        }
    }

    pub(crate) fn scale(&mut self, replicas: u32) {
        if self.rollout.replicas.is_some() {
            self.change(|rollout| rollout.replicas = Some(replicas));
        } else if let Some(set) = &mut self.set
            && set.shown.replicas != replicas
        {
            set.shown.replicas = replicas;
            set.shown.generation += 1;
        }
    }

    /// `kubectl rollout restart`.
    pub(crate) fn restart(&mut self) {
        if let Some(set) = &mut self.set {
            set.restarts += 1;
            set.shown.generation += 1;
        }
    }

    /// The caches see it at once: a set deleted and made again by us between two events of a watch, both at
    /// generation 1, cannot be told apart.
    pub(crate) fn delete_set(&mut self) {
        self.set = None;
        self.kubernetes.pods.clear();
        self.operator.lag = 0;
        self.view = self.truth();
    }

    /// Where the nth Pod is, if it is there.
    fn nth(&self, nth: u32) -> Option<usize> {
        let ordinal = self.make.first_ordinal + nth;
        self.kubernetes.pods.iter().position(|pod| pod.ordinal == ordinal)
    }

    pub(crate) fn lose(&mut self, nth: u32) {
        if let Some(nth) = self.nth(nth) {
            self.kubernetes.lose(nth);
        }
    }

    pub(crate) fn sicken(&mut self, nth: u32) {
        if let Some(nth) = self.nth(nth) {
            self.kubernetes.sicken(nth, None);
        }
    }

    // What can be asked.

    pub(crate) fn revisions(&self) -> Vec<(u32, String)> {
        let pods = self.kubernetes.pods.iter();
        pods.map(|pod| (pod.ordinal, pod.revision.clone())).collect()
    }

    pub(crate) fn uids(&self) -> Vec<Uid> {
        self.kubernetes.pods.iter().map(|pod| pod.uid.clone()).collect()
    }

    /// Whether every Pod is there.
    pub(crate) fn complete(&self) -> bool {
        let wanted = self.set.as_ref().map_or(0, |set| set.shown.replicas as usize);
        self.kubernetes.pods.len() >= wanted
    }

    pub(crate) fn strategy(&self) -> Option<Strategy> {
        self.set.as_ref().map(|set| set.shown.strategy)
    }

    /// What the operator sees.
    pub(crate) fn world(&self) -> World {
        let workload = self.view.set.as_ref().map(|set| {
            let replicas = self.rollout.replicas.is_none_or(|n| n == set.shown.replicas);
            let template_matches = set.template == self.template;
            let matches = template_matches && replicas;
            Workload { matches, template_matches, ..set.shown.clone() }
        });
        World {
            rollout: self.rollout.clone(),
            status: self.status.clone(),
            workload,
            pods: self.view.pods.clone(),
            rival: None,
            namesake: None,
            budgets: self.view.budget.iter().cloned().collect(),
            discovery: self.view.discovery.clone(),
            outcome: self.operator.outcome.clone(),
            settings: Settings::default(),
        }
    }
}
