//! Controller references: orphans that a controller takes over, strays that it lets go.

use super::{View, Write, select};
use crate::json::{Value, json};
use crate::object::{self, Collection, Key, Object};

/// What a controller has after a look at what it could have.
#[derive(Debug, Default)]
pub struct Claimed {
    /// Its own, those taken over in this look included; ordered by name, its own first.
    pub objects: Vec<Object>,
    /// Adoptions and releases. Each changes an object's version, so that nothing else can be done
    /// to it in the same step.
    pub writes: Vec<Write>,
}

/// The owner reference of a controller in what it makes: in the version that the owner is stored
/// in, apps/v1 where it does not say.
pub fn reference(owner: &Value, kind: &str) -> Value {
    let version = owner["apiVersion"].as_str().unwrap_or("apps/v1");
    json!({
        "apiVersion": version, "kind": kind, "name": object::name(owner),
        "uid": object::uid(owner), "controller": true, "blockOwnerDeletion": true,
    })
}

/// Goes through the objects of a collection that are the owner's or nobody's. The owner's selector
/// decides which of them it keeps and takes; `may` leaves some out altogether. An owner that is
/// being deleted neither takes nor lets go.
pub fn claim(
    view: &dyn View,
    collection: &Collection,
    owner: &Value,
    kind: &str,
    may: impl Fn(&Value) -> bool,
) -> Claimed {
    let mut out = owned(view, collection, owner, &may);
    if object::is_terminating(owner) {
        return out;
    }
    let orphans = view
        .orphans(collection, object::namespace(owner))
        .filter(|one| !object::is_terminating(one) && may(one) && is_selected(owner, one));
    for one in orphans {
        out.objects.push(one.clone());
        out.writes.push(adopt(collection, owner, kind, one));
    }
    out
}

/// The same without those that are nobody's: they stay so.
pub fn owned(
    view: &dyn View,
    collection: &Collection,
    owner: &Value,
    may: impl Fn(&Value) -> bool,
) -> Claimed {
    let mut out = Claimed::default();
    let going = object::is_terminating(owner);
    for one in view.controlled_by(collection, object::uid(owner)).filter(|one| may(one)) {
        if is_selected(owner, one) {
            out.objects.push(one.clone());
        } else if !going {
            out.writes.push(release(collection, owner, one));
        }
    }
    out
}

fn is_selected(owner: &Value, one: &Value) -> bool {
    select::selects(&owner["spec"]["selector"], &one["metadata"]["labels"])
}

/// Takes over an orphan.
pub fn adopt(collection: &Collection, owner: &Value, kind: &str, orphan: &Object) -> Write {
    let mut object = Value::clone(orphan);
    let reference = reference(owner, kind);
    match object["metadata"]["ownerReferences"].as_array_mut() {
        Some(owners) => {
            owners.retain(|one| one["uid"] != reference["uid"]);
            owners.push(reference);
        }
        None => object["metadata"]["ownerReferences"] = json!([reference]),
    }
    Write::Update { key: Key::of(collection.clone(), orphan), subresource: None, object }
}

/// Lets a stray go.
pub fn release(collection: &Collection, owner: &Value, stray: &Object) -> Write {
    let mut object = Value::clone(stray);
    if let Some(metadata) = object["metadata"].as_object_mut() {
        let owners = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut);
        let left = owners.map_or(0, |owners| {
            owners.retain(|one| one["uid"] != *object::uid(owner));
            owners.len()
        });
        if left == 0 {
            metadata.remove("ownerReferences");
        }
    }
    Write::Update { key: Key::of(collection.clone(), stray), subresource: None, object }
}

/// The keys of the owners of this kind that an object names, before and after a change. Kinds of
/// the same name in other groups are others.
pub fn owners(change: &super::Change, collection: &Collection, kind: &str) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    let ours = |owner: &&Value| {
        let version = owner["apiVersion"].as_str().unwrap_or_default();
        let group = version.split_once('/').map_or("", |(group, _)| group);
        owner["kind"] == kind && group == collection.group
    };
    for object in change.before.iter().chain(&change.after) {
        let owner = object::controller(object).filter(ours);
        if let Some(name) = owner.and_then(|owner| owner["name"].as_str()) {
            let key = Key::new(collection.clone(), &change.key.namespace, name);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    keys
}

/// The keys of the owners that would take an orphan.
pub fn takers(view: &dyn View, collection: &Collection, orphan: &Value) -> Vec<Key> {
    if object::controller(orphan).is_some() || !orphan["metadata"]["labels"].is_object() {
        return Vec::new();
    }
    view.list(collection, Some(object::namespace(orphan)))
        .filter(|owner| select::selects(&owner["spec"]["selector"], &orphan["metadata"]["labels"]))
        .map(|owner| Key::of(collection.clone(), owner))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::PODS;
    use crate::store::Store;

    fn owner() -> Value {
        json!({
            "metadata": {"name": "web", "namespace": "ns", "uid": "u"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}},
        })
    }

    fn claimed(owner: &Value, app: &str, controller: &str) -> (usize, Vec<Value>) {
        let mut store = Store::new(10);
        let mut pod = json!({"metadata": {"name": "p", "namespace": "ns", "labels": {"app": app}}});
        if !controller.is_empty() {
            pod["metadata"]["ownerReferences"] = json!([{"uid": controller, "controller": true}]);
        }
        store.put(Key::of(PODS, &pod), pod);
        let out = claim(&store, &PODS, owner, "ReplicaSet", |_| true);
        let written = out.writes.into_iter().map(|write| match write {
            Write::Update { object, .. } => object["metadata"]["ownerReferences"].clone(),
            other => panic!("{other:?}"),
        });
        (out.objects.len(), written.collect())
    }

    #[test]
    fn orphans_are_taken_and_strays_let_go_by_the_selector() {
        let taken = json!([reference(&owner(), "ReplicaSet")]);
        assert_eq!(claimed(&owner(), "web", ""), (1, vec![taken]));
        assert_eq!(claimed(&owner(), "web", "u"), (1, vec![]));
        assert_eq!(claimed(&owner(), "other", "u"), (0, vec![Value::Null]));
        assert_eq!(claimed(&owner(), "web", "somebody"), (0, vec![]));
        assert_eq!(claimed(&owner(), "other", ""), (0, vec![]));
    }

    #[test]
    fn an_owner_on_its_way_out_keeps_its_hands_still() {
        let mut going = owner();
        going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        assert_eq!(claimed(&going, "web", ""), (0, vec![]));
        assert_eq!(claimed(&going, "other", "u"), (0, vec![]));
    }
}
