//! HorizontalPodAutoscalers, of autoscaling/v2. Nothing here scales by itself: whoever reads one does
//! so through the scale of what it names. How autoscaling/v1 shows them is in [`v1`].

use crate::json::{Map, Value, json};

pub(crate) mod v1;

use super::causes::{Causes, list, text};
use super::pod_set as set;
use crate::kind::Kind;

/// How busy the processor may be where nobody says it, in percent of what was requested.
const DEFAULT_PERCENT: i64 = 80;
/// Longest look back, and longest period of a policy, in seconds.
const LONGEST_WINDOW: i64 = 3600;
const LONGEST_PERIOD: i64 = 1800;

/// Fills in the defaults.
pub(super) fn default(kind: &Kind, object: &mut Value) {
    if kind.version == "v1" {
        set(object, "spec", Map::new());
        set(&mut object["spec"], "minReplicas", 1);
        return v1::read(object);
    }
    v1::drop_notes(object);
    fill(object);
}

/// The defaults of v2. What was written in v1 is given them when it is stored.
pub(crate) fn fill(object: &mut Value) {
    set(object, "spec", Map::new());
    let spec = &mut object["spec"];
    set(spec, "minReplicas", 1);
    if list(spec, "metrics").is_empty() {
        spec["metrics"] = json!([{"type": "Resource", "resource": {
            "name": "cpu",
            "target": {"type": "Utilization", "averageUtilization": DEFAULT_PERCENT},
        }}]);
    }
    if !spec["behavior"].is_object() {
        return;
    }
    let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
    let pods = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
    let behavior = &mut spec["behavior"];
    for (direction, policies) in
        [("scaleUp", json!([pods, percent])), ("scaleDown", json!([percent]))]
    {
        set(behavior, direction, Map::new());
        let rules = &mut behavior[direction];
        set(rules, "selectPolicy", "Max");
        if rules["policies"].is_null() {
            rules["policies"] = policies;
        }
    }
    set(&mut behavior["scaleUp"], "stabilizationWindowSeconds", 0);
}

/// What is wrong with the spec; that of v1 is looked at as v2.
pub(super) fn validate(kind: &Kind, object: &Value, out: &mut Causes) {
    match kind.version.as_str() {
        "v1" => validate_spec(&v1::from_v1(object)["spec"], out),
        _ => validate_spec(&object["spec"], out),
    }
}

fn validate_spec(spec: &Value, out: &mut Causes) {
    let (least, most) = (&spec["minReplicas"], &spec["maxReplicas"]);
    if least.as_i64().is_some_and(|least| least < 1) {
        out.invalid("spec.minReplicas", least, "must be greater than or equal to 1");
    }
    let number = most.as_i64().unwrap_or(0);
    match number {
        0 => out.required("spec.maxReplicas", "must be set and greater than 0"),
        ..0 => out.invalid("spec.maxReplicas", most, "must be greater than or equal to 1"),
        _ => {}
    }
    if least.as_i64().is_some_and(|least| number < least) {
        let why = "must be greater than or equal to `minReplicas`";
        out.invalid("spec.maxReplicas", &number.into(), why);
    }
    validate_reference(&spec["scaleTargetRef"], "spec.scaleTargetRef", true, out);
    for (i, metric) in list(spec, "metrics").iter().enumerate() {
        validate_metric(metric, &format!("spec.metrics[{i}]"), out);
    }
    if least == 0 && !list(spec, "metrics").iter().any(|one| is_far(text(one, "type"))) {
        let why = "must specify at least one Object or External metric to support scaling to zero \
                   replicas";
        out.forbidden("spec.metrics", why);
    }
    for direction in ["scaleUp", "scaleDown"] {
        let rules = &spec["behavior"][direction];
        if rules.is_object() {
            validate_rules(rules, &format!("spec.behavior.{direction}"), out);
        }
    }
}

fn is_far(type_: &str) -> bool {
    matches!(type_, "Object" | "External")
}

