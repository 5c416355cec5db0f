//! Metrics, behaviour and conditions as the texts of annotations, fields in the order of Go's structs.

use super::super::super::causes::{list, text};
use crate::json::{Value, json};

/// A value as Go writes it.
fn plain(value: &Value) -> String {
    let text = value.to_string();
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

pub(super) fn array(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

fn object(fields: Vec<(&str, Option<String>)>) -> String {
    let fields = fields
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| format!("{}:{value}", plain(&json!(name)))));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn given(value: &Value) -> Option<String> {
    (!value.is_null()).then(|| plain(value))
}

/// A field that Go writes whether it was given or not.
fn always(value: &Value, otherwise: &Value) -> Option<String> {
    given(value).or_else(|| Some(plain(otherwise)))
}

fn selector(value: &Value) -> Option<String> {
    let expression = |one: &Value| {
        object(vec![
            ("key", always(&one["key"], &json!(""))),
            ("operator", always(&one["operator"], &json!(""))),
            ("values", given(&one["values"])),
        ])
    };
    let expressions = list(value, "matchExpressions");
    let expressions = (!expressions.is_empty()).then(|| array(expressions.iter().map(expression)));
    (!value.is_null()).then(|| {
        object(vec![
            ("matchLabels", given(&value["matchLabels"])),
            ("matchExpressions", expressions),
        ])
    })
}

fn reference(value: &Value) -> Option<String> {
    let version = given(&value["apiVersion"]).filter(|_| !text(value, "apiVersion").is_empty());
    Some(object(vec![
        ("kind", always(&value["kind"], &json!(""))),
        ("name", always(&value["name"], &json!(""))),
        ("apiVersion", version),
    ]))
}

/// The one source of a metric under the name of its field, in the order of the struct's fields.
fn sources(value: &Value, of: impl Fn(&str, &Value) -> String) -> String {
    let names = ["object", "pods", "resource", "containerResource", "external"];
    let mut fields = vec![("type", given(&value["type"]))];
    for name in names {
        let source = &value[name];
        fields.push((name, (!source.is_null()).then(|| of(name, source))));
    }
    object(fields)
}

pub(super) fn metric(metric: &Value) -> String {
    sources(metric, |kind, source| {
        let (aim, named) = (&source["target"], &source["metric"]);
        let name = || always(&named["name"], &json!(""));
        let average = given(&aim["averageValue"]);
        object(match kind {
            "object" => vec![
                ("target", reference(&source["describedObject"])),
                ("metricName", name()),
                ("targetValue", always(&aim["value"], &json!("0"))),
                ("selector", selector(&named["selector"])),
                ("averageValue", average),
            ],
            "pods" => vec![
                ("metricName", name()),
                ("targetAverageValue", always(&aim["averageValue"], &json!("0"))),
                ("selector", selector(&named["selector"])),
            ],
            "external" => vec![
                ("metricName", name()),
                ("metricSelector", selector(&named["selector"])),
                ("targetValue", given(&aim["value"])),
                ("targetAverageValue", average),
            ],
            _ => vec![
                ("name", always(&source["name"], &json!(""))),
                ("targetAverageUtilization", given(&aim["averageUtilization"])),
                ("targetAverageValue", average),
                ("container", given(&source["container"])),
            ],
        })
    })
}

pub(super) fn current(metric: &Value) -> String {
    sources(metric, |kind, source| {
        let (now, named) = (&source["current"], &source["metric"]);
        let name = || always(&named["name"], &json!(""));
        let zero = || json!("0");
        object(match kind {
            "object" => vec![
                ("target", reference(&source["describedObject"])),
                ("metricName", name()),
                ("currentValue", always(&now["value"], &zero())),
                ("selector", selector(&named["selector"])),
                ("averageValue", given(&now["averageValue"])),
            ],
            "pods" => vec![
                ("metricName", name()),
                ("currentAverageValue", always(&now["averageValue"], &zero())),
                ("selector", selector(&named["selector"])),
            ],
            "external" => vec![
                ("metricName", name()),
                ("metricSelector", selector(&named["selector"])),
                ("currentValue", always(&now["value"], &zero())),
                ("currentAverageValue", given(&now["averageValue"])),
            ],
            _ => vec![
                ("name", always(&source["name"], &json!(""))),
                ("currentAverageUtilization", given(&now["averageUtilization"])),
                ("currentAverageValue", always(&now["averageValue"], &zero())),
                ("container", given(&source["container"])),
            ],
        })
    })
}

/// A reading of which only the percentage is known.
pub(super) fn percentage(percent: &Value) -> String {
    let fields =
        vec![("name", given(&json!("cpu"))), ("currentAverageUtilization", given(percent))];
    object(vec![("type", given(&json!("Resource"))), ("resource", Some(object(fields)))])
}

/// In Go's own names: what is encoded there is a type that has no others.
pub(super) fn behavior(behavior: &Value) -> String {
    let null = || Value::Null;
    let policy = |one: &Value| {
        object(vec![
            ("Type", always(&one["type"], &json!(""))),
            ("Value", always(&one["value"], &json!(0))),
            ("PeriodSeconds", always(&one["periodSeconds"], &json!(0))),
        ])
    };
    let rules = |rules: &Value| {
        if rules.is_null() {
            return Some("null".to_owned());
        }
        let policies = rules["policies"].as_array();
        let policies = policies.map(|all| array(all.iter().map(policy)));
        Some(object(vec![
            ("StabilizationWindowSeconds", always(&rules["stabilizationWindowSeconds"], &null())),
            ("SelectPolicy", always(&rules["selectPolicy"], &null())),
            ("Policies", policies.or_else(|| Some("null".to_owned()))),
            ("Tolerance", always(&rules["tolerance"], &null())),
        ]))
    };
    object(vec![
        ("ScaleUp", rules(&behavior["scaleUp"])),
        ("ScaleDown", rules(&behavior["scaleDown"])),
    ])
}

pub(super) fn condition(condition: &Value) -> String {
    object(vec![
        ("type", always(&condition["type"], &json!(""))),
        ("status", always(&condition["status"], &json!(""))),
        ("lastTransitionTime", always(&condition["lastTransitionTime"], &Value::Null)),
        ("reason", given(&condition["reason"])),
        ("message", given(&condition["message"])),
    ])
}
