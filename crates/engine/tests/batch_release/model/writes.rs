//! What an action does to the API server.

use engine::decision::Action as Motion;
use engine::front::batch_release::{Action, Control, Held, Label, Machinery, Mark, Original};

use super::{Cluster, share};
use crate::fixture::partition;

impl Cluster {
    pub(super) fn act(&mut self, action: &Action) {
        let part = self.operator.does_part();
        let outcome = &mut self.operator.outcome;
        outcome.refused.clear();
        self.unseen = !matches!(action, Action::Move(Motion::Evict { .. } | Motion::Delete { .. }));
        let count = |pods: usize| u32::try_from(pods).unwrap_or(u32::MAX);
        match action {
            Action::Label { pods } => self.writes.labels += count(pods.len()),
            Action::Move(Motion::Evict { pods }) => self.writes.evictions += count(pods.len()),
            _ => self.writes.workload += 1,
        }
        match action {
            Action::AddFinalizer => self.release.finalizer = true,
            Action::RemoveFinalizer => self.release.finalizer = false,
            Action::Take { keep, held } => self.take(*keep, *held),
            Action::Release { restore } => self.give_back(*restore),
            Action::Move(Motion::SetStrategy { strategy }) => {
                self.write(|body| body.workload.strategy = *strategy);
            }
            Action::Move(Motion::Open { partition: it, percent }) => {
                let replicas = self.view.body.workload.replicas;
                self.write(|body| body.workload.strategy = partition(*it));
                self.percent = *percent;
                if let Some(percent) = *percent {
                    assert_eq!(share(percent, replicas), *it, "{percent}% of {replicas}");
                    let replicas = self.body.workload.replicas;
                    self.body.workload.strategy = partition(share(percent, replicas));
                }
            }
            Action::Move(Motion::Evict { pods }) => self.kubernetes.evict(pods, part, outcome),
            Action::Move(Motion::Delete { pods }) => self.kubernetes.delete(pods, part, outcome),
            Action::Move(Motion::Apply { .. }) => panic!("a release applies nothing"),
            Action::Size(write) => {
                let replicas = self.body.workload.replicas;
                self.kubernetes.size(write, &self.template, replicas);
            }
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
                (Machinery::Pods { saved, .. }, Some(Original::Strategy(own))) => {
                    *saved = Some(own);
                }
                (Machinery::Deployment(deployment), Some(Original::Rolling(own))) => {
                    deployment.saved = Some(own);
                }
                (_, None) => {}
                (machinery, keep) => panic!("{keep:?} is not for {machinery:?}"),
            }
        });
    }

    pub(crate) fn give_back(&mut self, restore: Option<Original>) {
        self.write(|body| {
            body.control = Control::Free;
            match (&mut body.machinery, restore) {
                (_, None) => {}
                (Machinery::Pods { saved, .. }, Some(Original::Strategy(own))) => {
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
}
