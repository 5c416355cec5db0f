//! The Pods that a CloneSet makes.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{INSTANCE, KIND};
use crate::behaviour::kruise::{in_place, lifecycle};
use crate::behaviour::statefulset::revision;
use crate::behaviour::{own, pod};
use crate::json::Value;
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
    let mut pod = pod::of_template(template, set, &own::reference(set, KIND));
    pod["metadata"]["name"] = format!("{}-{id}", object::name(set)).into();
    pod["metadata"]["labels"][INSTANCE] = id.into();
    in_place::mark(&mut pod, object::name(from));
    in_place::add_gate(&mut pod["spec"]);
    lifecycle::set(&mut pod, lifecycle::PREPARING_NORMAL, now);
    pod
}
