//! The operator's loop: caches, a look when something is new or due, the status, the action.

use engine::decision::Decision;
use engine::world::{Discovery, Pod, World};
use jiff::Timestamp;

use super::{Cluster, Set, View};
use crate::kubernetes::{Crash, Written, noon, seconds};

impl Cluster {
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
        let revision = self.set.as_ref().map(Set::revision).unwrap_or_default();
        let set = self.set.as_mut();
        self.kubernetes.tick(set.map(|set| Written {
            workload: &mut set.shown,
            revision: &revision,
            paused: false,
        }));
        if self.operator.sees() {
            self.view = self.truth();
        }
        let event =
            Some((&self.view, &self.rollout)) != self.looked_at.as_ref().map(|(v, r)| (v, r));
        if event || self.operator.wake.is_some_and(|at| at <= self.kubernetes.now) {
            self.looked_at = Some((self.view.clone(), self.rollout.clone()));
            self.look(judge);
        }
    }

    pub(super) fn truth(&self) -> View {
        View {
            set: self.set.clone(),
            pods: self.kubernetes.pods.clone(),
            budget: self.kubernetes.budget.clone(),
            discovery: self.discovery(),
        }
    }

    fn discovery(&self) -> Discovery {
        let now = self.kubernetes.now;
        let seen = |pod: &&Pod| pod.ready_since.is_some_and(|since| since + seconds(2) <= now);
        let passing =
            self.kubernetes.pods.iter().filter(seen).map(|pod| pod.name.clone()).collect();
        match (self.make.discovery, self.unreachable) {
            (false, _) => Discovery::NotAsked,
            (true, true) => Discovery::Unreachable { since: noon(), message: "no route".into() },
            (true, false) => Discovery::Read { at: noon(), services: vec!["web".into()], passing },
        }
    }

    fn look(&mut self, judge: &mut dyn FnMut(&World, &Decision, Timestamp)) {
        self.operator.forget(&self.view.pods);
        let (world, now) = (self.world(), self.kubernetes.now);
        let decision = engine::decide(&world, now);
        judge(&world, &decision, now);
        if self.dies(Crash::BeforeStatus) {
            return;
        }
        if decision.status.says_more_than(&self.status) {
            self.status = decision.status.clone();
        }
        self.operator.wake = decision.wake;
        let Some(action) = decision.action else { return };
        if self.dies(Crash::BeforeAction) {
            return;
        }
        self.act(&action);
        self.operator.outcome.acted_at = Some(now);
        let _ = self.dies(Crash::AfterPart) || self.dies(Crash::AfterAction);
    }

    fn dies(&mut self, here: Crash) -> bool {
        let dies = self.operator.dies(here);
        if dies {
            self.looked_at = None;
            self.view = self.truth();
        }
        dies
    }
}
