//! Who moves Pods in the small cluster: the workload's own controller, and that of the BatchRelease.

use engine::front::rollout::{BatchState, ReleasePhase};

use crate::model::{Batches, Cluster, count, is_bad};

impl Cluster {
    pub(crate) fn own_controller(&mut self) {
        let Some(work) = &mut self.work else { return };
        work.observed = work.generation;
        if work.held || work.controlled {
            return;
        }
        let template = work.template;
        if let Some(pod) = work.pods.iter_mut().find(|pod| **pod != template) {
            *pod = template;
        }
    }

    pub(crate) fn release_controller(&mut self) {
        let Some(mut batches) = self.batches.clone() else { return };
        if batches.seen.deleting {
            let lets_go = batches.seen.plan.partition.is_none();
            self.write(|work| {
                work.controlled = false;
                if lets_go || !work.marked {
                    (work.held, work.stable) = (false, None);
                }
            });
            self.batches = None;
            return;
        }
        let before = batches.clone();
        self.batch(&mut batches);
        if batches != before {
            batches.version = self.version();
        }
        self.batches = Some(batches);
    }

    fn batch(&mut self, batches: &mut Batches) {
        let Some(work) = self.work.clone() else { return };
        let it = &mut batches.seen;
        let plan = it.plan.clone();
        it.observed_generation = it.generation;
        match it.phase {
            Some(ReleasePhase::Completed) => return,
            _ if plan.partition.is_none() => {
                if it.phase == Some(ReleasePhase::Finalizing) {
                    it.phase = Some(ReleasePhase::Completed);
                } else {
                    self.write(|work| {
                        (work.controlled, work.held, work.stable) = (false, false, None);
                    });
                    it.phase = Some(ReleasePhase::Finalizing);
                }
                return;
            }
            None => {
                self.write(|work| (work.controlled, work.held) = (true, true));
                it.phase = Some(ReleasePhase::Progressing);
                batches.of = work.template;
            }
            Some(_) => {}
        }
        let partition = plan.partition.unwrap_or(0);
        if batches.observed.as_ref() != Some(&plan) {
            let same = it.observed_rollout_id == plan.rollout_id;
            it.current_batch = if same { partition } else { 0 };
            it.batch_state = Some(BatchState::Upgrading);
            it.observed_rollout_id.clone_from(&plan.rollout_id);
            batches.observed = Some(plan.clone());
        }
        if plan.rollback_in_batch && work.stable == Some(work.template) {
            batches.of = work.template;
        }
        if work.template != batches.of {
            return;
        }
        if !work.controlled {
            self.write(|work| (work.controlled, work.held) = (true, true));
            return;
        }
        let it = &mut batches.seen;
        let last = u32::try_from(plan.batches.len() - 1).expect("few");
        it.current_batch = it.current_batch.min(last);
        let size = plan.batches[usize::try_from(it.current_batch).expect("few")];
        let replicas = u32::try_from(work.pods.len()).expect("few");
        let target = size.of_deployment(replicas);
        let updated = count(&work.pods, |pod| pod == work.template);
        if updated < target && !plan.paused {
            it.batch_state = Some(BatchState::Upgrading);
            let template = work.template;
            self.write(|work| {
                if let Some(pod) = work.pods.iter_mut().find(|pod| **pod != template) {
                    *pod = template;
                }
            });
        }
        let work = self.work.as_ref().expect("there");
        it.updated = count(&work.pods, |pod| pod == work.template);
        it.updated_ready = if is_bad(work.template) { 0 } else { it.updated };
        let ready = it.updated >= target && it.updated_ready >= target;
        if !ready {
            let moving = it.updated < target;
            it.batch_state =
                Some(if moving { BatchState::Upgrading } else { BatchState::Verifying });
        } else if it.batch_state == Some(BatchState::Ready)
            && it.current_batch < partition.min(last)
        {
            it.current_batch += 1;
            it.batch_state = Some(BatchState::Upgrading);
        } else {
            it.batch_state = Some(BatchState::Ready);
        }
    }
}
