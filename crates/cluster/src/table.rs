//! The objects of one kind, in order, and what changed when a watch told something.

use std::collections::BTreeMap;
use std::collections::btree_map::{Keys, Range};
use std::ops::RangeFrom;
use std::sync::Arc;

use crate::key::Key;
use crate::watch::{Seen, Watched};

/// A kind that is kept in a table.
pub(crate) trait Row: Watched {
    /// Namespace and name.
    fn key(&self) -> Key;

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
    listed: bool,
    broken: Option<String>,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), listed: false, broken: None }
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
            Seen::Applied(row) => self.put(row).into_iter().collect(),
            Seen::Deleted(row) => self.remove(row.key()).into_iter().collect(),
            Seen::All(rows) => {
                self.listed = true;
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

    fn put(&mut self, row: K) -> Option<Change<K>> {
        let key = row.key();
        if !row.kept() {
            return self.remove(key);
        }
        // Shared with who is told of it: a first list tells of every row there is.
        let row = Arc::new(row);
        let old = self.rows.insert(key.clone(), row.clone());
        if old.as_ref().is_some_and(|old| row.says_the_same_as(old)) {
            return None;
        }
        Some(Change { key, old, new: Some(row) })
    }

    fn remove(&mut self, key: Key) -> Option<Change<K>> {
        let old = self.rows.remove(&key)?;
        Some(Change { key, old: Some(old), new: None })
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&K> {
        self.rows.get(key).map(|row| &**row)
    }

    pub(crate) fn keys(&self) -> Keys<'_, Key, Arc<K>> {
        self.rows.keys()
    }

    pub(crate) fn range(&self, from: RangeFrom<Key>) -> Range<'_, Key, Arc<K>> {
        self.rows.range(from)
    }

    /// Those of one namespace, by name.
    pub(crate) fn in_namespace<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a K> {
        let from = Key::new(namespace, "");
        let rows = self.rows.range(from..).take_while(move |(key, _)| key.namespace == namespace);
        rows.map(|(_, row)| &**row)
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
