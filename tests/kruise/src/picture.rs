//! What watches have told so far, as the view that steps read.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use simcluster::behaviour::{Change, View};
use simcluster::json::Value;
use simcluster::object::{self, Collection, Key, Object};
use simcluster::store::Store;

use crate::resource::revision;
use crate::watch::Told;

/// What has to be seen before a picture shows what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owed {
    /// The collection as of a revision, which is what the written object has.
    Reached(Collection, u64),
    /// An object with this UID on its way out, or out.
    Going(Key, String),
    /// A list that was asked for: nobody knows whether the write was heard.
    Listed(Collection, u64),
}

#[derive(Debug, Default)]
struct Known {
    reached: u64,
    /// The last list was that many-th that was asked for; `None` before the first.
    listed: Option<u64>,
}

/// Collections of a server, each as of some revision.
pub struct Picture {
    store: Store,
    known: BTreeMap<Collection, Known>,
    /// What was looked for though no watch tells of it.
    blind: RefCell<BTreeSet<Collection>>,
}

impl Picture {
    /// Of these collections; nothing is known yet.
    pub fn of(collections: impl IntoIterator<Item = Collection>) -> Self {
        Self {
            // Its log is read by nobody.
            store: Store::new(1),
            known: collections.into_iter().map(|one| (one, Known::default())).collect(),
            blind: RefCell::default(),
        }
    }

    /// Whether each collection has been listed.
    pub fn is_whole(&self) -> bool {
        self.known.values().all(|known| known.listed.is_some())
    }

    /// Takes in what a watch tells, and says what has changed by it.
    pub fn take(&mut self, collection: &Collection, told: Told) -> Vec<Change> {
        match told {
            Told::All { objects, revision, asked } => {
                let changes = self.replace(collection, objects);
                let known = self.known.entry(collection.clone()).or_default();
                (known.reached, known.listed) = (known.reached.max(revision), Some(asked));
                changes
            }
            Told::There(object) => {
                self.reach(collection, revision(&object));
                self.show(collection, object).into_iter().collect()
            }
            Told::Gone(object) => {
                self.reach(collection, revision(&object));
                self.hide(Key::of(collection.clone(), &object)).into_iter().collect()
            }
            Told::Reached(at) => {
                self.reach(collection, at);
                Vec::new()
            }
        }
    }

    /// All that is known, as if it had just come.
    pub fn everything(&self) -> Vec<Change> {
        let all = self.known.keys().flat_map(|collection| {
            self.store.list(collection, None).map(|object| Change {
                key: Key::of(collection.clone(), object),
                before: None,
                after: Some(object.clone()),
            })
        });
        all.collect()
    }

    /// Whether what is owed has been seen.
    pub fn shows(&self, owed: &Owed) -> bool {
        let known = |collection| self.known.get(collection);
        match owed {
            // What no watch tells of needs no waiting.
            Owed::Reached(collection, at) => {
                known(collection).is_none_or(|known| known.reached >= *at)
            }
            Owed::Listed(collection, asked) => known(collection)
                .is_none_or(|known| known.listed.is_some_and(|listed| listed >= *asked)),
            Owed::Going(key, uid) => self
                .store
                .get(key)
                .is_none_or(|object| object::uid(object) != uid || object::is_terminating(object)),
        }
    }

    /// A collection that was looked for since the last question though no watch tells of it.
    pub fn blind_spot(&self) -> Option<Collection> {
        std::mem::take(&mut *self.blind.borrow_mut()).pop_first()
    }

    fn reach(&mut self, collection: &Collection, at: u64) {
        let known = self.known.entry(collection.clone()).or_default();
        known.reached = known.reached.max(at);
    }

    fn replace(&mut self, collection: &Collection, objects: Vec<Value>) -> Vec<Change> {
        let there: BTreeSet<Key> =
            objects.iter().map(|object| Key::of(collection.clone(), object)).collect();
        let had = self.store.list(collection, None).map(|one| Key::of(collection.clone(), one));
        let gone: Vec<Key> = had.filter(|key| !there.contains(key)).collect();
        let mut changes: Vec<Change> = gone.into_iter().filter_map(|key| self.hide(key)).collect();
        changes.extend(objects.into_iter().filter_map(|object| self.show(collection, object)));
        changes
    }

    fn show(&mut self, collection: &Collection, object: Value) -> Option<Change> {
        let key = Key::of(collection.clone(), &object);
        // Told already: by a list, or by the watch before the one that broke.
        let known = self.store.get(&key).map_or(0, |known| revision(known));
        if known >= revision(&object) {
            return None;
        }
        let object: Object = Arc::new(object);
        let before = self.store.show(&key, &object);
        Some(Change { key, before, after: Some(object) })
    }

    fn hide(&mut self, key: Key) -> Option<Change> {
        let before = self.store.hide(&key)?;
        Some(Change { key, before: Some(before), after: None })
    }

    fn look_for(&self, collection: &Collection) {
        if !self.known.contains_key(collection) {
            self.blind.borrow_mut().insert(collection.clone());
        }
    }
}

type Objects<'a> = Box<dyn Iterator<Item = &'a Object> + 'a>;

impl View for Picture {
    fn get(&self, key: &Key) -> Option<&Object> {
        self.look_for(&key.collection);
        self.store.get(key)
    }

    fn list<'a>(&'a self, collection: &Collection, namespace: Option<&str>) -> Objects<'a> {
        self.look_for(collection);
        self.store.list(collection, namespace)
    }

    fn controlled_by<'a>(&'a self, collection: &Collection, owner_uid: &str) -> Objects<'a> {
        self.look_for(collection);
        self.store.controlled_by(collection, owner_uid)
    }

    fn orphans<'a>(&'a self, collection: &Collection, namespace: &'a str) -> Objects<'a> {
        self.look_for(collection);
        self.store.orphans(collection, namespace)
    }

    fn selected<'a>(
        &'a self,
        collection: &Collection,
        namespace: &str,
        selector: &'a Value,
    ) -> Objects<'a> {
        self.look_for(collection);
        self.store.selected(collection, namespace, selector)
    }
}

#[cfg(test)]
mod tests;
