//! What is known of the cluster: one ordered table per kind, fed by watches, read by `observe`.
//!
//! Each change names the subjects that it concerns; those are given to the wake callback, after the
//! tables show the change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use api::batches::{BatchRelease, Rollout};
use api::bedrock::StatefulsetRollout;
use engine::world::Uid;
use futures::FutureExt;
use futures::future::BoxFuture;
use kube::Client;

use crate::concern::{Kept, Woken};
use crate::key::Key;
use crate::kind::Kind;
use crate::seen::meta::Meta;
use crate::seen::{
    BudgetSeen, PodSeen, ReplicaSetSeen, Resource, RevisionSeen, Served, WorkloadSeen,
};
use crate::subject::{Front, Subject, Workload};
use crate::table::Table;
use crate::unseen::Unseen;
use crate::watch::{self, Seen};
use crate::written::Written;

/// Why a subject is to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Something around it has changed.
    Event,
    /// What it asks for has changed: no interval holds it back.
    Changed,
}

/// Told who is to be looked at, and why. It must not call back into [`Caches`].
pub type Wakes = Box<dyn Fn(&Subject, Why) + Send + Sync>;

/// The tables, shared by watches and loop.
pub struct Caches {
    held: Mutex<Held>,
    wakes: Wakes,
}

/// The tables themselves.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) statefulset_rollouts: Table<Resource<StatefulsetRollout>>,
    pub(crate) rollouts: Table<Resource<Rollout>>,
    pub(crate) releases: Table<Resource<BatchRelease>>,
    pub(crate) workloads: Workloads,
    pub(crate) replica_sets: Table<ReplicaSetSeen>,
    pub(crate) revisions: Table<RevisionSeen>,
    pub(crate) pods: Table<PodSeen>,
    pub(crate) budgets: Table<BudgetSeen>,
    /// Who names a workload.
    by_workload: BTreeMap<Workload, BTreeSet<Subject>>,
    /// Statuses that we wrote ourselves and that the watch has not yet shown, by front.
    pub(crate) written: Written,
    /// Whether the subjects have been woken for the first time.
    awake: bool,
}

/// The workloads, a table for each kind.
#[derive(Default)]
pub(crate) struct Workloads([Table<WorkloadSeen>; Kind::ALL.len()]);

impl Workloads {
    pub(crate) fn of(&self, kind: Kind) -> &Table<WorkloadSeen> {
        &self.0[kind as usize]
    }

    pub(crate) fn of_mut(&mut self, kind: Kind) -> &mut Table<WorkloadSeen> {
        &mut self.0[kind as usize]
    }
}

/// Does the same for each table, in the order in which they are told: with the type of its rows, and the
/// shelf that it stands on.
macro_rules! each_table {
    ($seen:ident, $shelf:ident => $what:expr) => {{
        let mut all = Vec::new();
        each_table!(all, $seen, $shelf => $what;
            Resource<StatefulsetRollout>, Resource<Rollout>, Resource<BatchRelease>);
        for $shelf in Kind::ALL {
            type $seen = WorkloadSeen;
            all.push($what);
        }
        each_table!(all, $seen, $shelf => $what; ReplicaSetSeen, RevisionSeen, PodSeen, BudgetSeen);
        all
    }};
    ($all:ident, $seen:ident, $shelf:ident => $what:expr; $($type:ty),*) => {
        $({
            type $seen = $type;
            let $shelf = ();
            $all.push($what);
        })*
    };
}

