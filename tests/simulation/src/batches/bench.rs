//! One large release without faults: virtual time and requests by kind, batch by batch.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use controller::Settings;
use jiff::SignedDuration;
use simcluster::json::{Value, json};

use super::facts::Facts;
use super::kind::Kind;
use super::script::{self, Start};
use crate::harness::{Harness, send, wait_for};
use crate::witness::Witness;

const ROLLOUTS: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

/// What one batch cost, the pause after it not counted; the last entry is the giving back.
#[derive(Debug)]
pub struct Batch {
    /// Virtual time until the step was done.
    pub took: Duration,
    /// The operator's requests by kind.
    pub requests: BTreeMap<String, u64>,
}

/// Releases `pods` Pods of a `kind` that take `start_up` seconds each, in batches of 20 %, 60 % and 100 %.
/// A StatefulSet has a budget of a tenth of its Pods.
pub async fn release(kind: &'static Kind, pods: u32, start_up: i64) -> Vec<Batch> {
    let harness = Harness::with(1, |options| {
        options.start_up = SignedDuration::from_secs(start_up);
        options.nodes = if kind.nodes { usize::try_from(pods).unwrap_or(0) } else { 50 };
        options.kruise = kind.is_kruise();
    })
    .await;
    let server = Arc::clone(harness.cluster.server());
    let witness = Witness::new(Arc::clone(&server), harness.clock.clone(), None);
    let operator = harness.operator(witness.before(harness.router()), "bench", Settings::default());
    super::play::answer_webhooks(
        &harness,
        &Arc::new(std::sync::Mutex::new(Some(operator.admission.clone()))),
    )
    .await;
    let client = harness.client();
    let rolling = match kind.name {
        "Deployment" => json!({"maxSurge": "25%", "maxUnavailable": "25%"}),
        "StatefulSet" => json!({"partition": 0}),
        "AdvancedStatefulSet" => json!({"maxUnavailable": "10%"}),
        _ => json!({"maxSurge": 0, "maxUnavailable": "10%"}),
    };
    let strategy = match kind.name {
        "CloneSet" => json!({"type": "ReCreate", "maxUnavailable": "25%"}),
        _ => json!({"type": "RollingUpdate", "rollingUpdate": rolling}),
    };
    let step = |size| json!({"replicas": size, "pause": {"duration": 1}});
    let start = Start {
        kind,
        replicas: pods,
        management: "Parallel",
        strategy,
        budget: (kind.name == "StatefulSet").then(|| json!("10%")),
        min_ready: 0,
        steps: json!([step("20%"), step("60%"), step("100%")]),
        back_in_batches: false,
        rollout_id: false,
        standby: false,
    };
    let post = async |path: &str, body: Value| {
        send(&client, "POST", path, &body).await.expect("the cluster takes it");
    };
    let collection = kind.path();
    post(&collection, script::workload(&start, "app:v1")).await;
    if let Some(limit) = &start.budget {
        post(BUDGETS, script::budget(&start, limit)).await;
    }
    post(ROLLOUTS, script::rollout(&start)).await;
    let look = || Facts::read(&server);
    let healthy = |facts: &Facts| {
        facts.phase() == "Healthy" && facts.updated() == facts.replicas() && facts.ready() == pods
    };
    let first = || async { healthy(&look()) };
    wait_for(Duration::from_secs(3600), first).await.expect("the first version comes up");
    *witness.seen() = Default::default();
    let mut batches = Vec::new();
    let mut began = tokio::time::Instant::now();
    let patch = script::image(&start, "app:v2");
    send(&client, "PATCH", &format!("{collection}/web"), &patch).await.expect("it takes the image");
    for step in 1..=3_u64 {
        let done = || async {
            let status = look().rollout["status"].clone();
            let state = status["currentStepState"].as_str().unwrap_or_default();
            let done = ["StepPaused", "StepReady", "Completed"].contains(&state);
            let index = status["currentStepIndex"].as_u64().unwrap_or(0);
            status["phase"] == "Progressing" && (index > step || (index == step && done))
        };
        wait_for(Duration::from_secs(86_400), done).await.expect("the step is done");
        batches.push(Batch { took: began.elapsed(), requests: taken(&witness) });
        began = tokio::time::Instant::now();
    }
    let last = || async { healthy(&look()) };
    wait_for(Duration::from_secs(86_400), last).await.expect("the second version comes up");
    batches.push(Batch { took: began.elapsed(), requests: taken(&witness) });
    operator.stop().await.expect("the lease is still held");
    batches
}

fn taken(witness: &Witness) -> BTreeMap<String, u64> {
    std::mem::take(&mut witness.seen().kinds)
}
