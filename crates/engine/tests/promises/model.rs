//! A small cluster: a StatefulSet with its controller, Pods that come up and go, a disruption budget and
//! the Eviction API, by the rules of Kubernetes 1.36; and the loop that looks, writes the status and acts.
//!
//! One tick is one second. Everything follows from the calls made to it.

use std::collections::{BTreeMap, BTreeSet};

use engine::decision::{Action, Decision, Victim};
use engine::quantity::Percent;
use engine::status::Status;
use engine::world::{
    Applied, ApplyRefused, Budget, Claim, Discovery, Outcome, Pod, PodManagement, PodPhase,
    Refusal, Rollout, Settings, Strategy, Uid, Workload, World,
};
use jiff::Timestamp;

use crate::fixture::{noon, rollout, seconds, trouble, workload};

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

/// Where the operator dies in its next look that comes this far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    BeforeStatus,
    BeforeAction,
    AfterPart,
    AfterAction,
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
    pub(crate) now: Timestamp,
    pub(crate) rollout: Rollout,
    template: String,
    set: Option<Set>,
    pods: BTreeMap<u32, Pod>,
    budget: Option<Budget>,
    sick: BTreeSet<Uid>,
    pub(crate) status: Status,
    outcome: Outcome,
    view: View,
    looked_at: Option<(View, Rollout)>,
    wake: Option<Timestamp>,
    born: u32,
    crash: Option<Crash>,
    /// Seconds for which the caches stand still.
    pub(crate) lag: u32,
    /// Seconds for which the budget's controller stands still.
    pub(crate) budget_lag: u32,
    /// Seconds for which the StatefulSet's controller stands still.
    pub(crate) controller_lag: u32,
    /// Whether service discovery cannot be reached.
    pub(crate) unreachable: bool,
    /// Evictions that a webhook still refuses.
    pub(crate) refusals: u32,
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
        let mut cluster = Self {
            make,
            now: noon(),
            rollout: asked,
            template: "a".into(),
            set: None,
            pods: BTreeMap::new(),
            budget: None,
            sick: BTreeSet::new(),
            status: Status::default(),
            outcome: Outcome::default(),
            view: View {
                set: None,
                pods: Vec::new(),
                budget: None,
                discovery: Discovery::NotAsked,
            },
            looked_at: None,
            wake: None,
            born: 0,
            crash: None,
            lag: 0,
            budget_lag: 0,
            controller_lag: 0,
            unreachable: false,
            refusals: 0,
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
        self.pods.clear();
        self.lag = 0;
        self.view = self.truth();
    }

    fn ordinal(&self, nth: u32) -> u32 {
        self.make.first_ordinal + nth
    }

    /// The node goes: no budget is asked.
    pub(crate) fn drain(&mut self, nth: u32) {
        let (ordinal, at) = (self.ordinal(nth), self.now + seconds(self.make.grace));
        if let Some(pod) = self.pods.get_mut(&ordinal) {
            pod.deletion.get_or_insert(at);
        }
    }

    pub(crate) fn sicken(&mut self, nth: u32) {
        if let Some(pod) = self.pods.get_mut(&self.ordinal(nth)) {
            self.sick.insert(pod.uid.clone());
            pod.ready_since = None;
        }
    }

    pub(crate) fn heal(&mut self) {
        self.sick.clear();
    }

    pub(crate) fn budget_of(&mut self, max_unavailable: Option<u32>) {
        self.make.max_unavailable = max_unavailable;
    }

    pub(crate) fn crash(&mut self, crash: Crash) {
        self.crash = Some(crash);
    }

    // What can be asked.

    pub(crate) fn revisions(&self) -> Vec<(u32, String)> {
        self.pods.values().map(|pod| (pod.ordinal, pod.revision.clone())).collect()
    }

    pub(crate) fn uids(&self) -> Vec<Uid> {
        self.pods.values().map(|pod| pod.uid.clone()).collect()
    }

    pub(crate) fn at(&self, revision: &str) -> u32 {
        u32::try_from(self.pods.values().filter(|pod| pod.revision == revision).count())
            .unwrap_or(0)
    }

    /// Whether every Pod is there.
    pub(crate) fn complete(&self) -> bool {
        let wanted = self.set.as_ref().map_or(0, |set| set.shown.replicas as usize);
        self.pods.len() >= wanted
    }

    pub(crate) fn strategy(&self) -> Option<Strategy> {
        self.set.as_ref().map(|set| set.shown.strategy)
    }

    /// What the operator sees.
    pub(crate) fn world(&self) -> World {
        let workload = self.view.set.as_ref().map(|set| {
            let replicas = self.rollout.replicas.is_none_or(|n| n == set.shown.replicas);
            {
                let template_matches = set.template == self.template;
                let matches = template_matches && replicas;
                Workload { matches, template_matches, ..set.shown.clone() }
            }
        });
        World {
            rollout: self.rollout.clone(),
            status: self.status.clone(),
            workload,
            pods: self.view.pods.clone(),
            rival: None,
            budgets: self.view.budget.iter().cloned().collect(),
            discovery: self.view.discovery.clone(),
            outcome: self.outcome.clone(),
            settings: Settings::default(),
        }
    }

    // One second.

    /// Runs this many seconds; `judge` sees each decision before its action.
    pub(crate) fn run(
        &mut self,
        seconds: u32,
        judge: &mut dyn FnMut(&World, &Decision, Timestamp),
    ) {
        for _ in 0..seconds {
            self.tick(judge);
        }
    }

    pub(crate) fn tick(&mut self, judge: &mut dyn FnMut(&World, &Decision, Timestamp)) {
        self.now += seconds(1);
        self.kubelet();
        self.statefulset_controller();
        self.disruption_controller();
        if self.lag > 0 {
            self.lag -= 1;
        } else {
            self.view = self.truth();
        }
        let event =
            Some((&self.view, &self.rollout)) != self.looked_at.as_ref().map(|(v, r)| (v, r));
        if event || self.wake.is_some_and(|at| at <= self.now) {
            self.looked_at = Some((self.view.clone(), self.rollout.clone()));
            self.look(judge);
        }
    }

    fn truth(&self) -> View {
        View {
            set: self.set.clone(),
            pods: self.pods.values().cloned().collect(),
            budget: self.budget.clone(),
            discovery: self.discovery(),
        }
    }

    fn discovery(&self) -> Discovery {
        let seen = |pod: &&Pod| pod.ready_since.is_some_and(|since| since + seconds(2) <= self.now);
        let passing = self.pods.values().filter(seen).map(|pod| pod.name.clone()).collect();
        match (self.make.discovery, self.unreachable) {
            (false, _) => Discovery::NotAsked,
            (true, true) => Discovery::Unreachable { since: noon(), message: "no route".into() },
            (true, false) => Discovery::Read { at: noon(), services: vec!["web".into()], passing },
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
        let decision = engine::decide(&world, self.now);
        judge(&world, &decision, self.now);
        if self.dies(Crash::BeforeStatus) {
            return;
        }
        if decision.status.says_more_than(&self.status) {
            self.status = decision.status.clone();
        }
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
            self.view = self.truth();
        }
        dies
    }

    // What an action does to the API server.

    fn act(&mut self, action: &Action, part: bool) {
        self.outcome.refused.clear();
        self.outcome.apply_refused = None;
        match action {
            Action::Apply { strategy } => self.apply(*strategy),
            Action::SetStrategy { strategy } => {
                self.set_strategy(*strategy);
            }
            Action::Open { partition, .. } => {
                self.set_strategy(Strategy::RollingUpdate { partition: *partition });
            }
            Action::Evict { pods } => self.each(pods, part, Self::evict),
            Action::Delete { pods } => self.each(pods, part, Self::delete),
        }
    }

    fn is_forbidden(&mut self) -> bool {
        let Some(left) = self.forbidden.checked_sub(1) else { return false };
        self.forbidden = left;
        self.outcome.apply_refused = Some(ApplyRefused {
            hash: self.rollout.desired_hash.clone(),
            invalid: false,
            message: "forbidden".into(),
        });
        true
    }

    fn apply(&mut self, strategy: Strategy) {
        if self.is_forbidden() {
            return;
        }
        let revision = self.template.clone();
        self.sets += u32::from(self.set.is_none());
        let uid = format!("set-{}", self.sets);
        let set = self.set.get_or_insert_with(|| Set {
            shown: Workload {
                uid: uid.as_str().into(),
                generation: 0,
                observed_generation: 0,
                first_ordinal: self.make.first_ordinal,
                management: self.make.management,
                min_ready: seconds(self.make.min_ready),
                update_revision: revision.clone(),
                current_revision: revision,
                claim: Claim::Ours,
                ..workload(self.make.replicas)
            },
            template: String::new(),
            restarts: 0,
        });
        let before = set.clone();
        set.template.clone_from(&self.template);
        set.shown.strategy = strategy;
        set.shown.replicas = self.rollout.replicas.unwrap_or(set.shown.replicas);
        if *set != before {
            set.shown.generation += 1;
        }
        let (uid, generation) = (set.shown.uid.clone(), set.shown.generation);
        self.outcome.applied =
            Some(Applied { uid, hash: self.rollout.desired_hash.clone(), generation });
    }

    /// Whether it was written.
    fn set_strategy(&mut self, strategy: Strategy) -> bool {
        if self.set.is_none() || self.is_forbidden() {
            return false;
        }
        let Some(set) = &mut self.set else { return false };
        if set.shown.strategy != strategy {
            set.shown.strategy = strategy;
            set.shown.generation += 1;
        }
        let (uid, generation) = (set.shown.uid.clone(), set.shown.generation);
        let words = [&self.outcome.applied, &self.status.applied];
        let last = words.into_iter().flatten().find(|last| last.uid == uid);
        self.outcome.applied =
            last.map(|last| Applied { uid, hash: last.hash.clone(), generation });
        true
    }

    fn each(
        &mut self,
        pods: &[Victim],
        part: bool,
        way: impl Fn(&mut Self, &Victim) -> Result<(), Refusal>,
    ) {
        let mut stopped = false;
        for (done, victim) in pods.iter().enumerate() {
            if part && done > 0 {
                return;
            }
            let answer = if stopped { Err(Refusal::NotTried) } else { way(self, victim) };
            match answer {
                Ok(()) => {
                    self.outcome.accepted.insert(victim.uid.clone());
                }
                Err(refusal) => {
                    stopped |= matches!(refusal, Refusal::Budget(_) | Refusal::Policy(_));
                    self.outcome.refused.insert(victim.uid.clone(), refusal);
                }
            }
        }
    }

    fn evict(&mut self, victim: &Victim) -> Result<(), Refusal> {
        let pods = &mut self.pods;
        let pod = pods.values_mut().find(|pod| pod.uid == victim.uid).ok_or(Refusal::Gone)?;
        if self.refusals > 0 {
            self.refusals -= 1;
            return Err(Refusal::Policy("a webhook says no".into()));
        }
        let free = pod.phase == PodPhase::Pending || pod.deletion.is_some();
        if let Some(budget) = self.budget.as_mut().filter(|_| !free) {
            let met =
                budget.desired_healthy > 0 && budget.current_healthy >= budget.desired_healthy;
            let costs_nothing = pod.ready_since.is_none() && met;
            if !costs_nothing {
                let left = budget.allowed.checked_sub(1);
                budget.allowed = left.ok_or_else(|| Refusal::Budget("no room".into()))?;
            }
        }
        pod.deletion.get_or_insert(self.now + seconds(self.make.grace));
        Ok(())
    }

    fn delete(&mut self, victim: &Victim) -> Result<(), Refusal> {
        let mut pods = self.pods.values_mut();
        let pod = pods.find(|pod| pod.uid == victim.uid).ok_or(Refusal::Gone)?;
        if pod.ready_since.is_some() {
            return Err(Refusal::Gone);
        }
        pod.deletion.get_or_insert(self.now + seconds(self.make.grace));
        Ok(())
    }

    // What the other controllers do.

    fn kubelet(&mut self) {
        let (now, start_up) = (self.now, seconds(self.make.start_up));
        self.pods.retain(|_, pod| pod.deletion.is_none_or(|at| at > now));
        for pod in self.pods.values_mut() {
            let bad = pod.revision.starts_with("bad");
            if pod.deletion.is_some() {
                continue;
            }
            if bad {
                pod.trouble = Some(trouble("ImagePullBackOff"));
            } else if now >= pod.created + start_up {
                pod.phase = PodPhase::Running;
                if !self.sick.contains(&pod.uid) && pod.ready_since.is_none() {
                    pod.ready_since = Some(now);
                }
            }
        }
    }

    fn statefulset_controller(&mut self) {
        if self.controller_lag > 0 {
            self.controller_lag -= 1;
            return;
        }
        let Some(set) = &mut self.set else { return };
        set.shown.update_revision = set.revision();
        set.shown.observed_generation = set.shown.generation;
        let set = set.clone();
        let shown = &set.shown;
        let (first, end) = (shown.first_ordinal, shown.first_ordinal + shown.replicas);
        let ordered = shown.management == PodManagement::OrderedReady;
        let at = self.now + seconds(self.make.grace);
        for (_, pod) in self.pods.range_mut(end..) {
            pod.deletion.get_or_insert(at);
        }
        let now = self.now;
        let good = |pod: &Pod| engine::account::is_available(pod, shown, now);
        for ordinal in first..end {
            match self.pods.get(&ordinal) {
                Some(pod) if good(pod) => {}
                Some(_) if ordered => return,
                Some(_) => {}
                None => {
                    let pod = self.newborn(ordinal, shown);
                    self.pods.insert(ordinal, pod);
                    if ordered {
                        return;
                    }
                }
            }
        }
        let Strategy::RollingUpdate { partition } = shown.strategy else { return };
        for (_, pod) in self.pods.range_mut((first + partition).min(end)..end).rev() {
            if pod.deletion.is_none() && pod.revision != shown.update_revision {
                pod.deletion = Some(at);
                return;
            }
            if !engine::account::is_available(pod, shown, self.now) {
                return;
            }
        }
        let complete = (first..end).all(|ordinal| {
            self.pods.get(&ordinal).is_some_and(|pod| {
                pod.revision == shown.update_revision && pod.ready_since.is_some()
            })
        });
        if let Some(set) = self.set.as_mut().filter(|_| complete) {
            set.shown.current_revision.clone_from(&set.shown.update_revision);
        }
    }

    fn newborn(&mut self, ordinal: u32, shown: &Workload) -> Pod {
        self.born += 1;
        let held = match shown.strategy {
            Strategy::OnDelete => false,
            Strategy::RollingUpdate { partition } => ordinal < shown.first_ordinal + partition,
        };
        let revision = if held { &shown.current_revision } else { &shown.update_revision };
        Pod {
            name: format!("web-{ordinal}"),
            uid: Uid(format!("uid-{:04}", self.born)),
            resource_version: "1".into(),
            ordinal,
            node: Some("n1".into()),
            revision: revision.clone(),
            version: revision.clone(),
            phase: PodPhase::Pending,
            ready_since: None,
            created: self.now,
            deletion: None,
            finalizers: Vec::new(),
            trouble: None,
        }
    }

    fn disruption_controller(&mut self) {
        if self.budget_lag > 0 {
            self.budget_lag -= 1;
            return;
        }
        let (Some(max), Some(set)) = (self.make.max_unavailable, &self.set) else {
            self.budget = None;
            return;
        };
        let pods: Vec<Pod> = self.pods.values().cloned().collect();
        self.budget = Some(crate::fixture::budget_over(&pods, set.shown.replicas, max));
    }
}
