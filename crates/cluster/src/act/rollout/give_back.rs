//! The one write that gives a workload back, as a merge patch: the user's own fields, and all marks off.

use api::batches::names::{CONTROL_INFO, IN_PROGRESSING};
use serde_json::{Value, json};

use crate::observe::rollout::Live;
use crate::workload::{Beside, annotation, label};

/// The patch. `freeze` takes off the marks alone, so that what is held stays held.
pub(super) fn patch(live: &Live, freeze: bool) -> Value {
    let (object, hand) = (&live.object, live.workload.kind.adapter().hand);
    let mut patch = json!({});
    if let Some(restore) = live.restore.filter(|_| !freeze) {
        patch = hand.release(object, Some(restore));
    }
    let beside = match freeze {
        true => Beside { annotations: &[], labels: &[] },
        false => hand.beside(),
    };
    let marks = [IN_PROGRESSING, CONTROL_INFO].iter().chain(beside.annotations);
    for name in marks.filter(|name| annotation(object, name).is_some()) {
        patch["metadata"]["annotations"][*name] = Value::Null;
    }
    for name in beside.labels.iter().filter(|name| label(object, name).is_some()) {
        patch["metadata"]["labels"][*name] = Value::Null;
    }
    patch
}
