//! The controllers of Kruise's workloads, as far as a release depends on them.

use engine::world::{Pod, PodManagement, Strategy};

use super::{Clones, Cluster};

impl Cluster {
    /// How many the partition holds; `None` under `OnDelete`.
    fn partition(&self) -> Option<usize> {
        let workload = &self.body.workload;
        match workload.strategy {
            Strategy::OnDelete => None,
            Strategy::RollingUpdate { partition } => {
                Some(partition.min(workload.replicas) as usize)
            }
        }
    }

    /// Those that are not going, in the order in which they would be replaced.
    fn staying(&self, at_update: bool, unready_first: bool) -> Vec<usize> {
        let update = &self.body.workload.update_revision;
        let stays = |nth: &usize| {
            let pod = &self.pods[*nth];
            pod.deletion.is_none() && (pod.revision == *update) == at_update
        };
        let mut pods: Vec<usize> = (0..self.pods.len()).filter(stays).collect();
        pods.sort_by_key(|nth| unready_first && self.good(&self.pods[*nth]));
        pods
    }

    /// Counts alone: what goes is not counted, what is too few is made, old ones first; what is too many at
    /// the old revision is replaced; and nothing is ever turned back.
    pub(super) fn clones_controller(&mut self, clones: Clones) {
        let workload = self.body.workload.clone();
        let replicas = workload.replicas as usize;
        let partition = self.partition().expect("a CloneSet has no OnDelete");
        let first = !clones.priorities;
        let (old, new) = (self.staying(false, first), self.staying(true, first));
        let there = old.len() + new.len();
        if old.is_empty() && there == replicas {
            self.body.workload.current_revision.clone_from(&workload.update_revision);
        }
        let surplus = old.len().saturating_sub(partition);
        let wanted = (replicas - partition).saturating_sub(new.len());
        let due = surplus.min(wanted);
        let expected = replicas + due.min(clones.surge as usize);
        if there < expected {
            let mut back = partition.saturating_sub(old.len());
            for _ in there..expected {
                let revision =
                    if back > 0 { &workload.current_revision } else { &workload.update_revision };
                back = back.saturating_sub(1);
                let number = self.born;
                self.make_pod(number, format!("web-{number}"), revision);
            }
            return;
        }
        let now = self.now;
        let most = (self.make.max_unavailable as usize + there).saturating_sub(replicas);
        let bad = |pods: &[usize]| pods.iter().filter(|nth| !self.good(&self.pods[**nth])).count();
        let (mut away, mut fresh) = (bad(&old) + bad(&new), bad(&new));
        if there > expected {
            let too_many = there - expected;
            let from_old = surplus.min(too_many);
            let goes = old.iter().take(from_old).chain(new.iter().take(too_many - from_old));
            let mut ready = most.saturating_sub(away);
            for nth in goes {
                let good = self.good(&self.pods[*nth]);
                if !good || ready > 0 {
                    self.pods[*nth].deletion = Some(now);
                    ready -= usize::from(good);
                }
            }
            return;
        }
        for nth in old.into_iter().take(due) {
            let good = self.good(&self.pods[nth]);
            if fresh >= most || (good && away >= most) {
                return;
            }
            fresh += 1;
            away += usize::from(good);
            let pod = &mut self.pods[nth];
            if clones.in_place {
                pod.revision.clone_from(&workload.update_revision);
                (pod.ready_since, pod.trouble) = (None, None);
                self.restarted.insert(pod.uid.clone(), now);
                self.sick.remove(&pod.uid);
            } else {
                pod.deletion = Some(now);
            }
        }
    }

    /// As that of a StatefulSet, but as many at a time as may be unavailable, and by a partition that counts
    /// what there is; without an order it counts alone.
    pub(super) fn advanced_set_controller(&mut self, unordered: bool) {
        let workload = self.body.workload.clone();
        let ordered = workload.management == PodManagement::OrderedReady;
        let partition = self.partition();
        let ordinals: Vec<u32> = workload.ordinals().collect();
        for (index, ordinal) in ordinals.iter().enumerate() {
            match self.pods.iter().find(|pod| pod.ordinal == *ordinal) {
                Some(pod) if ordered && !self.good(pod) => return,
                Some(_) => {}
                None => {
                    let others = |pod: &&Pod| pod.revision != workload.update_revision;
                    let held = match unordered {
                        true => self.pods.iter().filter(others).count(),
                        false => index,
                    };
                    let current = partition.is_some_and(|partition| held < partition);
                    let revision = if current {
                        &workload.current_revision
                    } else {
                        &workload.update_revision
                    };
                    self.make_pod(*ordinal, format!("web-{ordinal}"), revision);
                    if ordered {
                        return;
                    }
                }
            }
        }
        let now = self.now;
        self.pods.sort_by_key(|pod| pod.ordinal);
        for pod in self.pods.iter_mut().filter(|pod| !ordinals.contains(&pod.ordinal)) {
            pod.deletion.get_or_insert(now);
        }
        let Some(partition) = partition else { return };
        let all = self.pods.iter().all(|pod| pod.revision == workload.update_revision);
        if all && self.pods.iter().all(|pod| self.good(pod)) {
            self.body.workload.current_revision.clone_from(&workload.update_revision);
        }
        let there: Vec<usize> = (0..self.pods.len())
            .filter(|nth| ordinals.contains(&self.pods[*nth].ordinal))
            .collect();
        let moved = |nth: &usize| {
            let pod = &self.pods[*nth];
            pod.deletion.is_some() || pod.revision == workload.update_revision
        };
        let mut turn: Vec<usize> = there.iter().rev().copied().collect();
        if unordered {
            turn.sort_by_key(|nth| !moved(nth));
        }
        turn.truncate(ordinals.len() - partition);
        turn.retain(|nth| !moved(nth));
        let most = if ordered { 1 } else { self.make.max_unavailable as usize };
        let mut away = there.iter().filter(|nth| !self.good(&self.pods[**nth])).count();
        for nth in turn {
            let good = self.good(&self.pods[nth]);
            if good && away >= most {
                return;
            }
            away += usize::from(good);
            self.pods[nth].deletion = Some(now);
        }
    }

    /// By the names of Nodes, from the last; what is lost comes back updated, and takes the place of one that
    /// the partition lets go.
    pub(super) fn advanced_daemon_controller(&mut self) {
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
        let Some(partition) = self.partition() else { return };
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
        let most = self.make.max_unavailable as usize;
        let mut away = moved.iter().filter(|nth| !self.good(&self.pods[**nth])).count();
        for nth in rest {
            let good = self.good(&self.pods[nth]);
            if !good || away < most {
                self.pods[nth].deletion = Some(now);
                away += usize::from(good);
            }
        }
    }
}
