//! The Pods that a CloneSet makes.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{INSTANCE, KIND};
use crate::behaviour::kruise::{in_place, lifecycle};
use crate::behaviour::own;
use crate::behaviour::statefulset::revision;
use crate::object;
use crate::server::meta::random_suffix;

/// Letters after the set's name that no Pod has.
pub fn new_id(taken: &mut BTreeSet<String>, rng: &mut fastrand::Rng) -> String {
    loop {
        let id = random_suffix(rng);
        if taken.insert(id.clone()) {
            return id;
        }
    }
}

/// A Pod of a revision, named by its id.
pub fn of(set: &Value, from: &Value, id: &str, now: Timestamp) -> Value {
    let template = revision::template(from);
    let set_name = object::name(set);
    let mut metadata = json!({
        "name": format!("{set_name}-{id}"), "generateName": format!("{set_name}-"),
        "namespace": object::namespace(set), "labels": {},
        "ownerReferences": [own::reference(set, KIND)],
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template["metadata"].get(field).filter(|value| !value.is_null()) {
            metadata[field] = value.clone();
        }
    }
    metadata["labels"][INSTANCE] = id.into();
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"],
    });
    in_place::mark(&mut pod, object::name(from));
    in_place::add_gate(&mut pod["spec"]);
    lifecycle::set(&mut pod, lifecycle::PREPARING_NORMAL, now);
    pod
}
