//! Whom a change concerns: for each kind, the subjects that have to be looked at.

use std::collections::BTreeMap;

use api::batches::{BatchRelease, Rollout};
use api::bedrock::StatefulsetRollout;
use serde_json::Value;

use crate::caches::{Held, Why};
use crate::key::Key;
use crate::kind::{Kind, Owns};
use crate::seen::meta::{Meta, Owner};
use crate::seen::{
    BudgetSeen, PodSeen, ReplicaSetSeen, Resource, RevisionSeen, Served, WorkloadSeen,
};
use crate::subject::{Front, Subject, Workload};
use crate::table::{Change, Row, Table};
use crate::watch::Source;

/// Subjects to be woken.
pub(crate) type Woken = BTreeMap<Subject, Why>;

/// A kind with a table among the caches.
pub(crate) trait Kept: Row {
    /// What tells its table from others of the same rows.
    type Shelf: Copy + Send + 'static;

    /// Where it is watched.
    fn source(shelf: Self::Shelf) -> Source;

    fn table(held: &Held, shelf: Self::Shelf) -> &Table<Self>;

    fn table_mut(held: &mut Held, shelf: Self::Shelf) -> &mut Table<Self>;

    /// After the table shows the change: keeps the indexes and adds the subjects concerned.
    fn concerned(held: &mut Held, shelf: Self::Shelf, change: &Change<Self>, woken: &mut Woken);

    /// A whole list has come in.
    fn listed(_held: &mut Held) {}

    /// The kind was not served and is, or the other way round, or in another version.
    fn comes_or_goes(_held: &Held, _shelf: Self::Shelf, _woken: &mut Woken) {}
}

/// Tells of rows that have one table which it is, and where they are watched.
macro_rules! table {
    ($name:ident, $source:expr) => {
        type Shelf = ();

        fn source((): ()) -> Source {
            $source
        }

        fn table(held: &Held, (): ()) -> &Table<Self> {
            &held.$name
        }

        fn table_mut(held: &mut Held, (): ()) -> &mut Table<Self> {
            &mut held.$name
        }
    };
}

impl<T: Served> Row for Resource<T> {
    fn key(&self) -> Key {
        self.meta.key()
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        self == other
    }
}

impl Kept for Resource<StatefulsetRollout> {
    table!(statefulset_rollouts, StatefulsetRollout::SOURCE);

    fn concerned(held: &mut Held, (): (), change: &Change<Self>, woken: &mut Woken) {
        resource(held, change, woken);
    }

    fn listed(held: &mut Held) {
        held.written.statefulset_rollouts.clear();
    }
}

impl Kept for Resource<Rollout> {
    table!(rollouts, Rollout::SOURCE);

    fn concerned(held: &mut Held, (): (), change: &Change<Self>, woken: &mut Woken) {
        resource(held, change, woken);
    }

    fn listed(held: &mut Held) {
        held.written.rollouts.clear();
    }
}

impl Kept for Resource<BatchRelease> {
    table!(releases, BatchRelease::SOURCE);

    fn concerned(held: &mut Held, (): (), change: &Change<Self>, woken: &mut Woken) {
        resource(held, change, woken);
        // The Rollout that wrote it reads how far it is.
        woken.entry(Subject::new(Front::Rollout, change.key.clone())).or_insert(Why::Event);
    }

    fn listed(held: &mut Held) {
        held.written.releases.clear();
    }
}

/// A resource that is served: it itself, and those that wait for the workload that it names or named.
fn resource<T: Served>(held: &mut Held, change: &Change<Resource<T>>, woken: &mut Woken)
where
    Resource<T>: Kept<Shelf = ()>,
{
    let subject = Subject::new(T::FRONT, change.key.clone());
    let (old, new) = (change.old.as_deref(), change.new.as_deref());
    let anew = match (old, new) {
        (Some(old), Some(new)) => new.asks_otherwise(old),
        _ => true,
    };
    woken.insert(subject.clone(), if anew { Why::Changed } else { Why::Event });
    held.forget_written::<T>(&change.key);
    if !anew {
        return;
    }
    if let Some(workload) = old.and_then(|old| old.workload.as_ref()) {
        held.unname(workload, &subject);
        // Those that wait for its claim.
        held.wake_naming(workload, woken);
    }
    if let Some(workload) = new.and_then(|new| new.workload.as_ref()) {
        held.name(workload.clone(), subject);
        held.wake_naming(workload, woken);
    }
}

fn same_version(one: &Meta, other: &Meta) -> bool {
    one.uid == other.uid && one.resource_version == other.resource_version
}

impl Row for WorkloadSeen {
    fn key(&self) -> Key {
        self.meta.key()
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        same_version(&self.meta, &other.meta)
    }
}

impl Kept for WorkloadSeen {
    type Shelf = Kind;

    fn source(kind: Kind) -> Source {
        kind.facts().source
    }

    fn table(held: &Held, kind: Kind) -> &Table<Self> {
        held.workloads.of(kind)
    }

    fn table_mut(held: &mut Held, kind: Kind) -> &mut Table<Self> {
        held.workloads.of_mut(kind)
    }

