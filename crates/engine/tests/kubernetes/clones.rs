//! The controller of CloneSets.

use engine::world::Workload;

use super::{Kubernetes, partition};

/// How a CloneSet updates its Pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clones {
    pub(crate) in_place: bool,
    pub(crate) surge: u32,
    /// Whether priorities that the user gave decide which go first.
    pub(crate) priorities: bool,
}

impl Kubernetes {
    /// Counts alone: what goes is not counted, what is too few is made, old ones first; what is too many at
    /// the old revision is replaced; and nothing is ever turned back.
    pub(super) fn clone_set(&mut self, workload: &mut Workload, clones: Clones) {
        let replicas = workload.replicas as usize;
        let partition = partition(workload).expect("a CloneSet has no OnDelete");
        let first = !clones.priorities;
        let (old, new) =
            (self.staying(workload, false, first), self.staying(workload, true, first));
        let there = old.len() + new.len();
        if old.is_empty() && there == replicas {
            workload.current_revision.clone_from(&workload.update_revision);
        }
        let surplus = old.len().saturating_sub(partition);
        let wanted = (replicas - partition).saturating_sub(new.len());
        let due = surplus.min(wanted);
        let expected = replicas + due.min(clones.surge as usize);
        if there < expected {
            let back = partition.saturating_sub(old.len());
            return self.make_clones(workload, expected - there, back);
        }
        let most = (self.max_unavailable as usize + there).saturating_sub(replicas);
        let bad = |pods: &[usize]| {
            pods.iter().filter(|nth| !self.good(&self.pods[**nth], workload)).count()
        };
        let (away, fresh) = (bad(&old) + bad(&new), bad(&new));
        if there > expected {
            let too_many = there - expected;
            let from_old = surplus.min(too_many);
            let goes = old.iter().take(from_old).chain(new.iter().take(too_many - from_old));
            let mut ready = most.saturating_sub(away);
            for nth in goes {
                let good = self.good(&self.pods[*nth], workload);
                if !good || ready > 0 {
                    self.end(*nth);
                    ready -= usize::from(good);
                }
            }
            return;
        }
        let (mut away, mut fresh) = (away, fresh);
        for nth in old.into_iter().take(due) {
            let good = self.good(&self.pods[nth], workload);
            if fresh >= most || (good && away >= most) {
                return;
            }
            fresh += 1;
            away += usize::from(good);
            if clones.in_place { self.update_in_place(workload, nth) } else { self.end(nth) }
        }
    }

    /// Those that are not going, in the order in which they would be replaced.
    fn staying(&self, workload: &Workload, at_update: bool, unready_first: bool) -> Vec<usize> {
        let stays = |nth: &usize| {
            let pod = &self.pods[*nth];
            pod.deletion.is_none() && (pod.revision == workload.update_revision) == at_update
        };
        let mut pods: Vec<usize> = (0..self.pods.len()).filter(stays).collect();
        pods.sort_by_key(|nth| unready_first && self.good(&self.pods[*nth], workload));
        pods
    }

    /// So many of them at the old revision.
    fn make_clones(&mut self, workload: &Workload, many: usize, old: usize) {
        for nth in 0..many {
            let revision =
                if nth < old { &workload.current_revision } else { &workload.update_revision };
            self.make_pod(self.born, self.next_name(), revision);
        }
    }

    fn update_in_place(&mut self, workload: &Workload, nth: usize) {
        let pod = &mut self.pods[nth];
        pod.revision.clone_from(&workload.update_revision);
        (pod.ready_since, pod.trouble) = (None, None);
        self.restarted.insert(pod.uid.clone(), self.now);
        self.sick.remove(&pod.uid);
    }
}
