//! An embedded cluster in virtual time, with as many operators on it as a test wants.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use cluster::{Clock, Durations, Elector};
use controller::admission::{Admission, hooks};
use controller::{Attention, Context, Lost, Metrics, Settings};
use futures::FutureExt;
use jiff::Timestamp;
use kube::Client;
use serde::Serialize;
use serde_json::{Value, json};
use simcluster::cluster::{Options, SimCluster};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// When every simulation begins.
pub const EPOCH: &str = "2026-01-01T00:00:00Z";

/// Where the webhooks are said to be; nothing is ever sent there.
const DOOR: &str = "https://sluice.invalid";

/// A cluster whose controllers and kubelets run, with our resources installed.
pub struct Harness {
    /// The cluster.
    pub cluster: Arc<SimCluster>,
    /// The virtual clock; goes with tokio's paused time.
    pub clock: Clock,
    /// Seed of the cluster and of everything on it.
    pub seed: u64,
    driver: JoinHandle<()>,
}

impl Harness {
    /// A cluster made from `seed`, driven in the background. Must be called inside a runtime.
    pub async fn start(seed: u64) -> Self {
        Self::with(seed, |_| {}).await
    }

    /// The same, with Kruise's workloads and their controllers.
    pub async fn with_kruise(seed: u64) -> Self {
        Self::with(seed, |options| options.kruise = true).await
    }

    /// The same, with its options changed.
    pub async fn with(seed: u64, change: impl FnOnce(&mut Options)) -> Self {
        let epoch: Timestamp = EPOCH.parse().expect("a timestamp");
        let clock = Clock::starting_at(epoch);
        let time = clock.clone();
        let mut options = Options::new(seed, Arc::new(move || time.now()));
        change(&mut options);
        let cluster = Arc::new(SimCluster::new(options));
        let driven = Arc::clone(&cluster);
        let driver = tokio::spawn(async move { driven.drive().await });
        let harness = Self { cluster, clock, seed, driver };
        harness.install().await;
        harness
    }

    /// The cluster's own router: no faults.
    pub fn router(&self) -> Router {
        self.cluster.router()
    }

    /// A client of the router without faults.
    pub fn client(&self) -> Client {
        Client::new(self.router(), "default")
    }

    async fn install(&self) {
        let client = self.client();
        for crd in api::crds() {
            let crd = serde_json::to_value(&crd).expect("a CRD is JSON");
            send(&client, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &crd)
                .await
                .expect("the embedded cluster takes our resources");
        }
        wait_for(Duration::from_secs(60), || async {
            let path = "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts";
            send(&client, "GET", path, &Value::Null).await.is_ok()
        })
        .await
        .expect("our resources are served after a minute");
    }

    /// An operator on `router`, with an election of its own under `identity`.
    pub fn operator(&self, router: Router, identity: &str, settings: Settings) -> Operator {
        let client = Client::new(router, "default");
        let durations = Durations::default();
        let (elector, leadership) = Elector::new(
            client.clone(),
            self.clock.clone(),
            identity,
            "kube-system",
            durations,
            settings.seed,
        );
        let attention = Attention::new();
        let metrics = Metrics::default();
        let admission = Admission {
            attention: attention.clone(),
            clock: self.clock.clone(),
            settings: settings.engine,
            rules: api::batches::Rules::default(),
            gates: settings.gates,
            metrics: metrics.clone(),
        };
        let context = Context {
            client,
            clock: self.clock.clone(),
            settings: Settings { identity: identity.to_owned(), ..settings },
            leadership,
            metrics,
            attention,
        };
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let loop_ = tokio::spawn(async move {
            let ended = Arc::new(Notify::new());
            let release = Arc::clone(&ended);
            let election = elector.run(async move { release.notified().await }).fuse();
            let mut election = std::pin::pin!(election);
            let run = controller::run(context, async move { stopped.notified().await });
            let out = tokio::select! {
                biased;
                out = run => out,
                () = &mut election => Err(Lost),
            };
            if out.is_ok() {
                ended.notify_one();
                election.await;
            }
            out
        });
        Operator { loop_, stop, admission }
    }

    /// Lets an operator's admission service judge what clients write, and convert what they read, in
    /// process.
    pub async fn admit_by(&self, admission: Admission) {
        self.cluster.register_webhook_service(Arc::new(move |call| {
            let path = call.url.as_deref().and_then(|url| url.strip_prefix(DOOR));
            let answer = admission.answer(path.unwrap_or(&call.path), &(&call.review).into());
            let answer = answer.map(Into::into).ok_or_else(|| "nothing is served there".to_owned());
            async move { answer }.boxed()
        }));
        let client_config = |path: &str| json!({"url": format!("{DOOR}{path}")});
        for (plural, hooks) in [
            ("validatingwebhookconfigurations", hooks::validating(&client_config, None)),
            ("mutatingwebhookconfigurations", hooks::mutating(&client_config, None)),
        ] {
            let path = format!("/apis/admissionregistration.k8s.io/v1/{plural}");
            send(&self.client(), "POST", &path, &hooks).await.expect("the webhooks are taken");
        }
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A running operator.
pub struct Operator {
    loop_: JoinHandle<Result<(), Lost>>,
    stop: Arc<Notify>,
    /// Its admission service.
    pub admission: Admission,
}

impl Operator {
    /// Kills it where it stands, as signal 9 does.
    pub async fn kill(self) {
        self.loop_.abort();
        let _ = self.loop_.await;
    }

    /// Asks it to stop, and waits until it has.
    pub async fn stop(self) -> Result<(), Lost> {
        self.stop.notify_one();
        self.loop_.await.unwrap_or(Err(Lost))
    }

    /// Whether it has ended by itself: it lost its lease.
    pub fn has_ended(&self) -> bool {
        self.loop_.is_finished()
    }
}

/// One request of JSON; the error is the server's `Status`.
pub async fn send(
    client: &Client,
    method: &str,
    path: &str,
    body: &impl Serialize,
) -> Result<Value, Box<kube::Error>> {
    let content = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let mut bytes = serde_json::to_vec(body).expect("what is sent is JSON");
    if bytes == b"null" {
        bytes.clear();
    }
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, content)
        .body(bytes)
        .expect("a request");
    client.request::<Value>(request).await.map_err(Box::new)
}

/// It did not come about in time.
#[derive(Debug)]
pub struct TimeOut;

/// Waits until `what` holds, looking every quarter of a (virtual) second.
pub async fn wait_for<F, W>(limit: Duration, what: F) -> Result<(), TimeOut>
where
    F: Fn() -> W,
    W: Future<Output = bool>,
{
    let end = tokio::time::Instant::now() + limit;
    while !what().await {
        if tokio::time::Instant::now() >= end {
            return Err(TimeOut);
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Ok(())
}

/// Runs a future to its end in virtual time, on a runtime of its own.
pub fn in_virtual_time<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(future)
}