    fn concerned(held: &mut Held, kind: Kind, change: &Change<Self>, woken: &mut Woken) {
        held.wake_naming(&Workload::new(kind, change.key.clone()), woken);
        if kind == Kind::AdvancedStatefulSet && (change.old.is_none() || change.new.is_none()) {
            // Its Pods have the names of those of a StatefulSet, which can have them now, or can not.
            held.wake_naming(&Workload::new(Kind::StatefulSet, change.key.clone()), woken);
        }
    }

    fn comes_or_goes(held: &Held, kind: Kind, woken: &mut Woken) {
        held.wake_naming_any(kind, woken);
    }
}

/// Whether a workload that owns such things, and has them looked at, controls it.
fn belongs_to(owner: Option<&Owner>, owns: Owns) -> bool {
    owner.and_then(Owner::workload_kind).is_some_and(|kind| kind.facts().owns == owns)
}

/// Wakes those that name the workload that controls an object, or did before a change.
fn wake_for_owners<'a>(held: &Held, metas: impl Iterator<Item = &'a Meta>, woken: &mut Woken) {
    for meta in metas {
        let owner = meta.owner.as_ref();
        if let Some(workload) = owner.and_then(|owner| owner.workload(&meta.namespace)) {
            held.wake_naming(&workload, woken);
        }
    }
}

impl Row for ReplicaSetSeen {
    fn key(&self) -> Key {
        self.meta.key()
    }

    fn owner(&self) -> Option<&str> {
        self.meta.owner.as_ref().map(|owner| owner.uid.as_str())
    }

    fn kept(&self) -> bool {
        belongs_to(self.meta.owner.as_ref(), Owns::ReplicaSets)
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        same_version(&self.meta, &other.meta)
    }
}

impl Kept for ReplicaSetSeen {
    table!(replica_sets, ReplicaSetSeen::SOURCE);

    fn concerned(held: &mut Held, (): (), change: &Change<Self>, woken: &mut Woken) {
        let both = [&change.old, &change.new].into_iter().flatten();
        wake_for_owners(held, both.map(|set| &set.meta), woken);
    }
}

impl Row for RevisionSeen {
    fn key(&self) -> Key {
        self.meta.key()
    }

    fn owner(&self) -> Option<&str> {
        self.meta.owner.as_ref().map(|owner| owner.uid.as_str())
    }

    fn kept(&self) -> bool {
        belongs_to(self.meta.owner.as_ref(), Owns::Revisions)
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        same_version(&self.meta, &other.meta)
    }
}

impl Kept for RevisionSeen {
    table!(revisions, RevisionSeen::SOURCE);

    fn concerned(held: &mut Held, (): (), change: &Change<Self>, woken: &mut Woken) {
        let both = [&change.old, &change.new].into_iter().flatten();
        wake_for_owners(held, both.map(|revision| &revision.meta), woken);
    }
}

impl Row for PodSeen {
    fn key(&self) -> Key {
        self.key.clone()
    }

    fn owner(&self) -> Option<&str> {
        self.owner.as_ref().map(|owner| owner.uid.as_str())
    }

    fn kept(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| {
            let kind = owner.workload_kind();
            (owner.kind == "ReplicaSet" && owner.api_version == "apps/v1")
                || kind.is_some_and(|kind| kind.facts().owns != Owns::ReplicaSets)
        })
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        PodSeen::says_the_same_as(self, other)
    }
}

impl Kept for PodSeen {
    table!(pods, PodSeen::SOURCE);

    fn concerned(held: &mut Held, (): (), change: &Change<Self>, woken: &mut Woken) {
        for pod in [&change.old, &change.new].into_iter().flatten() {
            let Some(owner) = &pod.owner else { continue };
            let namespace = change.key.namespace.as_str();
            let workload = owner.workload(namespace).or_else(|| {
                let set = held.replica_sets.get(&Key::new(namespace, owner.name.as_str()))?;
                set.meta.owner.as_ref()?.workload(namespace)
            });
            if let Some(workload) = workload {
                held.wake_for_pods(&workload, woken);
            }
        }
    }
}

impl Row for BudgetSeen {
    fn key(&self) -> Key {
        self.meta.key()
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        self.meta.uid == other.meta.uid
            && self.selector == other.selector
            && self.budget == other.budget
    }
}

impl Kept for BudgetSeen {
    table!(budgets, BudgetSeen::SOURCE);

    fn concerned(held: &mut Held, (): (), change: &Change<Self>, woken: &mut Woken) {
        let selects = |labels: &Value| {
            [&change.old, &change.new].into_iter().flatten().any(|budget| budget.selects(labels))
        };
        let namespace = &change.key.namespace;
        for rollout in held.statefulset_rollouts.in_namespace(namespace) {
            let live = rollout.workload.as_ref().and_then(|it| held.template_labels(it));
            if selects(rollout.template_labels()) || live.is_some_and(selects) {
                woken.entry(rollout.subject()).or_insert(Why::Event);
            }
        }
        for release in held.releases.in_namespace(namespace) {
            let live = release.workload.as_ref().and_then(|it| held.template_labels(it));
            if live.is_some_and(selects) {
                woken.entry(release.subject()).or_insert(Why::Event);
            }
        }
    }
}

impl Held {
    /// The labels of a workload's Pod template, as it stands.
    fn template_labels(&self, workload: &Workload) -> Option<&Value> {
        self.workload(workload).map(|seen| seen.spec.template_labels())
    }
}
