//! The controllers of Pods that have ordinals: of the StatefulSet and of the Advanced one.

use engine::world::{Pod, PodManagement, Workload};

use super::{Kubernetes, partition};

impl Kubernetes {
    /// From the highest ordinal down to the partition, one at a time; each waits for those above it.
    pub(super) fn stateful_set(&mut self, workload: &mut Workload) {
        let Some(there) = self.filled(workload, false) else { return };
        let Some(held) = partition(workload) else { return };
        for nth in there.into_iter().skip(held).rev() {
            let pod = &self.pods[nth];
            if pod.revision != workload.update_revision && pod.deletion.is_none() {
                self.end(nth);
                return;
            }
            if !self.good(pod, workload) {
                return;
            }
        }
        self.settle(workload);
    }

    /// As many at a time as may be unavailable, and by a partition that counts what there is; without an
    /// order it counts alone.
    pub(super) fn advanced_stateful_set(&mut self, workload: &mut Workload, unordered: bool) {
        let Some(there) = self.filled(workload, unordered) else { return };
        let Some(held) = partition(workload) else { return };
        self.settle(workload);
        let moved = |nth: &usize| {
            let pod = &self.pods[*nth];
            pod.deletion.is_some() || pod.revision == workload.update_revision
        };
        let mut turn: Vec<usize> = there.iter().rev().copied().collect();
        if unordered {
            turn.sort_by_key(|nth| !moved(nth));
        }
        turn.truncate(there.len() - held);
        turn.retain(|nth| !moved(nth));
        let ordered = workload.management == PodManagement::OrderedReady;
        let most = if ordered { 1 } else { self.max_unavailable as usize };
        let bad = |nth: &&usize| !self.good(&self.pods[**nth], workload);
        let mut away = there.iter().filter(bad).count();
        for nth in turn {
            let good = self.good(&self.pods[nth], workload);
            if good && away >= most {
                return;
            }
            away += usize::from(good);
            self.end(nth);
        }
    }

    /// Makes what is missing, in order where that is asked, and lets go what is too many. The Pods that
    /// belong there, by their ordinals; `None` while one has to be waited for.
    fn filled(&mut self, workload: &Workload, unordered: bool) -> Option<Vec<usize>> {
        let ordered = workload.management == PodManagement::OrderedReady;
        let ordinals: Vec<u32> = workload.ordinals().collect();
        for (index, ordinal) in ordinals.iter().enumerate() {
            match self.pods.iter().find(|pod| pod.ordinal == *ordinal) {
                Some(pod) if ordered && !self.good(pod, workload) => return None,
                Some(_) => {}
                None => {
                    self.comes_back(workload, *ordinal, index, unordered);
                    if ordered {
                        return None;
                    }
                }
            }
        }
        self.end_all(|pod| !ordinals.contains(&pod.ordinal));
        let belongs = |nth: &usize| ordinals.contains(&self.pods[*nth].ordinal);
        Some((0..self.pods.len()).filter(belongs).collect())
    }

    /// At the revision that the partition holds where it is below that.
    fn comes_back(&mut self, workload: &Workload, ordinal: u32, index: usize, unordered: bool) {
        let others = |pod: &&Pod| pod.revision != workload.update_revision;
        let below = if unordered { self.pods.iter().filter(others).count() } else { index };
        let held = partition(workload).is_some_and(|held| below < held);
        let revision = if held { &workload.current_revision } else { &workload.update_revision };
        self.make_pod(ordinal, format!("web-{ordinal}"), revision);
        self.pods.sort_by_key(|pod| pod.ordinal);
    }

    /// Where every Pod is updated and ready, so is the set.
    fn settle(&self, workload: &mut Workload) {
        let done = |pod: &Pod| {
            let ready = pod.ready_since.is_some() && pod.deletion.is_none();
            ready && pod.revision == workload.update_revision
        };
        if self.pods.iter().all(done) {
            workload.current_revision.clone_from(&workload.update_revision);
        }
    }
}
