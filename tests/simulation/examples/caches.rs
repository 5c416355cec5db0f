//! What the operator's own caches hold in memory, by the number of rollouts.
//!
//! `cargo run --release -p simulation --example caches -- 10000 10`: 10,000 rollouts of 10 Pods each.
//! One rollout is played to its end on the embedded cluster; what it has left there is listed again
//! and again under other names, by a router that makes each page when it is asked for, so that next
//! to nothing but the caches is held. Memory is read from `/proc`, so on Linux alone.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use cluster::Caches;
use controller::Settings;
use futures::future::join_all;
use kube::Client;
use simcluster::json::json;
use simulation::bedrock::facts::Facts;
use simulation::bedrock::script::{self, Start};
use simulation::harness::{Harness, in_virtual_time, send, wait_for};

const ROLLOUTS: &str = "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
/// How many namespaces the rollouts are spread over.
const NAMESPACES: usize = 100;

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u32>().ok());
    let (rollouts, pods) = (numbers.next().unwrap_or(10_000), numbers.next().unwrap_or(10));
    let left = Arc::new(in_virtual_time(play(pods)));
    let before = memory("VmRSS");
    // What was played had its own peak.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let rollouts = rollouts as usize;
    let router = Router::new().fallback(move |request: Request| {
        let answer = left.answer(&request, rollouts);
        async move { answer }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let caches = Caches::new(Box::new(|_, _| ()));
        let client = Client::new(router, "default");
        let watches = caches.watches(&client, None, 1).into_iter().map(|(_, watch)| watch);
        let began = tokio::time::Instant::now();
        let filled = async {
            while !caches.ready() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! {
            biased;
            _ = join_all(watches) => panic!("watches never end"),
            () = filled => {}
        }
        println!("{:>8} rollouts with {pods} Pods each", caches.subjects().len());
        println!(
            "{:>8.1} s to list them all, pages made on the way",
            began.elapsed().as_secs_f64()
        );
        println!("{:>8.0} MB held", megabytes(memory("VmRSS").saturating_sub(before)));
        println!("{:>8.0} MB at most", megabytes(memory("VmHWM").saturating_sub(before)));
        println!("{:>8.0} MB before", megabytes(before));
    });
}

/// One rollout with its objects, as JSON.
struct Left {
    rollout: String,
    set: String,
    budget: String,
    pods: Vec<String>,
    uids: Vec<String>,
}

/// Rolls one set to its end.
async fn play(pods: u32) -> Left {
    let harness = Harness::with(1, |options| options.nodes = 10).await;
    let operator = harness.operator(harness.router(), "caches", Settings::default());
    let client = harness.client();
    let start = Start {
        replicas: pods,
        budget: None,
        management: "Parallel",
        leak: "Report",
        min_ready: 0,
        interval: 0,
        standby: false,
    };
    let mut rollout = script::rollout(&start, "registry.example.com/team/web:v1");
    let main = &mut rollout["spec"]["statefulset"]["spec"]["template"]["spec"]["containers"][0];
    main["args"] = json!(["--listen", ":8080"]);
    main["env"] = json!([{"name": "REGION", "value": "somewhere"}]);
    main["ports"] = json!([{"name": "http", "containerPort": 8080}]);
    main["readinessProbe"] = json!({"httpGet": {"path": "/ready", "port": "http"}});
    main["resources"] = json!({"requests": {"cpu": "10m", "memory": "32Mi"}});
    send(&client, "POST", ROLLOUTS, &rollout).await.expect("the cluster takes it");
    let budget = script::budget(&json!(1));
    send(&client, "POST", BUDGETS, &budget).await.expect("the cluster takes it");
    let done = || async { Facts::rollout(harness.cluster.server()).is_done() };
    wait_for(Duration::from_secs(3600), done).await.expect("it comes up");
    let facts = Facts::read(harness.cluster.server());
    operator.kill().await;
    let all = [&facts.rollout, &facts.set, &facts.budget].into_iter().chain(&facts.pods);
    let uids = all.filter_map(|one| one["metadata"]["uid"].as_str().map(str::to_owned)).collect();
    Left {
        rollout: facts.rollout.to_string(),
        set: facts.set.to_string(),
        budget: facts.budget.to_string(),
        pods: facts.pods.iter().map(|pod| pod.to_string()).collect(),
        uids,
    }
}

impl Left {
    fn answer(&self, request: &Request, rollouts: usize) -> axum::response::Response {
        let query = request.uri().query().unwrap_or_default();
        if query.contains("watch=") {
            let silence = futures::stream::pending::<Result<String, Infallible>>();
            return axum::response::Response::new(Body::from_stream(silence));
        }
        let kind = request.uri().path().rsplit('/').next().unwrap_or_default();
        let each = if kind == "pods" { self.pods.len() } else { 1 };
        let number = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).find_map(|(_, value)| value.parse().ok())
        };
        let from = number("continue").unwrap_or(0);
        let to = (from + number("limit").unwrap_or(usize::MAX)).min(rollouts * each);
        let items: Vec<String> = (from..to)
            .map(|index| {
                let text = match kind {
                    "statefulsetrollouts" => &self.rollout,
                    "statefulsets" => &self.set,
                    "poddisruptionbudgets" => &self.budget,
                    _ => &self.pods[index % each],
                };
                self.renamed(text, index / each)
            })
            .collect();
        let next = if to < rollouts * each { to.to_string() } else { String::new() };
        let metadata = json!({"resourceVersion": "1000", "continue": next});
        let body = format!("{{\"metadata\":{metadata},\"items\":[{}]}}", items.join(","));
        axum::response::Response::new(Body::from(body))
    }

    /// The same for the rollout of this number.
    fn renamed(&self, text: &str, number: usize) -> String {
        let mut text = text
            .replace("\"web\"", &format!("\"web-{number:05}\""))
            .replace("\"web-", &format!("\"web-{number:05}-"))
            .replace(&format!("\"web-{number:05}-{number:05}\""), &format!("\"web-{number:05}\""))
            .replace("\"default\"", &format!("\"team-{}\"", number % NAMESPACES));
        for uid in &self.uids {
            text = text.replace(uid, &format!("{number:08x}{}", &uid[8..]));
        }
        text
    }
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// A line of `/proc/self/status`, in bytes.
fn memory(field: &str) -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| *key == field);
    let value = line.and_then(|(_, value)| value.split_whitespace().next()?.parse::<usize>().ok());
    value.unwrap_or(0) * 1024
}
