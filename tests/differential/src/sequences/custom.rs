//! A CRD and its objects: schema, defaults, pruning, CEL, subresources, apply.

use serde_json::{Value, json};

use crate::step::{Step, apply, delete, get, json_patch, merge, post, put};

pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub(crate) const WIDGETS: &str = "/apis/$ns.example.com/v1/namespaces/$ns/widgets";
const A: &str = "/apis/$ns.example.com/v1/namespaces/$ns/widgets/a";

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("custom resources: schema and rules", rules()),
        ("custom resources: subresources and apply", subresources()),
        ("definitions that are refused", refused()),
    ]
}

fn schema() -> Value {
    json!({"type": "object", "required": ["spec"], "properties": {
        "spec": {
            "type": "object", "required": ["size"],
            "x-kubernetes-validations": [
                {"rule": "self.size <= self.limit", "message": "size must not pass limit"},
                {"rule": "!has(oldSelf.color) || has(self.color)", "message": "color must stay"},
            ],
            "properties": {
                "size": {"type": "integer", "minimum": 0, "maximum": 100},
                "limit": {"type": "integer", "default": 10},
                "color": {"type": "string", "enum": ["red", "green"], "x-kubernetes-validations": [
                    {"rule": "self == oldSelf", "message": "color is immutable"},
                ]},
                "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5, "minLength": 2},
                "list": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
                "parts": {
                    "type": "array", "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "required": ["name"], "properties": {
                        "name": {"type": "string"}, "count": {"type": "integer", "default": 1},
                    }},
                },
                "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
                "maybe": {"type": "string", "nullable": true},
                "either": {"x-kubernetes-int-or-string": true},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "when": {"type": "string", "format": "date-time"},
            },
        },
        "status": {"type": "object", "properties": {
            "phase": {"type": "string"}, "ready": {"type": "integer"},
        }},
    }})
}

/// The definition, and a wait until it is served.
pub(crate) fn definition() -> Vec<Step> {
    let body = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.$ns.example.com"},
        "spec": {
            "group": "$ns.example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema()},
                "subresources": {"status": {}, "scale": {
                    "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.ready",
                }},
                "additionalPrinterColumns": [
                    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                ],
            }],
        },
    });
    let path = format!("{DEFINITIONS}/widgets.$ns.example.com");
    vec![
        post(DEFINITIONS, body),
        Step::Until(path.clone(), "/status/conditions/1/status", json!("True"), 20),
        Step::Until(WIDGETS.to_owned(), "/kind", json!("WidgetList"), 20),
        get(path),
    ]
}

/// A widget; group and version come from the path.
pub(crate) fn widget(name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "$ns.example.com/v1", "kind": "Widget", "metadata": {"name": name},
        "spec": spec,
    })
}

fn rules() -> Vec<Step> {
    let mut out = definition();
    for spec in [
        json!({"size": 1, "color": "red", "unknown": 1, "free": {"kept": {"x": 1}}}),
        json!({}),
        Value::Null,
        json!({"size": "1"}),
        json!({"size": 1.5}),
        json!({"size": -1}),
        json!({"size": 101, "limit": 200}),
        json!({"size": 11}),
        json!({"size": 11, "limit": 10, "color": "blue"}),
        json!({"size": 1, "name": "toolong"}),
        json!({"size": 1, "name": "A"}),
        json!({"size": 1, "list": ["a", "b", "c"]}),
        json!({"size": 1, "list": [1, null]}),
        json!({"size": 1, "parts": [{"name": "x"}, {"name": "x"}]}),
        json!({"size": 1, "parts": [{"count": 2}]}),
        json!({"size": 1, "annotations": null}),
        json!({"size": 1, "annotations": {"a": null}}),
        json!({"size": 1, "maybe": null, "limit": null}),
        json!({"size": 1, "either": 1.5}),
        json!({"size": 1, "either": true}),
        json!({"size": 1, "when": "soon"}),
    ] {
        out.push(post(WIDGETS, widget("a", spec)));
    }
    for spec in [
        json!({"color": "green"}),
        json!({"color": null}),
        json!({"size": 20}),
        json!({"size": 20, "limit": 30}),
        json!({"limit": null}),
        json!({"parts": [{"name": "x"}, {"name": "y", "count": 3}]}),
        json!({"annotations": {}}),
        json!({"annotations": {"a": null}}),
        json!({"free": {"more": [1, "2", null]}}),
    ] {
        out.push(merge(A, json!({"spec": spec})));
    }
    out.extend([
        put(A, widget("a", json!({"size": 1}))),
        put(
            A,
            json!({
                "apiVersion": "$ns.example.com/v1", "kind": "Widget",
                "metadata": {"name": "a", "resourceVersion": format!("$rv({A})")},
                "spec": {"size": 2, "color": "red"},
            }),
        ),
        post(format!("{WIDGETS}?fieldValidation=Strict"), widget("b", json!({"size": 1, "x": 1}))),
        post(format!("{WIDGETS}?fieldValidation=Ignore"), widget("b", json!({"size": 1, "x": 1}))),
        json_patch(A, json!([{"op": "remove", "path": "/spec/size"}])),
        Step::Call {
            method: "PATCH",
            path: A.to_owned(),
            content_type: "application/strategic-merge-patch+json",
            body: json!({"spec": {"size": 3}}),
        },
        get(WIDGETS),
        delete(A),
        get(A),
        delete(format!("{DEFINITIONS}/widgets.$ns.example.com")),
    ]);
    out
}

