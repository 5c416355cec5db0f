//! A BatchRelease in a small cluster: a workload of each kind, what users and their Rollout do, and the loop
//! over the one release.

mod asked;
mod looking;
mod writes;

use std::collections::BTreeMap;

use engine::front::batch_release::{
    Body, Control, Deployment, Machinery, Marks, Phase, Release, Rolling, Status, Target, World,
};
use engine::mover::replica_sets::ReplicaSet;
use engine::nature::{First, Nature};
use engine::quantity::IntOrPercent;
use engine::world::{Budget, Pod, PodManagement, Strategy, Uid};
use jiff::Timestamp;

use crate::fixture::{self, ABOVE_ALL, Fixture, partition, pods};
use crate::kubernetes::{Clones, Controller, Kubernetes, Operator, Written, seconds, sized};

/// What kind of workload, and how its user has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Set(PodManagement),
    OnDelete,
    Daemons,
    Deployment,
    Clones(Clones),
    /// An Advanced StatefulSet; of the Parallel one ordinals 1 and 3 are reserved.
    AdvancedSet(PodManagement),
    Unordered,
    AdvancedOnDelete,
    AdvancedDaemons,
    AdvancedDaemonsOnDelete,
}

/// How a cluster is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Make {
    pub(crate) kind: Kind,
    pub(crate) replicas: u32,
    pub(crate) min_ready: i64,
    pub(crate) start_up: i64,
    /// Seconds that a Pod takes to go.
    pub(crate) grace: i64,
    /// A disruption budget of this `maxUnavailable`, if there is one.
    pub(crate) budget: Option<u32>,
    /// The workload's own `maxUnavailable`; the surge of a Deployment is 1.
    pub(crate) max_unavailable: u32,
    pub(crate) labels: bool,
}

/// How many requests were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Writes {
    pub(crate) status: u32,
    /// To the release's metadata, the workload and its ReplicaSets.
    pub(crate) workload: u32,
    pub(crate) evictions: u32,
    pub(crate) labels: u32,
}

/// What the operator's caches hold.
#[derive(Clone, Debug, PartialEq)]
struct View {
    body: Body,
    sets: Vec<ReplicaSet>,
    template: String,
    pods: Vec<Pod>,
    budget: Option<Budget>,
    marks: BTreeMap<Uid, Marks>,
}

/// The cluster and the operator's loop over its one release.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) make: Make,
    pub(crate) kubernetes: Kubernetes,
    pub(crate) operator: Operator,
    pub(crate) release: Release,
    pub(crate) status: Status,
    pub(crate) body: Body,
    template: String,
    /// The partition as a percentage, where it is one.
    percent: Option<u32>,
    marks: BTreeMap<Uid, Marks>,
    view: View,
    unseen: bool,
    looked_at: Option<(View, Release)>,
    written: Option<Timestamp>,
    /// The operator's requests so far.
    pub(crate) writes: Writes,
    releases: u32,
    /// Whether another release follows once this one is gone.
    replaced: bool,
    /// Whether a Rollout's own front says what is to be; else the cluster plays one.
    pub(crate) led: bool,
    /// Seconds for which the Rollout does not see that the template has changed.
    pub(crate) rollout_lag: u32,
}

const USERS: Rolling =
    Rolling { max_surge: IntOrPercent::Int(1), max_unavailable: IntOrPercent::Int(1) };

/// The user's own strategy, wherever it is not held.
pub(crate) fn own(kind: Kind) -> Strategy {
    match kind {
        Kind::OnDelete | Kind::AdvancedOnDelete | Kind::AdvancedDaemonsOnDelete => {
            Strategy::OnDelete
        }
        _ => partition(0),
    }
}

/// Untouched in the tables, and who moves its Pods.
fn untouched(kind: Kind, replicas: u32) -> (Fixture, Controller) {
    let set = |unordered| Controller::AdvancedStatefulSet { unordered };
    match kind {
        Kind::Set(_) | Kind::OnDelete => (fixture::set(replicas), Controller::StatefulSet),
        Kind::Daemons => (fixture::daemons(replicas), Controller::DaemonSet),
        Kind::Deployment => (fixture::deployment(replicas), Controller::Deployment),
        Kind::Clones(clones) => (fixture::clones(replicas), Controller::CloneSet(clones)),
        Kind::AdvancedSet(_) | Kind::AdvancedOnDelete => {
            (fixture::advanced_set(replicas), set(false))
        }
        Kind::Unordered => (fixture::unordered(replicas), set(true)),
        Kind::AdvancedDaemons | Kind::AdvancedDaemonsOnDelete => {
            (fixture::advanced_daemons(replicas), Controller::AdvancedDaemonSet)
        }
    }
}

