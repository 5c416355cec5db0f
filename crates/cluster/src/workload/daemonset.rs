//! Native DaemonSets: held by OnDelete.

use api::batches::names::{
    DAEMONSET_ADVANCED_CONTROL, DAEMONSET_ORIGINAL_STRATEGY, DAEMONSET_REVISION, IN_PROGRESSING,
};
use serde_json::{Value, json};

use super::{Draft, Hold, KeepHeld, annotation, mark};

/// The patch that holds a change. `rollingUpdate` stays beside OnDelete, which has no use for it: the user's
/// `maxUnavailable` is read there.
pub fn hold(object: &Value, hold: &Hold<'_>) -> Value {
    let mut draft = Draft::default();
    draft.annotate(IN_PROGRESSING, mark(hold.rollout));
    if annotation(object, DAEMONSET_ORIGINAL_STRATEGY).is_none() {
        draft.annotate(DAEMONSET_ORIGINAL_STRATEGY, kind(object));
    }
    draft.set(&["spec", "updateStrategy", "type"], json!("OnDelete"));
    draft.patch()
}

/// The patch that takes back what lets go of a DaemonSet that is held: `new` as somebody would have it instead
/// of `old`. A strategy that is asked for is kept, for when the DaemonSet is given back.
pub fn keep_held(old: &Value, new: &Value, keep: KeepHeld) -> Value {
    let mut draft = Draft::default();
    draft.restore_marks(old, new, keep);
    if keep.mark || keep.control {
        draft.restore_annotations(old, new, &[DAEMONSET_ORIGINAL_STRATEGY, DAEMONSET_REVISION]);
    }
    if keep.control {
        draft.restore_annotations(old, new, &[DAEMONSET_ADVANCED_CONTROL]);
    }
    let held = kind(old) == "OnDelete" && annotation(old, DAEMONSET_ORIGINAL_STRATEGY).is_some();
    if (held || keep.restart) && kind(new) != "OnDelete" {
        draft.set(&["spec", "updateStrategy", "type"], json!("OnDelete"));
        // Also where it was `OnDelete` before: somebody asks for something else now.
        draft.annotate(DAEMONSET_ORIGINAL_STRATEGY, kind(new));
    }
    draft.patch()
}

fn kind(object: &Value) -> &str {
    object["spec"]["updateStrategy"]["type"].as_str().unwrap_or("RollingUpdate")
}
