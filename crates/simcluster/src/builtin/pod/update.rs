//! What may be changed on an existing Pod.

use crate::builtin::causes::{Causes, list, text};
use crate::json::{Value, json};

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
    let (fresh, kept) =
        (&new["spec"]["activeDeadlineSeconds"], &old["spec"]["activeDeadlineSeconds"]);
    if let Some(before) = kept.as_i64() {
        let why = match fresh.as_i64() {
            None => "must not update from a positive integer to nil value",
            Some(after) if after > before => "must be less than or equal to previous value",
            Some(_) => "",
        };
        if !why.is_empty() {
            out.invalid("spec.activeDeadlineSeconds", fresh, why);
            return;
        }
    }
    let untimed = |toleration: &Value| {
        let mut toleration = toleration.clone();
        if let Some(map) = toleration.as_object_mut() {
            map.remove("tolerationSeconds");
        }
        toleration
    };
    let tolerated: Vec<Value> = list(&new["spec"], "tolerations").iter().map(untimed).collect();
    if list(&old["spec"], "tolerations").iter().any(|old| !tolerated.contains(&untimed(old))) {
        let why = "existing toleration can not be modified except its tolerationSeconds";
        out.forbidden("spec.tolerations", why);
        return;
    }
    if !same(&new["spec"], &old["spec"]) {
        out.forbidden("spec", ALLOWED);
    }
}

/// Containers that are put into a Pod which is there: new ones, and those that are stay.
pub(crate) fn validate_ephemeral(new: &Value, old: &Value, out: &mut Causes) {
    let spec = &new["spec"];
    let named = |list_: &str| -> Vec<&str> {
        list(spec, list_).iter().map(|container| text(container, "name")).collect()
    };
    let regular: Vec<&str> = [named("initContainers"), named("containers")].concat();
    let mut seen = regular.clone();
    for (index, container) in list(spec, "ephemeralContainers").iter().enumerate() {
        let path = format!("spec.ephemeralContainers[{index}]");
        let (name, target) = (text(container, "name"), text(container, "targetContainerName"));
        if name.is_empty() {
            out.required(format!("{path}.name"), "");
        } else if seen.contains(&name) {
            out.duplicate(format!("{path}.name"), &json!(name));
        }
        seen.push(name);
        if text(container, "image").is_empty() {
            out.required(format!("{path}.image"), "");
        }
        if !target.is_empty() && !regular.contains(&target) {
            out.not_found(format!("{path}.targetContainerName"), &json!(target));
        }
    }
    for before in list(&old["spec"], "ephemeralContainers") {
        if !list(spec, "ephemeralContainers").contains(before) {
            let name = text(before, "name");
            let why = format!("existing ephemeral containers \"{name}\" may not be changed");
            out.forbidden("spec.ephemeralContainers", &why);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_only_comes_nearer_and_tolerations_stay() {
        fn check(old: &Value, new: &Value, expect: &[&str]) {
            let mut out = Causes::default();
            validate_update(&json!({"spec": new}), &json!({"spec": old}), &mut out);
            let found: Vec<String> =
                out.into_vec().into_iter().map(|cause| cause.message).collect();
            assert_eq!(found, expect, "{old} {new}");
        }
        let deadline = |seconds: i64| json!({"activeDeadlineSeconds": seconds});
        check(&json!({}), &deadline(9), &[]);
        check(&deadline(9), &deadline(8), &[]);
        let why = "Invalid value: 90: must be less than or equal to previous value";
        check(&deadline(9), &deadline(90), &[why]);
        let why = "Invalid value: null: must not update from a positive integer to nil value";
        check(&deadline(9), &json!({}), &[why]);
        let tolerates =
            |seconds: i64| json!({"tolerations": [{"key": "a", "tolerationSeconds": seconds}]});
        check(&json!({}), &tolerates(1), &[]);
        check(&tolerates(1), &tolerates(2), &[]);
        let why = "Forbidden: existing toleration can not be modified except its tolerationSeconds";
        check(&tolerates(1), &json!({}), &[why]);
    }
}
