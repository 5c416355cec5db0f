//! HorizontalPodAutoscalers as autoscaling/v1 shows them: one number for processor time, and all that
//! v1 has no field for in annotations.
//!
//! Stored is autoscaling/v2. What v1 keeps in annotations is read from them when it is written; an
//! annotation that can't be read is dropped, as the real server drops it.

mod decode;
mod encode;

use super::super::causes::list;
use crate::json::{Value, json};
use crate::types;

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
/// Of a version that is no longer served; taken away with the others.
const UPDATE_POLICY: &str = "autoscaling.alpha.kubernetes.io/update-policy";

const PERCENT: &str = "targetCPUUtilizationPercentage";
const CURRENT_PERCENT: &str = "currentCPUUtilizationPercentage";

/// An object of v2 in v1.
pub(crate) fn to_v1(object: &Value) -> Value {
    let mut out = object.clone();
    let (spec, status) = (&object["spec"], &object["status"]);
    out["apiVersion"] = json!("autoscaling/v1");
    out["spec"] = pick(spec, &["scaleTargetRef", "minReplicas", "maxReplicas"]);
    let metrics = list(spec, "metrics");
    if let Some(percent) = metrics.iter().find_map(percentage) {
        out["spec"][PERCENT] = percent.clone();
    }
    if object.get("status").is_some() {
        out["status"] = pick(status, &["observedGeneration", "lastScaleTime"]);
        for field in ["currentReplicas", "desiredReplicas"] {
            out["status"][field] = json!(status[field].as_i64().unwrap_or(0));
        }
        let processor = |metric: &&Value| is_processor(metric);
        let last = list(status, "currentMetrics").iter().rfind(processor);
        let percent = last.map(|metric| &metric["resource"]["current"]["averageUtilization"]);
        if let Some(percent) = percent.filter(|percent| !percent.is_null()) {
            out["status"][CURRENT_PERCENT] = percent.clone();
        }
    }
    let others = metrics.iter().filter(|metric| percentage(metric).is_none());
    let mut notes: Vec<(&str, String)> = Vec::new();
    let others: Vec<String> = others.map(encode::metric).collect();
    if !others.is_empty() {
        notes.push((METRICS, encode::array(others)));
    }
    let current = list(status, "currentMetrics");
    if !current.is_empty() {
        notes.push((CURRENT, encode::array(current.iter().map(encode::current))));
    }
    if spec["behavior"].is_object() {
        notes.push((BEHAVIOR, encode::behavior(&spec["behavior"])));
    }
    let conditions = list(status, "conditions");
    if !conditions.is_empty() {
        notes.push((CONDITIONS, encode::array(conditions.iter().map(encode::condition))));
    }
    drop_notes(&mut out);
    if !notes.is_empty() {
        let annotations = &mut out["metadata"]["annotations"];
        for (name, text) in notes {
            annotations[name] = text.into();
        }
    }
    out
}