fn subresources() -> Vec<Step> {
    let scale = format!("{A}/scale");
    let status = format!("{A}/status");
    let mut out = definition();
    out.extend([
        apply(A, "one", false, widget("a", json!({"size": 1, "annotations": {"a": "1"}}))),
        apply(A, "one", false, widget("a", json!({"size": 1, "annotations": {}}))),
        apply(A, "one", false, widget("a", json!({"size": 1}))),
        apply(A, "one", false, widget("a", json!({"size": 1, "free": {}, "parts": []}))),
        apply(A, "one", false, widget("a", json!({"size": 1, "parts": [{"name": "x"}]}))),
        apply(
            A,
            "two",
            false,
            widget("a", json!({"size": 1, "parts": [{"name": "y", "count": 2}]})),
        ),
        apply(
            A,
            "two",
            false,
            widget("a", json!({"size": 2, "parts": [{"name": "x", "count": 5}]})),
        ),
        apply(
            A,
            "one",
            false,
            widget("a", json!({"size": 1, "parts": [{"name": "x", "count": 3}]})),
        ),
        apply(A, "one", false, widget("a", json!({"size": 1, "parts": []}))),
        apply(A, "two", false, widget("a", json!({"size": 1}))),
        merge(A, json!({"status": {"phase": "ignored"}})),
        merge(
            status.clone(),
            json!({"status": {"phase": "Good", "ready": 1}, "spec": {"size": 5}}),
        ),
        merge(status.clone(), json!({"status": {"phase": 1}})),
        merge(status.clone(), json!({"metadata": {"labels": {"by": "status"}}})),
        merge(status.clone(), json!({"status": {"unknown": 1}})),
        get(status.clone()),
        get(scale.clone()),
        merge(scale.clone(), json!({"spec": {"replicas": 4}})),
        merge(scale.clone(), json!({"spec": {"replicas": 40}})),
        merge(scale.clone(), json!({"spec": {"replicas": -1}})),
        put(
            scale,
            json!({
                "apiVersion": "autoscaling/v1", "kind": "Scale",
                "metadata": {"name": "a", "namespace": "$ns"}, "spec": {"replicas": 2},
            }),
        ),
        apply(
            &status,
            "three",
            false,
            json!({
                "apiVersion": "$ns.example.com/v1", "kind": "Widget", "metadata": {"name": "a"},
                "status": {"ready": 3},
            }),
        ),
        merge(status, json!({"status": null})),
        get(A),
        get(format!("{A}/nonsense")),
        delete(format!("{DEFINITIONS}/widgets.$ns.example.com")),
    ]);
    out
}

fn refused() -> Vec<Step> {
    let with = |name: &str, schema: Value, versions: Option<Value>| {
        let version = json!([{
            "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
        }]);
        post(
            DEFINITIONS,
            json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": name},
                "spec": {
                    "group": "$ns.example.com", "scope": "Namespaced",
                    "names": {"plural": "things", "kind": "Thing"},
                    "versions": versions.unwrap_or(version),
                },
            }),
        )
    };
    vec![
        with("other.$ns.example.com", json!({"type": "object"}), None),
        with("things.$ns.example.com", json!({"properties": {"a": {}}}), None),
        with("things.$ns.example.com", json!({"type": "object"}), Some(json!([]))),
        with(
            "things.$ns.example.com",
            json!({"type": "object", "properties": {"a": {
                "type": "string", "x-kubernetes-validations": [{"rule": "self +"}],
            }}}),
            None,
        ),
    ]
}
