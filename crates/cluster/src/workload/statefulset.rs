//! StatefulSets: held by a partition above what has not moved; under OnDelete by nobody evicting.

use api::batches::names::{HELD_PARTITION, IN_PROGRESSING, STATEFULSET_ORIGINAL_STRATEGY};
use serde_json::{Value, json};

use super::{ABOVE_ALL, CONTROL_INFO, Draft, Hold, KeepHeld, annotation, mark};

/// The patch that holds a change.
pub fn hold(object: &Value, hold: &Hold<'_>) -> Value {
    let mut draft = Draft::default();
    draft.annotate(IN_PROGRESSING, mark(hold.rollout));
    if !rolls(object) {
        return draft.patch();
    }
    // A partition above all is one that a release has left behind, and nobody's own.
    if annotation(object, STATEFULSET_ORIGINAL_STRATEGY).is_none() && partition(object) < ABOVE_ALL {
        draft.annotate(
            STATEFULSET_ORIGINAL_STRATEGY,
            object["spec"]["updateStrategy"].to_string(),
        );
    }
    close(&mut draft, hold.partition);
    draft.patch()
}

/// The patch that takes back what lets go of a StatefulSet that is held: `new` as somebody would have it
/// instead of `old`. A strategy that is asked for is kept, for when the set is given back.
pub fn keep_held(old: &Value, new: &Value, keep: KeepHeld) -> Value {
    let mut draft = Draft::default();
    draft.restore_marks(old, new, keep);
    if keep.mark || keep.control {
        let names = [STATEFULSET_ORIGINAL_STRATEGY, HELD_PARTITION];
        draft.restore_annotations(old, new, &names);
    }
    if !rolls(old) {
        return draft.patch();
    }
    if keep.restart {
        close(&mut draft, ABOVE_ALL);
        if !rolls(new) {
            draft.set(&["spec", "updateStrategy", "type"], json!("RollingUpdate"));
            keep_strategy(&mut draft, new);
        }
        return draft.patch();
    }
    let Some(held) = held(old) else { return draft.patch() };
    let stands = annotation(new, HELD_PARTITION).is_none_or(|text| text == held.to_string());
    // With its control-info, it is a write of whoever releases it.
    let ours = !stands || (annotation(new, HELD_PARTITION).is_none() && has_control(new));
    if ours || (rolls(new) && partition(new) >= held) {
        return draft.patch();
    }
    if !rolls(new) {
        draft.set(&["spec", "updateStrategy", "type"], json!("RollingUpdate"));
    }
    draft.set(&["spec", "updateStrategy", "rollingUpdate", "partition"], json!(held));
    keep_strategy(&mut draft, new);
    draft.patch()
}

/// Closes the set at a partition, and says so beside it.
fn close(draft: &mut Draft, partition: u32) {
    draft.set(&["spec", "updateStrategy", "rollingUpdate", "partition"], json!(partition));
    draft.annotate(HELD_PARTITION, partition.to_string());
}

/// What is asked for counts when the set is given back.
fn keep_strategy(draft: &mut Draft, new: &Value) {
    let asked = new["spec"]["updateStrategy"].to_string();
    if annotation(new, STATEFULSET_ORIGINAL_STRATEGY) != Some(asked.as_str()) {
        draft.annotate(STATEFULSET_ORIGINAL_STRATEGY, asked);
    }
}

fn rolls(object: &Value) -> bool {
    object["spec"]["updateStrategy"]["type"] != "OnDelete"
}

fn has_control(object: &Value) -> bool {
    annotation(object, CONTROL_INFO).is_some()
}

/// Where the partition stands; no higher than where it is said to be held.
fn held(object: &Value) -> Option<u32> {
    let said: u32 = annotation(object, HELD_PARTITION)?.parse().ok()?;
    Some(said.min(partition(object)))
}

fn partition(object: &Value) -> u32 {
    let partition = object["spec"]["updateStrategy"]["rollingUpdate"]["partition"].as_u64();
    partition.and_then(|partition| u32::try_from(partition).ok()).unwrap_or(0)
}