/// An object of v1 in v2. Without any metric it is given the one that v1 means by that.
pub(crate) fn from_v1(object: &Value) -> Value {
    let mut out = object.clone();
    let (spec, status) = (&object["spec"], &object["status"]);
    let note = |name: &str| -> Option<Value> {
        let text = object["metadata"]["annotations"][name].as_str()?;
        serde_json::from_str(text).ok().filter(|value: &Value| !value.is_null())
    };
    let notes = |name: &str| note(name).and_then(|read| read.as_array().cloned());
    out["apiVersion"] = json!("autoscaling/v2");
    out["spec"] = pick(spec, &["scaleTargetRef", "minReplicas", "maxReplicas"]);
    let mut metrics: Vec<Value> =
        notes(METRICS).unwrap_or_default().iter().map(decode::metric).collect();
    if !spec[PERCENT].is_null() {
        metrics.push(of_processor(&spec[PERCENT], "target"));
    }
    if metrics.is_empty() {
        metrics.push(of_processor(&json!(super::DEFAULT_PERCENT), "target"));
    }
    out["spec"]["metrics"] = json!(metrics);
    if let Some(behavior) = note(BEHAVIOR).filter(Value::is_object) {
        out["spec"]["behavior"] = decode::behavior(&behavior);
    }
    let kept = ["observedGeneration", "lastScaleTime", "currentReplicas"];
    out["status"] = pick(status, &kept);
    if status["currentReplicas"] == 0 {
        out["status"].as_object_mut().map(|map| map.remove("currentReplicas"));
    }
    out["status"]["desiredReplicas"] = json!(status["desiredReplicas"].as_i64().unwrap_or(0));
    let current: Vec<Value> = match (notes(CURRENT), &status[CURRENT_PERCENT]) {
        (Some(all), _) => all.iter().map(decode::current).collect(),
        (None, Value::Null) => Vec::new(),
        (None, percent) => vec![of_processor(percent, "current")],
    };
    out["status"]["currentMetrics"] = json!(current);
    if let Some(conditions) = notes(CONDITIONS) {
        out["status"]["conditions"] = json!(conditions);
    }
    drop_notes(&mut out);
    // The texts of the annotations have been read by nobody yet. One that does not fit stays as it is,
    // and is refused with the rest.
    if let Some(of_type) = types::by_name("HorizontalPodAutoscaler") {
        let _unknown = types::decode(of_type, &mut out);
    }
    if current.is_empty() {
        out["status"]["currentMetrics"] = Value::Null;
    }
    out
}

/// An object of v1 as it is after it has been read: what v1 leaves open is filled in, annotations are
/// as the server writes them.
pub(super) fn read(object: &mut Value) {
    let mut shown = to_v1(&from_v1(object));
    let note = |object: &Value| object["metadata"]["annotations"][CURRENT].clone();
    if note(object).is_null() && !note(&shown).is_null() {
        // A percentage alone says nothing of the amount, which an annotation would.
        let percent = encode::percentage(&object["status"][CURRENT_PERCENT]);
        shown["metadata"]["annotations"][CURRENT] = encode::array([percent]).into();
    }
    *object = shown;
}

/// What a new object of v1 starts with, whatever status its writer gave it.
pub(crate) fn without_status(object: &mut Value) {
    object["status"] = json!({"currentReplicas": 0, "desiredReplicas": 0});
    remove_notes(object, &[CURRENT, CONDITIONS]);
}

fn is_processor(metric: &Value) -> bool {
    metric["type"] == "Resource" && metric["resource"]["name"] == "cpu"
}

/// What v1 has a field for.
fn percentage(metric: &Value) -> Option<&Value> {
    let percent = &metric["resource"]["target"]["averageUtilization"];
    Some(percent).filter(|percent| is_processor(metric) && !percent.is_null())
}

fn of_processor(percent: &Value, field: &str) -> Value {
    let mut resource = json!({"name": "cpu"});
    resource[field] = json!({"averageUtilization": percent});
    if field == "target" {
        resource[field]["type"] = "Utilization".into();
    }
    json!({"type": "Resource", "resource": resource})
}

/// Takes away the annotations that stand for fields: v2 has the fields.
pub(super) fn drop_notes(object: &mut Value) {
    remove_notes(object, &[METRICS, BEHAVIOR, CURRENT, CONDITIONS, UPDATE_POLICY]);
}

fn remove_notes(object: &mut Value, names: &[&str]) {
    let found = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    let Some(annotations) = found else { return };
    for name in names {
        annotations.remove(name);
    }
    if annotations.is_empty() {
        object["metadata"].as_object_mut().map(|metadata| metadata.remove("annotations"));
    }
}

