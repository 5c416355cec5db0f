//! The same requests to the embedded cluster and to a real control plane, in turns: how long each
//! takes, as a table.
//!
//! ```sh
//! export SLUICE_CONTROLPLANE=$PWD/target/controlplane/controlplane
//! cargo run --release -p differential --example speed
//! ```
//!
//! Both are asked by the same client over loopback, one request after another: the embedded one in
//! plain text, the real one with TLS and a client certificate, on connections that stay open. The
//! Pods carry a scheduling gate, so that nobody starts them and only the requests are measured.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use differential::plane::{BINARY, Plane};
use futures::future::join_all;
use http::Request;
use http_body_util::BodyExt;
use kube::client::Body;
use kube::{Client, Config};
use serde_json::{Value, json};
use simcluster::cluster::{Options, SimCluster, serve};
use tokio::time::Instant;

/// The clusters take turns this often.
const TURNS: usize = 5;
/// Requests of one sort in each turn.
const REQUESTS: usize = 60;
/// Pods that a list looks at.
const PODS: usize = 1_000;
/// Watches that see one change.
const WATCHES: usize = 100;
const PATH: &str = "/api/v1/namespaces/default/pods";

/// A sort of request: what it is called, and the one with this number.
struct Sort {
    name: &'static str,
    ask: fn(usize) -> Ask,
}

struct Ask {
    method: &'static str,
    path: String,
    type_: &'static str,
    body: Value,
}

/// A cluster, and what it took for each sort, in milliseconds.
struct Cluster {
    client: Client,
    took: Vec<Vec<f64>>,
}

fn main() {
    let Some(binary) = std::env::var_os(BINARY).filter(|binary| !binary.is_empty()) else {
        eprintln!("{BINARY} names no control plane");
        std::process::exit(2);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let began = Instant::now();
        let embedded = embedded().await;
        ready(&embedded).await;
        let embedded_up = began.elapsed();
        let began = Instant::now();
        let plane = Plane::up(&PathBuf::from(binary), &[]).expect("the control plane comes up");
        let real = plane.client().await;
        ready(&real).await;
        println!("| request | embedded, median (95 %) | real, median (95 %) |");
        println!("| --- | ---: | ---: |");
        let ups = (embedded_up.as_secs_f64() * 1e3, began.elapsed().as_secs_f64() * 1e3);
        println!(
            "| from nothing to the first Pod that is taken | {:.0} ms | {:.0} ms |",
            ups.0, ups.1
        );
        compare(embedded, real).await;
    });
}

async fn compare(embedded: Client, real: Client) {
    let sorts = sorts();
    let new = |client| Cluster { client, took: vec![Vec::new(); sorts.len() + 1] };
    let mut clusters = [new(embedded), new(real)];
    for cluster in &clusters {
        for number in 0..PODS {
            let app = format!("app-{}", number % 100);
            send(&cluster.client, &create(&format!("pod-{number}"), &app)).await;
        }
    }
    for (index, sort) in sorts.iter().enumerate() {
        for turn in 0..TURNS {
            for cluster in &mut clusters {
                for number in 0..REQUESTS {
                    let ask = (sort.ask)(turn * REQUESTS + number);
                    let began = Instant::now();
                    send(&cluster.client, &ask).await;
                    cluster.took[index].push(began.elapsed().as_secs_f64() * 1e3);
                }
            }
        }
        row(sort.name, &mut clusters, index);
    }
    for turn in 0..TURNS {
        for cluster in &mut clusters {
            let took = fan_out(&cluster.client, turn).await;
            cluster.took[sorts.len()].extend(took);
        }
    }
    row("one change seen by 100 watches", &mut clusters, sorts.len());
}

fn row(name: &str, clusters: &mut [Cluster; 2], index: usize) {
    let mut cells = clusters.iter_mut().map(|cluster| {
        let took = &mut cluster.took[index];
        took.sort_by(f64::total_cmp);
        format!("{:.2} ms ({:.2})", took[took.len() / 2], took[took.len() * 95 / 100])
    });
    let (embedded, real) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
    println!("| {name} | {embedded} | {real} |");
}

fn sorts() -> Vec<Sort> {
    let sort = |name, ask| Sort { name, ask };
    vec![
        sort("create a Pod", |n| create(&format!("made-{n}"), "made")),
        sort("get a Pod", |_| get(format!("{PATH}/pod-0"))),
        sort("merge patch", |n| patch("application/merge-patch+json", label(n))),
        sort("strategic merge patch", |n| {
            patch("application/strategic-merge-patch+json", label(n))
        }),
        sort("JSON patch", |n| {
            let value = format!("t{n}");
            let step = json!({"op": "add", "path": "/metadata/labels/turn", "value": value});
            patch("application/json-patch+json", json!([step]))
        }),
        sort("server-side apply", |n| {
            let name = json!({"name": "pod-0", "annotations": {"turn": format!("t{n}")}});
            let body = json!({"apiVersion": "v1", "kind": "Pod", "metadata": name});
            let path = format!("{PATH}/pod-0?fieldManager=speed&force=true");
            Ask { method: "PATCH", path, type_: "application/apply-patch+yaml", body }
        }),
        sort("list 10 of 1,000 Pods by label", |n| {
            get(format!("{PATH}?labelSelector=app%3Dapp-{}", n % 100))
        }),
        sort("list 1,000 Pods by label", |_| get(format!("{PATH}?labelSelector=tier%3Dweb"))),
        sort("delete a Pod", |n| Ask {
            method: "DELETE",
            path: format!("{PATH}/made-{n}?gracePeriodSeconds=0"),
            type_: "application/json",
            body: Value::Null,
        }),
    ]
}

