//! The garbage collector: what becomes of objects whose owners go.
//!
//! Like the real one it keeps a graph of its own, built from every change in order: which UIDs
//! live, and who names them as owners.

mod graph;

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use self::graph::{Graph, owners, references};
use super::{Behaviour, Change, Step, View, Write};
use crate::json::Value;
use crate::object::{self, Collection, Key, Object};
use crate::server::meta;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// Deletes by owner reference: in the background, in the foreground, or not at all.
#[derive(Debug, Default)]
pub struct Garbage {
    graph: Mutex<Graph>,
}

fn has_finalizer(object: &Value, name: &str) -> bool {
    meta::finalizers(object).contains(&name)
}

impl Garbage {
    fn graph(&self) -> MutexGuard<'_, Graph> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Behaviour for Garbage {
    fn name(&self) -> &'static str {
        "generic-garbage-collector"
    }

    fn concerns(&self, _: &dyn View, change: &Change) -> Vec<Key> {
        let mut graph = self.graph();
        graph.learn(change);
        let mut keys = Vec::new();
        match &change.after {
            // Its dependents may be garbage now, and an owner may wait for it in the foreground.
            None => {
                let Some(before) = change.before.as_deref() else { return keys };
                keys = graph.dependents(object::uid(before));
            }
            Some(after) => {
                let was = change.before.as_deref();
                let owned = owners(after).next().is_some()
                    && was.is_none_or(|was| {
                        was["metadata"]["ownerReferences"] != after["metadata"]["ownerReferences"]
                    });
                let going = object::is_terminating(after)
                    && (has_finalizer(after, ORPHAN) || has_finalizer(after, FOREGROUND));
                if owned || going {
                    keys.push(change.key.clone());
                }
                if going {
                    keys.extend(graph.dependents(object::uid(after)));
                }
            }
        }
        keys.extend(waiting_owners(change));
        keys
    }

    fn step(&self, view: &dyn View, key: &Key, _: Timestamp, _: &mut fastrand::Rng) -> Step {
        let Some(object) = view.get(key) else { return Step::default() };
        let graph = self.graph();
        let mut writes = Vec::new();
        let dependents = graph.dependents(object::uid(object));
        let dependents: Vec<(&Key, &Object)> =
            dependents.iter().filter_map(|key| Some((key, view.get(key)?))).collect();
        if object::is_terminating(object) {
            if has_finalizer(object, ORPHAN) {
                orphan(key, object, &dependents, &mut writes);
            } else if has_finalizer(object, FOREGROUND) && !blocked(object, &dependents) {
                writes.push(Write::without_finalizer(key, object, FOREGROUND));
            }
            return Step { writes, wake: None };
        }
        // An owner is gone, or goes and waits for this one, or stays.
        let (gone, live): (Vec<&Value>, Vec<&Value>) = references(object)
            .partition(|owner| !graph.live.contains(owner["uid"].as_str().unwrap_or_default()));
        let (waiting, solid): (Vec<&Value>, Vec<&Value>) =
            live.into_iter().partition(|owner| waits(view, &key.namespace, owner));
        if gone.is_empty() && waiting.is_empty() {
            return Step::default();
        }
        if !solid.is_empty() {
            let mut kept = Value::clone(object);
            kept["metadata"]["ownerReferences"] = solid.into_iter().cloned().collect();
            writes.push(Write::Update { key: key.clone(), subresource: None, object: kept });
        } else if !waiting.is_empty() && !dependents.is_empty() {
            let uid = Some(object::uid(object).to_owned());
            writes.push(Write::DeleteForeground { key: key.clone(), uid });
        } else {
            writes.push(Write::delete(key.clone(), object));
        }
        Step { writes, wake: None }
    }
}

/// Whether an owner that is referred to is being deleted in the foreground.
fn waits(view: &dyn View, namespace: &str, reference: &Value) -> bool {
    places(reference, namespace).iter().filter_map(|key| view.get(key)).any(|owner| {
        reference["uid"] == object::uid(owner)
            && object::is_terminating(owner)
            && has_finalizer(owner, FOREGROUND)
    })
}

