//! Whom a change concerns: for each kind, the subjects that have to be looked at.

use std::collections::BTreeMap;

use api::batches::{BatchRelease, Rollout};
use api::bedrock::StatefulsetRollout;
use serde_json::Value;

use crate::caches::{Held, Why};
use crate::key::Key;
use crate::seen::meta::{Meta, Owner};
use crate::seen::{
    BudgetSeen, DaemonSetSeen, DeploymentSeen, PodSeen, ReplicaSetSeen, Resource, RevisionSeen,
    Served, StatefulSetSeen,
};
use crate::subject::{Front, Kind, Subject, Workload};
use crate::table::{Change, Row, Table};

/// Subjects to be woken.
pub(crate) type Woken = BTreeMap<Subject, Why>;

/// A kind with a table among the caches.
pub(crate) trait Kept: Row {
    fn table(held: &Held) -> &Table<Self>;

    fn table_mut(held: &mut Held) -> &mut Table<Self>;

    /// After the table shows the change: keeps the indexes and adds the subjects concerned.
    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken);

    /// A whole list has come in.
    fn listed(_held: &mut Held) {}
}

/// Tells of each kind in which table it stands.
macro_rules! table {
    ($name:ident) => {
        fn table(held: &Held) -> &Table<Self> {
            &held.$name
        }

        fn table_mut(held: &mut Held) -> &mut Table<Self> {
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
    table!(statefulset_rollouts);

    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken) {
        resource(held, change, woken);
    }

    fn listed(held: &mut Held) {
        held.written.statefulset_rollouts.clear();
    }
}

impl Kept for Resource<Rollout> {
    table!(rollouts);

    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken) {
        resource(held, change, woken);
    }

    fn listed(held: &mut Held) {
        held.written.rollouts.clear();
    }
}

impl Kept for Resource<BatchRelease> {
    table!(releases);

    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken) {
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
    Resource<T>: Kept,
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

/// A workload: those that name it.
macro_rules! workload {
    ($seen:ty, $table:ident, $kind:expr) => {
        impl Row for $seen {
            fn key(&self) -> Key {
                self.meta.key()
            }

            fn says_the_same_as(&self, other: &Self) -> bool {
                same_version(&self.meta, &other.meta)
            }
        }

        impl Kept for $seen {
            table!($table);

            fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken) {
                held.wake_naming(&Workload::new($kind, change.key.clone()), woken);
            }
        }
    };
}

workload!(DeploymentSeen, deployments, Kind::Deployment);
workload!(StatefulSetSeen, sets, Kind::StatefulSet);
workload!(DaemonSetSeen, daemon_sets, Kind::DaemonSet);

/// Whether this is the owner of a kind of `apps`.
fn is(owner: Option<&Owner>, kind: &str) -> bool {
    owner.is_some_and(|owner| owner.kind == kind && owner.api_version == "apps/v1")
}

/// The workload of this kind that an owner is.
fn owner(kind: Kind, namespace: &str, owner: &Owner) -> Workload {
    Workload::new(kind, Key::new(namespace, owner.name.as_str()))
}

impl Row for ReplicaSetSeen {
    fn key(&self) -> Key {
        self.meta.key()
    }

    fn owner(&self) -> Option<&str> {
        self.meta.owner.as_ref().map(|owner| owner.uid.as_str())
    }

    fn kept(&self) -> bool {
        is(self.meta.owner.as_ref(), "Deployment")
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        same_version(&self.meta, &other.meta)
    }
}

impl Kept for ReplicaSetSeen {
    table!(replica_sets);

    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken) {
        for set in [&change.old, &change.new].into_iter().flatten() {
            if let Some(of) = &set.meta.owner {
                held.wake_naming(&owner(Kind::Deployment, &change.key.namespace, of), woken);
            }
        }
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
        is(self.meta.owner.as_ref(), "DaemonSet")
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        same_version(&self.meta, &other.meta)
    }
}

impl Kept for RevisionSeen {
    table!(revisions);

    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken) {
        for revision in [&change.old, &change.new].into_iter().flatten() {
            if let Some(of) = &revision.meta.owner {
                held.wake_naming(&owner(Kind::DaemonSet, &change.key.namespace, of), woken);
            }
        }
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
        let of = self.owner.as_ref();
        ["StatefulSet", "ReplicaSet", "DaemonSet"].into_iter().any(|kind| is(of, kind))
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        PodSeen::says_the_same_as(self, other)
    }
}

impl Kept for PodSeen {
    table!(pods);

    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken) {
        for pod in [&change.old, &change.new].into_iter().flatten() {
            let Some(of) = &pod.owner else { continue };
            let namespace = change.key.namespace.as_str();
            let workload = match of.kind.as_str() {
                "StatefulSet" => Some(owner(Kind::StatefulSet, namespace, of)),
                "DaemonSet" => Some(owner(Kind::DaemonSet, namespace, of)),
                _ => {
                    let set = held.replica_sets.get(&Key::new(namespace, of.name.as_str()));
                    let above = set.and_then(|set| set.meta.owner.as_ref());
                    above.map(|above| owner(Kind::Deployment, namespace, above))
                }
            };
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
    table!(budgets);

    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken) {
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
        let key = &workload.key;
        let spec = match workload.kind {
            Kind::Deployment => self.deployments.get(key).map(|it| &it.spec),
            Kind::StatefulSet => self.sets.get(key).map(|it| &it.spec),
            Kind::DaemonSet => self.daemon_sets.get(key).map(|it| &it.spec),
        };
        spec.map(crate::seen::spec::Spec::template_labels)
    }
}