impl Cluster {
    /// Every Pod at template `a`, no release.
    pub(crate) fn new(make: Make) -> Self {
        let (fixture, controller) = untouched(make.kind, make.replicas);
        let World { mut release, target, .. } = fixture.world;
        let Target::Found(body) = target else { panic!("a fixture has a workload") };
        let mut body = *body;
        body.workload.strategy = own(make.kind);
        body.workload.update_revision = "a".into();
        body.workload.current_revision = "a".into();
        body.workload.min_ready = seconds(make.min_ready);
        body.max_unavailable = Some(pods(make.max_unavailable));
        body.control = Control::Free;
        body.in_progressing = false;
        body.stable_revision = None;
        if let Kind::Set(management) | Kind::AdvancedSet(management) = make.kind {
            body.workload.management = management;
        }
        if make.kind == Kind::AdvancedSet(PodManagement::Parallel) {
            body.workload.reserved = [1, 3].into();
        }
        body.machinery = match body.machinery {
            Machinery::Pods { mut nature, .. } => {
                if matches!(make.kind, Kind::Clones(Clones { priorities: true, .. })) {
                    nature.first = First::Unknown;
                }
                Machinery::Pods { nature, saved: None }
            }
            Machinery::Deployment(deployment) => Machinery::Deployment(Deployment {
                paused: false,
                recreate: false,
                rolling: Some(USERS),
                saved: None,
                old: Vec::new(),
                ..deployment
            }),
        };
        release.finalizer = false;
        release.batch_partition = None;
        let mut kubernetes = Kubernetes::new(controller);
        kubernetes.start_up = make.start_up;
        kubernetes.grace = make.grace;
        kubernetes.max_unavailable = make.max_unavailable;
        kubernetes.budget_of = make.budget;
        if make.kind == Kind::Deployment {
            kubernetes.sets.push(sized("web-a", 1, make.replicas, make.replicas));
        }
        let view = View {
            body: body.clone(),
            sets: kubernetes.sets.clone(),
            template: "a".into(),
            pods: Vec::new(),
            budget: None,
            marks: BTreeMap::new(),
        };
        let mut cluster = Self {
            make,
            kubernetes,
            operator: Operator::default(),
            release,
            status: Status { phase: Some(Phase::Completed), ..Status::default() },
            body,
            template: "a".into(),
            percent: None,
            marks: BTreeMap::new(),
            view,
            unseen: false,
            looked_at: None,
            written: None,
            writes: Writes::default(),
            releases: 0,
            replaced: false,
            led: false,
            rollout_lag: 0,
        };
        let each = make.start_up + make.min_ready + 2;
        for _ in 0..i64::from(make.replicas) * each + 20 {
            cluster.others();
        }
        cluster
    }

    /// A second of everybody else.
    fn others(&mut self) {
        let paused =
            matches!(&self.body.machinery, Machinery::Deployment(deployment) if deployment.paused);
        let workload = &mut self.body.workload;
        self.kubernetes.tick(Some(Written { workload, revision: &self.template, paused }));
    }

    // What users, their Rollout and the world do.

    /// A new template, held by the webhook in the same write; a release that goes on is replaced.
    pub(crate) fn template(&mut self, template: &str) {
        if self.template == template {
            return;
        }
        if !self.body.in_progressing {
            self.body.stable_revision = Some(self.template.clone());
        }
        self.template = template.into();
        self.write(|body| {
            body.in_progressing = true;
            match (&mut body.machinery, body.workload.strategy) {
                (Machinery::Deployment(deployment), _) => deployment.paused = true,
                (Machinery::Pods { nature: Nature::DAEMON_SET, saved }, strategy) => {
                    saved.get_or_insert(strategy);
                    body.workload.strategy = Strategy::OnDelete;
                }
                (Machinery::Pods { .. }, Strategy::RollingUpdate { .. }) => {
                    body.workload.strategy = partition(ABOVE_ALL);
                }
                (Machinery::Pods { .. }, Strategy::OnDelete) => {}
            }
        });
        match self.status.phase {
            _ if self.led => {}
            Some(Phase::Completed) => self.begin(),
            _ => self.replaced = true,
        }
    }

    pub(crate) fn begin(&mut self) {
        self.releases += 1;
        self.release.uid = Uid(format!("release-{}", self.releases));
        self.release.batch_partition = Some(0);
        self.release.deleted = false;
        self.release.finalizer = false;
        self.release.immediate = true;
        self.release.rollout_id =
            if self.make.labels { format!("id-{}", self.template) } else { String::new() };
        self.status = Status::default();
        self.replaced = false;
        self.plan();
    }

    pub(crate) fn plan(&mut self) {
        let Release { batches, batch_partition, rollout_id, .. } = &self.release;
        self.release.plan_hash = format!("{batches:?} {batch_partition:?} {rollout_id}");
        self.release.generation += 1;
    }

    /// The next batch is allowed.
    pub(crate) fn approve(&mut self) {
        if let Some(allowed) = &mut self.release.batch_partition {
            *allowed = (*allowed + 1).min(2);
            self.plan();
        }
    }

    /// The Rollout is through, or turned back.
    pub(crate) fn promote(&mut self) {
        self.release.batch_partition = None;
        self.plan();
    }

    pub(crate) fn scale(&mut self, replicas: u32) {
        if self.body.workload.replicas != replicas {
            let percent = self.percent;
            self.write(|body| body.workload.replicas = replicas);
            if let Some(percent) = percent {
                self.body.workload.strategy = partition(share(percent, replicas));
            }
        }
    }

    pub(crate) fn write(&mut self, change: impl FnOnce(&mut Body)) {
        let before = self.body.workload.strategy;
        change(&mut self.body);
        self.body.workload.generation += 1;
        if self.body.workload.strategy != before {
            self.percent = None;
        }
    }
}

/// What a partition of so many percent comes to: parts of a Pod count as a whole one, but below 100 percent
/// one of several at least is let go.
fn share(percent: u32, replicas: u32) -> u32 {
    let most = if percent < 100 && replicas > 1 { replicas - 1 } else { replicas };
    (percent * replicas).div_ceil(100).min(most)
}
