//! Bodies that are broken, and keys that are told twice.

use serde_json::{Value, json};

use super::{CONFIGMAPS, WIDGETS, config_map, definition, widget};
use crate::step::{Step, delete, get, post};

const A: &str = "/api/v1/namespaces/$ns/configmaps/a";
const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("broken bodies", broken()),
        ("YAML that is none", broken_yaml()),
        ("broken patches", broken_patches()),
        ("keys told twice", twice()),
        ("keys told twice in a patch", twice_in_patches()),
        ("keys told twice in a custom resource", twice_custom()),
    ]
}

fn send(method: &'static str, path: &str, content_type: &'static str, body: &str) -> Step {
    Step::Call { method, path: path.to_owned(), content_type, body: Value::String(body.to_owned()) }
}

const BROKEN_JSON: &[&str] = &[
    "{",
    "}",
    "nothing",
    "{\"a\":",
    "{\"a\":}",
    "{\"a\" 1}",
    "{\"a\":1,}",
    "{\"a\":1]",
    "{a:1}",
    "{\"a\":01}",
    "{\"a\":1.}",
    "{\"a\":tru}",
    "{\"a\":\"\u{1}\"}",
    "{\"a\":\"\\x\"}",
    "{\"a\":\"open",
    "{} {}",
    "[]",
    "[1",
    "null",
    "1",
    "\"text\"",
    "true",
    "\n\n{\"a\":\n  oops}",
];

fn broken() -> Vec<Step> {
    let mut out = vec![post(CONFIGMAPS, config_map("a", json!({}), json!({"k": "v"})))];
    for body in BROKEN_JSON {
        out.push(send("POST", CONFIGMAPS, JSON, body));
    }
    for body in ["", "{", "nothing"] {
        out.push(send("PUT", A, JSON, body));
    }
    for body in [
        "a: [",
        "a: b: c",
        "\tmetadata: {}",
        "text",
        "- 1",
        "metadata:\n  name: b\n data: {}",
        "metadata: {name: b}\ndata: {k: 1}",
        "metadata: {name: b}\ndata: {k: yes}",
        "a: &x 1\nb: *y",
        "",
    ] {
        out.push(send("POST", CONFIGMAPS, YAML, body));
    }
    out.extend([
        send("DELETE", A, JSON, "{"),
        send("DELETE", A, JSON, "nothing"),
        send("DELETE", A, JSON, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"}"),
        send("DELETE", A, JSON, "{\"gracePeriodSeconds\":\"x\"}"),
        send("POST", "/api/v1/namespaces/$ns/pods/p/eviction", JSON, "{"),
        send("POST", "/api/v1/namespaces/$ns/pods/p/eviction", JSON, "{}"),
        send("PUT", "/apis/apps/v1/namespaces/$ns/statefulsets/web/scale", JSON, "{"),
        send(
            "POST",
            CONFIGMAPS,
            YAML,
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata: {k: 'v', n: '1'}\n",
        ),
        get(A),
    ]);
    out
}

fn broken_patches() -> Vec<Step> {
    let mut out = vec![post(CONFIGMAPS, config_map("a", json!({}), json!({"k": "v"})))];
    for content_type in [MERGE, STRATEGIC, JSON_PATCH, APPLY] {
        let path = if content_type == APPLY { format!("{A}?fieldManager=one") } else { A.into() };
        for body in ["", "{", "{\"a\":1,}", "{a:1}", "nothing", "[]", "[1]", "null", "\"x\"", "{}"]
        {
            out.push(send("PATCH", &path, content_type, body));
        }
    }
    for body in [
        "[{}]",
        "[{\"op\":\"add\"}]",
        "[{\"op\":\"add\",\"path\":\"/data/x\"}]",
        "[{\"op\":\"nonsense\",\"path\":\"/data/x\",\"value\":\"1\"}]",
        "[{\"op\":\"add\",\"path\":\"data/x\",\"value\":\"1\"}]",
        "[{\"op\":1}]",
        "[{\"op\":\"copy\",\"path\":\"/data/x\"}]",
        "[{\"op\":\"test\",\"path\":\"/data/nothing\",\"value\":\"1\"}]",
        "[{\"op\":\"remove\",\"path\":\"/nothing/x\"}]",
        "[{\"op\":\"add\",\"path\":\"/nothing/x\",\"value\":\"1\"}]",
        "[{\"op\":\"replace\",\"path\":\"/data/nothing\",\"value\":\"1\"}]",
        "[{\"op\":\"copy\",\"from\":\"/data/nothing\",\"path\":\"/data/x\"}]",
        "[{\"op\":\"move\",\"from\":\"/data/nothing\",\"path\":\"/data/x\"}]",
    ] {
        out.push(send("PATCH", A, JSON_PATCH, body));
    }
    let apply = format!("{A}?fieldManager=one");
    for body in ["a: [", "a: b: c", "text", "\t{}", "apiVersion: v1\nkind: ConfigMap\ndata: {k: 1}"]
    {
        out.push(send("PATCH", &apply, APPLY, body));
    }
    out
}

