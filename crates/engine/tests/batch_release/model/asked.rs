//! What can be asked of the cluster, by a test and by the operator.

use std::collections::{BTreeMap, BTreeSet};

use engine::front::batch_release::{Control, Machinery, Target, World};
use engine::world::{Pod, Settings, Uid};

use super::{Cluster, View};

impl Cluster {
    /// As a disruption budget counts.
    pub(crate) fn healthy(&self) -> u32 {
        let healthy = |pod: &&Pod| pod.ready_since.is_some() && pod.deletion.is_none();
        u32::try_from(self.kubernetes.pods.iter().filter(healthy).count()).unwrap_or(0)
    }

    /// Pods of other templates that are not going.
    pub(crate) fn old(&self) -> BTreeSet<Uid> {
        let old = |pod: &&Pod| pod.revision != self.template && pod.deletion.is_none();
        self.kubernetes.pods.iter().filter(old).map(|pod| pod.uid.clone()).collect()
    }

    /// How many there are above those that are wanted.
    pub(crate) fn spare(&self) -> usize {
        let stay = self.kubernetes.pods.iter().filter(|pod| pod.deletion.is_none()).count();
        stay.saturating_sub(self.body.workload.replicas as usize)
    }

    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.kubernetes.pods.len()).unwrap_or(0)
    }

    pub(crate) fn revisions(&self) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        for pod in &self.kubernetes.pods {
            *counts.entry(pod.revision.clone()).or_default() += 1;
        }
        counts
    }

    /// What the operator sees.
    pub(crate) fn world(&self) -> World {
        let View { body, sets, template, pods, budget, marks } = self.view.clone();
        let mut body = body;
        if let Machinery::Deployment(deployment) = &mut body.machinery {
            let name = format!("web-{template}");
            let (new, old): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| set.name == name);
            (deployment.new, deployment.old) = (new.into_iter().next(), old);
            deployment.stable = body.stable_revision.as_ref().map(|it| format!("web-{it}"));
        }
        if let Control::Other { owner } = &body.control {
            let ours = *owner == self.release.uid.0;
            body.control = if ours { Control::Ours } else { Control::Free };
        }
        World {
            release: self.release.clone(),
            status: self.status.clone(),
            target: Target::Found(Box::new(body)),
            pods,
            marks,
            costs: BTreeMap::new(),
            budgets: budget.into_iter().collect(),
            outcome: self.operator.outcome.clone(),
            unseen: self.unseen,
            keep_paused: false,
            settings: Settings::default(),
        }
    }
}
