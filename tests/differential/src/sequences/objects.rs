//! Plain objects: create, each kind of patch, apply and its conflicts, finalizers, lists, watches.

use serde_json::{Value, json};

use super::{CONFIGMAPS, config_map};
use crate::step::{Step, apply, delete, delete_with, get, json_patch, merge, post, put, strategic};

const A: &str = "/api/v1/namespaces/$ns/configmaps/a";

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("create", create()),
        ("patches", patches()),
        ("updates", updates()),
        ("apply and its conflicts", applies()),
        ("apply leaves an owned map empty", empty_map()),
        ("finalizers and deletion", deletion()),
        ("owners", owners()),
        ("lists, pages and selectors", lists()),
        ("watch", watch()),
        ("collections", collections()),
    ]
}

fn create() -> Vec<Step> {
    vec![
        post(CONFIGMAPS, config_map("a", json!({"x": "1"}), json!({"k": "v"}))),
        post(CONFIGMAPS, config_map("a", json!({}), json!({}))),
        post(CONFIGMAPS, config_map("Not A Name", json!({}), json!({}))),
        post(CONFIGMAPS, config_map("b", json!({"x": "not a label!"}), json!({}))),
        post(CONFIGMAPS, config_map("b", json!({}), json!({"k": 1}))),
        post(CONFIGMAPS, config_map("b", json!({}), json!({"bad key": "1"}))),
        post(CONFIGMAPS, json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "b"}})),
        post(CONFIGMAPS, json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}})),
        post(CONFIGMAPS, json!({"metadata": {"name": "c", "namespace": "elsewhere"}})),
        post(CONFIGMAPS, json!({"metadata": {"name": "c", "resourceVersion": "1"}})),
        post(
            format!("{CONFIGMAPS}?fieldValidation=Strict"),
            json!({"metadata": {"name": "c"}, "dato": {}}),
        ),
        post(
            format!("{CONFIGMAPS}?fieldValidation=Warn"),
            json!({"metadata": {"name": "c"}, "dato": {}}),
        ),
        post(
            format!("{CONFIGMAPS}?dryRun=All&fieldManager=me"),
            config_map("d", json!({}), json!({})),
        ),
        get(format!("{CONFIGMAPS}/d")),
        post(
            "/api/v1/namespaces/no-such-namespace/configmaps",
            config_map("a", json!({}), json!({})),
        ),
        post(CONFIGMAPS, json!({"metadata": {"name": "e", "annotations": {}}, "data": {}})),
        get(format!("{CONFIGMAPS}/e")),
        get(CONFIGMAPS),
    ]
}

fn patches() -> Vec<Step> {
    vec![
        merge(A, json!({"data": {"k": "v"}})),
        post(CONFIGMAPS, config_map("a", json!({"x": "1"}), json!({"k": "v", "l": "w"}))),
        merge(A, json!({"data": {"k": null, "m": "1"}})),
        merge(A, json!({"data": {"m": "1"}})),
        merge(A, json!({"data": null, "metadata": {"labels": null}})),
        merge(A, json!({"data": {"k": {"not": "a string"}}})),
        merge(A, json!({"metadata": {"name": "b"}})),
        merge(A, json!({"metadata": {"resourceVersion": "1"}, "data": {"z": "1"}})),
        merge(A, json!([])),
        strategic(A, json!({"data": {"s": "1"}, "metadata": {"labels": {"x": "2"}}})),
        strategic(A, json!({"data": {"$patch": "replace", "only": "this"}})),
        strategic(A, json!({"metadata": {"finalizers": ["a.example.com/x", "b.example.com/y"]}})),
        strategic(
            A,
            json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.example.com/x"]}}),
        ),
        json_patch(A, json!([{"op": "add", "path": "/data/j", "value": "1"}])),
        json_patch(A, json!([{"op": "test", "path": "/data/j", "value": "2"}])),
        json_patch(A, json!([{"op": "remove", "path": "/data/nothing"}])),
        json_patch(A, json!([{"op": "replace", "path": "/data/j", "value": 3}])),
        json_patch(A, json!([{"op": "move", "from": "/data/j", "path": "/data/k"}])),
        json_patch(A, json!([{"op": "remove", "path": "/data"}])),
        json_patch(A, json!([{"op": "remove", "path": "/metadata/finalizers"}])),
        json_patch(A, json!({"op": "add"})),
        Step::Call {
            method: "PATCH",
            path: A.to_owned(),
            content_type: "application/json",
            body: json!({}),
        },
        get(A),
    ]
}

