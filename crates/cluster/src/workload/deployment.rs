//! Deployments: held by `paused`, and in release by `paused` and type Recreate, which their own controller
//! does nothing about.

use api::batches::names::{
    CONTROLLED_BY_ADVANCED, DEPLOYMENT_EXTRA_STATUS, DEPLOYMENT_STRATEGY, IN_PROGRESSING,
    STABLE_REVISION,
};
use serde_json::{Value, json};

use super::{Draft, Hold, KeepHeld, annotation, label, mark};

/// The patch that holds a change.
pub fn hold(object: &Value, hold: &Hold<'_>) -> Value {
    let mut draft = Draft::default();
    draft.annotate(IN_PROGRESSING, mark(hold.rollout));
    if let (Some(stable), None) = (hold.stable_revision, label(object, STABLE_REVISION)) {
        draft.label(STABLE_REVISION, stable);
    }
    draft.set(&["spec", "paused"], json!(true));
    draft.patch()
}

/// The patch that takes back what lets go of a Deployment that is held: `new` as somebody would have it
/// instead of `old`. A strategy that is asked for is kept, for when the Deployment is given back.
pub fn keep_held(old: &Value, new: &Value, keep: KeepHeld) -> Value {
    let mut draft = Draft::default();
    draft.restore_marks(old, new, keep);
    if keep.mark || keep.control {
        draft.restore_annotations(old, new, &[DEPLOYMENT_STRATEGY]);
        draft.restore_labels(old, new, &[STABLE_REVISION]);
    }
    if keep.control {
        draft.restore_annotations(old, new, &[DEPLOYMENT_EXTRA_STATUS]);
        draft.restore_labels(old, new, &[CONTROLLED_BY_ADVANCED]);
    }
    let paused = |object: &Value| object["spec"]["paused"] == true;
    if (paused(old) || keep.restart) && !paused(new) {
        draft.set(&["spec", "paused"], json!(true));
    }
    let kept = annotation(new, DEPLOYMENT_STRATEGY).or(annotation(old, DEPLOYMENT_STRATEGY));
    let recreate = |object: &Value| object["spec"]["strategy"]["type"] == "Recreate";
    match (recreate(old), recreate(new), kept) {
        (true, false, Some(kept)) => {
            draft.set(&["spec", "strategy"], json!({"type": "Recreate", "rollingUpdate": null}));
            if let Some(kept) = with_rolling(kept, &new["spec"]["strategy"]["rollingUpdate"]) {
                draft.annotate(DEPLOYMENT_STRATEGY, kept);
            }
        }
        // Recreate is ours where the strategy is kept; else nobody's in a release.
        (false, true, None) => draft.set(&["spec", "strategy"], old["spec"]["strategy"].clone()),
        _ => {}
    }
    draft.patch()
}

/// The kept strategy with these bounds; `None` where it has them, or cannot be read.
fn with_rolling(kept: &str, rolling: &Value) -> Option<String> {
    let mut strategy: Value = serde_json::from_str(kept).ok()?;
    let object = strategy.as_object_mut()?;
    if !rolling.is_object() || object.get("rollingUpdate") == Some(rolling) {
        return None;
    }
    object.insert("rollingUpdate".to_owned(), rolling.clone());
    Some(strategy.to_string())
}
