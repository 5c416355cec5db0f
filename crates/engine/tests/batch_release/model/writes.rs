//! What an action does to the API server.

use engine::decision::{Action as Motion, Victim};
use engine::front::batch_release::{Action, Control, Held, Label, Machinery, Mark, Original};
use engine::mover::replica_sets::Write;
use engine::world::{PodPhase, Refusal};

use super::{Cluster, share};
use crate::fixture::{budget_over, partition, sized};

impl Cluster {
    pub(super) fn act(&mut self, action: &Action, part: bool) {
        self.outcome.refused.clear();
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

    pub(super) fn size(&mut self, write: &Write) {
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
}
