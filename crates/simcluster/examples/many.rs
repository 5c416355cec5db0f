//! What it costs to hold many Pods and to have them watched: memory, and the time of requests.
//!
//! `cargo run --release -p simcluster --example many -- 100000`; with `--driven` the scheduler, the
//! kubelets and the controllers work on them too. Memory is read from `/proc`, so on Linux alone.

#[path = "../benches/simcluster/fixture.rs"]
mod fixture;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use fixture::{Session, namespace, start};
use http_body_util::BodyExt;
use simcluster::behaviour::View;
use simcluster::cluster::{Options, SimCluster};
use simcluster::json::Value;
use simcluster::object::PODS;
use tokio::time::Instant;

/// How many watches of each sort are open.
const WATCHES: usize = 100;
/// How many Pods are copied to find out how large the content of one is.
const COPIES: usize = 5_000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let driven = arguments.iter().any(|argument| argument == "--driven");
    let count = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(100_000);
    let now = Arc::new(Mutex::new(start()));
    let read = now.clone();
    let clock = Arc::new(move || *read.lock().expect("no holder panics"));
    let options = Options { nodes: count / 1_000 + 1, ..Options::new(1, clock.clone()) };
    let cluster = SimCluster::new(options);
    let session = Session::new(cluster.router());
    session.namespaces().await;
    let empty = memory("VmRSS");
    let began = Instant::now();
    for number in 0..count {
        session.create(number).await;
    }
    each("create one of them", began, count);
    if driven {
        let (began, mut driver) = (Instant::now(), cluster.driver());
        driver.run_due(clock());
        while let Some(due) = driver.next_due() {
            *now.lock().expect("no holder panics") = due;
            driver.run_due(due);
        }
        each("start one of them", began, count);
        println!("{:>12} looks of {} Pods", driver.looks(), count);
        // What the behaviours remember belongs to what a held Pod costs.
        std::mem::forget(driver);
    }
    let held = memory("VmRSS").saturating_sub(empty);
    let (copies, encoded) = copy(&cluster);
    println!("{encoded:>12} B of JSON in a Pod");
    println!("{copies:>12} B in a copy of its tree");
    println!("{:>12} B held for each Pod", held / count);
    println!("{:>12} MB held in all", memory("VmRSS") / 1_000_000);
    lists(&session, count).await;
    watches(&session).await;
    initial(&session, count).await;
    println!("{:>12} MB held at the end", memory("VmRSS") / 1_000_000);
}

/// The size of one Pod: as a tree of values of its own, and as JSON.
fn copy(cluster: &SimCluster) -> (usize, usize) {
    let view = cluster.server().view();
    let before = memory("VmRSS");
    let copies: Vec<Value> =
        view.list(&PODS, None).take(COPIES).map(|pod| (**pod).clone()).collect();
    let grown = memory("VmRSS").saturating_sub(before);
    let encoded: usize = copies.iter().map(|pod| pod.to_string().len()).sum();
    (grown / copies.len().max(1), encoded / copies.len().max(1))
}

async fn lists(session: &Session, count: usize) {
    for change in [false, true] {
        let (began, mut path, mut seen) = (Instant::now(), String::new(), 0);
        loop {
            let page = session.bytes(&format!("/api/v1/pods?limit=500{path}")).await;
            // Not read as JSON: that would take longer than the answer.
            let page = String::from_utf8_lossy(&page);
            seen += page.matches("\"uid\":").count();
            let next = page.split_once("\"continue\":\"").map_or("", |(_, next)| next);
            let Some((next, _)) = next.split_once('"') else { break };
            path = format!("&continue={next}");
            if change {
                session.label(seen % count, &seen.to_string()).await;
            }
        }
        assert_eq!(seen, count, "pages miss something");
        let how = if change { ", changes in between" } else { "" };
        told(&format!("list all in pages of 500{how}"), began);
    }
    let began = Instant::now();
    let page = session.get("/api/v1/pods?labelSelector=app%3Dapp-7").await;
    told("list ten of them by label", began);
    assert!(page["items"].as_array().is_some_and(|items| !items.is_empty()));
}

async fn watches(session: &Session) {
    let all = String::from("/api/v1/pods?watch=1");
    let one = format!("/api/v1/namespaces/{}/pods?watch=1", namespace(0));
    let some = format!("{all}&labelSelector=app%3Dapp-0");
    for (what, path) in [("all", all), ("one namespace", one), ("one label", some)] {
        let page = session.get("/api/v1/pods?limit=1").await;
        let version = page["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        let mut open: Vec<Body> = Vec::new();
        for _ in 0..WATCHES {
            open.push(session.open(&format!("{path}&resourceVersion={version}")).await);
        }
        let began = Instant::now();
        session.label(0, what).await;
        for watch in &mut open {
            assert!(next(watch).await > 0, "a watch ended");
        }
        told(&format!("one change seen by {WATCHES} watches of {what}"), began);
    }
}

/// A watch that begins with everything that there is.
async fn initial(session: &Session, count: usize) {
    let before = memory("VmRSS");
    // From here on the peak is this watch's.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let began = Instant::now();
    let query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
                 &allowWatchBookmarks=true";
    let mut watch = session.open(&format!("/api/v1/pods?{query}")).await;
    let (mut events, mut bytes) = (0, 0);
    while events <= count {
        let frame = watch.frame().await.expect("it stays open").expect("it doesn't fail");
        let data = frame.into_data().unwrap_or_default();
        bytes += data.len();
        events += data.iter().filter(|&&byte| byte == b'\n').count();
    }
    told("a watch that begins with all of them", began);
    let peak = memory("VmHWM").saturating_sub(before);
    println!("{:>12} MB at most for its {} MB", peak / 1_000_000, bytes / 1_000_000);
}

async fn next(watch: &mut Body) -> usize {
    let frame = tokio::time::timeout(Duration::from_secs(60), watch.frame()).await;
    let data = frame.ok().flatten().and_then(Result::ok).and_then(|frame| frame.into_data().ok());
    data.map_or(0, |data| data.len())
}

fn told(what: &str, began: Instant) {
    println!("{:>12.2} ms to {what}", began.elapsed().as_secs_f64() * 1e3);
}

fn each(what: &str, began: Instant, count: usize) {
    let took = began.elapsed().as_secs_f64();
    println!("{:>12.1} us to {what}, {took:.1} s for all", took * 1e6 / count as f64);
}

/// A line of `/proc/self/status`, in bytes.
fn memory(field: &str) -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines: BTreeMap<&str, &str> =
        text.lines().filter_map(|line| line.split_once(':')).collect();
    let value = lines.get(field).and_then(|value| value.split_whitespace().next());
    value.and_then(|kilobytes| kilobytes.parse::<usize>().ok()).unwrap_or(0) * 1024
}
