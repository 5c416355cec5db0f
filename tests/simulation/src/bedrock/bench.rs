//! One large rollout without faults: its virtual time, wall time and requests by kind.

use std::collections::BTreeMap;
use std::time::Duration;

use controller::Settings;
use jiff::SignedDuration;
use simcluster::json::{Value, json};

use super::facts::Facts;
use super::script::{self, Start};
use crate::harness::{Harness, send, wait_for};
use crate::witness::Witness;

const ROLLOUTS: &str = "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

/// What a rollout cost.
#[derive(Debug)]
pub struct Cost {
    /// Virtual time from the new template to `RolloutDone`.
    pub took: Duration,
    /// The least that it could take: waves of what the budget allows, each a start-up and one
    /// interval.
    pub least: Duration,
    /// The operator's requests by kind.
    pub requests: BTreeMap<String, u64>,
    /// Its requests in the ten minutes after the end.
    pub after: BTreeMap<String, u64>,
}

/// Rolls `pods` Pods that take `start_up` seconds each, `at_once` at a time.
pub async fn roll(pods: u32, at_once: u32, start_up: i64) -> Cost {
    let start_up = SignedDuration::from_secs(start_up);
    let harness = Harness::with(1, |options| {
        options.start_up = start_up;
        options.nodes = 50;
    })
    .await;
    let server = std::sync::Arc::clone(harness.cluster.server());
    let witness = Witness::new(server, harness.clock.clone(), None);
    let settings = Settings::default();
    let interval = settings.engine.interval;
    let operator = harness.operator(witness.before(harness.router()), "bench", settings);
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
    let post = async |path: &str, body: Value| {
        send(&client, "POST", path, &body).await.expect("the cluster takes it");
    };
    post(ROLLOUTS, script::rollout(&start, "app:v1")).await;
    post(BUDGETS, script::budget(&json!(at_once))).await;
    let done = || async { Facts::rollout(harness.cluster.server()).is_done() };
    wait_for(Duration::from_secs(3600), done).await.expect("the first version comes up");
    *witness.seen() = Default::default();
    let began = tokio::time::Instant::now();
    let patch = script::image("app:v2");
    send(&client, "PATCH", &format!("{ROLLOUTS}/web"), &patch).await.expect("it takes the image");
    wait_for(Duration::from_secs(86_400), done).await.expect("the second version comes up");
    let took = began.elapsed();
    let seen = std::mem::take(&mut *witness.seen());
    tokio::time::sleep(Duration::from_secs(600)).await;
    let after = std::mem::take(&mut witness.seen().kinds);
    operator.stop().await.expect("the lease is still held");
    let waves = pods.div_ceil(at_once);
    let least =
        Duration::try_from((start_up + interval) * i32::try_from(waves).unwrap_or(i32::MAX));
    let least = least.expect("not negative");
    Cost { took, least, requests: seen.kinds, after }
}
