//! What is known of the cluster: one ordered table per kind, fed by watches, read by `observe`.
//!
//! Each change names the rollouts that it concerns; those are given to the wake callback, after the
//! tables show the change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use api::bedrock::{StatefulsetRollout, StatefulsetRolloutStatus};
use engine::world::{Pod, Uid};
use futures::FutureExt;
use futures::future::BoxFuture;
use kube::Client;

use crate::concern::{Kept, Woken};
use crate::key::Key;
use crate::seen::{BudgetSeen, PodSeen, RolloutSeen, StatefulSetSeen};
use crate::table::Table;
use crate::watch::{self, Seen, Watched};

/// Why a rollout is to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Something around it has changed.
    Event,
    /// What it asks for has changed: no interval holds it back.
    Changed,
}

/// Told which rollout is to be looked at, and why. It must not call back into [`Caches`].
pub type Wakes = Box<dyn Fn(&Key, Why) + Send + Sync>;

/// The tables, shared by watches and loop.
pub struct Caches {
    held: Mutex<Held>,
    wakes: Wakes,
}

/// The tables themselves.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) rollouts: Table<RolloutSeen>,
    pub(crate) sets: Table<StatefulSetSeen>,
    pub(crate) pods: Table<PodSeen>,
    pub(crate) budgets: Table<BudgetSeen>,
    /// Which rollouts name a StatefulSet, by the StatefulSet.
    by_workload: BTreeMap<Key, BTreeSet<Key>>,
    /// What we wrote ourselves and the watch has not yet shown.
    pub(crate) written: BTreeMap<Key, Written>,
    /// Whether the rollouts have been woken for the first time.
    awake: bool,
}

/// A status that we wrote ourselves.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    uid: String,
    pub(crate) resource_version: String,
    pub(crate) status: StatefulsetRolloutStatus,
}

impl Caches {
    /// Empty ones. `wakes` is told of every rollout that a change concerns; not before all kinds
    /// have been listed, and then of every rollout once.
    pub fn new(wakes: Wakes) -> Arc<Self> {
        Arc::new(Self { held: Mutex::default(), wakes })
    }

    /// The watches that feed the tables, by kind, in a fixed order; each runs until dropped.
    /// `namespace` is `None` for all; `seed` spreads their pauses.
    pub fn watches(
        self: &Arc<Self>,
        client: &Client,
        namespace: Option<&str>,
        seed: u64,
    ) -> Vec<(&'static str, BoxFuture<'static, ()>)> {
        vec![
            self.feed::<RolloutSeen>(client, namespace, seed),
            self.feed::<StatefulSetSeen>(client, namespace, seed.wrapping_add(1)),
            self.feed::<PodSeen>(client, namespace, seed.wrapping_add(2)),
            self.feed::<BudgetSeen>(client, namespace, seed.wrapping_add(3)),
        ]
    }

    fn feed<K: Kept>(
        self: &Arc<Self>,
        client: &Client,
        namespace: Option<&str>,
        seed: u64,
    ) -> (&'static str, BoxFuture<'static, ()>) {
        let (caches, client) = (Arc::clone(self), client.clone());
        let namespace = namespace.map(str::to_owned);
        let tell = move |seen: Seen<K>| caches.take(seen);
        (K::PLURAL, watch::watch::<K>(client, namespace, seed, tell).boxed())
    }

    /// Takes what a watch has seen, and wakes whom it concerns.
    fn take<K: Kept>(&self, seen: Seen<K>) {
        let woken = {
            let mut held = self.lock();
            let all = matches!(seen, Seen::All(_));
            let changes = K::table(&mut held).take(seen);
            if all {
                K::listed(&mut held);
            }
            let mut woken = Woken::new();
            for change in &changes {
                K::concerned(&mut held, change, &mut woken);
            }
            if !held.awake {
                held.awake = held.waiting_for().is_empty();
                woken.clear();
                if held.awake {
                    woken = held.rollouts.keys().map(|key| (key.clone(), Why::Changed)).collect();
                }
            }
            woken
        };
        for (key, why) in woken {
            (self.wakes)(&key, why);
        }
    }

    /// Whether every kind has been listed, so that absence means absence.
    pub fn ready(&self) -> bool {
        self.lock().waiting_for().is_empty()
    }

    /// The kinds that have not been listed, each with what stands in the way, as far as is known.
    pub fn waiting_for(&self) -> Vec<String> {
        self.lock().waiting_for()
    }

