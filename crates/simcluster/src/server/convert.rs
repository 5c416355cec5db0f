//! Versions: objects are stored in one and served in any that the kind has.

use std::sync::Arc;

use crate::builtin::autoscaler;
use crate::json::{Map, Value, json};
use crate::kind::Kind;
use crate::object::Object;

/// A stored object in the version of `kind`.
pub fn served(kind: &Kind, stored: &Object) -> Object {
    if scales(kind) {
        return scaler_in(&kind.api_version(), stored).map_or_else(|| stored.clone(), Arc::new);
    }
    let in_it = kind.custom.is_some() && stored["apiVersion"] == kind.api_version();
    if in_it || (kind.custom.is_none() && kind.is_stored()) {
        return stored.clone();
    }
    let mut out = (**stored).clone();
    if kind.custom.is_none() {
        rename(&mut out, EVENT_FIELDS, false);
    }
    out["apiVersion"] = json!(kind.api_version());
    Arc::new(out)
}

/// An object of `kind`'s version as it is stored.
pub fn stored(kind: &Kind, mut object: Value) -> Value {
    if kind.is_stored() {
        return object;
    }
    if scales(kind) {
        let mut stored = autoscaler::v1::from_v1(&object);
        autoscaler::fill(&mut stored);
        return stored;
    }
    match &kind.custom {
        Some(custom) => {
            object["apiVersion"] = json!(format!("{}/{}", kind.group, custom.storage_version));
        }
        None => {
            rename(&mut object, EVENT_FIELDS, true);
            object["apiVersion"] = json!("v1");
        }
    }
    object
}

/// An object of a built-in kind in another of its versions, if its fields are other ones there.
pub fn in_version(kind: &Kind, version: &str, object: &Value) -> Option<Value> {
    scales(kind).then(|| scaler_in(version, object)).flatten()
}

/// Whether the kind's two versions are more than two names.
fn scales(kind: &Kind) -> bool {
    kind.custom.is_none() && kind.group == "autoscaling"
}

/// An autoscaler in the other version, if it isn't in this one.
fn scaler_in(version: &str, object: &Value) -> Option<Value> {
    match (object["apiVersion"].as_str().unwrap_or_default(), version) {
        ("autoscaling/v1", "autoscaling/v2") => Some(autoscaler::v1::from_v1(object)),
        ("autoscaling/v2", "autoscaling/v1") => Some(autoscaler::v1::to_v1(object)),
        _ => None,
    }
}

/// Fields of an Event: core/v1 name, events.k8s.io/v1 name.
const EVENT_FIELDS: &[(&str, &str)] = &[
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

fn rename(object: &mut Value, fields: &[(&str, &str)], to_core: bool) {
    let Some(map) = object.as_object_mut() else { return };
    let old = std::mem::take(map);
    let mut new = Map::new();
    for (key, value) in old {
        let found = fields.iter().find(|(core, other)| key == *if to_core { other } else { core });
        let name = match found {
            Some((core, other)) => (*if to_core { core } else { other }).into(),
            None => key,
        };
        new.insert(name, value);
    }
    *map = new;
}
