//! A collection as it was at an earlier revision: what is there now, and what has changed since.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::json::Value;
use crate::kind::Kind;
use crate::object::{self, Collection, Object};
use crate::store::{Logged, Store};

/// Namespace and name.
pub(super) fn place(object: &Value) -> (&str, &str) {
    (object::namespace(object), object::name(object))
}

/// What changed in a collection after a revision.
pub(super) fn changes_since(store: &Store, kind: &Kind, revision: u64) -> Vec<Arc<Logged>> {
    if revision >= store.revision() {
        return Vec::new();
    }
    store.log_of(&kind.collection(), revision).unwrap_or_default()
}

/// What a collection was like where it has changed since: by place, `None` for what was not there.
pub(super) struct Past<'a>(BTreeMap<(&'a str, &'a str), Option<&'a Object>>);

impl<'a> Past<'a> {
    pub(super) fn new(since: &'a [Arc<Logged>], namespace: Option<&str>) -> Self {
        let mut past = BTreeMap::new();
        for logged in since {
            let key = &logged.change.key;
            if namespace.is_none_or(|namespace| namespace == key.namespace) {
                // The first change says what there was before all of them.
                let at = (key.namespace.as_str(), key.name.as_str());
                past.entry(at).or_insert(logged.change.before.as_ref());
            }
        }
        Self(past)
    }

    /// The objects after a place as they were, in order.
    pub(super) fn instead_of(
        &'a self,
        present: impl Iterator<Item = &'a Object>,
        after: Option<(&'a str, &'a str)>,
    ) -> impl Iterator<Item = &'a Object> {
        use std::ops::Bound::{Excluded, Unbounded};
        let low = after.map_or(Unbounded, Excluded);
        let mut same = present.filter(|object| !self.0.contains_key(&place(object))).peekable();
        let mut other = self.0.range((low, Unbounded)).filter_map(|(_, was)| *was).peekable();
        std::iter::from_fn(move || match (same.peek(), other.peek()) {
            (Some(one), Some(was)) if place(was) < place(one) => other.next(),
            (Some(_), _) => same.next(),
            (None, _) => other.next(),
        })
    }

    /// How many there were after a place, when there are so many now.
    pub(super) fn count_after(
        &self,
        store: &Store,
        collection: &Collection,
        last: (&str, &str),
        there: usize,
    ) -> usize {
        use std::ops::Bound::{Excluded, Unbounded};
        let later = self.0.range((Excluded(last), Unbounded));
        later.fold(there, |count, ((namespace, name), was)| {
            let is = store.find(collection, namespace, name).is_some();
            count + usize::from(was.is_some()) - usize::from(is)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::View;
    use crate::json::json;
    use crate::object::{Key, PODS};

    fn put(store: &mut Store, name: &str, version: u32) {
        let object = json!({"metadata": {"namespace": "ns", "name": name}, "version": version});
        store.put(Key::of(PODS, &object), object);
    }

    #[test]
    fn a_page_shows_what_was_there_and_counts_it() {
        let mut store = Store::new(100);
        for name in ["a", "c", "d", "e"] {
            put(&mut store, name, 1);
        }
        let revision = store.revision();
        put(&mut store, "b", 2);
        put(&mut store, "c", 2);
        put(&mut store, "c", 3);
        store.remove(&Key::new(PODS, "ns", "d"));
        put(&mut store, "f", 2);
        let since = store.log_of(&PODS, revision).unwrap();
        let past = Past::new(&since, Some("ns"));
        let shown = |after| -> Vec<String> {
            let present = store.list_after(&PODS, Some("ns"), after);
            let was = past.instead_of(present, after);
            was.map(|one| format!("{}{}", object::name(one), one["version"])).collect()
        };
        assert_eq!(shown(None), ["a1", "c1", "d1", "e1"]);
        assert_eq!(shown(Some(("ns", "a"))), ["c1", "d1", "e1"]);
        assert_eq!(store.list(&PODS, None).count(), 5);
        for (last, left) in [("a", 3), ("c", 2), ("d", 1), ("e", 0)] {
            let there = store.count_after(&PODS, Some("ns"), ("ns", last));
            assert_eq!(past.count_after(&store, &PODS, ("ns", last), there), left, "{last}");
        }
    }
}
