//! Whom a change concerns: for each kind, the rollouts that have to be looked at.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::caches::{Held, Why};
use crate::key::Key;
use crate::seen::{BudgetSeen, PodSeen, RolloutSeen, StatefulSetSeen};
use crate::table::{Change, Row, Table};

/// Rollouts to be woken.
pub(crate) type Woken = BTreeMap<Key, Why>;

/// A kind with a table among the caches.
pub(crate) trait Kept: Row {
    fn table(held: &mut Held) -> &mut Table<Self>;

    /// After the table shows the change: keeps the indexes and adds the rollouts concerned.
    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken);

    /// A whole list has come in.
    fn listed(_held: &mut Held) {}
}

impl Row for RolloutSeen {
    fn key(&self) -> Key {
        self.meta.key()
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        self == other
    }
}

impl Kept for RolloutSeen {
    fn table(held: &mut Held) -> &mut Table<Self> {
        &mut held.rollouts
    }

    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken) {
        let (old, new) = (change.old.as_deref(), change.new.as_deref());
        let anew = match (old, new) {
            (Some(old), Some(new)) => new.asks_otherwise(old),
            _ => true,
        };
        woken.insert(change.key.clone(), if anew { Why::Changed } else { Why::Event });
        held.forget_written(&change.key);
        if !anew {
            return;
        }
        if let Some(old) = old {
            let set = old.workload();
            held.unname(&set, &change.key);
            // Those that wait for its claim.
            held.wake_naming(&set, woken);
        }
        if let Some(new) = new {
            let set = new.workload();
            held.name(set.clone(), change.key.clone());
            held.wake_naming(&set, woken);
        }
    }

    /// A list is at least as new as any write before it. Clearing what is outstanding lets go of
    /// versions that never come: those of a cluster that was restored from a backup.
    fn listed(held: &mut Held) {
        held.written.clear();
    }
}

impl Row for StatefulSetSeen {
    fn key(&self) -> Key {
        self.meta.key()
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        self.meta.uid == other.meta.uid && self.meta.resource_version == other.meta.resource_version
    }
}

impl Kept for StatefulSetSeen {
    fn table(held: &mut Held) -> &mut Table<Self> {
        &mut held.sets
    }

    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken) {
        held.wake_naming(&change.key, woken);
    }
}

impl Row for PodSeen {
    fn key(&self) -> Key {
        self.key.clone()
    }

    fn kept(&self) -> bool {
        self.owner
            .as_ref()
            .is_some_and(|owner| owner.kind == "StatefulSet" && owner.api_version == "apps/v1")
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        PodSeen::says_the_same_as(self, other)
    }
}

impl Kept for PodSeen {
    fn table(held: &mut Held) -> &mut Table<Self> {
        &mut held.pods
    }

    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken) {
        for pod in [&change.old, &change.new].into_iter().flatten() {
            if let Some(owner) = &pod.owner {
                let set = Key::new(pod.key.namespace.as_str(), owner.name.as_str());
                held.wake_naming(&set, woken);
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
    fn table(held: &mut Held) -> &mut Table<Self> {
        &mut held.budgets
    }

    fn concerned(held: &mut Held, change: &Change<Self>, woken: &mut Woken) {
        let selects = |labels: &Value| {
            [&change.old, &change.new].into_iter().flatten().any(|budget| budget.selects(labels))
        };
        for rollout in held.rollouts.in_namespace(&change.key.namespace) {
            let wanted = rollout.template_labels();
            let live = held.sets.get(&rollout.workload());
            if selects(wanted) || live.is_some_and(|set| selects(set.template_labels())) {
                woken.entry(rollout.meta.key()).or_insert(Why::Event);
            }
        }
    }
}