fn get(path: String) -> Ask {
    Ask { method: "GET", path, type_: "application/json", body: Value::Null }
}

fn patch(type_: &'static str, body: Value) -> Ask {
    Ask { method: "PATCH", path: format!("{PATH}/pod-0"), type_, body }
}

fn label(number: usize) -> Value {
    json!({"metadata": {"labels": {"turn": format!("t{number}")}}})
}

fn create(name: &str, app: &str) -> Ask {
    let tier = if app == "made" { "none" } else { "web" };
    let body = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": app, "tier": tier}},
        "spec": {
            "schedulingGates": [{"name": "example.com/speed"}],
            "containers": [{
                "name": "main", "image": "registry.example.com/team/app:v1",
                "args": ["--listen", ":8080"],
                "ports": [{"name": "http", "containerPort": 8080}],
                "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
                "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
            }],
        },
    });
    Ask { method: "POST", path: PATH.to_owned(), type_: "application/json", body }
}

fn request(ask: &Ask) -> Request<Body> {
    let text = if ask.body.is_null() { String::new() } else { ask.body.to_string() };
    Request::builder()
        .method(ask.method)
        .uri(&ask.path)
        .header("content-type", ask.type_)
        .header("accept", "application/json")
        .body(Body::from(text.into_bytes()))
        .expect("a request")
}

/// Sends a request and reads the answer to its end.
async fn send(client: &Client, ask: &Ask) -> Vec<u8> {
    let answer = attempt(client, ask).await;
    answer.unwrap_or_else(|why| panic!("{} {}: {why}", ask.method, ask.path))
}

async fn attempt(client: &Client, ask: &Ask) -> Result<Vec<u8>, String> {
    let response = client.send(request(ask)).await.map_err(|error| error.to_string())?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(|error| error.to_string())?;
    let bytes = body.to_bytes().to_vec();
    if status.is_success() { Ok(bytes) } else { Err(String::from_utf8_lossy(&bytes).into_owned()) }
}

/// Waits until it takes a Pod: a namespace needs its ServiceAccount first.
async fn ready(client: &Client) {
    let first = create("first", "first");
    let mut last = String::new();
    for _ in 0..600 {
        match attempt(client, &first).await {
            Ok(_) => return,
            Err(why) => last = why,
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it takes no Pod: {last}");
}

/// Opens the watches, changes a Pod again and again, and says how long it takes each time until the
/// last watch has shown it.
async fn fan_out(client: &Client, turn: usize) -> Vec<f64> {
    let page = send(client, &get(format!("{PATH}?limit=1"))).await;
    let page: Value = serde_json::from_slice(&page).expect("a list");
    let version = page["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    let path = format!("{PATH}?watch=1&labelSelector=app%3Dapp-0&resourceVersion={version}");
    let opening = (0..WATCHES).map(|_| client.send(request(&get(path.clone()))));
    let opened = join_all(opening).await;
    let mut watches: Vec<Body> =
        opened.into_iter().map(|response| response.expect("a watch").into_body()).collect();
    let mut took = Vec::new();
    for number in 0..20 {
        let ask = patch("application/merge-patch+json", label(1_000_000 + turn * 100 + number));
        let began = Instant::now();
        send(client, &ask).await;
        join_all(watches.iter_mut().map(event)).await;
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    took
}

/// Reads one whole event: a line, in one frame or in several.
async fn event(watch: &mut Body) {
    loop {
        let frame = watch.frame().await.expect("the watch stays open").expect("it doesn't fail");
        if frame.data_ref().is_some_and(|data| data.ends_with(b"\n")) {
            return;
        }
    }
}

/// The embedded cluster on a port of its own, with everything behind it, in a thread of its own.
async fn embedded() -> Client {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("it can be polled");
    let address = listener.local_addr().expect("it has one");
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let start = Instant::now();
            #[expect(clippy::disallowed_methods, reason = "the cluster is on the wall's time")]
            let zero = jiff::Timestamp::now();
            let clock = Arc::new(move || zero.saturating_add(start.elapsed()).unwrap_or(zero));
            let cluster = SimCluster::new(Options::new(1, clock));
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            tokio::select! {
                biased;
                () = cluster.drive() => {}
                _ = serve(cluster.router(), listener, std::future::pending()) => {}
            }
        });
    });
    let mut config = Config::new(format!("http://{address}").parse().expect("an address"));
    config.default_retry = false;
    Client::try_from(config).expect("a client")
}
