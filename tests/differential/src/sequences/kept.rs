//! Secrets, and maps that never change again.

use serde_json::{Value, json};

use super::CONFIGMAPS;
use crate::step::{Step, apply, get, json_patch, merge, post, put, strategic};

const SECRETS: &str = "/api/v1/namespaces/$ns/secrets";
const S: &str = "/api/v1/namespaces/$ns/secrets/s";
const A: &str = "/api/v1/namespaces/$ns/configmaps/a";

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("Secrets", secrets()),
        ("kinds of Secrets", types()),
        ("what never changes again", immutable()),
    ]
}

fn secret(name: &str, rest: &Value) -> Value {
    let mut body = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
    for (field, value) in rest.as_object().into_iter().flatten() {
        body[field] = value.clone();
    }
    body
}

fn secrets() -> Vec<Step> {
    vec![
        post(
            SECRETS,
            secret("s", &json!({"stringData": {"a": "one"}, "data": {"a": "eA==", "b": "eA=="}})),
        ),
        get(S),
        merge(S, json!({"stringData": {"b": "two", "c": ""}})),
        merge(S, json!({"data": {"c": null, "d": ""}})),
        merge(S, json!({"data": {"d": "not base64"}})),
        merge(S, json!({"data": {"not a key": "eA=="}})),
        strategic(S, json!({"data": {"d": "eQ=="}})),
        strategic(S, json!({"data": {"d": "&"}})),
        json_patch(S, json!([{"op": "add", "path": "/data/e", "value": "eA"}])),
        json_patch(S, json!([{"op": "add", "path": "/data/e", "value": "eA=="}])),
        apply(S, "one", false, secret("s", &json!({"data": {"a": "eA=="}}))),
        apply(S, "one", true, secret("s", &json!({"stringData": {"a": "three"}}))),
        apply(S, "one", false, secret("s", &json!({}))),
        merge(S, json!({"type": "example.com/other"})),
        put(S, secret("s", &json!({"type": "Opaque"}))),
        put(S, secret("s", &json!({"type": ""}))),
        get(SECRETS),
        get(format!("{SECRETS}?fieldSelector=type%3DOpaque")),
        get(format!("{SECRETS}?fieldSelector=type%21%3DOpaque")),
    ]
}

fn types() -> Vec<Step> {
    let mut out = Vec::new();
    for (type_, data) in [
        ("kubernetes.io/tls", json!({"tls.crt": "eA=="})),
        ("kubernetes.io/tls", json!({"tls.crt": "", "tls.key": ""})),
        ("kubernetes.io/basic-auth", json!({})),
        ("kubernetes.io/basic-auth", json!({"username": "eA=="})),
        ("kubernetes.io/ssh-auth", json!({})),
        ("kubernetes.io/ssh-auth", json!({"ssh-privatekey": ""})),
        ("kubernetes.io/dockerconfigjson", json!({})),
        ("kubernetes.io/dockerconfigjson", json!({".dockerconfigjson": "eA=="})),
        ("kubernetes.io/dockerconfigjson", json!({".dockerconfigjson": "e30="})),
        ("kubernetes.io/dockercfg", json!({".dockercfg": "eA=="})),
        ("kubernetes.io/service-account-token", json!({})),
        ("example.com/own", json!({"k": "eA=="})),
    ] {
        let path = format!("{SECRETS}?dryRun=All");
        out.push(post(path, secret("t", &json!({"type": type_, "data": data}))));
    }
    out
}

fn immutable() -> Vec<Step> {
    let fixed = json!({"immutable": true, "data": {"a": "eA=="}});
    let mut map = secret(
        "a",
        &json!({
            "immutable": true, "data": {"k": "v"}, "binaryData": {"b": "eA=="},
        }),
    );
    map["kind"] = "ConfigMap".into();
    let mut both = secret("b", &json!({"data": {"k": "v"}, "binaryData": {"k": "eA=="}}));
    both["kind"] = "ConfigMap".into();
    let mut text = both.clone();
    text["binaryData"]["k"] = "not base64".into();
    let mut out = vec![
        post(SECRETS, secret("s", &fixed)),
        post(CONFIGMAPS, map),
        post(CONFIGMAPS, both),
        post(CONFIGMAPS, text),
    ];
    for one in [S, A] {
        out.extend([
            merge(one, json!({"immutable": null})),
            merge(one, json!({"immutable": false})),
            merge(one, json!({"immutable": "yes"})),
            merge(one, json!({"data": {"a": "eQ=="}})),
            merge(one, json!({"data": null})),
            merge(one, json!({"metadata": {"labels": {"x": "1"}}})),
            json_patch(one, json!([{"op": "test", "path": "/immutable", "value": true}])),
        ]);
    }
    out.extend([
        merge(S, json!({"type": "example.com/other"})),
        merge(S, json!({"stringData": {"a": "y"}})),
        merge(S, json!({"stringData": {"a": "x"}})),
        merge(A, json!({"binaryData": {"b": "eQ=="}})),
        merge(A, json!({"binaryData": null})),
    ]);
    out
}
