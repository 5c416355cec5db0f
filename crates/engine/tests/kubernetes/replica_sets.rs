//! The controllers of Deployments and of their ReplicaSets, each named `web-REVISION`.

use engine::mover::replica_sets::{ReplicaSet, Write};
use engine::world::{Pod, Workload};

use super::{Kubernetes, count, sized};

fn revision(set: &ReplicaSet) -> &str {
    set.name.trim_start_matches("web-")
}

impl Kubernetes {
    /// Paused it sizes the one ReplicaSet that there is; else it rolls, with a surge of one and one
    /// unavailable.
    pub(super) fn deployment(&mut self, workload: &Workload, paused: bool) {
        let replicas = workload.replicas;
        let active = self.sets.iter().filter(|set| set.size > 0).count();
        if active <= 1
            && let Some(set) = self.sets.iter_mut().find(|set| set.size > 0 || active == 0)
            && set.size != replicas
        {
            (set.size, set.sized_for) = (replicas, replicas);
        }
        if !paused {
            self.roll(workload);
        }
        for nth in 0..self.sets.len() {
            self.replica_set(nth, workload);
        }
    }

    fn roll(&mut self, workload: &Workload) {
        let (replicas, revision) = (workload.replicas, workload.update_revision.as_str());
        self.size(&Write::Create { size: 0 }, revision, replicas);
        let total: u32 = self.sets.iter().map(|set| set.size).sum();
        let good = count(self.pods.iter().filter(|pod| self.good(pod, workload)));
        let mut spare = good.saturating_sub(replicas.saturating_sub(1));
        let mut room = (replicas + 1).saturating_sub(total);
        for set in &mut self.sets {
            if set.name == format!("web-{revision}") {
                set.size = (set.size + room).min(replicas);
                room = 0;
            } else {
                // What is not healthy costs nothing.
                let healthy = set.size.min(set.available);
                let fewer = healthy.min(spare);
                spare -= fewer;
                set.size = healthy - fewer;
            }
            set.sized_for = replicas;
        }
    }

    /// Makes what is missing, and of what is too many lets the unready go first; then says how many there are.
    pub(crate) fn replica_set(&mut self, nth: usize, workload: &Workload) {
        let set = self.sets[nth].clone();
        let mine = |pod: &Pod| pod.revision == revision(&set) && pod.deletion.is_none();
        let mut there: Vec<usize> =
            (0..self.pods.len()).filter(|nth| mine(&self.pods[*nth])).collect();
        let size = set.size as usize;
        for _ in there.len()..size {
            self.make_pod(0, self.next_name(), revision(&set));
        }
        there.sort_by_key(|nth| self.pods[*nth].ready_since.is_some());
        let too_many = there.len().saturating_sub(size);
        for nth in there.into_iter().take(too_many) {
            self.end(nth);
        }
        let good = |pod: &&Pod| pod.revision == revision(&set) && self.good(pod, workload);
        let available = count(self.pods.iter().filter(good));
        (self.sets[nth].available, self.sets[nth].seen) = (available, true);
    }

    /// Creates the ReplicaSet of a revision, or sizes one.
    pub(crate) fn size(&mut self, write: &Write, revision: &str, replicas: u32) {
        match write {
            Write::Create { size } => {
                let name = format!("web-{revision}");
                if self.sets.iter().all(|set| set.name != name) {
                    let newest = self.sets.iter().map(|set| set.revision).max().unwrap_or(0);
                    let set = sized(&name, newest + 1, *size, replicas);
                    self.sets.push(ReplicaSet { available: 0, seen: false, ..set });
                }
            }
            Write::Size { name, size } => {
                let mut sets = self.sets.iter_mut();
                let set = sets.find(|set| set.name == *name).expect("a ReplicaSet that was seen");
                (set.size, set.sized_for, set.seen) = (*size, replicas, false);
            }
        }
    }
}
