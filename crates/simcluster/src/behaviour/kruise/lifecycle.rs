//! The label that says how far a Pod of a Kruise workload is in its life.

use jiff::Timestamp;

use crate::behaviour::pod;
use crate::json::{Value, json};
use crate::object;

/// The label.
pub const STATE: &str = "lifecycle.apps.kruise.io/state";
/// The annotation with the time of its last change.
const SINCE: &str = "lifecycle.apps.kruise.io/timestamp";

/// Made, not yet looked at.
pub const PREPARING_NORMAL: &str = "PreparingNormal";
/// At work.
pub const NORMAL: &str = "Normal";
/// Its containers are being replaced.
pub const UPDATING: &str = "Updating";

/// A Pod's state, empty when it has none.
pub fn state(pod: &Value) -> &str {
    object::label(pod, STATE).unwrap_or_default()
}

/// Whether its state lets a Pod count as available.
pub fn counts(pod: &Value) -> bool {
    matches!(state(pod), "" | NORMAL)
}

/// Puts an object that is about to be written into a state.
pub fn set(object: &mut Value, state: &str, now: Timestamp) {
    let metadata = &mut object["metadata"];
    for (map, key, value) in [("labels", STATE, state), ("annotations", SINCE, &pod::stamp(now))] {
        if !metadata[map].is_object() {
            metadata[map] = json!({});
        }
        metadata[map][key] = value.into();
    }
}