/// Where an owner may be: in the namespace, or beside all of them.
fn places(reference: &Value, namespace: &str) -> Vec<Key> {
    let text = |field: &str| reference[field].as_str().unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group).to_owned();
    let collection = Collection { group: group.into(), plural: plural(text("kind")).into() };
    let at = |namespace| Key::new(collection.clone(), namespace, text("name"));
    vec![at(namespace), at("")]
}

/// The owners, by place, that an object no longer holds up: one of them may be waiting for that.
/// The driver's look at an owner that doesn't wait costs nothing.
fn waiting_owners(change: &Change) -> Vec<Key> {
    let Some(before) = &change.before else { return Vec::new() };
    let blocks = |owner: &&Value| owner["blockOwnerDeletion"] == true;
    let still = |owner: &Value| {
        let after = change.after.as_deref();
        after.is_some_and(|after| {
            references(after).filter(blocks).any(|other| other["uid"] == owner["uid"])
        })
    };
    references(before)
        .filter(blocks)
        .filter(|owner| !still(owner))
        .flat_map(|owner| places(owner, &change.key.namespace))
        .collect()
}

/// Kinds that own things have regular plurals.
fn plural(kind: &str) -> String {
    format!("{}s", kind.to_ascii_lowercase())
}

fn orphan(key: &Key, owner: &Object, dependents: &[(&Key, &Object)], writes: &mut Vec<Write>) {
    for (dependent_key, dependent) in dependents {
        let mut freed = Value::clone(dependent);
        if let Some(all) = freed["metadata"]["ownerReferences"].as_array_mut() {
            all.retain(|reference| reference["uid"] != object::uid(owner));
        }
        if freed["metadata"]["ownerReferences"].as_array().is_some_and(Vec::is_empty) {
            let metadata = freed["metadata"].as_object_mut().expect("metadata is a map");
            metadata.remove("ownerReferences");
        }
        let key = Key::clone(dependent_key);
        writes.push(Write::Update { key, subresource: None, object: freed });
    }
    writes.push(Write::without_finalizer(key, owner, ORPHAN));
}