fn updates() -> Vec<Step> {
    vec![
        put(A, config_map("a", json!({}), json!({}))),
        post(CONFIGMAPS, config_map("a", json!({}), json!({"k": "v"}))),
        put(A, config_map("a", json!({}), json!({"k": "w"}))),
        put(A, config_map("b", json!({}), json!({"k": "w"}))),
        put(
            A,
            json!({"metadata": {"name": "a", "resourceVersion": format!("$rv({A})")}, "data": {"k": "x"}}),
        ),
        put(A, json!({"metadata": {"name": "a", "resourceVersion": "1"}, "data": {"k": "y"}})),
        put(A, json!({"metadata": {"name": "a", "resourceVersion": "junk"}, "data": {"k": "y"}})),
        put(A, json!({"metadata": {"name": "a", "uid": "00000000-0000-0000-0000-000000000000"}})),
        merge(A, json!({"immutable": true})),
        merge(A, json!({"data": {"k": "z"}})),
        merge(A, json!({"immutable": false})),
        merge(A, json!({"metadata": {"labels": {"still": "possible"}}})),
        put(A, json!({"metadata": {"name": "a"}, "immutable": true, "data": {"k": "x"}})),
        get(A),
    ]
}

fn applies() -> Vec<Step> {
    let data = |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data});
    vec![
        apply(A, "one", false, data(json!({"k": "1", "l": "1"}))),
        apply(A, "one", false, data(json!({"k": "1", "l": "1"}))),
        apply(A, "two", false, data(json!({"k": "2"}))),
        apply(A, "two", false, data(json!({"k": "1"}))),
        apply(A, "one", false, data(json!({"k": "3"}))),
        apply(A, "two", true, data(json!({"k": "2"}))),
        apply(A, "one", false, data(json!({"l": "5"}))),
        merge(A, json!({"data": {"l": "6", "m": "1"}})),
        apply(A, "one", false, data(json!({"l": "5"}))),
        apply(A, "one", true, data(json!({"l": "5"}))),
        apply(A, "one", false, data(json!({}))),
        apply(A, "two", false, data(Value::Null)),
        apply(A, "three", false, json!({"kind": "ConfigMap", "metadata": {"name": "a"}})),
        apply(
            A,
            "three",
            false,
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}),
        ),
        apply(
            A,
            "three",
            false,
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "a", "managedFields": []},
            }),
        ),
        Step::Call {
            method: "PATCH",
            path: A.to_owned(),
            content_type: "application/apply-patch+yaml",
            body: data(json!({})),
        },
        merge(A, json!({"metadata": {"managedFields": [{}]}})),
        apply(A, "one", false, data(json!({"back": "1"}))),
        delete(A),
        apply(
            A,
            "one",
            false,
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "a", "uid": "00000000-0000-0000-0000-000000000000"},
            }),
        ),
        get(A),
    ]
}

fn empty_map() -> Vec<Step> {
    let meta = |meta: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta});
    vec![
        apply(
            A,
            "one",
            false,
            meta(json!({"name": "a", "annotations": {"k": "1"}, "labels": {"l": "1"}})),
        ),
        apply(A, "one", false, meta(json!({"name": "a", "annotations": {}, "labels": {}}))),
        get(A),
        apply(A, "one", false, meta(json!({"name": "a"}))),
        apply(A, "one", false, meta(json!({"name": "a", "annotations": {}}))),
        apply(A, "two", false, meta(json!({"name": "a", "annotations": {"k": "2"}}))),
        apply(A, "two", false, meta(json!({"name": "a", "annotations": {"j": "2"}}))),
        apply(A, "two", false, meta(json!({"name": "a"}))),
        get(A),
    ]
}

