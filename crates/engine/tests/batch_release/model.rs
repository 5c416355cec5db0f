//! A small cluster: a workload of each kind with its own controller, Pods that come up and go, a disruption
//! budget and the Eviction API, by the rules of Kubernetes 1.36; and the loop over its one release.
//!
//! One tick is one second. Everything follows from the calls made to it.

use std::collections::{BTreeMap, BTreeSet};

use engine::decision::{Action as Motion, Victim};
use engine::front::batch_release::{
    Action, Body, Control, Decision, Deployment, Held, Label, Machinery, Mark, Marks, Original,
    Phase, Release, Rolling, Status, Target, World, decide,
};
use engine::mover::replica_sets::{ReplicaSet, Write};
use engine::quantity::IntOrPercent;
use engine::world::{Outcome, Pod, PodManagement, PodPhase, Refusal, Settings, Strategy, Uid};
use jiff::{SignedDuration, Timestamp};

use crate::fixture::{self, ABOVE_ALL, budget_over, noon, partition, pods, sized};

/// What kind of workload, and how its user has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Set(PodManagement),
    OnDelete,
    Daemons,
    Deployment,
}

/// How a cluster is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Make {
    pub(crate) kind: Kind,
    pub(crate) replicas: u32,
    pub(crate) min_ready: i64,
    pub(crate) start_up: i64,
    /// A disruption budget of this `maxUnavailable`, if there is one.
    pub(crate) budget: Option<u32>,
    /// The workload's own `maxUnavailable`; the surge of a Deployment is 1.
    pub(crate) max_unavailable: u32,
    pub(crate) labels: bool,
}

/// Where the operator dies in its next look that comes this far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    BeforeStatus,
    BeforeAction,
    AfterPart,
    AfterAction,
}

/// What the operator's caches hold.
#[derive(Clone, Debug, PartialEq)]
struct View {
    body: Body,
    sets: Vec<ReplicaSet>,
    template: String,
    pods: Vec<Pod>,
    marks: BTreeMap<Uid, Marks>,
}

/// The cluster and the operator's loop over its one release.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) make: Make,
    pub(crate) now: Timestamp,
    pub(crate) release: Release,
    pub(crate) status: Status,
    pub(crate) body: Body,
    template: String,
    sets: Vec<ReplicaSet>,
    pods: Vec<Pod>,
    marks: BTreeMap<Uid, Marks>,
    outcome: Outcome,
    view: View,
    unseen: bool,
    looked_at: Option<(View, Release)>,
    wake: Option<Timestamp>,
    born: u32,
    crash: Option<Crash>,
    /// Whether another release follows once this one is gone.
    replaced: bool,
    /// Seconds for which the caches stand still.
    pub(crate) lag: u32,
}

const USERS: Rolling =
    Rolling { max_surge: IntOrPercent::Int(1), max_unavailable: IntOrPercent::Int(1) };

/// The user's own strategy, wherever it is not held.
pub(crate) fn own(kind: Kind) -> Strategy {
    match kind {
        Kind::OnDelete => Strategy::OnDelete,
        Kind::Set(_) | Kind::Daemons | Kind::Deployment => partition(0),
    }
}