fn validate_reference(reference: &Value, path: &str, grouped: bool, out: &mut Causes) {
    for field in ["kind", "name"] {
        if text(reference, field).is_empty() {
            out.required(format!("{path}.{field}"), "");
        }
    }
    let version = text(reference, "apiVersion");
    let value = Value::from(version);
    if version.matches('/').count() > 1 {
        let why = format!("unexpected GroupVersion string: {version}");
        out.invalid(format!("{path}.apiVersion"), &value, &why);
    } else if grouped
        && !version.contains('/')
        && text(reference, "kind") != "ReplicationController"
    {
        out.invalid(format!("{path}.apiVersion"), &value, "apiVersion must specify API group");
    }
}

/// Each type of metric, and the field that goes with it.
const SOURCES: [(&str, &str); 5] = [
    ("ContainerResource", "containerResource"),
    ("External", "external"),
    ("Object", "object"),
    ("Pods", "pods"),
    ("Resource", "resource"),
];

fn validate_metric(metric: &Value, path: &str, out: &mut Causes) {
    let type_ = text(metric, "type");
    let of = |field: &str| format!("{path}.{field}");
    let known = SOURCES.iter().find(|(name, _)| *name == type_);
    if type_.is_empty() {
        out.required(of("type"), "must specify a metric source type");
    }
    if known.is_none() {
        let names = SOURCES.map(|(name, _)| name);
        out.not_supported(of("type"), &type_.into(), &names);
        out.not_supported(of("type"), &type_.into(), &names);
        return;
    }
    let Some((_, field)) = known else { return };
    let source = &metric[*field];
    if source.is_null() {
        out.required(of(field), "must populate information for the given metric source");
    } else {
        validate_source(source, field, &of(field), out);
    }
    for (_, other) in SOURCES.iter().filter(|(_, other)| other != field) {
        if !metric[*other].is_null() {
            out.forbidden(of(other), "must populate the given metric source only");
        }
    }
}

fn validate_source(source: &Value, kind: &str, path: &str, out: &mut Causes) {
    let of = |field: &str| format!("{path}.{field}");
    let target = &source["target"];
    let has = |field: &str| !target[field].is_null();
    match kind {
        "resource" | "containerResource" => {
            if text(source, "name").is_empty() {
                out.required(of("name"), "must specify a resource name");
            }
            if kind == "containerResource" && text(source, "container").is_empty() {
                out.required(of("container"), "must specify a container");
            }
        }
        _ => {
            if kind == "object" {
                validate_reference(&source["describedObject"], &of("describedObject"), false, out);
            }
            if text(&source["metric"], "name").is_empty() {
                out.required(of("metric.name"), "must specify a metric name");
            }
        }
    }
    validate_target(target, &of("target"), out);
    match kind {
        "resource" | "containerResource" if !has("averageUtilization") && !has("averageValue") => {
            let why = "must set either a target raw value or a target utilization";
            out.required(of("target.averageUtilization"), why);
        }
        "resource" | "containerResource" if has("averageUtilization") && has("averageValue") => {
            let why = "may not set both a target raw value and a target utilization";
            out.forbidden(of("target.averageValue"), why);
        }
        "pods" if !has("averageValue") => {
            out.required(of("target.averageValue"), "must specify a positive target averageValue");
        }
        "object" if !has("value") && !has("averageValue") => {
            let why = "must set either a target value or averageValue";
            out.required(of("target.averageValue"), why);
        }
        "external" if !has("value") && !has("averageValue") => {
            let why = "must set either a target value for metric or a per-pod target";
            out.required(of("target.averageValue"), why);
        }
        "external" if has("value") && has("averageValue") => {
            let why = "may not set both a target value for metric and a per-pod target";
            out.forbidden(of("target.value"), why);
        }
        _ => {}
    }
}

fn validate_target(target: &Value, path: &str, out: &mut Causes) {
    let type_ = text(target, "type");
    if type_.is_empty() {
        out.required(format!("{path}.type"), "must specify a metric target type");
    }
    if !matches!(type_, "Utilization" | "Value" | "AverageValue") {
        let why = "must be either Utilization, Value, or AverageValue";
        out.invalid(format!("{path}.type"), &type_.into(), why);
    }
    let utilization = &target["averageUtilization"];
    if utilization.as_i64().is_some_and(|percent| percent < 1) {
        out.invalid(format!("{path}.averageUtilization"), utilization, "must be greater than 0");
    }
}

