//! What may be changed on an existing Pod.

use serde_json::{Value, json};

use crate::builtin::causes::Causes;

const ALLOWED: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
                       `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
                       `spec.tolerations` (only additions to existing tolerations),\
                       `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was \
                       previously negative)";

/// The spec of a Pod is fixed but for images and a few more. Being bound to a node, which the real
/// scheduler does through a subresource of its own, is let through.
pub(crate) fn validate_update(new: &Value, old: &Value, out: &mut Causes) {
    let same = |new: &Value, old: &Value| {
        let (mut new, mut old) = (new.clone(), old.clone());
        for spec in [&mut new, &mut old] {
            blank(spec);
        }
        if old.get("nodeName").is_none()
            && let Some(map) = new.as_object_mut()
        {
            map.remove("nodeName");
        }
        new == old
    };
    if !same(&new["spec"], &old["spec"]) {
        out.forbidden("spec", ALLOWED);
    }
}

fn blank(spec: &mut Value) {
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        if let Some(containers) = spec.get_mut(list).and_then(Value::as_array_mut) {
            for container in containers {
                container["image"] = json!("");
            }
        }
    }
    if let Some(map) = spec.as_object_mut() {
        for field in
            ["activeDeadlineSeconds", "tolerations", "schedulingGates", "ephemeralContainers"]
        {
            map.remove(field);
        }
    }
}