impl Caches {
    /// Empty ones. `wakes` is told of every subject that a change concerns; not before all kinds
    /// have been listed, and then of every subject once.
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
        let mut seed = seed;
        each_table!(K, shelf => {
            seed = seed.wrapping_add(1);
            self.feed::<K>(shelf, client, namespace, seed)
        })
    }

    fn feed<K: Kept>(
        self: &Arc<Self>,
        shelf: K::Shelf,
        client: &Client,
        namespace: Option<&str>,
        seed: u64,
    ) -> (&'static str, BoxFuture<'static, ()>) {
        let (caches, client) = (Arc::clone(self), client.clone());
        let namespace = namespace.map(str::to_owned);
        let source = K::source(shelf);
        let tell = move |seen: Seen<K>| caches.take(shelf, seen);
        (source.title, watch::watch(client, source, namespace, seed, tell).boxed())
    }

    /// Takes what a watch has seen, and wakes whom it concerns.
    fn take<K: Kept>(&self, shelf: K::Shelf, seen: Seen<K>) {
        let woken = {
            let mut held = self.lock();
            let all = matches!(seen, Seen::All(..));
            let table = K::table_mut(&mut held, shelf);
            let served = table.served();
            let changes = table.take(seen);
            let comes_or_goes = table.served() != served;
            if all {
                K::listed(&mut held);
            }
            let mut woken = Woken::new();
            for change in &changes {
                K::concerned(&mut held, shelf, change, &mut woken);
            }
            if comes_or_goes {
                K::comes_or_goes(&held, shelf, &mut woken);
            }
            if !held.awake {
                held.awake = held.waiting_for().is_empty();
                woken.clear();
                if held.awake {
                    woken = held.subjects().map(|subject| (subject, Why::Changed)).collect();
                }
            }
            woken
        };
        for (subject, why) in woken {
            (self.wakes)(&subject, why);
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
        let all = each_table!(K, shelf => {
            let broken = K::table(&held, shelf).broken();
            (K::source(shelf).title, broken.map(str::to_owned))
        });
        all.into_iter().filter_map(|(kind, why)| Some((kind, why?))).collect()
    }

    /// All that the loop looks at, in order.
    pub fn subjects(&self) -> Vec<Subject> {
        self.lock().subjects().collect()
    }

    /// Whether a subject still asks for what it asked for when it was observed: read again before
    /// each single disruption, so that a pause (which is a new generation) stops a batch.
    pub fn still_asks(&self, subject: &Subject, uid: &Uid, generation: i64) -> bool {
        self.lock().meta(subject).is_some_and(|meta| {
            meta.uid == uid.0 && meta.generation == generation && meta.deletion_timestamp.is_none()
        })
    }

    /// The same for one of the resources of releases in batches, of which annotations ask for something too.
    pub fn still_asks_as(&self, subject: &Subject, seen: &Meta) -> bool {
        self.lock().meta(subject).is_some_and(|meta| {
            (&meta.uid, meta.generation, &meta.annotations, meta.deletion_timestamp)
                == (&seen.uid, seen.generation, &seen.annotations, seen.deletion_timestamp)
        })
    }

    /// Whether the Rollout that wrote this BatchRelease is paused: read again before each single
    /// disruption, as a pause stops a batch before it has come through.
    pub fn is_paused_by_rollout(&self, key: &Key) -> bool {
        let held = self.lock();
        held.releases.get(key).is_some_and(|release| held.is_paused_by_rollout(release))
    }

    /// Remembers a status that we wrote, until the watch shows it: a decision on an older one would
    /// take its step twice.
    pub(crate) fn wrote<T: Served>(
        &self,
        key: &Key,
        uid: &Uid,
        resource_version: &str,
        status: T::Status,
    ) where
        Resource<T>: Kept<Shelf = ()>,
    {
        let mut held = self.lock();
        T::written(&mut held.written).put(key, uid, resource_version, status);
        held.forget_written::<T>(key);
    }

    /// Takes out of `unseen` what the tables show by now.
    pub fn forget_seen(&self, unseen: &mut Unseen) {
        let held = self.lock();
        unseen.forget(|kind, version| {
            let all = each_table!(K, shelf => {
                K::source(shelf).title == kind && K::table(&held, shelf).shows(version)
            });
            all.into_iter().any(|shown| shown)
        });
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Held> {
        // A panic while it was held is a bug, but the tables are whole after each single change.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    pub(crate) fn waiting_for(&self) -> Vec<String> {
        let all = each_table!(K, shelf => {
            let table = K::table(self, shelf);
            (K::source(shelf).title, table.listed(), table.broken())
        });
        let missing = all.into_iter().filter(|(_, listed, _)| !listed);
        missing
            .map(|(kind, _, why)| match why {
                Some(why) => format!("{kind} ({why})"),
                None => kind.to_owned(),
            })
            .collect()
    }

    fn subjects(&self) -> impl Iterator<Item = Subject> + use<'_> {
        let subject = |front| move |key: &Key| Subject::new(front, key.clone());
        let first = self.statefulset_rollouts.keys().map(subject(Front::StatefulsetRollout));
        let second = self.rollouts.keys().map(subject(Front::Rollout));
        let third = self.releases.keys().map(subject(Front::BatchRelease));
        first.chain(second).chain(third)
    }

    /// The metadata of a subject, if it is there.
    fn meta(&self, subject: &Subject) -> Option<&Meta> {
        let key = &subject.key;
        match subject.front {
            Front::StatefulsetRollout => self.statefulset_rollouts.get(key).map(|it| &it.meta),
            Front::Rollout => self.rollouts.get(key).map(|it| &it.meta),
            Front::BatchRelease => self.releases.get(key).map(|it| &it.meta),
        }
    }

    pub(crate) fn forget_written<T: Served>(&mut self, key: &Key)
    where
        Resource<T>: Kept<Shelf = ()>,
    {
        let meta = <Resource<T> as Kept>::table(self, ()).get(key).map(|seen| seen.meta.clone());
        T::written(&mut self.written).forget(key, meta.as_ref());
    }

    /// A workload, if it is there.
    pub(crate) fn workload(&self, workload: &Workload) -> Option<&WorkloadSeen> {
        self.workloads.of(workload.kind).get(&workload.key)
    }

    /// Path of a workload in the API, in the version that its kind was found in.
    pub(crate) fn path(&self, workload: &Workload) -> String {
        let source = workload.kind.facts().source;
        let served = self.workloads.of(workload.kind).served();
        let served = served.or(source.served.first().copied()).unwrap_or_default();
        let Key { namespace, name } = &workload.key;
        format!("{}/{name}", source.collection(served, Some(namespace)))
    }

    /// Who names a workload, in order.
    pub(crate) fn naming(&self, workload: &Workload) -> impl Iterator<Item = &Subject> + use<'_> {
        self.by_workload.get(workload).into_iter().flatten()
    }

    /// The resources of one front that name a workload, in order.
    pub(crate) fn named_by<T: Served>(
        &self,
        workload: &Workload,
    ) -> impl Iterator<Item = &Resource<T>> + use<'_, T>
    where
        Resource<T>: Kept<Shelf = ()>,
    {
        let table = <Resource<T> as Kept>::table(self, ());
        let named = self.naming(workload).filter(|subject| subject.front == T::FRONT);
        named.filter_map(|subject| table.get(&subject.key))
    }

    /// Whether the Rollout that wrote this BatchRelease is paused.
    pub(crate) fn is_paused_by_rollout(&self, release: &Resource<BatchRelease>) -> bool {
        let Some(owner) = &release.meta.owner else { return false };
        let key = Key::new(release.meta.namespace.as_str(), owner.name.as_str());
        let rollout = self.rollouts.get(&key).filter(|rollout| rollout.meta.uid == owner.uid);
        let rollout = rollout.and_then(|rollout| rollout.object.as_ref().ok());
        rollout.is_some_and(|rollout| rollout.spec.strategy.paused == Some(true))
    }

    /// Notes that a subject names a workload.
    pub(crate) fn name(&mut self, workload: Workload, subject: Subject) {
        self.by_workload.entry(workload).or_default().insert(subject);
    }

    /// Takes that back.
    pub(crate) fn unname(&mut self, workload: &Workload, subject: &Subject) {
        if let Some(naming) = self.by_workload.get_mut(workload) {
            naming.remove(subject);
            if naming.is_empty() {
                self.by_workload.remove(workload);
            }
        }
    }

    /// Wakes those that name a workload.
    pub(crate) fn wake_naming(&self, workload: &Workload, woken: &mut Woken) {
        for subject in self.naming(workload) {
            woken.entry(subject.clone()).or_insert(Why::Event);
        }
    }

    /// Wakes those that name any workload of a kind.
    pub(crate) fn wake_naming_any(&self, kind: Kind, woken: &mut Woken) {
        for workload in self.by_workload.keys().filter(|workload| workload.kind == kind) {
            self.wake_naming(workload, woken);
        }
    }

    /// Wakes those that look at the Pods of a workload one by one.
    pub(crate) fn wake_for_pods(&self, workload: &Workload, woken: &mut Woken) {
        for subject in self.naming(workload).filter(|it| it.front != Front::Rollout) {
            woken.entry(subject.clone()).or_insert(Why::Event);
        }
    }
}
