//! The workload's own controllers and the kubelet, one second at a time.

use engine::front::batch_release::Machinery;
use engine::mover::replica_sets::{ReplicaSet, Write};
use engine::world::{Pod, PodManagement, PodPhase, Strategy, Uid};
use jiff::SignedDuration;

use super::{Cluster, Kind};
use crate::fixture;

impl Cluster {
    pub(super) fn controllers(&mut self) {
        let (now, start_up) = (self.now, SignedDuration::from_secs(self.make.start_up));
        self.pods.retain(|pod| pod.deletion.is_none_or(|at| at >= now));
        for pod in &mut self.pods {
            let began = self.restarted.get(&pod.uid).copied().unwrap_or(pod.created);
            let up = began + start_up <= now && !pod.revision.starts_with("bad");
            let up = up && !self.sick.contains(&pod.uid);
            if up && pod.ready_since.is_none() {
                pod.ready_since = Some(now);
                pod.phase = PodPhase::Running;
            }
            if pod.revision.starts_with("bad") && began + start_up <= now {
                pod.trouble = Some(fixture::trouble());
            }
        }
        if self.controller_lag > 0 {
            self.controller_lag -= 1;
            return;
        }
        let workload = &mut self.body.workload;
        workload.observed_generation = workload.generation;
        workload.update_revision.clone_from(&self.template);
        match self.make.kind {
            Kind::Set(_) | Kind::OnDelete => self.set_controller(),
            Kind::Daemons => self.daemon_controller(),
            Kind::Deployment => self.deployment_controller(),
            Kind::Clones(clones) => self.clones_controller(clones),
            Kind::AdvancedSet(_) | Kind::Unordered | Kind::AdvancedOnDelete => {
                self.advanced_set_controller(self.make.kind == Kind::Unordered);
            }
            Kind::AdvancedDaemons | Kind::AdvancedDaemonsOnDelete => {
                self.advanced_daemon_controller();
            }
        }
    }

    pub(super) fn make_pod(&mut self, ordinal: u32, name: String, revision: &str) {
        self.born += 1;
        self.pods.push(Pod {
            name,
            uid: Uid(format!("pod-{}", self.born)),
            ordinal,
            phase: PodPhase::Pending,
            ready_since: None,
            created: self.now,
            ..fixture::pod(ordinal, revision)
        });
    }

    pub(super) fn good(&self, pod: &Pod) -> bool {
        engine::account::is_available(pod, &self.body.workload, self.now)
    }

    fn set_controller(&mut self) {
        let workload = self.body.workload.clone();
        let ordered = workload.management == PodManagement::OrderedReady;
        let held = match workload.strategy {
            Strategy::OnDelete => 0,
            Strategy::RollingUpdate { partition } => partition,
        };
        for ordinal in 0..workload.replicas {
            match self.pods.iter().find(|pod| pod.ordinal == ordinal) {
                Some(pod) if ordered && !self.good(pod) => return,
                Some(_) => {}
                None => {
                    let current = ordinal < held;
                    let revision = if current {
                        &workload.current_revision
                    } else {
                        &workload.update_revision
                    };
                    self.make_pod(ordinal, format!("web-{ordinal}"), revision);
                    if ordered {
                        return;
                    }
                }
            }
        }
        let now = self.now;
        self.pods.sort_by_key(|pod| pod.ordinal);
        for pod in self.pods.iter_mut().filter(|pod| pod.ordinal >= workload.replicas) {
            pod.deletion.get_or_insert(now);
        }
        if matches!(workload.strategy, Strategy::OnDelete) {
            return;
        }
        let all = self.pods.iter().all(|pod| pod.revision == workload.update_revision);
        if all && self.pods.iter().all(|pod| self.good(pod)) {
            self.body.workload.current_revision.clone_from(&workload.update_revision);
        }
        for nth in (0..self.pods.len()).rev() {
            let pod = &self.pods[nth];
            if pod.ordinal < held {
                break;
            }
            if pod.revision != workload.update_revision && pod.deletion.is_none() {
                self.pods[nth].deletion = Some(now);
                break;
            }
            if !self.good(pod) {
                break;
            }
        }
    }

    fn daemon_controller(&mut self) {
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
        if workload.strategy == Strategy::OnDelete {
            return;
        }
        let max = usize::try_from(self.make.max_unavailable).unwrap_or(1);
        let mut away = self.pods.iter().filter(|pod| !self.good(pod)).count();
        for nth in 0..self.pods.len() {
            let (good, pod) = (self.good(&self.pods[nth]), &mut self.pods[nth]);
            if pod.revision == workload.update_revision || pod.deletion.is_some() {
                continue;
            }
            if !good || away < max {
                pod.deletion = Some(now);
                away += usize::from(good);
            }
        }
    }

    fn deployment_controller(&mut self) {
        let replicas = self.body.workload.replicas;
        let Machinery::Deployment(deployment) = self.body.machinery.clone() else { return };
        let name = format!("web-{}", self.template);
        let active = self.sets.iter().filter(|set| set.size > 0).count();
        if active <= 1
            && let Some(set) = self.sets.iter_mut().find(|set| set.size > 0 || active == 0)
            && set.size != replicas
        {
            (set.size, set.sized_for) = (replicas, replicas);
        }
        if !deployment.paused {
            if self.sets.iter().all(|set| set.name != name) {
                self.size(&Write::Create { size: 0 });
            }
            let total: u32 = self.sets.iter().map(|set| set.size).sum();
            let good = self.pods.iter().filter(|pod| self.good(pod)).count();
            let good = u32::try_from(good).unwrap_or(0);
            let (mut spare, mut room) = (
                good.saturating_sub(replicas.saturating_sub(1)),
                (replicas + 1).saturating_sub(total),
            );
            let good = |set: &ReplicaSet| {
                let revision = set.name.trim_start_matches("web-");
                let pods = self.pods.iter().filter(|pod| pod.revision == revision);
                u32::try_from(pods.filter(|pod| self.good(pod)).count()).unwrap_or(0)
            };
            let goods: Vec<u32> = self.sets.iter().map(good).collect();
            for (set, good) in self.sets.iter_mut().zip(goods) {
                if set.name == name {
                    let grown = (set.size + room).min(replicas);
                    room = 0;
                    (set.size, set.sized_for) = (grown, replicas);
                } else {
                    // What is not healthy costs nothing.
                    let healthy = set.size.min(good);
                    let fewer = healthy.min(spare);
                    spare -= fewer;
                    (set.size, set.sized_for) = (healthy - fewer, replicas);
                }
            }
        }
        for set in self.sets.clone() {
            let revision = set.name.trim_start_matches("web-").to_owned();
            let mine = |pod: &Pod| pod.revision == revision && pod.deletion.is_none();
            let size = usize::try_from(set.size).unwrap_or(0);
            let mut there = self.pods.iter().filter(|pod| mine(pod)).count();
            while there < size {
                let name = format!("web-{}", self.born);
                self.make_pod(0, name, &revision);
                there += 1;
            }
            let now = self.now;
            while there > size {
                let mut pods: Vec<&mut Pod> =
                    self.pods.iter_mut().filter(|pod| mine(pod)).collect();
                pods.sort_by_key(|pod| pod.ready_since.is_some());
                pods[0].deletion = Some(now);
                there -= 1;
            }
        }
    }
}
