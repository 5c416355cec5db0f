//! Faults between one client and a whole cluster: what the client is told, and what is so.

#[allow(dead_code, reason = "each test binary uses a part of it")]
mod client;

use std::time::Duration;

use axum::Router;
use client::{call, raw};
use http_body_util::BodyExt;
use simcluster::fault::{FaultPlan, Faults, Rates, When};
use simcluster::json::{Value, json};
use tokio::time::{sleep, timeout};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

/// The Router as it is, the same with faults, and the handle on them.
fn faulty(rates: Rates) -> (Router, Router, Faults) {
    let plain = client::cluster(10_000).router();
    let faults = Faults::new(FaultPlan::new(3, rates));
    (plain.clone(), faults.wrap(plain), faults)
}

#[tokio::test(start_paused = true)]
async fn a_create_whose_answer_is_lost_exists_and_the_retry_says_so() {
    let (plain, faulty, faults) = faulty(Rates { lost_answer: 1.0, ..Rates::NONE });
    let (code, body) = call(&faulty, "POST", MAPS, map("one")).await;
    assert_eq!((code, &body["reason"]), (504, &"Timeout".into()));
    assert_eq!(call(&plain, "GET", &format!("{MAPS}/one"), Value::Null).await.0, 200);
    faults.set_rates(Rates::NONE);
    assert_eq!(call(&faulty, "POST", MAPS, map("one")).await.0, 409);
}

#[tokio::test(start_paused = true)]
async fn an_injected_conflict_reads_like_a_real_one() {
    let (plain, faulty, _) = faulty(Rates { conflict: 1.0, ..Rates::NONE });
    call(&plain, "POST", MAPS, map("one")).await;
    let path = format!("{MAPS}/one");
    let mut stale = call(&plain, "GET", &path, Value::Null).await.1;
    call(&plain, "PATCH", &path, json!({"data": {"a": "b"}})).await;
    stale["data"] = json!({"a": "c"});
    let real = call(&plain, "PUT", &path, stale.clone()).await;
    assert_eq!(call(&faulty, "PUT", &path, stale).await, real);
}

#[tokio::test(start_paused = true)]
async fn a_stale_list_can_be_watched_from_and_catches_up() {
    let (plain, faulty, _) = faulty(Rates { stale_list: 1.0, ..Rates::NONE });
    call(&faulty, "GET", MAPS, Value::Null).await;
    call(&plain, "POST", MAPS, map("late")).await;
    let (_, list) = call(&faulty, "GET", MAPS, Value::Null).await;
    let names = |list: &Value| list["items"].to_string().contains("late");
    assert!(!names(&list));
    let version = list["metadata"]["resourceVersion"].as_str().unwrap();
    let path = format!("{MAPS}?watch=true&timeoutSeconds=1&resourceVersion={version}");
    let events = raw(&faulty, "GET", &path, &Value::Null).await.into_body();
    let events = events.collect().await.unwrap().to_bytes();
    let first: Value =
        serde_json::from_slice(events.split(|b| *b == b'\n').next().unwrap()).unwrap();
    assert_eq!(
        (&first["type"], &first["object"]["metadata"]["name"]),
        (&"ADDED".into(), &"late".into())
    );
}

#[tokio::test(start_paused = true)]
async fn a_dropped_watch_ends_within_its_minute() {
    let (_, faulty, _) = faulty(Rates { dropped_watch: 1.0, ..Rates::NONE });
    let path = format!("{MAPS}?watch=true&timeoutSeconds=600");
    let body = raw(&faulty, "GET", &path, &Value::Null).await.into_body();
    assert!(timeout(Duration::from_secs(61), body.collect()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_dies_after_an_eviction_has_evicted() {
    let cluster = client::cluster(10_000);
    tokio::spawn(cluster.drive());
    let plain = cluster.router();
    let set = json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 2, "serviceName": "web", "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
            },
        },
    });
    assert_eq!(call(&plain, "POST", SETS, set).await.0, 201);
    sleep(Duration::from_secs(10)).await;
    let pod = format!("{PODS}/web-1");
    let uid = call(&plain, "GET", &pod, Value::Null).await.1["metadata"]["uid"].clone();
    let faults = Faults::new(FaultPlan::new(3, Rates::NONE));
    faults.crash_at(1, When::After);
    let dying = faults.wrap(plain.clone());
    let evict =
        json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web-1"}});
    let path = format!("{pod}/eviction");
    let asked = tokio::spawn(async move { call(&dying, "POST", &path, evict).await });
    faults.crashed().await;
    sleep(Duration::from_secs(10)).await;
    assert!(!asked.is_finished());
    let back = call(&plain, "GET", &pod, Value::Null).await.1;
    assert_ne!(back["metadata"]["uid"], uid);
    assert_eq!(back["status"]["phase"], "Running");
}
