//! The operator's loop: caches, a look when something is new or due, the status, the action.

use engine::front::batch_release::{Change, Decision, Phase, World, decide};
use jiff::Timestamp;

use super::{Cluster, View};
use crate::kubernetes::{Crash, seconds};

impl Cluster {
    pub(crate) fn run(
        &mut self,
        seconds: u32,
        judge: &mut dyn FnMut(&World, &Decision, Timestamp),
    ) {
        for _ in 0..seconds {
            self.tick(judge);
        }
    }

    /// Runs until nothing has happened for longer than anything waits, or for this long at most.
    pub(crate) fn rest(&mut self, most: u32, judge: &mut dyn FnMut(&World, &Decision, Timestamp)) {
        let mut still = 0;
        for _ in 0..most {
            let before = (self.truth(), self.status.clone(), self.release.clone());
            self.tick(judge);
            let same = before == (self.truth(), self.status.clone(), self.release.clone());
            still = if same { still + 1 } else { 0 };
            if still > 35 {
                return;
            }
        }
    }

    pub(crate) fn tick(&mut self, judge: &mut dyn FnMut(&World, &Decision, Timestamp)) {
        self.others();
        // A Rollout deletes a release of another template, makes the next one when it is gone, and takes
        // its mark off at the end.
        self.rollout_lag = self.rollout_lag.saturating_sub(1);
        self.release.deleted |= self.replaced && self.rollout_lag == 0;
        let over = self.status.phase == Some(Phase::Completed) && !self.led;
        if self.replaced && self.release.deleted && !self.release.finalizer {
            self.begin();
        } else if over && !self.replaced && self.body.in_progressing {
            self.body.in_progressing = false;
            self.body.stable_revision = None;
        }
        if self.operator.sees() {
            self.refresh();
        }
        // What is deleted and bears no finalizer is gone.
        let gone = self.release.deleted && !self.release.finalizer;
        for _ in 0..if gone { 0 } else { 4 } {
            let seen = Some((self.view.clone(), self.release.clone()));
            let due = self.operator.wake.is_some_and(|at| at <= self.kubernetes.now);
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
            if self.operator.lag == 0 {
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
            sets: self.kubernetes.sets.clone(),
            template: self.template.clone(),
            pods: self.kubernetes.pods.clone(),
            budget: self.kubernetes.budget.clone(),
            marks: self.marks.clone(),
        }
    }

    fn look(&mut self, judge: &mut dyn FnMut(&World, &Decision, Timestamp)) {
        self.operator.forget(&self.view.pods);
        let (world, now) = (self.world(), self.kubernetes.now);
        let decision = decide(&world, now);
        judge(&world, &decision, now);
        if self.dies(Crash::BeforeStatus) {
            return;
        }
        self.operator.wake = decision.wake;
        let next = self.written.map(|at| at + seconds(5));
        match decision.status.change(&self.status) {
            // Counts and sentences wait for five seconds after the last write.
            Change::Numbers if next.is_some_and(|at| at > now) => {
                self.operator.wake = self.operator.wake.into_iter().chain(next).min();
            }
            Change::None => {}
            Change::Numbers | Change::Standing => {
                self.status = decision.status.clone();
                self.written = Some(now);
                self.writes.status += 1;
            }
        }
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
            self.refresh();
        }
        dies
    }
}
