//! DaemonSets, with the annotation by which the server counts their templates.

use super::causes::{Causes, text};
use super::pod_set as set;
use super::{rolling, template};
use crate::behaviour::daemonset::GENERATION;
use crate::json::{Value, json};

/// Fills in the defaults.
pub(super) fn default(object: &mut Value) {
    // Kept beside the object by the server, and told as an annotation.
    if !object["metadata"]["annotations"].is_object() {
        object["metadata"]["annotations"] = json!({});
    }
    set(&mut object["metadata"]["annotations"], GENERATION, "0");
    let spec = &mut object["spec"];
    rolling::default(spec, "updateStrategy", 1, 0);
    set(spec, "revisionHistoryLimit", 10);
    template::default(spec);
}

/// Counts the templates: 1 for a new object, one more for each that is another.
pub(super) fn count_templates(before: Option<&Value>, after: &mut Value) {
    let counted = before.map_or(1, |before| {
        let known = crate::object::annotation(before, GENERATION);
        let known = known.and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
        known + i64::from(before["spec"]["template"] != after["spec"]["template"])
    });
    after["metadata"]["annotations"][GENERATION] = counted.to_string().into();
}

/// What is wrong with the spec.
pub(super) fn validate(object: &Value, out: &mut Causes) {
    let spec = &object["spec"];
    template::validate_selector(spec, "daemonset", out);
    template::validate_labels(spec, out);
    template::validate(spec, "DaemonSet", &[], out);
    out.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    validate_strategy(&spec["updateStrategy"], out);
    out.not_negative("spec.revisionHistoryLimit", &spec["revisionHistoryLimit"]);
}

fn validate_strategy(strategy: &Value, out: &mut Causes) {
    let part = &strategy["rollingUpdate"];
    match text(strategy, "type") {
        "OnDelete" => {}
        "RollingUpdate" => {
            let path = |field: &str| format!("spec.updateStrategy.rollingUpdate.{field}");
            let (unavailable, surge) = (&part["maxUnavailable"], &part["maxSurge"]);
            rolling::validate(&path("maxUnavailable"), unavailable, out);
            rolling::validate(&path("maxSurge"), surge, out);
            rolling::at_most_all(&path("maxUnavailable"), unavailable, out);
            rolling::at_most_all(&path("maxSurge"), surge, out);
            match (rolling::is_zero(unavailable), rolling::is_zero(surge)) {
                (false, false) => {
                    let why = "may not be set when maxUnavailable is non-zero";
                    out.invalid(path("maxSurge"), surge, why);
                }
                (true, true) => {
                    out.required(path("maxUnavailable"), "cannot be 0 when maxSurge is 0");
                }
                _ => {}
            }
        }
        _ => rolling::unknown_type(
            "spec.updateStrategy",
            strategy,
            &["RollingUpdate", "OnDelete"],
            out,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(edit: impl FnOnce(&mut Value), expect: &[&str]) {
        assert_eq!(template::tests::wrong(edit, default, validate), expect);
    }

    #[test]
    fn what_is_wrong_is_said_in_the_servers_words() {
        check(|_| {}, &[]);
        let rolling = |surge: &Value, unavailable: &Value| json!({"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
        check(
            |spec| spec["updateStrategy"] = rolling(&json!(1), &json!("10%")),
            &["spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when \
               maxUnavailable is non-zero"],
        );
        check(
            |spec| spec["updateStrategy"] = rolling(&json!(0), &json!(0)),
            &[
                "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when \
               maxSurge is 0",
            ],
        );
        check(
            |spec| spec["selector"] = Value::Null,
            &[
                "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not \
               match template `labels`",
            ],
        );
    }

    #[test]
    fn templates_are_counted_as_they_change() {
        let mut first = json!({"metadata": {"annotations": {}}, "spec": {"template": 1}});
        count_templates(None, &mut first);
        assert_eq!(crate::object::annotation(&first, GENERATION), Some("1"));
        let mut same = first.clone();
        count_templates(Some(&first), &mut same);
        assert_eq!(same, first);
        let mut other = first.clone();
        other["spec"]["template"] = 2.into();
        count_templates(Some(&first), &mut other);
        assert_eq!(crate::object::annotation(&other, GENERATION), Some("2"));
    }
}
