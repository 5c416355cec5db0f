//! Owners and what they own, collections, pages: whatever goes, and what is seen of it.

use serde_json::{Value, json};

use super::{CONFIGMAPS, PODS, SETS, WEB, config_map, web};
use crate::step::{Step, delete, delete_with, get, merge, post};

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("two owners", two_owners()),
        ("chains of owners", chains()),
        ("a set with finalizers", finalized_set()),
        ("deletion of collections", collections()),
        ("pages over a change", pages()),
        ("watch of one object", watch_of_one()),
        ("fields that select Pods", selected_pods()),
    ]
}

fn path(name: &str) -> String {
    format!("{CONFIGMAPS}/{name}")
}

fn owned(name: &str, owners: &[(&str, bool)], finalizers: &[&str]) -> Step {
    let owners: Vec<Value> = owners
        .iter()
        .map(|(owner, blocks)| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "name": owner,
                "uid": format!("$uid({})", path(owner)), "blockOwnerDeletion": blocks,
            })
        })
        .collect();
    post(
        CONFIGMAPS,
        json!({
            "metadata": {"name": name, "ownerReferences": owners, "finalizers": finalizers},
        }),
    )
}

fn fresh(name: &str) -> Step {
    post(CONFIGMAPS, config_map(name, json!({}), json!({})))
}

fn with(name: &str, policy: &str) -> Step {
    delete_with(path(name), json!({"propagationPolicy": policy}))
}

fn two_owners() -> Vec<Step> {
    let mut out = Vec::new();
    for policy in ["Background", "Foreground", "Orphan"] {
        out.extend([
            fresh("a"),
            fresh("b"),
            owned("child", &[("a", true), ("b", true)], &[]),
            owned("loose", &[("a", false)], &[]),
            owned("held", &[("a", true)], &["example.com/hold"]),
            Step::Rest,
            with("a", policy),
            Step::Rest,
            with("b", policy),
            Step::Rest,
            merge(path("held"), json!({"metadata": {"finalizers": null}})),
            Step::Rest,
            delete(CONFIGMAPS),
            Step::Rest,
        ]);
    }
    out
}

fn chains() -> Vec<Step> {
    let mut out = Vec::new();
    for policy in ["Background", "Foreground", "Orphan"] {
        out.extend([
            fresh("a"),
            owned("b", &[("a", true)], &[]),
            owned("c", &[("b", true)], &["example.com/hold"]),
            owned("d", &[("c", true)], &[]),
            Step::Rest,
            with("a", policy),
            Step::Rest,
            merge(path("c"), json!({"metadata": {"finalizers": null}})),
            Step::Rest,
            with("b", policy),
            Step::Rest,
            delete(CONFIGMAPS),
            Step::Rest,
        ]);
    }
    // A deletion that changes its mind.
    out.extend([
        fresh("a"),
        owned("b", &[("a", true)], &["example.com/hold"]),
        with("a", "Foreground"),
        Step::Rest,
        with("a", "Orphan"),
        Step::Rest,
        with("a", "Background"),
        Step::Rest,
        get(path("a")),
        merge(path("b"), json!({"metadata": {"finalizers": null}})),
        Step::Rest,
        fresh("a"),
        owned("b", &[("a", true)], &[]),
        merge(path("a"), json!({"metadata": {"finalizers": ["example.com/hold"]}})),
        with("a", "Orphan"),
        Step::Rest,
        merge(path("a"), json!({"metadata": {"finalizers": null}})),
        Step::Rest,
    ]);
    out
}

