//! The objects, their resourceVersions and the log of changes that watches read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::behaviour::{Change, View};
use crate::object::{self, Collection, Key, Object};

/// One entry of the log.
#[derive(Debug)]
pub struct Logged {
    /// The resourceVersion that the change got.
    pub revision: u64,
    /// What changed.
    pub change: Change,
    /// What an event shows: the new content, or the last content under the version of its removal.
    pub shown: Object,
    encoded: OnceLock<Bytes>,
}

impl Logged {
    /// `shown` as JSON, encoded at most once however many watches send it.
    pub fn encoded(&self) -> Bytes {
        self.encoded
            .get_or_init(|| {
                Bytes::from(serde_json::to_vec(&*self.shown).expect("a Value always encodes"))
            })
            .clone()
    }
}

#[derive(Debug, Default)]
struct Table {
    /// Namespace → name → object: lookups by borrowed strings, lists in the server's order.
    objects: BTreeMap<String, BTreeMap<String, Object>>,
    /// UID of the controlling owner → (namespace, name).
    controlled: BTreeMap<String, BTreeSet<(String, String)>>,
    log: VecDeque<Arc<Logged>>,
    /// The newest change that is gone from the log; a live watch that saw it has missed nothing.
    dropped: u64,
}

/// All collections under one counter of revisions.
#[derive(Debug)]
pub struct Store {
    tables: BTreeMap<Collection, Table>,
    log: VecDeque<Arc<Logged>>,
    revision: u64,
    /// Where the last compaction was.
    floor: u64,
    /// How many changes each collection's log keeps: a busy one doesn't age a quiet one's watches.
    window: usize,
}

impl Store {
    /// An empty store that keeps the last `window` changes of each collection for watches.
    pub fn new(window: usize) -> Self {
        Self {
            tables: BTreeMap::new(),
            log: VecDeque::new(),
            revision: 1,
            floor: 0,
            window: window.max(1),
        }
    }

    /// The newest resourceVersion.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Watches of a collection from before this revision get a 410.
    pub fn compacted(&self, collection: &Collection) -> u64 {
        self.tables.get(collection).map_or(0, |table| table.dropped).max(self.floor)
    }

    /// Forgets the logs that watches read, as etcd's compaction does.
    pub fn compact(&mut self) {
        self.floor = self.revision;
        for table in self.tables.values_mut() {
            if let Some(last) = table.log.back() {
                table.dropped = last.revision;
            }
            table.log.clear();
        }
    }

    /// One object by borrowed names.
    pub fn find(&self, collection: &Collection, namespace: &str, name: &str) -> Option<&Object> {
        self.tables.get(collection)?.objects.get(namespace)?.get(name)
    }

