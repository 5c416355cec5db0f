//! The CustomResourceDefinition controllers: names accepted, established, and cleaned up at the end.

use jiff::Timestamp;

use super::{Behaviour, Change, Step, View, Write};
use crate::json::{Value, json};
use crate::object::{self, CRDS, Collection, Key};
use crate::server::meta;

const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Establishes CRDs and deletes the objects of those that go.
#[derive(Debug, Default)]
pub struct Definitions;

impl Behaviour for Definitions {
    fn name(&self) -> &'static str {
        "customresourcedefinition-controller"
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        let collection = &change.key.collection;
        if *collection == CRDS {
            return vec![change.key.clone()];
        }
        if change.after.is_some() || collection.group.is_empty() {
            return Vec::new();
        }
        // A custom object has gone: its CRD may be waiting for that.
        let key = Key::new(CRDS, "", &format!("{}.{}", collection.plural, collection.group));
        view.get(&key).map(|_| key).into_iter().collect()
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, _rng: &mut fastrand::Rng) -> Step {
        let Some(crd) = view.get(key) else { return Step::default() };
        let writes = if object::is_terminating(crd) {
            clean_up(view, key, crd)
        } else {
            establish(key, crd, now).into_iter().collect()
        };
        Step { writes, wake: None }
    }
}

fn establish(key: &Key, crd: &Value, now: Timestamp) -> Option<Write> {
    let names = &crd["spec"]["names"];
    let known = crd["status"]["conditions"]
        .as_array()
        .is_some_and(|all| all.iter().any(|one| one["type"] == "Established"));
    if known && crd["status"]["acceptedNames"] == *names {
        return None;
    }
    let condition = |type_: &str, reason: &str, message: &str| {
        json!({
            "type": type_,
            "status": "True",
            "lastTransitionTime": meta::stamp(now),
            "reason": reason,
            "message": message,
        })
    };
    let mut object = crd.clone();
    object["status"]["acceptedNames"] = names.clone();
    object["status"]["conditions"] = json!([
        condition("NamesAccepted", "NoConflicts", "no conflicts found"),
        condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ]);
    Some(Write::Update { key: key.clone(), subresource: Some("status"), object })
}

fn clean_up(view: &dyn View, key: &Key, crd: &Value) -> Vec<Write> {
    if !meta::finalizers(crd).contains(&CLEANUP) {
        return Vec::new();
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let collection = Collection {
        group: text(&crd["spec"]["group"]).into(),
        plural: text(&crd["spec"]["names"]["plural"]).into(),
    };
    let mut left = view.list(&collection, None).peekable();
    if left.peek().is_none() {
        return vec![Write::without_finalizer(key, crd, CLEANUP)];
    }
    left.filter(|object| !object::is_terminating(object))
        .map(|object| Write::delete(Key::of(collection.clone(), object), object))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    fn crd(terminating: bool) -> Value {
        let mut crd = json!({
            "metadata": {"name": "gadgets.example.com", "finalizers": [CLEANUP]},
            "spec": {"group": "example.com", "names": {"plural": "gadgets", "kind": "Gadget"}},
            "status": {"conditions": null},
        });
        if terminating {
            crd["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        crd
    }

    fn step(store: &Store) -> Vec<Write> {
        let key = Key::new(CRDS, "", "gadgets.example.com");
        let mut rng = fastrand::Rng::with_seed(1);
        Definitions.step(store, &key, Timestamp::UNIX_EPOCH, &mut rng).writes
    }

    #[test]
    fn a_new_definition_is_established_once() {
        let mut store = Store::new(10);
        store.put(Key::new(CRDS, "", "gadgets.example.com"), crd(false));
        let writes = step(&store);
        let [Write::Update { key, subresource: Some("status"), object }] = writes.as_slice() else {
            panic!("one status write expected: {writes:?}");
        };
        store.put(key.clone(), object.clone());
        assert_eq!(step(&store), []);
    }

    #[test]
    fn a_definition_goes_after_its_objects() {
        let mut store = Store::new(10);
        store.put(Key::new(CRDS, "", "gadgets.example.com"), crd(true));
        let gadgets = Collection::known("example.com", "gadgets");
        let gadget = Key::new(gadgets, "default", "a");
        store.put(gadget.clone(), json!({"metadata": {"namespace": "default", "name": "a"}}));
        assert!(matches!(step(&store).as_slice(), [Write::Delete { key, .. }] if *key == gadget));
        store.remove(&gadget);
        let writes = step(&store);
        let [Write::Update { subresource: None, object, .. }] = writes.as_slice() else {
            panic!("the finalizer's removal expected: {writes:?}");
        };
        assert_eq!(meta::finalizers(object), Vec::<&str>::new());
    }
}
