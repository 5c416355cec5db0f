//! What an action does to the API server.

use engine::decision::Action;
use engine::world::{Applied, ApplyRefused, Strategy, Workload};

use super::{Cluster, Set};
use crate::fixture::workload;
use crate::kubernetes::seconds;

impl Cluster {
    pub(super) fn act(&mut self, action: &Action) {
        let part = self.operator.does_part();
        let outcome = &mut self.operator.outcome;
        outcome.refused.clear();
        outcome.apply_refused = None;
        match action {
            Action::Apply { strategy } => self.apply(*strategy),
            Action::SetStrategy { strategy } => self.set_strategy(*strategy),
            Action::Open { partition, .. } => {
                self.set_strategy(Strategy::RollingUpdate { partition: *partition });
            }
            Action::Evict { pods } => self.kubernetes.evict(pods, part, outcome),
            Action::Delete { pods } => self.kubernetes.delete(pods, part, outcome),
        }
    }

    fn is_forbidden(&mut self) -> bool {
        let Some(left) = self.forbidden.checked_sub(1) else { return false };
        self.forbidden = left;
        self.operator.outcome.apply_refused = Some(ApplyRefused {
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
        self.operator.outcome.applied =
            Some(Applied { uid, hash: self.rollout.desired_hash.clone(), generation });
    }

    fn set_strategy(&mut self, strategy: Strategy) {
        if self.set.is_none() || self.is_forbidden() {
            return;
        }
        let Some(set) = &mut self.set else { return };
        if set.shown.strategy != strategy {
            set.shown.strategy = strategy;
            set.shown.generation += 1;
        }
        let (uid, generation) = (set.shown.uid.clone(), set.shown.generation);
        let words = [&self.operator.outcome.applied, &self.status.applied];
        let last = words.into_iter().flatten().find(|last| last.uid == uid);
        self.operator.outcome.applied =
            last.map(|last| Applied { uid, hash: last.hash.clone(), generation });
    }
}