    /// The objects of a collection after (not including) a place in the order of lists.
    pub fn list_after<'a>(
        &'a self,
        collection: &Collection,
        namespace: Option<&str>,
        after: Option<(&str, &str)>,
    ) -> Box<dyn Iterator<Item = &'a Object> + 'a> {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let Some(table) = self.tables.get(collection) else {
            return Box::new(std::iter::empty());
        };
        let from_name = |names: &'a BTreeMap<String, Object>, name: Option<&str>| {
            let low = name.map_or(Unbounded, |name| Excluded(name.to_owned()));
            names.range::<String, _>((low, Unbounded)).map(|(_, object)| object)
        };
        if let Some(namespace) = namespace {
            let Some(names) = table.objects.get(namespace) else {
                return Box::new(std::iter::empty());
            };
            return Box::new(from_name(names, after.map(|(_, name)| name)));
        }
        let low = after.map_or(Unbounded, |(namespace, _)| Included(namespace.to_owned()));
        let start = after.map(|(namespace, name)| (namespace.to_owned(), name.to_owned()));
        Box::new(table.objects.range::<String, _>((low, Unbounded)).flat_map(
            move |(namespace, names)| {
                let name = start.as_ref().filter(|(ns, _)| ns == namespace).map(|(_, n)| &**n);
                from_name(names, name)
            },
        ))
    }

    /// Writes an object under a new resourceVersion and logs it.
    pub fn put(&mut self, key: Key, mut object: Value) -> Object {
        self.revision += 1;
        object["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        let object: Object = Arc::new(object);
        let table = self.tables.entry(key.collection.clone()).or_default();
        let before = table
            .objects
            .entry(key.namespace.clone())
            .or_default()
            .insert(key.name.clone(), object.clone());
        let owner_before = before.as_deref().map(controller_uid);
        let owner_after = controller_uid(&object);
        if owner_before != Some(owner_after) {
            let place = (key.namespace.clone(), key.name.clone());
            if let Some(uid) = owner_before {
                table.unindex(uid, &place);
            }
            table.controlled.entry(owner_after.to_owned()).or_default().insert(place);
        }
        let change = Change { key, before, after: Some(object.clone()) };
        self.append(change, object.clone());
        object
    }

    /// Removes an object, under a new resourceVersion, and logs it.
    pub fn remove(&mut self, key: &Key) -> Option<Object> {
        let table = self.tables.get_mut(&key.collection)?;
        let names = table.objects.get_mut(&key.namespace)?;
        let before = names.remove(&key.name)?;
        if names.is_empty() {
            table.objects.remove(&key.namespace);
        }
        table.unindex(controller_uid(&before), &(key.namespace.clone(), key.name.clone()));
        self.revision += 1;
        let mut shown = (*before).clone();
        shown["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        let change = Change { key: key.clone(), before: Some(before.clone()), after: None };
        self.append(change, Arc::new(shown));
        Some(before)
    }

    fn append(&mut self, change: Change, shown: Object) {
        let logged =
            Arc::new(Logged { revision: self.revision, change, shown, encoded: OnceLock::new() });
        let collection = logged.change.key.collection.clone();
        let table = self.tables.entry(collection).or_default();
        table.log.push_back(logged.clone());
        if table.log.len() > self.window
            && let Some(old) = table.log.pop_front()
        {
            table.dropped = old.revision;
        }
        self.log.push_back(logged);
        if self.log.len() > self.window {
            self.log.pop_front();
        }
    }

    /// The logged changes of one collection after a revision; `None` when some are gone.
    pub fn log_of(&self, collection: &Collection, after: u64) -> Option<Vec<Arc<Logged>>> {
        let Some(table) = self.tables.get(collection) else {
            return Some(Vec::new());
        };
        if after < table.dropped {
            return None;
        }
        let start = table.log.partition_point(|logged| logged.revision <= after);
        Some(table.log.range(start..).cloned().collect())
    }

    /// All logged changes after a revision, as far as the window goes: for who reads each at once.
    pub fn log_after(&self, after: u64) -> impl Iterator<Item = &Arc<Logged>> {
        let start = self.log.partition_point(|logged| logged.revision <= after);
        self.log.range(start..)
    }

    /// Whether a namespace holds anything at all.
    pub fn namespace_in_use(&self, namespace: &str) -> bool {
        self.tables.values().any(|table| table.objects.contains_key(namespace))
    }
}

impl Table {
    fn unindex(&mut self, owner: &str, place: &(String, String)) {
        if let Some(places) = self.controlled.get_mut(owner) {
            places.remove(place);
            if places.is_empty() {
                self.controlled.remove(owner);
            }
        }
    }
}

/// Whose an object is; empty when it has no controller.
fn controller_uid(object: &Value) -> &str {
    object::controller(object).and_then(|owner| owner["uid"].as_str()).unwrap_or_default()
}

impl View for Store {
    fn get(&self, key: &Key) -> Option<&Object> {
        self.find(&key.collection, &key.namespace, &key.name)
    }

    fn list<'a>(
        &'a self,
        collection: &Collection,
        namespace: Option<&str>,
    ) -> Box<dyn Iterator<Item = &'a Object> + 'a> {
        self.list_after(collection, namespace, None)
    }

    fn controlled_by<'a>(
        &'a self,
        collection: &Collection,
        owner_uid: &str,
    ) -> Box<dyn Iterator<Item = &'a Object> + 'a> {
        let Some(table) = self.tables.get(collection) else {
            return Box::new(std::iter::empty());
        };
        let Some(places) = table.controlled.get(owner_uid) else {
            return Box::new(std::iter::empty());
        };
        Box::new(places.iter().filter_map(|(namespace, name)| {
            table.objects.get(namespace).and_then(|names| names.get(name))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::PODS;

    fn pod(namespace: &str, name: &str, owner: &str) -> (Key, Value) {
        let mut object = json!({"metadata": {"namespace": namespace, "name": name}});
        if !owner.is_empty() {
            object["metadata"]["ownerReferences"] = json!([{"uid": owner, "controller": true}]);
        }
        (Key::new(PODS, namespace, name), object)
    }

    fn names<'a>(objects: impl Iterator<Item = &'a Object>) -> Vec<String> {
        objects.map(|one| format!("{}/{}", object::namespace(one), object::name(one))).collect()
    }

    fn filled(pods: &[(&str, &str, &str)]) -> Store {
        let mut store = Store::new(3);
        for (namespace, name, owner) in pods {
            let (key, object) = pod(namespace, name, owner);
            store.put(key, object);
        }
        store
    }

    #[test]
    fn a_list_goes_on_after_any_place_even_one_that_is_gone() {
        let store = filled(&[("b", "1", ""), ("a", "2", ""), ("a", "1", ""), ("b", "3", "")]);
        let check = |namespace, after, expect: &[&str]| {
            assert_eq!(names(store.list_after(&PODS, namespace, after)), expect, "{after:?}");
        };
        check(None, None, &["a/1", "a/2", "b/1", "b/3"]);
        check(None, Some(("a", "2")), &["b/1", "b/3"]);
        check(None, Some(("b", "2")), &["b/3"]);
        check(Some("b"), None, &["b/1", "b/3"]);
        check(Some("b"), Some(("b", "1")), &["b/3"]);
        check(Some("c"), None, &[]);
    }

    #[test]
    fn the_index_by_controller_follows_adoption_release_and_removal() {
        let mut store = filled(&[("a", "1", "x"), ("a", "2", "x"), ("a", "3", "")]);
        assert_eq!(names(store.controlled_by(&PODS, "x")), ["a/1", "a/2"]);
        let (key, adopted) = pod("a", "3", "x");
        store.put(key, adopted);
        let (key, released) = pod("a", "1", "");
        store.put(key, released);
        store.remove(&Key::new(PODS, "a", "2"));
        assert_eq!(names(store.controlled_by(&PODS, "x")), ["a/3"]);
        assert_eq!(names(store.controlled_by(&PODS, "y")), Vec::<String>::new());
        assert_eq!(names(store.controlled_by(&PODS, "")), ["a/1"]);
    }

    #[test]
    fn the_log_keeps_as_much_as_the_window_and_says_when_something_is_gone() {
        let mut store = filled(&[("a", "1", ""), ("a", "2", ""), ("a", "3", ""), ("a", "4", "")]);
        let first = store.revision() - 3;
        let check = |store: &Store, after, expect: Option<usize>| {
            assert_eq!(store.log_of(&PODS, after).map(|log| log.len()), expect, "after {after}");
        };
        check(&store, first - 1, None);
        check(&store, first, Some(3));
        store.compact();
        check(&store, store.revision() - 1, None);
        check(&store, store.revision(), Some(0));
    }

    #[test]
    fn a_removal_is_shown_as_the_last_content_under_a_version_of_its_own() {
        let mut store = filled(&[("a", "1", "")]);
        let before = store.remove(&Key::new(PODS, "a", "1")).expect("it was there");
        let log = store.log_of(&PODS, store.revision() - 1).expect("in the window");
        assert_ne!(object::resource_version(&before), object::resource_version(&log[0].shown));
        assert_eq!(object::resource_version(&log[0].shown), store.revision().to_string());
    }
}
