//! The objects of one kind, in order, and what changed when a watch told something.

use std::collections::btree_map::Keys;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::key::Key;
use crate::watch::{Seen, Watched};

/// A kind that is kept in a table.
pub(crate) trait Row: Watched {
    /// Namespace and name.
    fn key(&self) -> Key;

    /// UID of the owner that controls it, by which it can be found.
    fn owner(&self) -> Option<&str> {
        None
    }

    /// Whether it is kept at all; one that is not counts as gone.
    fn kept(&self) -> bool {
        true
    }

    /// Whether nothing that anybody looks at has changed.
    fn says_the_same_as(&self, other: &Self) -> bool;
}

/// What happened to one object. Both are there when it changed.
#[derive(Debug)]
pub(crate) struct Change<K> {
    pub(crate) key: Key,
    pub(crate) old: Option<Arc<K>>,
    pub(crate) new: Option<Arc<K>>,
}

/// The objects of one kind.
#[derive(Debug)]
pub(crate) struct Table<K> {
    rows: BTreeMap<Key, Arc<K>>,
    /// Who is controlled by a UID.
    owned: BTreeMap<Box<str>, BTreeSet<Key>>,
    /// The latest resourceVersion that was seen: what was written under an earlier one is shown.
    version: u128,
    listed: bool,
    /// Where the kind is served, as far as is known.
    served: Option<&'static str>,
    broken: Option<String>,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            owned: BTreeMap::new(),
            version: 0,
            listed: false,
            served: None,
            broken: None,
        }
    }
}

impl<K: Row> Table<K> {
    /// Takes what a watch has told; answers with what changed, in order of keys.
    pub(crate) fn take(&mut self, seen: Seen<K>) -> Vec<Change<K>> {
        self.broken = None;
        match seen {
            Seen::Broken(why) => {
                self.broken = Some(why);
                Vec::new()
            }
            Seen::Open => Vec::new(),
            Seen::Served(at) => {
                self.served = Some(at);
                Vec::new()
            }
            Seen::Applied(row) => {
                self.has_come_to(row.resource_version());
                self.put(row).into_iter().collect()
            }
            Seen::Deleted(row) => {
                self.has_come_to(row.resource_version());
                self.remove(row.key()).into_iter().collect()
            }
            Seen::All(rows, version) => {
                self.listed = true;
                // A list has a version; where none could be made, the kind is not served.
                self.served = self.served.filter(|_| !version.is_empty());
                // A cluster that was restored from a backup counts from an earlier one again.
                self.version = 0;
                self.has_come_to(&version);
                let rows: BTreeMap<Key, K> = rows.into_iter().map(|row| (row.key(), row)).collect();
                let gone: Vec<Key> =
                    self.rows.keys().filter(|key| !rows.contains_key(key)).cloned().collect();
                let mut changes: Vec<_> =
                    gone.into_iter().filter_map(|key| self.remove(key)).collect();
                changes.extend(rows.into_values().filter_map(|row| self.put(row)));
                changes.sort_by(|a, b| a.key.cmp(&b.key));
                changes
            }
        }
    }

    fn has_come_to(&mut self, version: &str) {
        self.version = self.version.max(version.parse().unwrap_or(0));
    }

    /// Whether a write that the server answered with this resourceVersion is in the table by now. One that
    /// is no number is never waited for.
    pub(crate) fn shows(&self, version: &str) -> bool {
        !version.parse::<u128>().is_ok_and(|version| version > self.version)
    }

    fn put(&mut self, row: K) -> Option<Change<K>> {
        let key = row.key();
        if !row.kept() {
            return self.remove(key);
        }
        self.index(&key, &row);
        // Shared with who is told of it: a first list tells of every row there is.
        let row = Arc::new(row);
        let old = self.rows.insert(key.clone(), row.clone());
        if old.as_ref().is_some_and(|old| row.says_the_same_as(old)) {
            return None;
        }
        Some(Change { key, old, new: Some(row) })
    }

    fn index(&mut self, key: &Key, row: &K) {
        let before = self.rows.get(key).and_then(|old| old.owner());
        if before == row.owner() {
            return;
        }
        if let Some(before) = before.map(Box::from) {
            self.unindex(&before, key);
        }
        if let Some(owner) = row.owner() {
            self.owned.entry(owner.into()).or_default().insert(key.clone());
        }
    }

    fn unindex(&mut self, owner: &str, key: &Key) {
        if let Some(owned) = self.owned.get_mut(owner) {
            owned.remove(key);
            if owned.is_empty() {
                self.owned.remove(owner);
            }
        }
    }

    fn remove(&mut self, key: Key) -> Option<Change<K>> {
        let old = self.rows.remove(&key)?;
        if let Some(owner) = old.owner() {
            self.unindex(owner, &key);
        }
        Some(Change { key, old: Some(old), new: None })
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&K> {
        self.rows.get(key).map(|row| &**row)
    }

    /// All of them, in order of keys.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &K> {
        self.rows.values().map(|row| &**row)
    }

    pub(crate) fn keys(&self) -> Keys<'_, Key, Arc<K>> {
        self.rows.keys()
    }

    /// Those that this UID controls, by name.
    pub(crate) fn owned_by<'a>(&'a self, uid: &str) -> impl Iterator<Item = &'a K> {
        let keys = self.owned.get(uid).into_iter().flatten();
        keys.filter_map(|key| self.rows.get(key)).map(|row| &**row)
    }

    /// Those of one namespace, by name.
    pub(crate) fn in_namespace<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a K> {
        let from = Key::new(namespace, "");
        let rows = self.rows.range(from..).take_while(move |(key, _)| key.namespace == namespace);
        rows.map(|(_, row)| &**row)
    }

    /// Where the kind was last found to be served: group and version, as in paths.
    pub(crate) fn served(&self) -> Option<&'static str> {
        self.served
    }

    /// Whether it has been listed once.
    pub(crate) fn listed(&self) -> bool {
        self.listed
    }

    /// Why its watch is broken, if it is.
    pub(crate) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }
}
