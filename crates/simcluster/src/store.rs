//! The objects, their resourceVersions and the log of changes that watches read.

mod labels;
mod log;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::behaviour::{Change, View, select};
use crate::json::{Value, json};
use crate::object::{self, Collection, Key, Object, PODS};
use labels::Labels;
pub use log::Logged;
pub(crate) use log::{encode, line};

#[derive(Debug, Default)]
struct Table {
    /// Namespace → name → object: lookups by borrowed strings, lists in the server's order.
    objects: BTreeMap<String, BTreeMap<String, Object>>,
    /// UID of the controlling owner → (namespace, name).
    controlled: BTreeMap<String, BTreeSet<(String, String)>>,
    /// Kept for Pods alone: other kinds are few, or nobody selects among them.
    labels: Labels,
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

    /// How many objects come after a place in the order of lists.
    pub fn count_after(
        &self,
        collection: &Collection,
        namespace: Option<&str>,
        (last_namespace, last_name): (&str, &str),
    ) -> usize {
        use std::ops::Bound::{Excluded, Unbounded};
        let Some(table) = self.tables.get(collection) else { return 0 };
        let beside = table
            .objects
            .get(last_namespace)
            .map_or(0, |names| names.range::<str, _>((Excluded(last_name), Unbounded)).count());
        if namespace.is_some() {
            return beside;
        }
        let others = table.objects.range::<str, _>((Excluded(last_namespace), Unbounded));
        beside + others.map(|(_, names)| names.len()).sum::<usize>()
    }

    /// Those of [`Self::list_after`] that carry a label; `None` where that is not kept.
    pub fn labelled_after<'a>(
        &'a self,
        collection: &Collection,
        namespace: Option<&str>,
        after: Option<(&'a str, &'a str)>,
        label: (&str, &str),
    ) -> Option<Box<dyn Iterator<Item = &'a Object> + 'a>> {
        use std::ops::Bound::{Excluded, Unbounded};
        if *collection != PODS || !Labels::knows(label.0) {
            return None;
        }
        let Some(table) = self.tables.get(collection) else {
            return Some(Box::new(std::iter::empty()));
        };
        let found = table.labels.carrying(namespace, label);
        let rest = found.filter(move |(ns, _)| after.is_none_or(|(first, _)| *ns >= first));
        Some(Box::new(rest.flat_map(move |(ns, names)| {
            let low = match after {
                Some((first, name)) if first == ns => Excluded(name),
                _ => Unbounded,
            };
            let objects = table.objects.get(ns);
            names
                .range::<str, _>((low, Unbounded))
                .filter_map(move |name| objects.and_then(|objects| objects.get(&**name)))
        })))
    }

    /// Writes an object under a new resourceVersion and logs it.
    pub fn put(&mut self, key: Key, mut object: Value) -> Object {
        self.revision += 1;
        object["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        self.share(&key, &mut object);
        let object: Object = Arc::new(object);
        let before = self.show(&key, &object);
        let change = Change { key, before, after: Some(object.clone()) };
        self.append(change, object.clone());
        object
    }

    /// Holds once what an object has in common with what it was, and with another of its owner: most
    /// Pods of a set are alike but for names and times.
    fn share(&self, key: &Key, object: &mut Value) {
        let Some(table) = self.tables.get(&key.collection) else { return };
        let at = |namespace: &str, name: &str| table.objects.get(namespace)?.get(name);
        if let Some(before) = at(&key.namespace, &key.name) {
            object.share(before);
        }
        let siblings = table.controlled.get(controller_uid(object)).into_iter().flatten();
        let mut others = siblings.filter(|(ns, name)| *ns != key.namespace || *name != key.name);
        if let Some(sibling) = others.next().and_then(|(namespace, name)| at(namespace, name)) {
            object.share(sibling);
        }
    }

    /// Takes in an object as another server wrote it, under the resourceVersion that it has there, and
    /// logs nothing. What was in its place until now.
    pub fn show(&mut self, key: &Key, object: &Object) -> Option<Object> {
        let table = self.tables.entry(key.collection.clone()).or_default();
        let before = table
            .objects
            .entry(key.namespace.clone())
            .or_default()
            .insert(key.name.clone(), object.clone());
        let owner_before = before.as_deref().map(controller_uid);
        let owner_after = controller_uid(object);
        if owner_before != Some(owner_after) {
            let place = (key.namespace.clone(), key.name.clone());
            if let Some(uid) = owner_before {
                table.unindex(uid, &place);
            }
            table.controlled.entry(owner_after.to_owned()).or_default().insert(place);
        }
        if key.collection == PODS {
            let labels = before.as_deref().map_or(&Value::Null, object::labels);
            table.labels.learn(&key.namespace, &key.name, labels, object::labels(object));
        }
        before
    }

    /// Removes an object, under a new resourceVersion, and logs it.
    pub fn remove(&mut self, key: &Key) -> Option<Object> {
        let before = self.hide(key)?;
        self.revision += 1;
        let mut shown = (*before).clone();
        shown["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        let change = Change { key: key.clone(), before: Some(before.clone()), after: None };
        self.append(change, Arc::new(shown));
        Some(before)
    }

    /// Takes out an object that another server no longer has, and logs nothing.
    pub fn hide(&mut self, key: &Key) -> Option<Object> {
        let table = self.tables.get_mut(&key.collection)?;
        let names = table.objects.get_mut(&key.namespace)?;
        let before = names.remove(&key.name)?;
        if names.is_empty() {
            table.objects.remove(&key.namespace);
        }
        table.unindex(controller_uid(&before), &(key.namespace.clone(), key.name.clone()));
        if key.collection == PODS {
            let labels = object::labels(&before);
            table.labels.learn(&key.namespace, &key.name, labels, &Value::Null);
        }
        Some(before)
    }

    fn append(&mut self, change: Change, shown: Object) {
        let logged = Arc::new(Logged::new(self.revision, change, shown));
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

    fn orphans<'a>(
        &'a self,
        collection: &Collection,
        namespace: &'a str,
    ) -> Box<dyn Iterator<Item = &'a Object> + 'a> {
        let Some(table) = self.tables.get(collection) else {
            return Box::new(std::iter::empty());
        };
        let (Some(places), Some(objects)) =
            (table.controlled.get(""), table.objects.get(namespace))
        else {
            return Box::new(std::iter::empty());
        };
        let from = (namespace.to_owned(), String::new());
        let places = places.range(from..).take_while(move |(ns, _)| ns == namespace);
        Box::new(places.filter_map(move |(_, name)| objects.get(name)))
    }

    fn selected<'a>(
        &'a self,
        collection: &Collection,
        namespace: &str,
        selector: &'a Value,
    ) -> Box<dyn Iterator<Item = &'a Object> + 'a> {
        let equal = selector["matchLabels"].as_object().into_iter().flatten();
        let mut equal = equal.filter_map(|(label, value)| Some((label.as_str(), value.as_str()?)));
        let candidates = equal
            .find_map(|label| self.labelled_after(collection, Some(namespace), None, label))
            .unwrap_or_else(|| self.list_after(collection, Some(namespace), None));
        Box::new(candidates.filter(|one| select::selects(selector, object::labels(one))))
    }
}

#[cfg(test)]
mod tests;
