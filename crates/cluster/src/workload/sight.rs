//! One workload with all that is held of it: what its [`Eye`](super::Eye) looks at.

use serde_json::Value;

use crate::caches::Held;
use crate::kind::Owns;
use crate::seen::{PodSeen, ReplicaSetSeen, RevisionSeen, WorkloadSeen};
use crate::subject::Workload;

/// A workload and what it owns.
pub(crate) struct Sight<'a> {
    /// As the watch showed it.
    pub(crate) seen: &'a WorkloadSeen,
    /// As a tree.
    pub(crate) object: Value,
    /// Its Pods, by name; those of ReplicaSets by that first.
    pub(crate) pods: Vec<&'a PodSeen>,
    /// Its ReplicaSets, by name.
    pub(crate) sets: Vec<&'a ReplicaSetSeen>,
    /// Its ControllerRevisions, by name.
    pub(crate) revisions: Vec<&'a RevisionSeen>,
}

impl<'a> Sight<'a> {
    /// Looks at one, if it is there.
    pub(crate) fn of(held: &'a Held, workload: &Workload) -> Option<Self> {
        let seen = held.workload(workload)?;
        let uid = seen.meta.uid.as_str();
        let sets: Vec<_> = held.replica_sets.owned_by(uid).collect();
        let pods = match workload.kind.facts().owns {
            Owns::ReplicaSets => {
                sets.iter().flat_map(|set| held.pods.owned_by(&set.meta.uid)).collect()
            }
            Owns::Pods | Owns::Revisions => held.pods.owned_by(uid).collect(),
        };
        let revisions = held.revisions.owned_by(uid).collect();
        Some(Self { seen, object: seen.live(), pods, sets, revisions })
    }

    /// Its `spec`.
    pub(crate) fn spec(&self) -> &Value {
        &self.object["spec"]
    }

    /// The revisions of its Pods.
    pub(crate) fn ran(&self) -> impl Iterator<Item = &str> {
        self.pods.iter().map(|seen| seen.pod.revision.as_str())
    }
}
