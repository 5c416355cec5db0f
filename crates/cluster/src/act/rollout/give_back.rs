//! The one write that gives a workload back, as a merge patch: the user's own fields, and all marks off.

use api::batches::names::{
    CONTROL_INFO, CONTROLLED_BY_ADVANCED, DAEMONSET_ADVANCED_CONTROL, DAEMONSET_ORIGINAL_STRATEGY,
    DAEMONSET_REVISION, DEPLOYMENT_EXTRA_STATUS, DEPLOYMENT_STRATEGY, HELD_PARTITION,
    IN_PROGRESSING, STABLE_REVISION, STATEFULSET_ORIGINAL_STRATEGY,
};
use serde_json::{Map, Value, json};

use crate::observe::rollout::marks;
use crate::subject::Kind;
use crate::workload::{annotation, label};

/// The patch. `freeze` takes off the marks alone, so that what is held stays held.
pub(super) fn patch(kind: Kind, object: &Value, freeze: bool) -> Value {
    if freeze {
        return json!({ "metadata": without(object, &[IN_PROGRESSING, CONTROL_INFO], &[]) });
    }
    let annotations = [
        IN_PROGRESSING,
        CONTROL_INFO,
        DEPLOYMENT_STRATEGY,
        DEPLOYMENT_EXTRA_STATUS,
        STATEFULSET_ORIGINAL_STRATEGY,
        HELD_PARTITION,
        DAEMONSET_ORIGINAL_STRATEGY,
        DAEMONSET_REVISION,
        DAEMONSET_ADVANCED_CONTROL,
    ];
    let labels = [STABLE_REVISION, CONTROLLED_BY_ADVANCED];
    let mut patch = json!({ "metadata": without(object, &annotations, &labels) });
    let spec = if marks::held(kind, object) { own(kind, object) } else { None };
    if let Some(spec) = spec {
        patch["spec"] = spec;
    }
    patch
}

/// Null for those that are there.
fn without(object: &Value, annotations: &[&str], labels: &[&str]) -> Value {
    let gone = |names: &[&str], there: &dyn Fn(&str) -> bool| -> Map<String, Value> {
        let names = names.iter().filter(|name| there(name));
        names.map(|name| ((*name).to_owned(), Value::Null)).collect()
    };
    let annotations = gone(annotations, &|name| annotation(object, name).is_some());
    let labels = gone(labels, &|name| label(object, name).is_some());
    json!({ "annotations": annotations, "labels": labels })
}

/// The user's own fields; `None` where nothing was changed.
fn own(kind: Kind, object: &Value) -> Option<Value> {
    let spec = &object["spec"];
    let kept = |name| annotation(object, name);
    match kind {
        Kind::Deployment => {
            let saved = kept(DEPLOYMENT_STRATEGY);
            let mut own = json!({});
            if spec["paused"] == true && (saved.is_some() || marks::marked(object)) {
                own["paused"] = json!(false);
            }
            if spec["strategy"]["type"] == "Recreate"
                && let Some(saved) = saved
            {
                let saved: Value = serde_json::from_str(saved).unwrap_or_default();
                let rolling = &saved["rollingUpdate"];
                own["strategy"] = json!({ "type": "RollingUpdate", "rollingUpdate": rolling });
            }
            own.as_object().is_some_and(|own| !own.is_empty()).then_some(own)
        }
        Kind::StatefulSet => {
            let rolling = json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 0 } });
            let saved = kept(STATEFULSET_ORIGINAL_STRATEGY);
            let saved = saved.and_then(|saved| serde_json::from_str::<Value>(saved).ok());
            if saved.is_none() && spec["updateStrategy"]["type"] == "OnDelete" {
                return None;
            }
            let mut own = saved.filter(|saved| saved["type"].is_string()).unwrap_or(rolling);
            if own["type"] == "OnDelete" {
                own["rollingUpdate"] = Value::Null;
            } else if own["rollingUpdate"]["partition"].is_null() {
                own["rollingUpdate"]["partition"] = json!(0);
            }
            Some(json!({ "updateStrategy": own }))
        }
        Kind::DaemonSet => {
            let saved = kept(DAEMONSET_ORIGINAL_STRATEGY).unwrap_or("RollingUpdate");
            (spec["updateStrategy"]["type"] != saved)
                .then(|| json!({ "updateStrategy": { "type": saved } }))
        }
    }
}
