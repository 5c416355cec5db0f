//! What the cluster's own store says about one Rollout and its workload, past every client and cache.

use engine::quantity::IntOrPercent;
use simcluster::behaviour::View;
use simcluster::json::{Text, Value};
use simcluster::object::{BUDGETS, Collection, Key, NODES, Object, PODS, REPLICASETS};
use simcluster::server::Server;

use super::kind::{Held, Kind, NATIVE};
use crate::pods::{self, NAME, NAMESPACE, count, is_ready, is_standing, number, ordinal};

const ROLLOUTS: Collection = Collection::known("rollouts.kruise.io", "rollouts");
const RELEASES: Collection = Collection::known("rollouts.kruise.io", "batchreleases");

/// A picture of one Rollout and what belongs to it; it is looked at often, and shares the store's objects.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The Rollout; null when there is none.
    pub rollout: Object,
    /// Its BatchRelease; null when there is none.
    pub release: Object,
    /// The kind of the workload.
    pub kind: &'static Kind,
    /// The workload.
    pub workload: Object,
    /// The ReplicaSets of a Deployment.
    pub sets: Vec<Object>,
    /// The Pods of the workload.
    pub pods: Vec<Object>,
    /// Its budget; null when there is none.
    pub budget: Object,
    /// Nodes, for a DaemonSet.
    nodes: u32,
}

impl Facts {
    /// As they stand now.
    pub fn read(server: &Server) -> Self {
        let view = server.view();
        let get = |collection: &Collection| {
            let key = Key::new(collection.clone(), NAMESPACE, NAME);
            view.get(&key).cloned().unwrap_or_default()
        };
        let mut kinds = Kind::all().map(|kind| (kind, get(&kind.collection)));
        let there = kinds.find(|(_, workload)| !workload.is_null());
        let (kind, workload) = there.unwrap_or_else(|| (&NATIVE[0], Object::default()));
        let uid = |object: &Value| object["metadata"]["uid"].as_str().unwrap_or("none").to_owned();
        let owned = |collection: &Collection, uid: &str| -> Vec<Object> {
            view.controlled_by(collection, uid).cloned().collect()
        };
        let sets = owned(&REPLICASETS, &uid(&workload));
        let mut pods = owned(&PODS, &uid(&workload));
        pods.extend(sets.iter().flat_map(|set| owned(&PODS, &uid(set))));
        Self {
            rollout: get(&ROLLOUTS),
            release: get(&RELEASES),
            budget: get(&BUDGETS),
            nodes: u32::try_from(view.list(&NODES, None).count()).expect("few Nodes"),
            kind,
            workload,
            sets,
            pods,
        }
    }

    /// Pods that the workload asks for.
    pub fn replicas(&self) -> u32 {
        match self.kind.nodes {
            true => self.nodes,
            false => number(&self.workload["spec"]["replicas"]),
        }
    }

    /// `status.phase` of the Rollout.
    pub fn phase(&self) -> &str {
        self.rollout["status"]["phase"].as_str().unwrap_or_default()
    }

    /// The reason of the Rollout's condition Progressing.
    pub fn reason(&self) -> &str {
        let conditions = self.rollout["status"]["conditions"].as_array().into_iter().flatten();
        let mut progressing = conditions.filter(|condition| condition["type"] == "Progressing");
        progressing.next().and_then(|it| it["reason"].as_str()).unwrap_or_default()
    }

    /// `status.canaryStatus.currentStepState` of the Rollout.
    pub fn step_state(&self) -> &str {
        self.rollout["status"]["canaryStatus"]["currentStepState"].as_str().unwrap_or_default()
    }

    /// Whether the Rollout's status speaks of its spec.
    pub fn is_observed(&self) -> bool {
        self.rollout["status"]["observedGeneration"] == self.rollout["metadata"]["generation"]
    }

    /// Whether the workload is in the hands of a release, not of its own controller.
    pub fn is_in_release(&self) -> bool {
        self.phase() == "Progressing" && ["InRolling", "Paused"].contains(&self.reason())
    }

    /// The step that the status names, from 1.
    pub fn step(&self) -> u32 {
        number(&self.rollout["status"]["canaryStatus"]["currentStepIndex"])
    }

    /// How many Pods may run the new template by the step that the status names.
    pub fn target(&self) -> u32 {
        self.target_at(self.step())
    }

    /// How many Pods may run the new template by a step, from 1.
    pub fn target_at(&self, step: u32) -> u32 {
        let steps = self.rollout["spec"]["strategy"]["canary"]["steps"].as_array();
        let upto = steps.into_iter().flatten().take(usize::try_from(step).unwrap_or(0));
        // In a roll back in batches the steps are of those that have to go back.
        let there = number(&self.release["status"]["canaryStatus"]["noNeedUpdateReplicas"]);
        let others = self.replicas().saturating_sub(there);
        upto.map(|step| there + size(&step["replicas"]).of(others)).max().unwrap_or(0)
    }

