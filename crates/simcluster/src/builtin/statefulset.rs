//! StatefulSets.

use super::causes::{Causes, list, text};
use super::pod_set as set;
use super::{meta, template};
use crate::json::{Map, Value, json};
use crate::selector::LabelSelector;

/// Fills in the defaults.
pub(super) fn default(object: &mut Value) {
    let spec = &mut object["spec"];
    set(spec, "podManagementPolicy", "OrderedReady");
    set(spec, "updateStrategy", Map::new());
    if spec["updateStrategy"]["type"].as_str().is_none_or(str::is_empty) {
        set(&mut spec["updateStrategy"], "rollingUpdate", Map::new());
        spec["updateStrategy"]["type"] = "RollingUpdate".into();
    }
    // One that names the type and nothing more gets no partition.
    let strategy = &spec["updateStrategy"];
    if strategy["type"] == "RollingUpdate" && strategy["rollingUpdate"].is_object() {
        let rolling = &mut spec["updateStrategy"]["rollingUpdate"];
        set(rolling, "partition", 0);
    }
    set(spec, "replicas", 1);
    set(spec, "revisionHistoryLimit", 10);
    set(spec, "persistentVolumeClaimRetentionPolicy", Map::new());
    let retention = &mut spec["persistentVolumeClaimRetentionPolicy"];
    set(retention, "whenDeleted", "Retain");
    set(retention, "whenScaled", "Retain");
    template::default(spec);
    for claim in
        spec.get_mut("volumeClaimTemplates").and_then(Value::as_array_mut).into_iter().flatten()
    {
        set(claim, "apiVersion", "v1");
        set(claim, "kind", "PersistentVolumeClaim");
        set(&mut claim["spec"], "volumeMode", "Filesystem");
        set(&mut claim["status"], "phase", "Pending");
    }
}

/// Takes out what has its gate off in 1.36, without a word. If nothing else is new, nothing is.
pub(super) fn drop_gated(before: Option<&Value>, object: &mut Value) {
    let rolling = object.pointer_mut("/spec/updateStrategy/rollingUpdate");
    let dropped =
        rolling.and_then(Value::as_object_mut).and_then(|map| map.remove("maxUnavailable"));
    if let Some(before) =
        before.filter(|before| dropped.is_some() && before["spec"] == object["spec"])
    {
        object["metadata"]["generation"] = before["metadata"]["generation"].clone();
    }
}

/// What the writer of a set is warned of, beside what is said of its template.
pub(super) fn warning(object: &Value) -> Option<String> {
    object["spec"]["revisionHistoryLimit"].as_i64().filter(|limit| *limit < 0).map(|_| {
        "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is \
         recommended"
            .to_owned()
    })
}

/// What is wrong with the spec.
pub(super) fn validate(object: &Value, out: &mut Causes) {
    let spec = &object["spec"];
    match text(spec, "podManagementPolicy") {
        "" => out.required("spec.podManagementPolicy", ""),
        "OrderedReady" | "Parallel" => {}
        _ => out.invalid(
            "spec.podManagementPolicy",
            &spec["podManagementPolicy"],
            "must be 'OrderedReady' or 'Parallel'",
        ),
    }
    let strategy = &spec["updateStrategy"];
    match text(strategy, "type") {
        "" => out.required("spec.updateStrategy", ""),
        "OnDelete" => {
            if !strategy["rollingUpdate"].is_null() {
                let shown = rolling_in_go(&strategy["rollingUpdate"]);
                let why = "only allowed for updateStrategy 'RollingUpdate'";
                out.push_text("spec.updateStrategy.rollingUpdate", &shown, why);
            }
        }
        "RollingUpdate" => out.not_negative(
            "spec.updateStrategy.rollingUpdate.partition",
            &strategy["rollingUpdate"]["partition"],
        ),
        _ => {
            let rolling = rolling_in_go(&strategy["rollingUpdate"]);
            let shown = format!("{{\"Type\":{},\"RollingUpdate\":{rolling}}}", strategy["type"]);
            out.push_text("spec.updateStrategy", &shown, "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
    for field in ["whenDeleted", "whenScaled"] {
        let value = &spec["persistentVolumeClaimRetentionPolicy"][field];
        if !value.is_null() && value != "Retain" && value != "Delete" {
            out.not_supported(
                format!("spec.persistentVolumeClaimRetentionPolicy.{field}"),
                value,
                &["Retain", "Delete"],
            );
        }
    }
    out.not_negative("spec.replicas", &spec["replicas"]);
    out.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    out.not_negative("spec.ordinals.start", &spec["ordinals"]["start"]);
    selector_and_template(spec, out);
}

/// As the server's own struct is written.
fn rolling_in_go(rolling: &Value) -> String {
    if rolling.is_null() {
        return "null".to_owned();
    }
    format!("{{\"Partition\":{},\"MaxUnavailable\":null}}", rolling["partition"])
}

fn selector_and_template(spec: &Value, out: &mut Causes) {
    template::require_selector(spec, "statefulset", out);
    match LabelSelector::from_object(&spec["selector"]) {
        Err(_) => out.invalid("spec.selector", &json!(""), ""),
        Ok(_) => template::validate_labels(spec, out),
    }
    let claims: Vec<&str> =
        list(spec, "volumeClaimTemplates").iter().map(crate::object::name).collect();
    // Both by the template's own rules and by those of this kind.
    meta::labels(&spec["template"]["metadata"], "spec.template.labels", out);
    meta::annotations(&spec["template"]["metadata"], "spec.template.annotations", out);
    template::validate(spec, "StatefulSet", &claims, out);
}

const MUTABLE: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

/// What is wrong with a change of the spec.
pub(super) fn validate_update(new: &Value, old: &Value, out: &mut Causes) {
    let fixed = |object: &Value| {
        let mut spec = object["spec"].as_object().cloned().unwrap_or_default();
        spec.retain(|key, _| !MUTABLE.contains(&key.as_str()));
        spec
    };
    if fixed(new) != fixed(old) {
        out.forbidden(
            "spec",
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', \
             'template', 'updateStrategy', 'revisionHistoryLimit', \
             'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        );
    }
}