fn validate_rules(rules: &Value, path: &str, out: &mut Causes) {
    let window = &rules["stabilizationWindowSeconds"];
    let at = format!("{path}.stabilizationWindowSeconds");
    match window.as_i64() {
        Some(..0) => out.invalid(at, window, "must be greater than or equal to zero"),
        Some(seconds) if seconds > LONGEST_WINDOW => {
            out.invalid(at, window, &format!("must be less than or equal to {LONGEST_WINDOW}"));
        }
        _ => {}
    }
    let select = &rules["selectPolicy"];
    if !matches!(select.as_str(), None | Some("Max" | "Min" | "Disabled")) {
        let known = ["Disabled", "Max", "Min"];
        out.not_supported(format!("{path}.selectPolicy"), select, &known);
    }
    let tolerance = text(rules, "tolerance");
    if tolerance.starts_with('-') {
        let shown = &rules["tolerance"];
        out.invalid(format!("{path}.tolerance"), shown, "must be greater than or equal to 0");
    }
    if list(rules, "policies").is_empty() {
        out.required(format!("{path}.policies"), "must specify at least one Policy");
    }
    for (i, policy) in list(rules, "policies").iter().enumerate() {
        let of = |field: &str| format!("{path}.policies[{i}].{field}");
        if !matches!(text(policy, "type"), "Pods" | "Percent") {
            out.not_supported(of("type"), &text(policy, "type").into(), &["Percent", "Pods"]);
        }
        for field in ["value", "periodSeconds"] {
            let number = policy[field].as_i64().unwrap_or(0);
            if number <= 0 {
                out.invalid(of(field), &number.into(), "must be greater than zero");
            }
        }
        let period = &policy["periodSeconds"];
        if period.as_i64().is_some_and(|seconds| seconds > LONGEST_PERIOD) {
            let why = format!("must be less than or equal to {LONGEST_PERIOD}");
            out.invalid(of("periodSeconds"), period, &why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(edit: impl FnOnce(&mut Value), expect: &[&str]) {
        let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
        let mut object = json!({"spec": {"scaleTargetRef": target, "maxReplicas": 5}});
        edit(&mut object["spec"]);
        fill(&mut object);
        let mut out = Causes::default();
        validate_spec(&object["spec"], &mut out);
        let told = |cause: crate::error::Cause| format!("{}: {}", cause.field, cause.message);
        assert_eq!(out.into_vec().into_iter().map(told).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn what_is_wrong_is_said_in_the_servers_words() {
        check(|_| {}, &[]);
        check(
            |spec| spec["maxReplicas"] = 0.into(),
            &[
                "spec.maxReplicas: Required value: must be set and greater than 0",
                "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
            ],
        );
        check(
            |spec| spec["scaleTargetRef"]["apiVersion"] = "v1".into(),
            &[
                "spec.scaleTargetRef.apiVersion: Invalid value: \"v1\": apiVersion must specify API \
               group",
            ],
        );
        check(
            |spec| spec["metrics"] = json!([{"type": "Pods"}]),
            &[
                "spec.metrics[0].pods: Required value: must populate information for the given metric \
               source",
            ],
        );
    }

    #[test]
    fn processor_time_is_the_metric_by_default_and_behaviour_is_filled_in_where_there_is_some() {
        let mut object = json!({"spec": {"behavior": {"scaleDown": {"selectPolicy": "Min"}}}});
        fill(&mut object);
        let spec = &object["spec"];
        assert_eq!(spec["metrics"][0]["resource"]["target"]["averageUtilization"], 80);
        assert_eq!(spec["behavior"]["scaleUp"]["stabilizationWindowSeconds"], 0);
        assert_eq!(spec["behavior"]["scaleDown"]["selectPolicy"], "Min");
        assert_eq!(spec["behavior"]["scaleDown"]["policies"].as_array().map(Vec::len), Some(1));
    }
}