/// What comes between `metadata: {name: …}` and the end, in JSON.
const TWICE: &[&str] = &[
    "\"data\":{\"k\":\"1\",\"k\":\"2\"}",
    "\"data\":{\"k\":\"1\"},\"data\":{\"l\":\"2\"}",
    "\"data\":{\"k\":\"1\"},\"dato\":{},\"data\":{\"l\":\"2\"},\"dato\":{}",
    "\"metadata\":{\"labels\":{\"x\":\"1\"}}",
    "\"data\":{\"k\":\"1\"},\"DATA\":{\"l\":\"2\"}",
];

const BROKEN_YAML: &[&str] = &[
    "a: b: c",
    "a: 1\nb",
    "a: 1\nb\nc: 1",
    "a: 'x",
    "a:\n  b: 'x\n",
    "a: \"\\q\"",
    "a: \"\\xg\"",
    "a: \"\\ud800\"",
    "a: 1\nb: \"x\\\n  y\\z\"",
    "a: [1, 2",
    "a: [1 2]\nb",
    "a: [1, 2}",
    "a: {b: 1",
    "a: {b: 1]",
    "{a: 1 b: 2}",
    "- a\nb: 1",
    "- a\n - b\nc",
    "a:\n- 1\n - 2\n- 3\nb",
    "a:\n  - 1\n - 2",
    "a: @x",
    "a: `x`",
    "a: - b",
    "- - a\n -b",
    "? a\n? b\n: : c\n  d",
    "a: |\n\tb",
    "a: |0\n  b",
    "a: |x\n  b",
    "a: b\n\tc",
    "a:\n\tb: 1",
    "a:\n  b: 1\n\tc: 1",
    "\ta: 1",
    "a: 1\n\t\nb: 1",
    "a: *",
    "a: &",
    "a: *x",
    "a: &x! 1",
    "a: 1\n---\nb: [",
    "a: 1\n... x\nb: [",
    "%YAML 1.1\na: 1",
    "--- a: 1",
    "---\na: 'x\n--- y'",
    "a: !x",
    "!!map [",
    "a: %x",
    "a: ]",
    "]",
    ",",
    "a, b: c\n , d",
    "key: value\n  more: 1",
    "metadata:\n  name: a\n   labels: {}",
    "metadata:\n  name: a\n labels: {}\n",
    "metadata:\n    name: a\n  labels: {}\n",
    "a: #\n b",
    "a: \"b\" c",
    "a: 'b' 'c'\nd: 1",
    "a: [b]c\nd: 1",
    "a:b\nc: 1",
    "a: 1\n  b: 1\nc: 1",
    "# only this\n",
    "---\n",
];

fn broken_yaml() -> Vec<Step> {
    let path = format!("{CONFIGMAPS}?dryRun=All");
    let mut out: Vec<Step> =
        BROKEN_YAML.iter().map(|body| send("POST", &path, YAML, body)).collect();
    let apply = format!("{A}?fieldManager=one&dryRun=All");
    out.extend(BROKEN_YAML.iter().take(12).map(|body| send("PATCH", &apply, APPLY, body)));
    out
}

