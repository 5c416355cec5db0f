//! Deployments.

use super::causes::{Causes, text};
use super::pod_set as set;
use super::{rolling, template};
use crate::json::Value;

/// Fills in the defaults.
pub(super) fn default(object: &mut Value) {
    let spec = &mut object["spec"];
    set(spec, "replicas", 1);
    rolling::default(spec, "strategy", "25%", "25%");
    set(spec, "revisionHistoryLimit", 10);
    set(spec, "progressDeadlineSeconds", 600);
    template::default(spec);
}

/// What is wrong with the spec.
pub(super) fn validate(object: &Value, out: &mut Causes) {
    let spec = &object["spec"];
    out.not_negative("spec.replicas", &spec["replicas"]);
    template::validate_both(spec, out);
    validate_strategy(&spec["strategy"], out);
    for field in ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"] {
        out.not_negative(format!("spec.{field}"), &spec[field]);
    }
    let deadline = &spec["progressDeadlineSeconds"];
    let ready = spec["minReadySeconds"].as_i64().unwrap_or(0);
    if deadline.as_i64().is_some_and(|deadline| deadline <= ready) {
        let path = "spec.progressDeadlineSeconds";
        out.invalid(path, deadline, "must be greater than minReadySeconds");
    }
}

fn validate_strategy(strategy: &Value, out: &mut Causes) {
    let part = &strategy["rollingUpdate"];
    match text(strategy, "type") {
        "Recreate" => {
            if !part.is_null() {
                out.forbidden(
                    "spec.strategy.rollingUpdate",
                    "may not be specified when strategy `type` is 'Recreate'",
                );
            }
        }
        "RollingUpdate" => {
            let path = |field: &str| format!("spec.strategy.rollingUpdate.{field}");
            let (unavailable, surge) = (&part["maxUnavailable"], &part["maxSurge"]);
            rolling::validate(&path("maxUnavailable"), unavailable, out);
            rolling::validate(&path("maxSurge"), surge, out);
            if rolling::is_zero(unavailable) && rolling::is_zero(surge) {
                let why = "may not be 0 when `maxSurge` is 0";
                out.invalid(path("maxUnavailable"), unavailable, why);
            }
            rolling::at_most_all(&path("maxUnavailable"), unavailable, out);
        }
        _ => rolling::unknown_type("spec.strategy", strategy, &["Recreate", "RollingUpdate"], out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[track_caller]
    fn check(edit: impl FnOnce(&mut Value), expect: &[&str]) {
        assert_eq!(template::tests::wrong(edit, default, validate), expect);
    }

    #[test]
    fn what_is_wrong_is_said_in_the_servers_words() {
        check(|_| {}, &[]);
        let rolling = |surge: &Value, unavailable: &Value| json!({"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
        check(
            |spec| spec["strategy"] = rolling(&json!(0), &json!("0%")),
            &[
                "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"0%\": may not be 0 when \
               `maxSurge` is 0",
            ],
        );
        check(
            |spec| spec["strategy"] = rolling(&json!("200%"), &json!("101%")),
            &["spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"101%\": must not be \
               greater than 100%"],
        );
        check(
            |spec| spec["strategy"] = json!({"type": "Recreate", "rollingUpdate": {}}),
            &[
                "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is \
               'Recreate'",
            ],
        );
        check(
            |spec| spec["strategy"] = json!({"type": "Often"}),
            &["spec.strategy: Unsupported value: {\"Type\":\"Often\",\"RollingUpdate\":null}: \
               supported values: \"Recreate\", \"RollingUpdate\""],
        );
        check(
            |spec| spec["minReadySeconds"] = 600.into(),
            &["spec.progressDeadlineSeconds: Invalid value: 600: must be greater than \
               minReadySeconds"],
        );
    }

    #[test]
    fn a_quarter_may_be_too_many_or_missing_by_default() {
        let mut object = json!({"spec": {}});
        default(&mut object);
        let quarter = json!({"maxSurge": "25%", "maxUnavailable": "25%"});
        assert_eq!(object["spec"]["strategy"]["rollingUpdate"], quarter);
        assert_eq!(object["spec"]["progressDeadlineSeconds"], 600);
    }
}
