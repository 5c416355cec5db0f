//! A small Deployment whose own controller leaves it alone: ReplicaSet controllers that lag, Pods that start,
//! die and heal, and a judge who looks at each write before it is made.

use std::collections::BTreeMap;

use engine::mover::replica_sets::{Bounds, Deployment, Next, ReplicaSet, Write, next};
use engine::world::{Strategy, Workload};

use crate::kubernetes::{Controller, Kubernetes, pod, sized, workload};

#[derive(Clone, Debug)]
pub(crate) struct Model {
    kubernetes: Kubernetes,
    workload: Workload,
    pub(crate) replicas: u32,
    /// Share of the batch in percent.
    pub(crate) percent: u32,
    pub(crate) bounds: Bounds,
    pub(crate) paused: bool,
    /// Pods of the new revision never come up.
    pub(crate) broken: bool,
    /// Ticks that the controllers are behind.
    pub(crate) lag: u32,
    /// Ticks until the controller of a ReplicaSet looks again.
    blind: BTreeMap<String, u32>,
    /// How many templates there have been.
    templates: u32,
}

impl Model {
    pub(crate) fn new(replicas: u32, bounds: Bounds) -> Self {
        let mut kubernetes = Kubernetes::new(Controller::Deployment);
        kubernetes.start_up = 3;
        kubernetes.sets.push(sized("web-r1", 1, replicas, replicas));
        kubernetes.pods = (0..replicas).map(|number| pod(number, "r1")).collect();
        Self {
            kubernetes,
            workload: workload(replicas, Strategy::OnDelete),
            replicas,
            percent: 0,
            bounds,
            paused: false,
            broken: false,
            lag: 0,
            blind: BTreeMap::new(),
            templates: 2,
        }
    }

    pub(crate) fn target(&self) -> u32 {
        engine::quantity::IntOrPercent::Percent(self.percent).of_deployment(self.replicas)
    }

    /// A new template: what was new is old.
    pub(crate) fn template(&mut self) {
        self.templates += 1;
    }

    fn revision(&self) -> String {
        format!("r{}", self.templates)
    }

    pub(crate) fn deployment(&self) -> Deployment {
        let name = format!("web-{}", self.revision());
        let (new, old): (Vec<ReplicaSet>, Vec<ReplicaSet>) =
            self.kubernetes.sets.iter().cloned().partition(|set| set.name == name);
        Deployment {
            replicas: self.replicas,
            target: self.target(),
            bounds: self.bounds,
            paused: self.paused,
            new: new.into_iter().next(),
            old,
            stable: Some("web-r1".to_owned()),
        }
    }

    pub(crate) fn kill(&mut self, nth: usize, broken: bool) {
        let nth = nth % self.kubernetes.pods.len().max(1);
        if broken { self.kubernetes.sicken(nth, None) } else { self.kubernetes.lose(nth) }
    }

    pub(crate) fn heal(&mut self) {
        self.broken = false;
        self.kubernetes.sick.clear();
    }

    /// One tick: controllers and Pods, then writes until there is none more to make at once.
    pub(crate) fn tick(&mut self) {
        self.kubernetes.tick(None);
        for nth in 0..self.kubernetes.sets.len() {
            let left = self.blind.entry(self.kubernetes.sets[nth].name.clone()).or_default();
            if *left == 0 {
                self.kubernetes.replica_set(nth, &self.workload);
            }
            *left = left.saturating_sub(1);
        }
        if self.broken {
            let revision = self.revision();
            let starting = self.kubernetes.pods.iter().filter(|pod| pod.ready_since.is_none());
            let fresh = starting.filter(|pod| pod.revision == revision).map(|pod| pod.uid.clone());
            self.kubernetes.sick.extend(fresh);
        }
        for _ in 0..20 {
            let deployment = self.deployment();
            let Next::Write(write) = next(&deployment) else { return };
            crate::walk::judge(&deployment, &write);
            self.write(&write);
        }
        panic!("writes without an end: {:#?}", self.deployment());
    }

    fn write(&mut self, write: &Write) {
        let revision = self.revision();
        self.kubernetes.size(write, &revision, self.replicas);
        let name = match write {
            Write::Create { .. } => format!("web-{revision}"),
            Write::Size { name, .. } => name.clone(),
        };
        self.blind.insert(name, self.lag);
    }
}