    /// The image of the template.
    pub fn image(&self) -> &str {
        image(&self.workload["spec"]["template"]["spec"])
    }

    fn is_new(&self, pod: &Value) -> bool {
        image(&pod["spec"]) == self.image()
    }

    /// Living Pods that run the template.
    pub fn updated(&self) -> u32 {
        count(self.pods.iter().filter(|pod| self.is_new(pod) && is_standing(pod)))
    }

    /// Living Pods of other templates.
    pub fn outdated(&self) -> u32 {
        count(self.pods.iter().filter(|pod| !self.is_new(pod) && is_standing(pod)))
    }

    fn partition(&self) -> Option<u32> {
        self.kind.partition(&self.workload, self.replicas())
    }

    /// Pods that run the template, or will without anybody's doing.
    pub fn moved(&self) -> u32 {
        let replicas = self.replicas();
        if self.kind.held == Held::Sizes {
            let new = self
                .sets
                .iter()
                .filter(|set| image(&set["spec"]["template"]["spec"]) == self.image());
            return new.map(|set| number(&set["spec"]["replicas"])).sum();
        }
        let held = match self.partition() {
            None => self.outdated(),
            Some(partition) if self.kind.is_ordered(&self.workload) => {
                let below = |pod: &&Object| ordinal(pod) < partition;
                let old = self.pods.iter().filter(below).filter(|pod| !self.is_new(pod));
                let old = count(old.filter(|pod| is_standing(pod)));
                let there = self.pods.iter().filter(below).filter(|pod| is_standing(pod));
                // What is missing below the partition comes back at the old revision.
                old + partition.saturating_sub(count(there))
            }
            Some(partition) if self.kind.held == Held::Living => partition.min(self.outdated()),
            Some(partition) => partition.min(replicas.saturating_sub(self.updated())),
        };
        replicas.saturating_sub(held)
    }

    /// Ready Pods of other templates that the workload's own controller may replace as it stands.
    pub fn exposed(&self) -> u32 {
        let Some(partition) = self.partition().filter(|_| self.kind.replaces()) else { return 0 };
        let old = self.pods.iter().filter(|pod| !self.is_new(pod) && is_standing(pod));
        if self.kind.is_ordered(&self.workload) {
            return count(old.filter(|pod| ordinal(pod) >= partition && is_ready(pod)));
        }
        // Those that are not ready go first.
        let unready = count(old.filter(|pod| !is_ready(pod)));
        self.outdated().saturating_sub(partition).saturating_sub(unready)
    }

    /// Pods that a budget counts as healthy.
    pub fn healthy(&self) -> u32 {
        pods::healthy(&self.pods)
    }

    /// Pods of the template that are ready.
    pub fn ready(&self) -> u32 {
        count(self.pods.iter().filter(|pod| self.is_new(pod) && is_ready(pod)))
    }

    /// How many Pods the budget wants healthy, when its controller has caught up.
    pub fn desired_healthy(&self) -> Option<u32> {
        pods::desired_healthy(&self.budget, self.replicas())
    }

    /// A Pod by its name.
    pub fn pod(&self, name: &str) -> Option<&Value> {
        pods::named(&self.pods, name)
    }

    /// Pods that the ReplicaSets ask for together.
    pub fn asked(&self) -> u32 {
        self.sets.iter().map(|set| number(&set["spec"]["replicas"])).sum()
    }

    /// Pods that are sure to stay available: what is still to be removed takes the others first.
    pub fn sound(&self) -> u32 {
        let sound = |set: &Object| {
            number(&set["spec"]["replicas"]).min(number(&set["status"]["availableReplicas"]))
        };
        self.sets.iter().map(sound).sum()
    }

    /// What a release leaves on a workload and nobody else: names of annotations and labels.
    pub fn marks(&self) -> Vec<String> {
        let metadata = &self.workload["metadata"];
        let mut all = Vec::new();
        for field in ["annotations", "labels"] {
            let names = metadata[field].as_object().into_iter().flatten().map(|(name, _)| name);
            let ours = |name: &&Text| {
                let of_us = name.contains("rollouts.kruise.io/") || name.contains("sluice.dev/");
                of_us && !name.ends_with("/workload-type")
            };
            all.extend(names.filter(ours).map(Text::to_string));
        }
        all
    }
}

/// Int or percentage.
pub fn size(value: &Value) -> IntOrPercent {
    match value.as_str().and_then(|text| text.strip_suffix('%')).and_then(|text| text.parse().ok())
    {
        Some(percent) => IntOrPercent::Percent(percent),
        None => IntOrPercent::Int(number(value)),
    }
}

/// The image of a Pod's spec.
pub fn image(spec: &Value) -> &str {
    spec["containers"][0]["image"].as_str().unwrap_or_default()
}