fn pick(from: &Value, fields: &[&str]) -> Value {
    let has = |field: &&&str| from.get(**field).is_some();
    fields.iter().filter(has).map(|&field| (field.to_owned(), from[field].clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaler(metrics: &Value) -> Value {
        let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
        json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web"},
            "spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 5, "metrics": metrics},
            "status": {"desiredReplicas": 0, "currentMetrics": null},
        })
    }

    /// Goes through v1 and comes back as it was; what its annotation says.
    #[track_caller]
    fn check(metric: &Value, expect: &str) {
        let whole = scaler(&json!([metric, of_processor(&json!(60), "target")]));
        let shown = to_v1(&whole);
        assert_eq!(shown["spec"][PERCENT], 60);
        assert_eq!(shown["metadata"]["annotations"][METRICS], format!("[{expect}]"));
        assert_eq!(from_v1(&shown), whole);
    }

    #[test]
    fn every_source_of_a_metric_goes_through_v1_and_comes_back() {
        check(
            &json!({"type": "Resource", "resource": {
                "name": "cpu", "target": {"type": "AverageValue", "averageValue": "100m"}}}),
            r#"{"type":"Resource","resource":{"name":"cpu","targetAverageValue":"100m"}}"#,
        );
        check(
            &json!({"type": "ContainerResource", "containerResource": {"name": "cpu",
                "container": "main", "target": {"type": "Utilization", "averageUtilization": 50}}}),
            r#"{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":50,"container":"main"}}"#,
        );
        check(
            &json!({"type": "Pods", "pods": {
                "metric": {"name": "x", "selector": {"matchLabels": {"a": "b"}}},
                "target": {"type": "AverageValue", "averageValue": "3"}}}),
            r#"{"type":"Pods","pods":{"metricName":"x","targetAverageValue":"3","selector":{"matchLabels":{"a":"b"}}}}"#,
        );
        check(
            &json!({"type": "Object", "object": {"metric": {"name": "<x>"},
                "describedObject": {"kind": "Service", "name": "s", "apiVersion": "v1"},
                "target": {"type": "Value", "value": "3k"}}}),
            r#"{"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},"metricName":"\u003cx\u003e","targetValue":"3k"}}"#,
        );
        check(
            &json!({"type": "External", "external": {"metric": {"name": "x"},
                "target": {"type": "AverageValue", "averageValue": "500m"}}}),
            r#"{"type":"External","external":{"metricName":"x","targetAverageValue":"500m"}}"#,
        );
    }

    #[test]
    fn behaviour_conditions_and_readings_go_through_v1_and_come_back() {
        let mut whole = scaler(&json!([of_processor(&json!(60), "target")]));
        let policy = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
        let rules = json!({"selectPolicy": "Max", "policies": [policy], "tolerance": "50m"});
        whole["spec"]["behavior"] = json!({"scaleDown": rules});
        whole["status"]["conditions"] = json!([{"type": "AbleToScale", "status": "False",
            "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "No", "message": "not \"web\""}]);
        whole["status"]["currentMetrics"] = json!([{"type": "Resource", "resource": {
            "name": "cpu", "current": {"averageUtilization": 7, "averageValue": "70m"}}}]);
        let shown = to_v1(&whole);
        let notes = &shown["metadata"]["annotations"];
        assert_eq!(
            notes[BEHAVIOR],
            r#"{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":"50m"}}"#
        );
        assert_eq!(
            notes[CONDITIONS],
            r#"[{"type":"AbleToScale","status":"False","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"No","message":"not \"web\""}]"#
        );
        assert_eq!(
            notes[CURRENT],
            r#"[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":7,"currentAverageValue":"70m"}}]"#
        );
        assert_eq!(shown["status"][CURRENT_PERCENT], 7);
        assert_eq!(from_v1(&shown), whole);
    }

    #[test]
    fn without_a_metric_and_with_an_annotation_that_cannot_be_read_it_is_processor_time() {
        let object = json!({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "annotations": {METRICS: "junk"}}, "spec": {"maxReplicas": 5}});
        let read = from_v1(&object);
        assert_eq!(read["spec"]["metrics"], json!([of_processor(&json!(80), "target")]));
        assert!(read["metadata"].get("annotations").is_none());
    }
}