    /// The kinds whose watch is broken just now, and why; what is shown of them may be old.
    pub fn broken(&self) -> BTreeMap<&'static str, String> {
        let held = self.lock();
        let all = [
            (RolloutSeen::PLURAL, held.rollouts.broken()),
            (StatefulSetSeen::PLURAL, held.sets.broken()),
            (PodSeen::PLURAL, held.pods.broken()),
            (BudgetSeen::PLURAL, held.budgets.broken()),
        ];
        let broken = all.into_iter().filter_map(|(kind, why)| Some((kind, why?.to_owned())));
        broken.collect()
    }

    /// All rollouts, in order.
    pub fn rollouts(&self) -> Vec<Key> {
        self.lock().rollouts.keys().cloned().collect()
    }

    /// A rollout as it was last seen, if there is one that can be read.
    pub fn rollout(&self, key: &Key) -> Option<Arc<StatefulsetRollout>> {
        self.lock().rollouts.get(key).and_then(|seen| seen.rollout.as_ref().ok()).cloned()
    }

    /// Whether a rollout still asks for what it asked for when it was observed: read again before
    /// each single disruption, so that a pause (which is a new generation) stops a batch.
    pub fn still_asks(&self, key: &Key, uid: &Uid, generation: i64) -> bool {
        self.lock().rollouts.get(key).is_some_and(|seen| {
            let meta = &seen.meta;
            meta.uid == uid.0 && meta.generation == generation && meta.deletion_timestamp.is_none()
        })
    }

    /// Remembers a status that we wrote, until the watch shows it: a decision on an older one would
    /// take its step twice.
    pub(crate) fn wrote(
        &self,
        key: &Key,
        uid: &Uid,
        resource_version: &str,
        status: StatefulsetRolloutStatus,
    ) {
        let resource_version = resource_version.to_owned();
        let written = Written { uid: uid.0.clone(), resource_version, status };
        let mut held = self.lock();
        held.written.insert(key.clone(), written);
        held.forget_written(key);
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Held> {
        // A panic while it was held is a bug, but the tables are whole after each single change.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    pub(crate) fn waiting_for(&self) -> Vec<String> {
        let all = [
            (RolloutSeen::PLURAL, self.rollouts.listed(), self.rollouts.broken()),
            (StatefulSetSeen::PLURAL, self.sets.listed(), self.sets.broken()),
            (PodSeen::PLURAL, self.pods.listed(), self.pods.broken()),
            (BudgetSeen::PLURAL, self.budgets.listed(), self.budgets.broken()),
        ];
        let missing = all.into_iter().filter(|(_, listed, _)| !listed);
        missing
            .map(|(kind, _, why)| match why {
                Some(why) => format!("{kind} ({why})"),
                None => kind.to_owned(),
            })
            .collect()
    }

    /// What we wrote on top of this rollout, if the watch has not yet shown it.
    pub(crate) fn written_over(&self, seen: &RolloutSeen) -> Option<&Written> {
        let written = self.written.get(&seen.meta.key())?;
        let theirs = &seen.meta.resource_version;
        let shown = seen.meta.uid != written.uid
            || is_at_least(theirs, &written.resource_version).unwrap_or(true);
        (!shown).then_some(written)
    }

    pub(crate) fn forget_written(&mut self, key: &Key) {
        let outstanding =
            self.rollouts.get(key).is_some_and(|seen| self.written_over(seen).is_some());
        if !outstanding {
            self.written.remove(key);
        }
    }

    /// The Pods that a StatefulSet controls, by name.
    pub(crate) fn pods_of(&self, set: &Key, uid: &str) -> Vec<Pod> {
        // Its Pods are named after it, so that they stand next to each other.
        let from = Key::new(set.namespace.as_str(), format!("{}-", set.name));
        self.pods
            .range(from.clone()..)
            .take_while(|(key, _)| {
                key.namespace == from.namespace && key.name.starts_with(&from.name)
            })
            .filter(|(_, seen)| seen.owner.as_ref().is_some_and(|owner| owner.uid == uid))
            .map(|(_, seen)| seen.pod.clone())
            .collect()
    }

    /// The rollouts that name a StatefulSet.
    pub(crate) fn naming(&self, set: &Key) -> impl Iterator<Item = &RolloutSeen> + use<'_> {
        let keys = self.by_workload.get(set).into_iter().flatten();
        keys.filter_map(|key| self.rollouts.get(key))
    }

    /// Notes that a rollout names a StatefulSet.
    pub(crate) fn name(&mut self, set: Key, rollout: Key) {
        self.by_workload.entry(set).or_default().insert(rollout);
    }

    /// Takes that back.
    pub(crate) fn unname(&mut self, set: &Key, rollout: &Key) {
        if let Some(naming) = self.by_workload.get_mut(set) {
            naming.remove(rollout);
            if naming.is_empty() {
                self.by_workload.remove(set);
            }
        }
    }

    pub(crate) fn wake_naming(&self, set: &Key, woken: &mut Woken) {
        for key in self.by_workload.get(set).into_iter().flatten() {
            woken.entry(key.clone()).or_insert(Why::Event);
        }
    }
}

/// Whether a resourceVersion is another or a later one; `None` if they are not numbers.
fn is_at_least(theirs: &str, ours: &str) -> Option<bool> {
    // Comparable as whole numbers since Kubernetes 1.35 says so, and before by what etcd gives.
    Some(theirs.parse::<u128>().ok()? >= ours.parse::<u128>().ok()?)
}