fn twice() -> Vec<Step> {
    let mut out = Vec::new();
    for validation in ["", "Ignore", "Warn", "Strict"] {
        let path = match validation {
            "" => CONFIGMAPS.to_owned(),
            other => format!("{CONFIGMAPS}?fieldValidation={other}"),
        };
        for rest in TWICE {
            let body = format!(
                "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"a\"}},{rest}}}"
            );
            out.push(send("POST", &path, JSON, &body));
            out.push(delete(A));
        }
        let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: a\ndata:\n  k: \
                    '1'\n  k: '2'\nunknown: 1\n";
        out.push(send("POST", &path, YAML, yaml));
        out.push(delete(A));
        let pods =
            path.replace("configmaps", "pods") + if validation.is_empty() { "?" } else { "&" };
        let body = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\
                    \"containers\":[{\"name\":\"a\",\"image\":\"x\",\"image\":\"y\",\"env\":[{\"name\":\
                    \"A\",\"value\":\"1\",\"value\":\"2\"},{\"name\":\"A\"}]},{\"name\":\"b\",\"image\":\"x\",\
                    \"name\":\"b\"}],\"nodeName\":\"\",\"nodeName\":\"\"}}";
        out.push(send("POST", &format!("{pods}dryRun=All"), JSON, body));
    }
    out.push(post(CONFIGMAPS, config_map("a", json!({}), json!({"k": "v"}))));
    for validation in ["Ignore", "Warn", "Strict"] {
        out.push(send(
            "PUT",
            &format!("{A}?fieldValidation={validation}"),
            JSON,
            "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"1\",\"k\":\"2\"},\"x\":1}",
        ));
    }
    out
}

fn twice_in_patches() -> Vec<Step> {
    let mut out = vec![post(CONFIGMAPS, config_map("a", json!({}), json!({"k": "v"})))];
    for validation in ["Ignore", "Warn", "Strict"] {
        let path = format!("{A}?fieldValidation={validation}");
        let double = "{\"data\":{\"k\":\"1\",\"k\":\"2\"},\"dato\":1,\"metadata\":{\"labels\":{\"x\":\"1\"},\
                      \"labels\":{\"y\":\"1\"}}}";
        out.push(send("PATCH", &path, MERGE, double));
        out.push(send("PATCH", &path, STRATEGIC, double));
        out.push(send(
            "PATCH",
            &path,
            JSON_PATCH,
            "[{\"op\":\"add\",\"path\":\"/data/x\",\"value\":\"1\",\"value\":\"2\"}]",
        ));
        out.push(send(
            "PATCH",
            &path,
            JSON_PATCH,
            "[{\"op\":\"add\",\"path\":\"/data\",\"value\":{\"k\":\"1\",\"k\":\"2\"},\"more\":1}]",
        ));
        out.push(send(
            "PATCH",
            &format!("{path}&fieldManager=one&force=true"),
            APPLY,
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, name: a}\ndata:\n  k: '1'\n  k: \
             '2'\n",
        ));
        out.push(send(
            "PATCH",
            &format!("{path}&fieldManager=one&force=true"),
            APPLY,
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: '1'}\nunknown: 1\n",
        ));
    }
    out.push(get(A));
    out
}

fn twice_custom() -> Vec<Step> {
    let mut out = definition();
    let a = format!("{WIDGETS}/a");
    for validation in ["", "Ignore", "Warn", "Strict"] {
        let query = match validation {
            "" => String::new(),
            other => format!("?fieldValidation={other}"),
        };
        let body = "{\"apiVersion\":\"$ns.example.com/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\
                    \"a\",\"name\":\"a\"},\"spec\":{\"size\":1,\"size\":2,\"unknown\":1,\"parts\":[{\"name\":\
                    \"x\",\"name\":\"x\",\"no\":1}],\"free\":{\"z\":1,\"z\":2}},\"other\":{}}";
        out.push(send("POST", &format!("{WIDGETS}{query}"), JSON, body));
        out.push(send("PUT", &format!("{a}{query}"), JSON, body));
        out.push(send(
            "PATCH",
            &format!("{a}{query}"),
            MERGE,
            "{\"spec\":{\"size\":1,\"size\":3,\"unknown\":1}}",
        ));
        let more = if query.is_empty() { "?" } else { "&" };
        out.push(send(
            "PATCH",
            &format!("{a}{query}{more}fieldManager=one&force=true"),
            APPLY,
            "apiVersion: $ns.example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec:\n  size: 1\n  \
             size: 2\n  unknown: 1\n",
        ));
        out.push(delete(a.as_str()));
    }
    for body in ["{", "nothing", "[]", "{}", "{\"kind\":\"Widget\"}"] {
        out.push(send("POST", WIDGETS, JSON, body));
    }
    out.push(send("POST", WIDGETS, YAML, "a: ["));
    out.push(post(WIDGETS, widget("b", json!({"size": 1}))));
    for body in ["{", "[]", "null", "{\"a\":1,}"] {
        out.push(send("PATCH", &format!("{WIDGETS}/b"), MERGE, body));
    }
    out
}
