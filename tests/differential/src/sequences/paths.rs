//! What clients other than `kubectl` send: paths with too much or too little in them, other methods,
//! parameters that say nothing or the wrong thing, and bodies that leave out what the path says.

use serde_json::{Value, json};

use super::{CONFIGMAPS, PODS, config_map};
use crate::step::{Step, get, post};

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("odd paths", paths()),
        ("odd methods", methods()),
        ("odd parameters", parameters()),
        ("what a body calls itself", names()),
        ("odd bodies and what they are said to be", media_types()),
    ]
}

fn map() -> Step {
    post(CONFIGMAPS, config_map("a", json!({"x": "1"}), json!({"k": "v"})))
}

fn paths() -> Vec<Step> {
    let paths = [
        "//",
        "/api/",
        "/api//v1",
        "//api/v1",
        "/api/v2",
        "/apis/apps/",
        "/apis//apps/v1",
        "/apis/apps/v9",
        "/apis/nope",
        "/apis/nope/v1",
        "/version/",
        "/healthz/",
        "/healthz/ping",
        "/healthz/nonsense",
        "/readyz/etcd",
        "/nonsense",
        "/api/v1/namespaces/$ns/configmaps/",
        "/api/v1/namespaces/$ns/configmaps/a/",
        "/api/v1/namespaces/$ns//configmaps/a",
        "/api/v1/namespaces/$ns/configmaps//a",
        "/api/v1/namespaces/$ns/configmaps//",
        "/api/v1/namespaces/$ns/configmaps/%61",
        "/api/v1/namespaces/$ns/config%6Daps/a",
        "/api/v1/namespaces/$ns/configmaps/a%2Fb",
        "/api/v1/namespaces/$ns/configmaps/a%2fstatus",
        "/api/v1/namespaces/$ns/configmaps/b+c%20d",
        "/api/v1/namespaces/$ns/configmaps/./a",
        "/api/v1/namespaces/$ns/configmaps/a/b",
        "/api/v1/namespaces/$ns/configmaps/a/b/c",
        "/api/v1/namespaces/$ns/pods/a/nonsense/x",
        "/api/v1/namespaces/$ns/ConfigMaps/a",
        "/api/v1/namespaces/$ns/",
        "/api/v1/namespaces/$ns/nonsense",
        "/api/v1/namespaces/$ns/nodes",
        "/api/V1/namespaces/$ns/configmaps/a",
        "/api/v1/configmaps/a",
        "/api/v1/nodes/x/y/z",
        "/api/v1/namespaces//configmaps/a",
        "/api/v1/namespaces//pods/a/status",
        "/apis/apps/v1/namespaces//deployments?labelSelector=of=nobody",
        "/apis/apps/v1//deployments",
        "/apis/nope/v1/x/y/z/w",
    ];
    [map()].into_iter().chain(paths.into_iter().map(get)).collect()
}

fn methods() -> Vec<Step> {
    let mut out = vec![map()];
    for method in ["HEAD", "OPTIONS", "TRACE", "NONSENSE", "PUT", "POST", "PATCH"] {
        let one = "/api/v1/namespaces/$ns/configmaps/a";
        let paths = [one, "/version", "/api/v1", "/healthz", "/nonsense", "/api/v1/configmaps"];
        // What these do to an object has sequences of its own.
        let writes = matches!(method, "PUT" | "PATCH");
        out.extend(paths.into_iter().filter(|path| !writes || *path != one).map(|path| {
            Step::Call { method, path: path.to_owned(), content_type: "", body: Value::Null }
        }));
    }
    out
}

fn parameters() -> Vec<Step> {
    let mut out = vec![map()];
    let of_lists = [
        "pretty=true",
        "nonsense=1",
        "limit=-1",
        "limit=abc",
        "watch=false",
        "watch=0",
        "watch=&timeoutSeconds=1",
        "watch&timeoutSeconds=1",
        "watch=yes&timeoutSeconds=1",
        "watch=True&timeoutSeconds=1",
        "watch=true&timeoutSeconds=-1&resourceVersion=$rv(/api/v1/namespaces/$ns/configmaps)",
        "timeout=1s",
        "timeout=0",
        "timeout=abc",
        "timeout=5",
        "timeout=5x",
        "timeoutSeconds=-5",
        "timeoutSeconds=1.5",
        "watch=true&timeout=abc&timeoutSeconds=1",
        "resourceVersionMatch=Nonsense&resourceVersion=1",
        "resourceVersionMatch=Exact&sendInitialEvents=false",
        "sendInitialEvents=true",
        "sendInitialEvents=false",
        "sendInitialEvents=maybe&watch=true&timeoutSeconds=1",
        "watch=true&timeoutSeconds=1&continue=abc",
        "watch=true&timeoutSeconds=1&resourceVersion=5&resourceVersionMatch=Exact",
        "watch=true&timeoutSeconds=1&resourceVersionMatch=NotOlderThan",
    ];
    out.extend(of_lists.iter().map(|query| get(format!("{CONFIGMAPS}?{query}"))));
    let of_one =
        ["pretty=true", "timeout=abc", "resourceVersion=999999999", "watch=true", "limit=abc"];
    out.extend(of_one.iter().map(|query| get(format!("{CONFIGMAPS}/a?{query}"))));
    out.push(get("/version?timeout=abc"));
    out
}

fn names() -> Vec<Step> {
    let bodies = [
        json!({"metadata": {"name": "x"}}),
        json!({"kind": "ConfigMap", "metadata": {"name": "x"}}),
        json!({"apiVersion": "v1", "metadata": {"name": "x"}}),
        json!({"apiVersion": "v1", "kind": "Nonsense", "metadata": {"name": "x"}}),
        json!({"apiVersion": "apps/v1", "kind": "ConfigMap", "metadata": {"name": "x"}}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}}),
        json!({"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "x"}}),
        json!({"apiVersion": "v2", "metadata": {"name": "x"}}),
        json!({"kind": "Secret", "metadata": {"name": "x"}}),
        json!({"kind": "Nonsense", "metadata": {"name": "x"}}),
        json!({"apiVersion": "v1", "kind": "List", "items": []}),
        json!({"apiVersion": "v1", "kind": "PodList", "items": []}),
        json!({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler"}),
    ];
    let scalers = "/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers?dryRun=All";
    let mut out = Vec::new();
    for body in bodies {
        out.push(post(format!("{CONFIGMAPS}?dryRun=All"), body.clone()));
        out.push(post(
            "/apis/policy/v1/namespaces/$ns/poddisruptionbudgets?dryRun=All",
            body.clone(),
        ));
        if body["kind"] != "ConfigMap" && body["kind"] != "HorizontalPodAutoscaler" {
            continue;
        }
        out.push(post(scalers, body));
    }
    out
}

fn media_types() -> Vec<Step> {
    let mut out = vec![map()];
    let types = [
        "text/plain",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/yaml",
        "application/x-www-form-urlencoded",
        "nonsense",
        "application/cbor",
        "application/vnd.kubernetes.protobuf",
    ];
    for content_type in types {
        let call =
            |method, path: String, body: Value| Step::Call { method, path, content_type, body };
        let one = config_map("b", Value::Null, Value::Null);
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]});
        out.push(call("POST", format!("{CONFIGMAPS}?dryRun=All"), one.clone()));
        out.push(call("PATCH", format!("{CONFIGMAPS}/a?dryRun=All"), json!({"data": {"x": "y"}})));
        out.push(call("DELETE", format!("{CONFIGMAPS}/a"), options.clone()));
        out.push(call("DELETE", format!("{PODS}/none"), options));
    }
    out
}
