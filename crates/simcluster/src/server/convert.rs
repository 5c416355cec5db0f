//! Versions: objects are stored in one and served in any that the kind has.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::kind::Kind;
use crate::object::Object;

/// Whether a kind's objects are served exactly as they are stored.
pub fn as_stored(kind: &Kind) -> bool {
    match &kind.custom {
        Some(custom) => custom.storage_version == kind.version,
        None => kind.group != "events.k8s.io",
    }
}

/// A stored object in the version of `kind`.
pub fn served(kind: &Kind, stored: &Object) -> Object {
    let in_it = kind.custom.is_some() && stored["apiVersion"] == kind.api_version();
    if in_it || (kind.custom.is_none() && as_stored(kind)) {
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
    if as_stored(kind) {
        return object;
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
            Some((core, other)) => (*if to_core { core } else { other }).to_owned(),
            None => key,
        };
        new.insert(name, value);
    }
    *map = new;
}
