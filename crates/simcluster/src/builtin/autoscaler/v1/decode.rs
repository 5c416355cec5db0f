//! Metrics and behaviour out of the texts of annotations.

use crate::json::{Map, Value, json};

fn put(into: &mut Value, field: &str, value: &Value) {
    if !value.is_null() {
        into[field] = value.clone();
    }
}

fn named(name: &Value, selector: &Value) -> Value {
    let mut out = json!({"name": name});
    put(&mut out, "selector", selector);
    out
}

/// Each source under its own name, made over.
fn sources(metric: &Value, of: impl Fn(&str, &Value) -> Value) -> Value {
    let mut out = json!({"type": metric["type"]});
    for name in ["object", "pods", "resource", "containerResource", "external"] {
        if metric[name].is_object() {
            out[name] = of(name, &metric[name]);
        }
    }
    out
}

pub(super) fn metric(metric: &Value) -> Value {
    sources(metric, |kind, source| {
        let is_zero = |value: &Value| value.is_null() || value == "0" || value == 0;
        let (value, mut average) = (&source["targetValue"], &source["targetAverageValue"]);
        let mut out = match kind {
            "object" => {
                average = &source["averageValue"];
                json!({"describedObject": source["target"],
                       "metric": named(&source["metricName"], &source["selector"])})
            }
            "pods" => json!({"metric": named(&source["metricName"], &source["selector"])}),
            "external" => {
                json!({"metric": named(&source["metricName"], &source["metricSelector"])})
            }
            _ => json!({"name": source["name"]}),
        };
        put(&mut out, "container", &source["container"]);
        let percent = &source["targetAverageUtilization"];
        let type_ = match kind {
            "object" if average.is_null() => "Value",
            "external" if !value.is_null() => "Value",
            "resource" | "containerResource" if !percent.is_null() => "Utilization",
            _ => "AverageValue",
        };
        let mut target = json!({"type": type_});
        put(&mut target, "averageValue", average);
        put(&mut target, "averageUtilization", percent);
        if kind == "external" || (kind == "object" && (type_ == "Value" || !is_zero(value))) {
            put(&mut target, "value", value);
        }
        out["target"] = target;
        out
    })
}

pub(super) fn current(metric: &Value) -> Value {
    sources(metric, |kind, source| {
        let mut now = json!({});
        put(&mut now, "value", &source["currentValue"]);
        put(&mut now, "averageUtilization", &source["currentAverageUtilization"]);
        let average = if kind == "object" { "averageValue" } else { "currentAverageValue" };
        put(&mut now, "averageValue", &source[average]);
        let mut out = match kind {
            "object" => {
                json!({"describedObject": source["target"],
                       "metric": named(&source["metricName"], &source["selector"])})
            }
            "pods" => json!({"metric": named(&source["metricName"], &source["selector"])}),
            "external" => {
                json!({"metric": named(&source["metricName"], &source["metricSelector"])})
            }
            _ => json!({"name": source["name"]}),
        };
        put(&mut out, "container", &source["container"]);
        out["current"] = now;
        out
    })
}

/// Go's names begin with a capital; nothing that was left out is kept as null.
pub(super) fn behavior(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let lower = |name: &str| {
                let mut letters = name.chars();
                let first = letters.next().map(|first| first.to_ascii_lowercase());
                first.into_iter().chain(letters).collect::<String>()
            };
            let given = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(
                given.map(|(name, value)| (lower(name), behavior(value))).collect::<Map>(),
            )
        }
        Value::Array(all) => all.iter().map(behavior).collect(),
        other => other.clone(),
    }
}
