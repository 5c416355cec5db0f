//! Which UIDs live, and who names them as owners.

use std::collections::{BTreeMap, BTreeSet};

use crate::behaviour::Change;
use crate::json::Value;
use crate::object::{self, Key};

/// The graph.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// UIDs of what is there.
    pub(super) live: BTreeSet<String>,
    /// Owner UID to dependents.
    dependents: BTreeMap<String, BTreeSet<Key>>,
}

impl Graph {
    /// Takes in a change.
    pub(super) fn learn(&mut self, change: &Change) {
        if let Some(before) = &change.before {
            for uid in owners(before) {
                if let Some(keys) = self.dependents.get_mut(uid) {
                    keys.remove(&change.key);
                    if keys.is_empty() {
                        self.dependents.remove(uid);
                    }
                }
            }
            self.live.remove(object::uid(before));
        }
        if let Some(after) = &change.after {
            for uid in owners(after) {
                self.dependents.entry(uid.to_owned()).or_default().insert(change.key.clone());
            }
            self.live.insert(object::uid(after).to_owned());
        }
    }

    /// Who names this UID as an owner.
    pub(super) fn dependents(&self, uid: &str) -> Vec<Key> {
        self.dependents.get(uid).into_iter().flatten().cloned().collect()
    }
}

/// The owner references of an object.
pub(super) fn references(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["ownerReferences"].as_array().into_iter().flatten()
}

/// The UIDs of its owners.
pub(super) fn owners(object: &Value) -> impl Iterator<Item = &str> {
    references(object).filter_map(|owner| owner["uid"].as_str())
}