fn deletion() -> Vec<Step> {
    let finalized = json!({
        "metadata": {"name": "a", "finalizers": ["example.com/hold"]}, "data": {"k": "v"},
    });
    vec![
        delete(A),
        post(CONFIGMAPS, json!({"metadata": {"name": "a", "finalizers": ["hold"]}})),
        post(CONFIGMAPS, finalized.clone()),
        delete_with(A, json!({"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}})),
        delete_with(A, json!({"preconditions": {"resourceVersion": "1"}})),
        delete_with(A, json!({"dryRun": ["All"]})),
        delete(A),
        delete(A),
        post(CONFIGMAPS, finalized),
        merge(A, json!({"data": {"still": "writable"}})),
        merge(A, json!({"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}})),
        merge(A, json!({"metadata": {"deletionTimestamp": null}})),
        merge(A, json!({"metadata": {"finalizers": null}})),
        get(A),
        post(CONFIGMAPS, config_map("a", json!({}), json!({}))),
        delete_with(A, json!({"preconditions": {"uid": format!("$uid({A})")}})),
        delete_with(A, json!({"propagationPolicy": "Nonsense"})),
        post(CONFIGMAPS, config_map("a", json!({}), json!({}))),
        delete_with(A, json!({"propagationPolicy": "Nonsense"})),
        delete_with(A, json!({"propagationPolicy": "Foreground", "orphanDependents": true})),
        delete_with(A, json!({"gracePeriodSeconds": 0})),
    ]
}

fn owners() -> Vec<Step> {
    let owned = |name: &str, blocks: bool| {
        json!({"metadata": {"name": name, "ownerReferences": [{
            "apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": format!("$uid({A})"),
            "controller": true, "blockOwnerDeletion": blocks,
        }]}})
    };
    let fresh = || post(CONFIGMAPS, config_map("a", json!({}), json!({})));
    vec![
        fresh(),
        post(CONFIGMAPS, owned("child", true)),
        delete_with(A, json!({"propagationPolicy": "Background"})),
        Step::Rest,
        fresh(),
        post(CONFIGMAPS, owned("child", true)),
        delete_with(A, json!({"propagationPolicy": "Orphan"})),
        Step::Rest,
        delete(format!("{CONFIGMAPS}/child")),
        fresh(),
        post(CONFIGMAPS, owned("child", true)),
        merge(
            format!("{CONFIGMAPS}/child"),
            json!({"metadata": {"finalizers": ["example.com/x"]}}),
        ),
        delete_with(A, json!({"propagationPolicy": "Foreground"})),
        Step::Rest,
        merge(format!("{CONFIGMAPS}/child"), json!({"metadata": {"finalizers": null}})),
        Step::Rest,
        post(
            CONFIGMAPS,
            json!({"metadata": {"name": "child", "ownerReferences": [{
                "apiVersion": "v1", "kind": "ConfigMap", "name": "gone",
                "uid": "00000000-0000-0000-0000-000000000000",
            }]}}),
        ),
        Step::Rest,
    ]
}

fn lists() -> Vec<Step> {
    let mut out = Vec::new();
    for (index, name) in ["a", "b", "c", "d", "e"].iter().enumerate() {
        let labels = json!({"parity": if index % 2 == 0 { "even" } else { "odd" }, "n": name});
        out.push(post(CONFIGMAPS, config_map(name, labels, json!({}))));
    }
    for query in [
        "limit=2",
        "limit=2&continue=$continue",
        "limit=2&continue=$continue",
        "limit=5",
        "limit=2",
        "continue=junk",
        "limit=-1",
        "limit=x",
        "labelSelector=parity%3Deven",
        "labelSelector=parity%21%3Deven",
        "labelSelector=n%20in%20(a,b)",
        "labelSelector=n%20notin%20(a,b),parity",
        "labelSelector=%21parity",
        "labelSelector=parity%3D%3Dodd,n%3Db",
        "labelSelector=parity%20in%20()",
        "labelSelector=a%20b%20c",
        "labelSelector=n%3Ea",
        "fieldSelector=metadata.name%3Da",
        "fieldSelector=metadata.name%21%3Da",
        "fieldSelector=data.k%3Da",
        "fieldSelector=metadata.namespace%3D$ns",
        "labelSelector=parity%3Deven&limit=1",
        "resourceVersion=0",
        "resourceVersion=junk",
        "resourceVersion=$rv(/api/v1/namespaces/$ns/configmaps)&resourceVersionMatch=Exact",
        "resourceVersionMatch=Exact",
        "resourceVersion=0&resourceVersionMatch=Exact",
        "resourceVersion=999999999",
    ] {
        out.push(get(format!("{CONFIGMAPS}?{query}")));
    }
    out.push(get(format!("{CONFIGMAPS}?limit=2")));
    out.push(delete(format!("{CONFIGMAPS}/c")));
    out.push(get(format!("{CONFIGMAPS}?limit=2&continue=$continue")));
    out
}

fn watch() -> Vec<Step> {
    let watch = |rest: &str| {
        get(format!("{CONFIGMAPS}?watch=true&timeoutSeconds=1&resourceVersion=$mark{rest}"))
    };
    vec![
        Step::Mark(CONFIGMAPS.to_owned()),
        post(CONFIGMAPS, config_map("a", json!({"x": "1"}), json!({}))),
        post(CONFIGMAPS, config_map("b", json!({"x": "2"}), json!({}))),
        merge(A, json!({"data": {"k": "1"}})),
        merge(A, json!({"data": {"k": "1"}})),
        merge(A, json!({"metadata": {"labels": {"x": "2"}}})),
        merge(A, json!({"metadata": {"finalizers": ["example.com/x"]}})),
        delete(A),
        merge(A, json!({"metadata": {"finalizers": null}})),
        watch(""),
        watch("&labelSelector=x%3D1"),
        watch("&labelSelector=x%3D2"),
        watch("&fieldSelector=metadata.name%3Db"),
        get(format!("{CONFIGMAPS}?watch=true&timeoutSeconds=1")),
        get(format!("{CONFIGMAPS}?watch=true&timeoutSeconds=1&resourceVersion=0")),
        get(format!(
            "{CONFIGMAPS}?watch=true&timeoutSeconds=1&sendInitialEvents=true\
             &resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        )),
        get(format!("{CONFIGMAPS}?watch=true&timeoutSeconds=1&sendInitialEvents=true")),
        get(format!("{CONFIGMAPS}?watch=true&resourceVersion=junk")),
    ]
}

fn collections() -> Vec<Step> {
    vec![
        post(CONFIGMAPS, config_map("a", json!({"x": "1"}), json!({}))),
        post(CONFIGMAPS, config_map("b", json!({"x": "1"}), json!({}))),
        post(CONFIGMAPS, config_map("c", json!({"x": "2"}), json!({}))),
        delete(format!("{CONFIGMAPS}?labelSelector=x%3D1")),
        get(CONFIGMAPS),
        put(CONFIGMAPS, json!({})),
        get("/api/v1/namespaces/$ns/nonsense"),
        get("/apis/nonsense.example.com/v1/namespaces/$ns/things"),
    ]
}
