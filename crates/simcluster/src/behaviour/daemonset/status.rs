//! The status of a DaemonSet, counted over nodes.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::keep::Place;
use crate::json::{Map, Value};
use crate::object;

/// Counts the nodes that there are.
pub fn of(set: &Value, places: &BTreeMap<String, Place>, now: Timestamp) -> Value {
    let (mut desired, mut current, mut astray) = (0, 0, 0);
    let (mut ready, mut available, mut updated) = (0, 0, 0);
    for place in places.values() {
        let first = place.pods.first();
        if !place.fit.runs {
            astray += i64::from(first.is_some());
            continue;
        }
        desired += 1;
        if let Some(first) = first {
            current += 1;
            ready += i64::from(first.ready);
            available += i64::from(first.available(now));
            updated += i64::from(first.updated);
        }
    }
    let mut status = Map::new();
    let always = [
        ("currentNumberScheduled", current),
        ("numberMisscheduled", astray),
        ("desiredNumberScheduled", desired),
        ("numberReady", ready),
    ];
    let if_any = [
        ("observedGeneration", object::generation(set)),
        ("updatedNumberScheduled", updated),
        ("numberAvailable", available),
        ("numberUnavailable", desired - available),
    ];
    let counts = always.into_iter().chain(if_any.into_iter().filter(|(_, count)| *count != 0));
    status.extend(counts);
    for field in ["collisionCount", "conditions"] {
        if let Some(value) = set["status"].get(field) {
            status.insert(field.to_owned(), value.clone());
        }
    }
    status.into()
}
