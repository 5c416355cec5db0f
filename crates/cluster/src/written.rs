//! Statuses that we wrote ourselves and that the watch has not yet shown.

use std::collections::BTreeMap;

use api::batches::{BatchReleaseStatus, RolloutStatus};
use api::bedrock::StatefulsetRolloutStatus;
use engine::world::Uid;

use crate::key::Key;
use crate::seen::meta::Meta;

/// Of all fronts.
#[derive(Default)]
pub struct Written {
    pub(crate) statefulset_rollouts: Statuses<StatefulsetRolloutStatus>,
    pub(crate) rollouts: Statuses<RolloutStatus>,
    pub(crate) releases: Statuses<BatchReleaseStatus>,
}

/// Of one front.
#[derive(Debug)]
pub struct Statuses<S>(BTreeMap<Key, Own<S>>);

impl<S> Default for Statuses<S> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

/// A status that we wrote.
#[derive(Clone, Debug)]
pub(crate) struct Own<S> {
    uid: String,
    pub(crate) resource_version: String,
    pub(crate) status: S,
}

impl<S> Statuses<S> {
    pub(crate) fn put(&mut self, key: &Key, uid: &Uid, resource_version: &str, status: S) {
        let (uid, resource_version) = (uid.0.clone(), resource_version.to_owned());
        self.0.insert(key.clone(), Own { uid, resource_version, status });
    }

    /// What we wrote on top of this object, if the watch has not yet shown it.
    pub(crate) fn over(&self, seen: &Meta) -> Option<&Own<S>> {
        let own = self.0.get(&seen.key())?;
        let shown = seen.uid != own.uid
            || is_at_least(&seen.resource_version, &own.resource_version).unwrap_or(true);
        (!shown).then_some(own)
    }

    /// Forgets it where it is shown, or the object is gone.
    pub(crate) fn forget(&mut self, key: &Key, seen: Option<&Meta>) {
        if seen.is_none_or(|seen| self.over(seen).is_none()) {
            self.0.remove(key);
        }
    }

    /// A list is at least as new as any write before it. Clearing what is outstanding lets go of
    /// versions that never come: those of a cluster that was restored from a backup.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Whether a resourceVersion is another or a later one; `None` if they are not numbers.
fn is_at_least(theirs: &str, ours: &str) -> Option<bool> {
    // Comparable as whole numbers since Kubernetes 1.35 says so, and before by what etcd gives.
    Some(theirs.parse::<u128>().ok()? >= ours.parse::<u128>().ok()?)
}
