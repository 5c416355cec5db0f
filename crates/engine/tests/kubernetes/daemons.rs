//! The controllers of one Pod on each Node: of the DaemonSet and of the Advanced one. A Pod's ordinal is the
//! number of its Node.

use engine::world::{Strategy, Workload};

use super::{Kubernetes, partition};

impl Kubernetes {
    /// What is not available goes at once, of the others as many as may be unavailable.
    pub(super) fn daemon_set(&mut self, workload: &Workload) {
        self.fill_nodes(workload);
        if workload.strategy == Strategy::OnDelete {
            return;
        }
        let max = self.max_unavailable as usize;
        let mut away = self.pods.iter().filter(|pod| !self.good(pod, workload)).count();
        for nth in 0..self.pods.len() {
            let (good, pod) = (self.good(&self.pods[nth], workload), &self.pods[nth]);
            if pod.revision == workload.update_revision || pod.deletion.is_some() {
                continue;
            }
            if !good || away < max {
                self.end(nth);
                away += usize::from(good);
            }
        }
    }

    /// By the names of Nodes, from the last; what is lost comes back updated, and takes the place of one that
    /// the partition lets go.
    pub(super) fn advanced_daemon_set(&mut self, workload: &Workload) {
        self.fill_nodes(workload);
        let Some(partition) = partition(workload) else { return };
        self.pods.sort_by_key(|pod| pod.ordinal);
        let on_node: Vec<usize> = (0..self.pods.len())
            .filter(|nth| self.pods[*nth].ordinal < workload.replicas)
            .collect();
        let (mut rest, moved): (Vec<usize>, Vec<usize>) =
            on_node.into_iter().rev().partition(|nth| {
                let pod = &self.pods[*nth];
                pod.deletion.is_none() && pod.revision != workload.update_revision
            });
        let open = (workload.replicas as usize).saturating_sub(partition);
        rest.truncate(open.saturating_sub(moved.len()));
        let most = self.max_unavailable as usize;
        let bad = |nth: &&usize| !self.good(&self.pods[**nth], workload);
        let mut away = moved.iter().filter(bad).count();
        for nth in rest {
            let good = self.good(&self.pods[nth], workload);
            if !good || away < most {
                self.end(nth);
                away += usize::from(good);
            }
        }
    }

    /// What comes is always at the update revision.
    fn fill_nodes(&mut self, workload: &Workload) {
        for node in 0..workload.replicas {
            if self.pods.iter().all(|pod| pod.ordinal != node) {
                self.make_pod(node, self.next_name(), &workload.update_revision);
            }
        }
        self.end_all(|pod| pod.ordinal >= workload.replicas);
    }
}