fn finalized_set() -> Vec<Step> {
    let mut set = web(2, json!({"type": "OnDelete"}));
    set["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let mut out = Vec::new();
    // Under Orphan it depends on which of its controllers looks first.
    for policy in ["Background", "Foreground"] {
        out.extend([
            post(SETS, set.clone()),
            Step::Rest,
            delete_with(WEB, json!({"propagationPolicy": policy})),
            Step::Rest,
            delete(format!("{PODS}/web-0")),
            Step::Rest,
            merge(WEB, json!({"spec": {"replicas": 3}})),
            Step::Rest,
            merge(WEB, json!({"metadata": {"finalizers": null}})),
            Step::Rest,
        ]);
    }
    out.push(delete(PODS));
    out.push(Step::Rest);
    out
}

fn collections() -> Vec<Step> {
    let mut out = Vec::new();
    let fill = |out: &mut Vec<Step>| {
        for (name, label) in [("a", "1"), ("b", "1"), ("c", "2"), ("d", "2")] {
            out.push(post(CONFIGMAPS, config_map(name, json!({"x": label}), json!({}))));
        }
    };
    for (query, body) in [
        ("labelSelector=x%3D1", Value::Null),
        ("fieldSelector=metadata.name%3Dc", Value::Null),
        ("fieldSelector=metadata.name%21%3Dc", Value::Null),
        ("labelSelector=x%3D3", Value::Null),
        ("labelSelector=a%20b", Value::Null),
        ("limit=1", Value::Null),
        ("dryRun=All", Value::Null),
        ("resourceVersion=0", Value::Null),
        ("", json!({"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}})),
        ("labelSelector=x%3D2", json!({"propagationPolicy": "Foreground"})),
        ("labelSelector=x%3D2", json!({"propagationPolicy": "Orphan"})),
        ("labelSelector=x%3D2", json!({"propagationPolicy": "Nonsense"})),
        ("", json!({"gracePeriodSeconds": 0})),
        ("", json!({"gracePeriodSeconds": -1})),
        ("", Value::Null),
    ] {
        fill(&mut out);
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        out.push(delete_with(format!("{CONFIGMAPS}{query}"), body));
        out.push(Step::Rest);
    }
    fill(&mut out);
    out.push(merge(path("a"), json!({"metadata": {"finalizers": ["example.com/hold"]}})));
    out.push(delete(CONFIGMAPS));
    out.push(get(CONFIGMAPS));
    out.push(delete(CONFIGMAPS));
    out.push(merge(path("a"), json!({"metadata": {"finalizers": null}})));
    out.push(delete(CONFIGMAPS));
    out
}

fn pages() -> Vec<Step> {
    let page = |rest: &str| get(format!("{CONFIGMAPS}?limit=2{rest}"));
    let next = |rest: &str| page(&format!("&continue=$continue{rest}"));
    let mut out: Vec<Step> = ["a", "b", "c", "d", "e"].iter().map(|name| fresh(name)).collect();
    out.extend([
        page(""),
        merge(path("a"), json!({"data": {"k": "1"}})),
        merge(path("d"), json!({"data": {"k": "1"}})),
        fresh("bb"),
        delete(path("c")),
        next(""),
        next(""),
        page(""),
        delete(path("d")),
        delete(path("e")),
        next(""),
        page("&labelSelector=x"),
        page("&fieldSelector=metadata.name%3Dbb"),
        page("&resourceVersion=0"),
        page(""),
        next("&resourceVersion=0"),
        next("&resourceVersion=1"),
        next("&resourceVersionMatch=Exact"),
        next("&resourceVersionMatch=NotOlderThan&resourceVersion=0"),
        get(format!("{CONFIGMAPS}?limit=0")),
        get(format!("{CONFIGMAPS}?limit=100")),
        get(format!("{CONFIGMAPS}?continue=$continue")),
        get(format!("{CONFIGMAPS}/a?resourceVersion=0")),
        get(format!("{CONFIGMAPS}/a?resourceVersion=junk")),
    ]);
    out
}

fn watch_of_one() -> Vec<Step> {
    let watch =
        |path: &str, query: &str| get(format!("{path}?watch=true&timeoutSeconds=1&{query}"));
    let one = "fieldSelector=metadata.name%3Da";
    let mut out = vec![
        Step::Mark(CONFIGMAPS.to_owned()),
        watch(CONFIGMAPS, &format!("{one}&resourceVersion=$mark")),
        post(CONFIGMAPS, config_map("a", json!({"x": "1"}), json!({}))),
        fresh("b"),
        merge(path("a"), json!({"data": {"k": "1"}})),
        merge(path("b"), json!({"data": {"k": "1"}})),
        merge(path("a"), json!({"metadata": {"labels": {"x": "2"}}})),
        merge(path("a"), json!({"metadata": {"finalizers": ["example.com/x"]}})),
        delete(path("a")),
        merge(path("a"), json!({"metadata": {"finalizers": null}})),
        fresh("a"),
    ];
    for query in [
        format!("{one}&resourceVersion=$mark"),
        format!("{one}&labelSelector=x%3D1&resourceVersion=$mark"),
        format!("{one},metadata.namespace%3D$ns&resourceVersion=$mark"),
        format!("{one},metadata.namespace%3Dother&resourceVersion=$mark"),
        "fieldSelector=metadata.name%21%3Da&resourceVersion=$mark".to_owned(),
        "fieldSelector=data.k%3D1&resourceVersion=$mark".to_owned(),
        one.to_owned(),
        format!("{one}&resourceVersion=0"),
        format!("{one}&resourceVersion=$mark&limit=1"),
    ] {
        out.push(watch(CONFIGMAPS, &query));
    }
    out.push(watch(&path("a"), "resourceVersion=$mark"));
    out
}

fn selected_pods() -> Vec<Step> {
    let mut out = vec![post(SETS, web(2, json!({"type": "OnDelete"}))), Step::Rest];
    out.push(post(PODS, super::pod("sick", "web", "broken:v1")));
    out.push(Step::Rest);
    for selector in [
        "status.phase%3DRunning",
        "status.phase%21%3DRunning",
        "status.phase%3DPending,metadata.name%3Dsick",
        "spec.nodeName%3D",
        "spec.nodeName%21%3D",
        "spec.restartPolicy%3DAlways",
        "spec.restartPolicy%3DNever",
        "spec.schedulerName%3Ddefault-scheduler",
        "spec.serviceAccountName%3Ddefault",
        "spec.hostNetwork%3Dfalse",
        "status.nominatedNodeName%3D",
        "status.podIP%3D1.1.1.1",
        "metadata.labels%3Da",
        "spec.containers%3Da",
        "nonsense",
        "a%3Db%3Dc",
        "metadata.name%3Dsick,",
        "metadata.name%20in%20(sick)",
        "",
    ] {
        out.push(get(format!("{PODS}?fieldSelector={selector}")));
    }
    for selector in ["metadata.name%3Dweb", "spec.replicas%3D2"] {
        out.push(get(format!("{SETS}?fieldSelector={selector}")));
    }
    out.push(delete(format!("{PODS}?fieldSelector=status.phase%3DPending")));
    out.push(Step::Rest);
    out.push(delete(WEB));
    out.push(Step::Rest);
    out
}
