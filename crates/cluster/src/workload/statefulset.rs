//! StatefulSets: held by a partition above what has not moved; under OnDelete by nobody evicting.

use api::batches::names::{
    CONTROL_INFO, HELD_PARTITION, IN_PROGRESSING, STATEFULSET_ORIGINAL_STRATEGY,
};
use serde_json::{Value, json};

use super::{ABOVE_ALL, Draft, Hold, KeepHeld, annotation, mark};

/// The patch that holds a change.
pub fn hold(object: &Value, hold: &Hold<'_>) -> Value {
    let mut draft = Draft::default();
    draft.annotate(IN_PROGRESSING, mark(hold.rollout));
    if !rolls(object) {
        return draft.patch();
    }
    // A partition above all is one that a release has left behind, and nobody's own.
    if annotation(object, STATEFULSET_ORIGINAL_STRATEGY).is_none() && partition(object) < ABOVE_ALL
    {
        draft.annotate(STATEFULSET_ORIGINAL_STRATEGY, object["spec"]["updateStrategy"].to_string());
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
    if !rolls(old) || is_ours(old, new) {
        return draft.patch();
    }
    let held = if keep.restart { Some(ABOVE_ALL) } else { held(old) };
    let Some(held) = held else { return draft.patch() };
    if !rolls(new) {
        draft.set(&["spec", "updateStrategy", "type"], json!("RollingUpdate"));
    }
    if keep.restart {
        close(&mut draft, held);
    } else if partition(new) < held || !rolls(new) {
        draft.set(&["spec", "updateStrategy", "rollingUpdate", "partition"], json!(held));
    }
    if let Some(asked) = asked(old, new) {
        draft.annotate(STATEFULSET_ORIGINAL_STRATEGY, asked);
    }
    draft.patch()
}

/// Closes the set at a partition, and says so beside it.
fn close(draft: &mut Draft, partition: u32) {
    draft.set(&["spec", "updateStrategy", "rollingUpdate", "partition"], json!(partition));
    draft.annotate(HELD_PARTITION, partition.to_string());
}

/// Whether this is a write of whoever releases the set: it says anew where it is held.
fn is_ours(old: &Value, new: &Value) -> bool {
    let stamp = |object| annotation(object, HELD_PARTITION);
    stamp(old) != stamp(new) && annotation(new, CONTROL_INFO).is_some()
}

/// The strategy that somebody asks for; `None` where it is not another than before.
fn asked(old: &Value, new: &Value) -> Option<String> {
    let mut asked = new["spec"]["updateStrategy"].clone();
    if asked == old["spec"]["updateStrategy"] {
        return None;
    }
    if rolls(new) && partition(new) == partition(old) {
        // Not by him: it is the one that holds the set.
        let kept = annotation(old, STATEFULSET_ORIGINAL_STRATEGY).unwrap_or_default();
        let kept: Value = serde_json::from_str(kept).unwrap_or_default();
        let own = kept["rollingUpdate"]["partition"].as_u64().unwrap_or(0);
        asked["rollingUpdate"]["partition"] = json!(own);
    }
    let asked = asked.to_string();
    (annotation(new, STATEFULSET_ORIGINAL_STRATEGY) != Some(asked.as_str())).then_some(asked)
}

fn rolls(object: &Value) -> bool {
    object["spec"]["updateStrategy"]["type"] != "OnDelete"
}

/// Where the set is held; no higher than it stands.
fn held(object: &Value) -> Option<u32> {
    let said: u32 = annotation(object, HELD_PARTITION)?.parse().ok()?;
    Some(said.min(partition(object)))
}

fn partition(object: &Value) -> u32 {
    let partition = object["spec"]["updateStrategy"]["rollingUpdate"]["partition"].as_u64();
    partition.and_then(|partition| u32::try_from(partition).ok()).unwrap_or(0)
}
