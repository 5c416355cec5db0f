//! What the cluster's own store says about one rollout, read past every client and cache.

use simcluster::behaviour::View;
use simcluster::json::Value;
use simcluster::object::{BUDGETS, Collection, Key, Object, PODS, STATEFULSETS};
use simcluster::server::Server;

use crate::pods::{self, NAME, NAMESPACE, count, is_ready, is_standing, number, ordinal};

const ROLLOUTS: Collection = Collection::known("bedrock.operator.slack.com", "statefulsetrollouts");

/// A picture of one rollout and what belongs to it; it is looked at often, and shares the store's objects.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The rollout; null when there is none.
    pub rollout: Object,
    /// The StatefulSet; null when there is none.
    pub set: Object,
    /// Its Pods, by name.
    pub pods: Vec<Object>,
    /// Its budget; null when there is none.
    pub budget: Object,
}

impl Facts {
    /// As they stand now.
    pub fn read(server: &Server) -> Self {
        let view = server.view();
        let get = |collection: Collection| {
            let key = Key::new(collection, NAMESPACE, NAME);
            view.get(&key).cloned().unwrap_or_default()
        };
        let set = get(STATEFULSETS);
        let uid = set["metadata"]["uid"].as_str().unwrap_or("none").to_owned();
        Self {
            rollout: get(ROLLOUTS),
            pods: view.controlled_by(&PODS, &uid).cloned().collect(),
            budget: get(BUDGETS),
            set,
        }
    }

    /// The rollout alone, without what belongs to it.
    pub fn rollout(server: &Server) -> Self {
        let view = server.view();
        let rollout = view.get(&Key::new(ROLLOUTS, NAMESPACE, NAME));
        Self {
            rollout: rollout.cloned().unwrap_or_default(),
            set: Object::default(),
            pods: Vec::new(),
            budget: Object::default(),
        }
    }

    /// Whether the rollout, as it is asked for, is done.
    pub fn is_done(&self) -> bool {
        self.is_observed() && self.phase() == "RolloutDone"
    }

    /// `spec.replicas` of the StatefulSet.
    pub fn replicas(&self) -> u32 {
        number(&self.set["spec"]["replicas"])
    }

    /// How many Pods ought to run the update revision.
    pub fn target(&self) -> u32 {
        let percent = self.rollout["spec"]["percent"].as_i64().unwrap_or(100);
        engine::quantity::Percent::new(percent).expect("admitted").of(self.replicas())
    }

    /// Whether the rollout's status speaks of its spec.
    pub fn is_observed(&self) -> bool {
        self.rollout["status"]["observedGeneration"] == self.rollout["metadata"]["generation"]
    }

    /// `status.phase`.
    pub fn phase(&self) -> &str {
        self.rollout["status"]["phase"].as_str().unwrap_or_default()
    }

    fn partition(&self) -> Option<u32> {
        let strategy = &self.set["spec"]["updateStrategy"];
        (strategy["type"] == "RollingUpdate")
            .then(|| number(&strategy["rollingUpdate"]["partition"]))
    }

    fn is_old(&self, pod: &Value) -> bool {
        let revision = &pod["metadata"]["labels"]["controller-revision-hash"];
        *revision != self.set["status"]["updateRevision"]
    }

    /// Pods that stand at an old revision and are held there.
    fn held(&self) -> u32 {
        let open_from = self.partition().unwrap_or(u32::MAX);
        let below = self.replicas().min(open_from);
        let held = |pod: &&Object| self.is_old(pod) && ordinal(pod) < below && is_standing(pod);
        count(self.pods.iter().filter(held))
    }

    /// Pods that are, or will be without anybody's doing, at the update revision.
    pub fn moved(&self) -> u32 {
        let returning = match self.partition() {
            Some(partition) => (0..self.replicas().min(partition))
                .filter(|n| {
                    let pod = self.pods.iter().find(|pod| ordinal(pod) == *n);
                    pod.is_none_or(|pod| !is_standing(pod) && self.is_old(pod))
                })
                .count(),
            None => 0,
        };
        let returning = u32::try_from(returning).expect("few Pods");
        self.replicas().saturating_sub(self.held()).saturating_sub(returning)
    }

    /// Pods at the update revision that are Ready.
    pub fn good(&self) -> u32 {
        let good =
            |pod: &&Object| !self.is_old(pod) && is_ready(pod) && ordinal(pod) < self.replicas();
        count(self.pods.iter().filter(good))
    }

    /// Pods that a budget counts as healthy.
    pub fn healthy(&self) -> u32 {
        pods::healthy(&self.pods)
    }

    /// How many Pods the budget wants healthy, when its controller has caught up.
    pub fn desired_healthy(&self) -> Option<u32> {
        pods::desired_healthy(&self.budget, self.replicas())
    }

    /// A Pod by its name.
    pub fn pod(&self, name: &str) -> Option<&Value> {
        pods::named(&self.pods, name)
    }

    /// Ready Pods that stand at an old revision at or above the partition.
    pub fn open(&self) -> u32 {
        let Some(partition) = self.partition() else { return 0 };
        let open = |pod: &&Object| self.is_old(pod) && is_ready(pod) && ordinal(pod) >= partition;
        count(self.pods.iter().filter(open))
    }
}