impl Cluster {
    /// Every Pod at template `a`, no release.
    pub(crate) fn new(make: Make) -> Self {
        let fixture = match make.kind {
            Kind::Set(_) | Kind::OnDelete => fixture::set(make.replicas),
            Kind::Daemons => fixture::daemons(make.replicas),
            Kind::Deployment => fixture::deployment(make.replicas),
        };
        let World { mut release, target, .. } = fixture.world;
        let Target::Found(body) = target else { panic!("a fixture has a workload") };
        let mut body = *body;
        body.workload.strategy = own(make.kind);
        body.workload.update_revision = "a".into();
        body.workload.current_revision = "a".into();
        body.workload.min_ready = SignedDuration::from_secs(make.min_ready);
        body.max_unavailable = Some(pods(make.max_unavailable));
        body.control = Control::Free;
        body.in_progressing = false;
        body.stable_revision = None;
        if let Kind::Set(management) = make.kind {
            body.workload.management = management;
        }
        body.machinery = match body.machinery {
            Machinery::StatefulSet { .. } => Machinery::StatefulSet { saved: None },
            Machinery::DaemonSet { .. } => Machinery::DaemonSet { saved: None },
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
        let mut sets = Vec::new();
        if make.kind == Kind::Deployment {
            sets.push(sized("web-a", 1, make.replicas, make.replicas));
        }
        let view = View {
            body: body.clone(),
            sets: sets.clone(),
            template: "a".into(),
            pods: Vec::new(),
            marks: BTreeMap::new(),
        };
        let mut cluster = Self {
            make,
            now: noon(),
            release,
            status: Status { phase: Some(Phase::Completed), ..Status::default() },
            body,
            template: "a".into(),
            sets,
            pods: Vec::new(),
            marks: BTreeMap::new(),
            outcome: Outcome::default(),
            view,
            unseen: false,
            looked_at: None,
            wake: None,
            born: 0,
            crash: None,
            replaced: false,
            lag: 0,
        };
        for _ in 0..make.replicas * 2 + 20 {
            cluster.controllers();
            cluster.now += SignedDuration::from_secs(1);
        }
        cluster
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
                (Machinery::DaemonSet { saved }, strategy) => {
                    saved.get_or_insert(strategy);
                    body.workload.strategy = Strategy::OnDelete;
                }
                (Machinery::StatefulSet { .. }, Strategy::RollingUpdate { .. }) => {
                    body.workload.strategy = partition(ABOVE_ALL);
                }
                (Machinery::StatefulSet { .. }, Strategy::OnDelete) => {}
            }
        });
        match self.status.phase {
            Some(Phase::Completed) => self.begin(),
            _ => {
                self.release.deleted = true;
                self.replaced = true;
            }
        }
    }

    fn begin(&mut self) {
        self.born += 1;
        self.release.uid = Uid(format!("release-{}", self.born));
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

    fn plan(&mut self) {
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
            self.write(|body| body.workload.replicas = replicas);
        }
    }

    /// The node goes: no budget is asked.
    pub(crate) fn lose(&mut self, nth: usize) {
        let at = self.now;
        if let Some(pod) = self.pods.get_mut(nth) {
            pod.deletion.get_or_insert(at);
        }
    }

    pub(crate) fn crash(&mut self, crash: Crash) {
        self.crash = Some(crash);
    }

    // What can be asked.

    pub(crate) fn at(&self, revision: &str) -> u32 {
        u32::try_from(self.pods.iter().filter(|pod| pod.revision == revision).count()).unwrap_or(0)
    }

    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.pods.len()).unwrap_or(0)
    }

    pub(crate) fn revisions(&self) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        for pod in &self.pods {
            *counts.entry(pod.revision.clone()).or_default() += 1;
        }
        counts
    }

    /// What the operator sees.
    pub(crate) fn world(&self) -> World {
        let View { body, sets, template, pods, marks } = self.view.clone();
        let mut body = body;
        if let Machinery::Deployment(deployment) = &mut body.machinery {
            let name = format!("web-{template}");
            let available = |set: &ReplicaSet| {
                let revision = set.name.trim_start_matches("web-");
                let good = pods.iter().filter(|pod| {
                    pod.revision == revision
                        && engine::account::is_available(pod, &body.workload, self.now)
                });
                u32::try_from(good.count()).unwrap_or(0)
            };
            let sets =
                sets.iter().map(|set| ReplicaSet { available: available(set), ..set.clone() });
            let (new, old): (Vec<_>, Vec<_>) = sets.partition(|set| set.name == name);
            (deployment.new, deployment.old) = (new.into_iter().next(), old);
            deployment.stable = body.stable_revision.as_ref().map(|it| format!("web-{it}"));
        }
        let expected = body.workload.replicas;
        let budgets = self.make.budget.map(|max| budget_over(&pods, expected, max));
        if let Control::Other { owner } = &body.control {
            let ours = *owner == self.release.uid.0;
            body.control = if ours { Control::Ours } else { Control::Free };
        }
        World {
            release: self.release.clone(),
            status: self.status.clone(),
            target: Target::Found(Box::new(body)),
            pods,
            marks,
            costs: BTreeMap::new(),
            budgets: budgets.into_iter().collect(),
            outcome: self.outcome.clone(),
            unseen: self.unseen,
            keep_paused: false,
            settings: Settings::default(),
        }
    }

    // One second.

    pub(crate) fn run(
        &mut self,
        seconds: u32,
        judge: &mut dyn FnMut(&World, &Decision, Timestamp),
    ) {
        for _ in 0..seconds {
            self.tick(judge);
        }
    }

    fn tick(&mut self, judge: &mut dyn FnMut(&World, &Decision, Timestamp)) {
        self.now += SignedDuration::from_secs(1);
        self.controllers();
        // A Rollout makes the next release when the last one is gone, and takes its mark off at the end.
        let over = self.status.phase == Some(Phase::Completed);
        if over && self.replaced && !self.release.finalizer {
            self.begin();
        } else if over && !self.replaced && self.body.in_progressing {
            self.body.in_progressing = false;
            self.body.stable_revision = None;
        }
        if self.lag > 0 {
            self.lag -= 1;
        } else {
            self.refresh();
        }
        for _ in 0..4 {
            let seen = Some((self.view.clone(), self.release.clone()));
            let due = self.wake.is_some_and(|at| at <= self.now);
            let status = self.status.clone();
            if seen == self.looked_at && !due {
                break;
            }
            self.looked_at = seen;
            self.look(judge);
            if self.status != status {
                // Its own write is news to it.
                self.looked_at = None;
            }
            if self.lag == 0 {
                self.refresh();
            }
        }
    }

    fn refresh(&mut self) {
        self.view = self.truth();
        self.unseen = false;
    }

    fn truth(&self) -> View {
        View {
            body: self.body.clone(),
            sets: self.sets.clone(),
            template: self.template.clone(),
            pods: self.pods.clone(),
            marks: self.marks.clone(),
        }
    }

    fn look(&mut self, judge: &mut dyn FnMut(&World, &Decision, Timestamp)) {
        let standing: BTreeSet<&Uid> = self
            .view
            .pods
            .iter()
            .filter(|pod| pod.deletion.is_none())
            .map(|pod| &pod.uid)
            .collect();
        self.outcome.accepted.retain(|uid| standing.contains(uid));
        let world = self.world();
        let decision = decide(&world, self.now);
        judge(&world, &decision, self.now);
        if self.dies(Crash::BeforeStatus) {
            return;
        }
        self.status = decision.status.clone();
        self.wake = decision.wake;
        let Some(action) = decision.action else { return };
        if self.dies(Crash::BeforeAction) {
            return;
        }
        let part = self.crash == Some(Crash::AfterPart);
        self.act(&action, part);
        self.outcome.acted_at = Some(self.now);
        let _ = self.dies(Crash::AfterPart) || self.dies(Crash::AfterAction);
    }

    /// The process ends here and another one begins: it reads everything anew and remembers nothing.
    fn dies(&mut self, here: Crash) -> bool {
        let dies = self.crash == Some(here);
        if dies {
            self.crash = None;
            self.outcome = Outcome::default();
            self.lag = 0;
            self.looked_at = None;
            self.refresh();
        }
        dies
    }

    // What an action does to the API server.

    fn write(&mut self, change: impl FnOnce(&mut Body)) {
        change(&mut self.body);
        self.body.workload.generation += 1;
    }

    fn act(&mut self, action: &Action, part: bool) {
        self.outcome.refused.clear();
        self.unseen = !matches!(action, Action::Move(Motion::Evict { .. } | Motion::Delete { .. }));
        match action {
            Action::AddFinalizer => self.release.finalizer = true,
            Action::RemoveFinalizer => self.release.finalizer = false,
            Action::Take { keep, held } => self.take(*keep, *held),
            Action::Release { restore } => self.give_back(*restore),
            Action::Move(Motion::SetStrategy { strategy }) => {
                self.write(|body| body.workload.strategy = *strategy);
            }
            Action::Move(Motion::Open { partition: it }) => {
                self.write(|body| body.workload.strategy = partition(*it));
            }
            Action::Move(Motion::Evict { pods } | Motion::Delete { pods }) => {
                self.evict(pods, part);
            }
            Action::Move(Motion::Apply { .. }) => panic!("a release applies nothing"),
            Action::Size(write) => self.size(write),
            Action::Label { pods } => self.label(pods, part),
        }
    }

    fn take(&mut self, keep: Option<Original>, held: Held) {
        let owner = self.release.uid.0.clone();
        self.write(|body| {
            body.control = Control::Other { owner };
            match held {
                Held::AsItIs => {}
                Held::Strategy(strategy) => body.workload.strategy = strategy,
                Held::Paused => {
                    let Machinery::Deployment(deployment) = &mut body.machinery else {
                        panic!("only Deployments are paused")
                    };
                    (deployment.paused, deployment.recreate, deployment.rolling) =
                        (true, true, None);
                }
            }
            match (&mut body.machinery, keep) {
                (
                    Machinery::StatefulSet { saved } | Machinery::DaemonSet { saved },
                    Some(Original::Strategy(own)),
                ) => *saved = Some(own),
                (Machinery::Deployment(deployment), Some(Original::Rolling(own))) => {
                    deployment.saved = Some(own);
                }
                (_, None) => {}
                (machinery, keep) => panic!("{keep:?} is not for {machinery:?}"),
            }
        });
    }

    fn give_back(&mut self, restore: Option<Original>) {
        self.write(|body| {
            body.control = Control::Free;
            match (&mut body.machinery, restore) {
                (_, None) => {}
                (
                    Machinery::StatefulSet { saved } | Machinery::DaemonSet { saved },
                    Some(Original::Strategy(own)),
                ) => {
                    *saved = None;
                    body.workload.strategy = own;
                }
                (Machinery::Deployment(deployment), Some(Original::Rolling(own))) => {
                    deployment.saved = None;
                    (deployment.paused, deployment.recreate) = (false, false);
                    deployment.rolling = Some(own);
                }
                (machinery, restore) => panic!("{restore:?} is not for {machinery:?}"),
            }
        });
    }

    fn evict(&mut self, victims: &[Victim], part: bool) {
        let victims = if part { &victims[..victims.len().div_ceil(2)] } else { victims };
        for victim in victims {
            let expected = self.body.workload.replicas;
            let budget = self.make.budget.map(|max| budget_over(&self.pods, expected, max));
            let (now, uid) = (self.now, victim.uid.clone());
            let Some(pod) = self.pods.iter_mut().find(|pod| pod.uid == uid) else {
                self.outcome.refused.insert(uid, Refusal::Gone);
                continue;
            };
            let ready = pod.ready_since.is_some() && pod.deletion.is_none();
            let refused = budget.is_some_and(|budget| {
                let met = budget.current_healthy >= budget.desired_healthy;
                let free = pod.phase != PodPhase::Running || (!ready && met);
                budget.allowed == 0 && !free
            });
            if refused {
                self.outcome.refused.insert(uid, Refusal::Budget("no room".into()));
                break;
            }
            pod.deletion.get_or_insert(now);
            self.outcome.accepted.insert(uid);
        }
    }

    fn size(&mut self, write: &Write) {
        let (replicas, name) = (self.body.workload.replicas, format!("web-{}", self.template));
        match write {
            Write::Create { size } => {
                if self.sets.iter().all(|set| set.name != name) {
                    let newest = self.sets.iter().map(|set| set.revision).max().unwrap_or(0);
                    self.sets.push(sized(&name, newest + 1, *size, replicas));
                }
            }
            Write::Size { name, size } => {
                let mut sets = self.sets.iter_mut();
                let set = sets.find(|set| set.name == *name).expect("a ReplicaSet that was seen");
                (set.size, set.sized_for) = (*size, replicas);
            }
        }
    }

    fn label(&mut self, labels: &[Label], part: bool) {
        let labels = if part { &labels[..labels.len().div_ceil(2)] } else { labels };
        for label in labels {
            let marks = self.marks.entry(label.uid.clone()).or_default();
            match &label.mark {
                Mark::Batch { rollout_id, batch } => {
                    marks.rollout_id.clone_from(rollout_id);
                    marks.batch = Some(*batch);
                }
                Mark::NoNeedUpdate { rollout_id } => marks.no_need_update.clone_from(rollout_id),
            }
        }
    }

    // The workload's own controllers and the kubelet.

    fn controllers(&mut self) {
        let (now, start_up) = (self.now, SignedDuration::from_secs(self.make.start_up));
        self.pods.retain(|pod| pod.deletion.is_none_or(|at| at >= now));
        for pod in &mut self.pods {
            let up = pod.created + start_up <= now && !pod.revision.starts_with("bad");
            if up && pod.ready_since.is_none() {
                pod.ready_since = Some(now);
                pod.phase = PodPhase::Running;
            }
            if pod.revision.starts_with("bad") && pod.created + start_up <= now {
                pod.trouble = Some(fixture::trouble());
            }
        }
        let workload = &mut self.body.workload;
        workload.observed_generation = workload.generation;
        workload.update_revision.clone_from(&self.template);
        match self.make.kind {
            Kind::Set(_) | Kind::OnDelete => self.set_controller(),
            Kind::Daemons => self.daemon_controller(),
            Kind::Deployment => self.deployment_controller(),
        }
    }

    fn make_pod(&mut self, ordinal: u32, name: String, revision: &str) {
        self.born += 1;
        self.pods.push(Pod {
            name,
            uid: Uid(format!("pod-{}", self.born)),
            ordinal,
            phase: PodPhase::Pending,
            ready_since: None,
            created: self.now,
            ..fixture::pod(ordinal, revision)
        });
    }

    fn good(&self, pod: &Pod) -> bool {
        engine::account::is_available(pod, &self.body.workload, self.now)
    }

    fn set_controller(&mut self) {
        let workload = self.body.workload.clone();
        let ordered = workload.management == PodManagement::OrderedReady;
        let held = match workload.strategy {
            Strategy::OnDelete => 0,
            Strategy::RollingUpdate { partition } => partition,
        };
        for ordinal in 0..workload.replicas {
            match self.pods.iter().find(|pod| pod.ordinal == ordinal) {
                Some(pod) if ordered && !self.good(pod) => return,
                Some(_) => {}
                None => {
                    let current = ordinal < held;
                    let revision = if current {
                        &workload.current_revision
                    } else {
                        &workload.update_revision
                    };
                    self.make_pod(ordinal, format!("web-{ordinal}"), revision);
                    if ordered {
                        return;
                    }
                }
            }
        }
        let now = self.now;
        self.pods.sort_by_key(|pod| pod.ordinal);
        for pod in self.pods.iter_mut().filter(|pod| pod.ordinal >= workload.replicas) {
            pod.deletion.get_or_insert(now);
        }
        if matches!(workload.strategy, Strategy::OnDelete) {
            return;
        }
        let all = self.pods.iter().all(|pod| pod.revision == workload.update_revision);
        if all && self.pods.iter().all(|pod| self.good(pod)) {
            self.body.workload.current_revision.clone_from(&workload.update_revision);
        }
        for nth in (0..self.pods.len()).rev() {
            let pod = &self.pods[nth];
            if pod.ordinal < held {
                break;
            }
            if pod.revision != workload.update_revision && pod.deletion.is_none() {
                self.pods[nth].deletion = Some(now);
                break;
            }
            if !self.good(pod) {
                break;
            }
        }
    }

    fn daemon_controller(&mut self) {
        let workload = self.body.workload.clone();
        for node in 0..workload.replicas {
            if self.pods.iter().all(|pod| pod.ordinal != node) {
                let name = format!("web-{}", self.born);
                self.make_pod(node, name, &workload.update_revision);
            }
        }
        let now = self.now;
        for pod in self.pods.iter_mut().filter(|pod| pod.ordinal >= workload.replicas) {
            pod.deletion.get_or_insert(now);
        }
        if workload.strategy == Strategy::OnDelete {
            return;
        }
        let max = usize::try_from(self.make.max_unavailable).unwrap_or(1);
        let mut away = self.pods.iter().filter(|pod| !self.good(pod)).count();
        for nth in 0..self.pods.len() {
            let (good, pod) = (self.good(&self.pods[nth]), &mut self.pods[nth]);
            if pod.revision == workload.update_revision || pod.deletion.is_some() {
                continue;
            }
            if !good || away < max {
                pod.deletion = Some(now);
                away += usize::from(good);
            }
        }
    }

    fn deployment_controller(&mut self) {
        let replicas = self.body.workload.replicas;
        let Machinery::Deployment(deployment) = self.body.machinery.clone() else { return };
        let name = format!("web-{}", self.template);
        let active = self.sets.iter().filter(|set| set.size > 0).count();
        if active <= 1
            && let Some(set) = self.sets.iter_mut().find(|set| set.size > 0 || active == 0)
            && set.size != replicas
        {
            (set.size, set.sized_for) = (replicas, replicas);
        }
        if !deployment.paused {
            if self.sets.iter().all(|set| set.name != name) {
                self.size(&Write::Create { size: 0 });
            }
            let total: u32 = self.sets.iter().map(|set| set.size).sum();
            let good = self.pods.iter().filter(|pod| self.good(pod)).count();
            let good = u32::try_from(good).unwrap_or(0);
            let (mut spare, mut room) = (
                good.saturating_sub(replicas.saturating_sub(1)),
                (replicas + 1).saturating_sub(total),
            );
            let good = |set: &ReplicaSet| {
                let revision = set.name.trim_start_matches("web-");
                let pods = self.pods.iter().filter(|pod| pod.revision == revision);
                u32::try_from(pods.filter(|pod| self.good(pod)).count()).unwrap_or(0)
            };
            let goods: Vec<u32> = self.sets.iter().map(good).collect();
            for (set, good) in self.sets.iter_mut().zip(goods) {
                if set.name == name {
                    let grown = (set.size + room).min(replicas);
                    room = 0;
                    (set.size, set.sized_for) = (grown, replicas);
                } else {
                    // What is not healthy costs nothing.
                    let healthy = set.size.min(good);
                    let fewer = healthy.min(spare);
                    spare -= fewer;
                    (set.size, set.sized_for) = (healthy - fewer, replicas);
                }
            }
        }
        for set in self.sets.clone() {
            let revision = set.name.trim_start_matches("web-").to_owned();
            let mine = |pod: &Pod| pod.revision == revision && pod.deletion.is_none();
            let size = usize::try_from(set.size).unwrap_or(0);
            let mut there = self.pods.iter().filter(|pod| mine(pod)).count();
            while there < size {
                let name = format!("web-{}", self.born);
                self.make_pod(0, name, &revision);
                there += 1;
            }
            let now = self.now;
            while there > size {
                let mut pods: Vec<&mut Pod> =
                    self.pods.iter_mut().filter(|pod| mine(pod)).collect();
                pods.sort_by_key(|pod| pod.ready_since.is_some());
                pods[0].deletion = Some(now);
                there -= 1;
            }
        }
    }
}