/// Whether an owner has dependents that it may not go before.
fn blocked(owner: &Object, dependents: &[(&Key, &Object)]) -> bool {
    dependents.iter().flat_map(|(_, dependent)| references(dependent)).any(|reference| {
        reference["uid"] == object::uid(owner) && reference["blockOwnerDeletion"] == true
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::json::json;
    use crate::store::Store;

    const MAPS: Collection = Collection::known("", "configmaps");

    struct Lab {
        store: Store,
        garbage: Garbage,
    }

    fn key(name: &str) -> Key {
        Key::new(MAPS, "ns", name)
    }

    impl Lab {
        fn new() -> Self {
            let mut lab = Self { store: Store::new(100), garbage: Garbage::default() };
            lab.put("owner", &json!([]), &json!({}));
            lab
        }

        /// Stores an object and tells; returns who is concerned.
        fn put(&mut self, name: &str, owners: &Value, more: &Value) -> Vec<Key> {
            let before = self.store.get(&key(name)).cloned();
            let mut object = json!({"metadata": {"name": name, "namespace": "ns", "uid": name}});
            let owners: Vec<Value> = owners
                .as_array()
                .unwrap()
                .iter()
                .map(|uid| {
                    json!({
                        "apiVersion": "v1", "kind": "ConfigMap", "name": uid, "uid": uid,
                        "blockOwnerDeletion": true,
                    })
                })
                .collect();
            if !owners.is_empty() {
                object["metadata"]["ownerReferences"] = owners.into();
            }
            for (field, value) in more.as_object().unwrap() {
                object["metadata"][field] = value.clone();
            }
            let after = Some(self.store.put(key(name), object));
            self.garbage.concerns(&self.store, &Change { key: key(name), before, after })
        }

        fn remove(&mut self, name: &str) -> Vec<Key> {
            let before: Option<Arc<Value>> = self.store.remove(&key(name));
            self.garbage.concerns(&self.store, &Change { key: key(name), before, after: None })
        }

        fn step(&self, name: &str) -> Vec<Write> {
            let now = "2026-01-01T00:00:00Z".parse().unwrap();
            let rng = &mut fastrand::Rng::with_seed(0);
            self.garbage.step(&self.store, &key(name), now, rng).writes
        }
    }

    fn going(finalizer: &str) -> Value {
        json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [finalizer]})
    }

    #[test]
    fn in_the_background_dependents_go_after_their_last_owner() {
        let mut lab = Lab::new();
        lab.put("one", &json!(["owner"]), &json!({}));
        assert!(lab.step("one").is_empty());
        assert_eq!(lab.remove("owner"), [key("one")]);
        assert!(matches!(&lab.step("one")[..], [Write::Delete { .. }]));
    }

    #[test]
    fn a_dependent_with_an_owner_left_only_loses_the_dangling_reference() {
        let mut lab = Lab::new();
        lab.put("other", &json!([]), &json!({}));
        lab.put("one", &json!(["owner", "other"]), &json!({}));
        lab.remove("owner");
        let writes = lab.step("one");
        let [Write::Update { object, .. }] = &writes[..] else { panic!("{writes:?}") };
        assert_eq!(owners(object).collect::<Vec<_>>(), ["other"]);
    }

    #[test]
    fn in_the_foreground_the_owner_waits_for_its_dependents() {
        let mut lab = Lab::new();
        lab.put("one", &json!(["owner"]), &json!({}));
        let concerned = lab.put("owner", &json!([]), &going(FOREGROUND));
        assert_eq!(concerned, [key("owner"), key("one")]);
        assert!(lab.step("owner").is_empty());
        assert!(matches!(&lab.step("one")[..], [Write::Delete { key, .. }] if key.name == "one"));
        assert!(lab.remove("one").contains(&key("owner")));
        let writes = lab.step("owner");
        let [Write::Update { object, .. }] = &writes[..] else { panic!("{writes:?}") };
        assert_eq!(object["metadata"]["finalizers"], json!([]));
    }

    #[test]
    fn in_the_foreground_a_dependent_with_dependents_goes_in_the_foreground_too() {
        let mut lab = Lab::new();
        lab.put("one", &json!(["owner"]), &json!({}));
        lab.put("two", &json!(["one"]), &json!({}));
        lab.put("owner", &json!([]), &going(FOREGROUND));
        assert!(matches!(&lab.step("one")[..], [Write::DeleteForeground { .. }]));
        lab.put("one", &json!(["owner"]), &going("example.com/hold"));
        assert!(lab.step("owner").is_empty(), "it is still there");
    }

    #[test]
    fn in_the_foreground_a_dependent_with_another_owner_is_let_go() {
        let mut lab = Lab::new();
        lab.put("other", &json!([]), &json!({}));
        lab.put("one", &json!(["owner", "other"]), &json!({}));
        lab.put("owner", &json!([]), &going(FOREGROUND));
        let writes = lab.step("one");
        let [Write::Update { object, .. }] = &writes[..] else { panic!("{writes:?}") };
        assert_eq!(owners(object).collect::<Vec<_>>(), ["other"]);
        assert!(lab.put("one", &json!(["other"]), &json!({})).contains(&key("owner")));
        assert!(matches!(&lab.step("owner")[..], [Write::Update { .. }]));
    }

    #[test]
    fn orphaning_frees_the_dependents_and_then_the_owner() {
        let mut lab = Lab::new();
        lab.put("one", &json!(["owner"]), &json!({}));
        lab.put("owner", &json!([]), &going(ORPHAN));
        let writes = lab.step("owner");
        let [Write::Update { object: freed, .. }, Write::Update { object: owner, .. }] =
            &writes[..]
        else {
            panic!("{writes:?}")
        };
        assert!(freed["metadata"].get("ownerReferences").is_none());
        assert_eq!(owner["metadata"]["finalizers"], json!([]));
    }

    #[test]
    fn an_owner_that_never_was_makes_garbage_too() {
        let mut lab = Lab::new();
        assert_eq!(lab.put("one", &json!(["nobody"]), &json!({})), [key("one")]);
        assert!(matches!(&lab.step("one")[..], [Write::Delete { .. }]));
    }
}
