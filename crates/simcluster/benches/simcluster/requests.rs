//! Requests through the Router, from the bytes of the body to the bytes of the answer.

use axum::body::Body;
use criterion::{BatchSize, Criterion};
use http_body_util::BodyExt;
use simcluster::json::{Value, json};
use tokio::runtime::Runtime;

use crate::fixture::{self, Session, pod};

/// How many Pods there are where a list looks for some of them.
const MANY: usize = 10_000;
/// How many watches see one change.
const WATCHES: usize = 100;
const ONE: &str = "/api/v1/namespaces/default/pods/one";

pub(crate) fn all(criterion: &mut Criterion) {
    let runtime = fixture::runtime();
    writes(criterion, &runtime);
    reads(criterion, &runtime);
    watches(criterion, &runtime);
}

fn writes(criterion: &mut Criterion, runtime: &Runtime) {
    let session = Session::new(fixture::cluster().router());
    let pods = "/api/v1/namespaces/default/pods";
    let post = async |body: &Value| session.send("POST", pods, "application/json", body).await;
    let mut group = criterion.benchmark_group("request");
    let mut number = 0;
    group.bench_function("create a Pod", |bencher| {
        bencher.iter_batched(
            || {
                number += 1;
                pod(&format!("made-{number}"), "made")
            },
            |body| runtime.block_on(post(&body)),
            BatchSize::SmallInput,
        );
    });
    runtime.block_on(post(&pod("one", "one")));
    group.bench_function("get a Pod", |bencher| {
        bencher.iter(|| runtime.block_on(session.get(ONE)));
    });
    let mut turn = 0_u64;
    let mut patch = |name: &str, type_: &str, body: fn(u64) -> Value| {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                turn += 1;
                runtime.block_on(session.send("PATCH", ONE, type_, &body(turn)))
            });
        });
    };
    let label = |turn| json!({"metadata": {"labels": {"turn": format!("t{turn}")}}});
    patch("patch, merge", "application/merge-patch+json", label);
    patch("patch, strategic merge", "application/strategic-merge-patch+json", label);
    patch(
        "patch, JSON",
        "application/json-patch+json",
        |turn| json!([{"op": "add", "path": "/metadata/labels/turn", "value": format!("t{turn}")}]),
    );
    patch("apply", "application/apply-patch+yaml", |turn| {
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "one", "annotations": {"turn": format!("t{turn}")}}})
    });
    group.finish();
}

fn reads(criterion: &mut Criterion, runtime: &Runtime) {
    let session = fixture::full(runtime, MANY);
    let mut group = criterion.benchmark_group("of 10,000 Pods");
    let mut list = |name: &str, path: &str| {
        group.bench_function(name, |bencher| {
            bencher.iter(|| runtime.block_on(session.bytes(path)));
        });
    };
    list("list 10 by label", "/api/v1/pods?labelSelector=app%3Dapp-7");
    list(
        "list 10 by label in one namespace",
        "/api/v1/namespaces/team-7/pods?labelSelector=app%3Dapp-7",
    );
    list("list none by an absent label", "/api/v1/pods?labelSelector=%21tier");
    list("list a page of 500", "/api/v1/pods?limit=500");
    group.finish();
}

fn watches(criterion: &mut Criterion, runtime: &Runtime) {
    let session = fixture::full(runtime, MANY);
    let mut group = criterion.benchmark_group("one change, 100 watches");
    for (name, path) in [
        ("of all", "/api/v1/pods?watch=1"),
        ("of one namespace", "/api/v1/namespaces/team-0/pods?watch=1"),
        ("by label", "/api/v1/pods?watch=1&labelSelector=app%3Dapp-0"),
    ] {
        let mut open: Vec<Body> = runtime.block_on(async {
            let page = session.get("/api/v1/pods?limit=1").await;
            let at = page["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
            let mut open = Vec::new();
            for _ in 0..WATCHES {
                open.push(session.open(&format!("{path}&resourceVersion={at}")).await);
            }
            open
        });
        let mut turn = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                turn += 1;
                runtime.block_on(async {
                    session.label(0, &format!("{}-{turn}", name.replace(' ', "-"))).await;
                    for watch in &mut open {
                        let frame = watch.frame().await.expect("it stays open");
                        drop(frame.expect("it doesn't fail"));
                    }
                });
            });
        });
    }
    group.finish();
}
