//! The namespace controller: empties a namespace that is being deleted, then lets it go.

mod contents;

use jiff::Timestamp;

use self::contents::collections;
use super::{Behaviour, Change, Step, View, Write};
use crate::json::{Value, json};
use crate::object::{self, Key, NAMESPACES};

/// Deletes what is in terminating namespaces.
#[derive(Debug, Default)]
pub struct Namespaces;

impl Behaviour for Namespaces {
    fn name(&self) -> &'static str {
        "namespace-controller"
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        if change.key.collection == NAMESPACES {
            let going = change.after.as_deref().is_some_and(object::is_terminating);
            return if going { vec![change.key.clone()] } else { Vec::new() };
        }
        if change.after.is_some() || change.key.namespace.is_empty() {
            return Vec::new();
        }
        // Something has gone: a namespace may be waiting for that.
        let key = Key::new(NAMESPACES, "", &change.key.namespace);
        let waits = view.get(&key).is_some_and(|namespace| object::is_terminating(namespace));
        if waits { vec![key] } else { Vec::new() }
    }

    fn step(&self, view: &dyn View, key: &Key, _: Timestamp, _: &mut fastrand::Rng) -> Step {
        let Some(namespace) = view.get(key).filter(|object| object::is_terminating(object)) else {
            return Step::default();
        };
        let mut left = false;
        let mut writes = Vec::new();
        for collection in collections(view) {
            for object in view.list(&collection, Some(&key.name)) {
                left = true;
                if !object::is_terminating(object) {
                    writes.push(Write::delete(Key::of(collection.clone(), object), object));
                }
            }
        }
        if !left {
            let mut object = Value::clone(namespace);
            object["spec"]["finalizers"] = json!([]);
            writes.push(Write::Update { key: key.clone(), subresource: Some("finalize"), object });
        }
        Step { writes, wake: None }
    }
}

/// Whether a namespace takes new content.
pub(super) fn is_active(namespace: &Value) -> bool {
    namespace["status"]["phase"] == "Active" && !object::is_terminating(namespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::PODS;
    use crate::store::Store;

    fn step(store: &Store) -> Vec<Write> {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let rng = &mut fastrand::Rng::with_seed(0);
        Namespaces.step(store, &Key::new(NAMESPACES, "", "ns"), now, rng).writes
    }

    fn store(terminating: bool) -> Store {
        let mut store = Store::new(10);
        let mut namespace = json!({"metadata": {"name": "ns"}});
        if terminating {
            namespace["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        }
        store.put(Key::of(NAMESPACES, &namespace), namespace);
        store
    }

    #[test]
    fn a_terminating_namespace_is_emptied_and_then_finalized() {
        let mut store = store(true);
        let pod = json!({"metadata": {"name": "p", "namespace": "ns", "uid": "u"}});
        store.put(Key::of(PODS, &pod), pod);
        let writes = step(&store);
        assert!(matches!(&writes[..], [Write::Delete { key, .. }] if key.name == "p"));
        store.remove(&Key::new(PODS, "ns", "p"));
        let writes = step(&store);
        assert!(
            matches!(&writes[..], [Write::Update { subresource: Some("finalize"), object, .. }]
                if object["spec"]["finalizers"] == json!([]))
        );
    }

    #[test]
    fn a_namespace_that_stays_is_left_alone() {
        assert!(step(&store(false)).is_empty());
    }
}
