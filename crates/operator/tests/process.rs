//! The process as a whole, against an API server on loopback and on the real clock: what is waited
//! for, who leads, how it ends.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use clap::Parser;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};
use operator::{Error, Flags};
use serde_json::json;
use simcluster::cluster::{Options, SimCluster};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// More than any step here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    flags: Flags,
}

/// A port that was free a moment ago.
async fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

/// The API server, up from now on, without our custom resource.
async fn serve(address: SocketAddr) -> Client {
    let clock = cluster::Clock::system();
    let sim = SimCluster::new(Options::new(1, Arc::new(move || clock.now())));
    let listener = TcpListener::bind(address).await.unwrap();
    let client = Client::new(sim.router(), "default");
    tokio::spawn(sim.drive());
    tokio::spawn(simcluster::cluster::serve(sim.router(), listener, std::future::pending()));
    client
}

async fn install(client: &Client) {
    let all: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in api::crds() {
        all.create(&PostParams::default(), &crd).await.unwrap();
    }
}

fn kubeconfig(server: SocketAddr) -> tempfile::NamedTempFile {
    let text = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "sim",
        "clusters": [{"name": "sim", "cluster": {"server": format!("http://{server}")}}],
        "users": [{"name": "sim", "user": {}}],
        "contexts": [
            {"name": "sim", "context": {"cluster": "sim", "user": "sim", "namespace": "default"}}
        ],
    });
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.to_string().as_bytes()).unwrap();
    file
}

/// An operator under way, with everything on free ports.
struct Process {
    health: SocketAddr,
    metrics: SocketAddr,
    webhook: SocketAddr,
    stop: CancellationToken,
    ended: JoinHandle<Result<(), Error>>,
    _kubeconfig: tempfile::NamedTempFile,
}

impl Process {
    async fn start(server: SocketAddr) -> Self {
        let kubeconfig = kubeconfig(server);
        let (health, metrics, webhook) = (free().await, free().await, free().await);
        let arguments = [
            "operator".to_owned(),
            format!("--kubeconfig={}", kubeconfig.path().display()),
            format!("--health-probe-bind-address={health}"),
            format!("--metrics-bind-address={metrics}"),
            format!("--webhook-bind-address={webhook}"),
            format!("--webhook-url=https://{webhook}"),
            "--leader-elect-lease-duration=2s".to_owned(),
            "--leader-elect-renew-deadline=1s".to_owned(),
            "--leader-elect-retry-period=100ms".to_owned(),
        ];
        let flags = Line::try_parse_from(arguments).unwrap().flags;
        let stop = CancellationToken::new();
        let ended = tokio::spawn(operator::run(flags, stop.clone().cancelled_owned()));
        Self { health, metrics, webhook, stop, ended, _kubeconfig: kubeconfig }
    }

    /// What `/readyz` says, status line and body.
    async fn readyz(&self) -> String {
        got(self.health, "/readyz").await.unwrap_or_default()
    }

    async fn is_ready(&self) {
        self.says("HTTP/1.1 200 OK").await;
    }

    async fn says(&self, words: &str) {
        until(words, async || self.readyz().await.contains(words)).await;
    }

    async fn stopped(self) -> Result<(), Error> {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.ended).await.unwrap().unwrap()
    }
}

/// Waits for a condition.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// The whole answer as text.
async fn got(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut socket = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: sluice\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await?;
    Ok(answer)
}

async fn holder(client: &Client) -> Option<String> {
    let leases: Api<Lease> = Api::default_namespaced(client.clone());
    let spec = leases.get_opt("sluice").await.unwrap()?.spec?;
    spec.holder_identity.filter(|holder| !holder.is_empty())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_at_the_start_is_named_and_waited_for() {
    let server = free().await;
    let process = Process::start(server).await;
    process.says(&format!("waiting for API server: http://{server}")).await;
    assert!(got(process.health, "/healthz").await.unwrap().starts_with("HTTP/1.1 200 OK"));

    let client = serve(server).await;
    process.says("`sluice crds | kubectl apply -f -` installs it").await;
    install(&client).await;
    process.is_ready().await;
    until("leading", async || holder(&client).await.is_some()).await;

    let metrics = got(process.metrics, "/metrics").await.unwrap();
    assert!(metrics.contains("sluice_"), "{metrics}");
    let all: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let webhooks = all.get("sluice").await.unwrap().webhooks.unwrap();
    let way = &webhooks[0].client_config;
    let url = format!("https://{}/admit/statefulsetrollouts", process.webhook);
    assert_eq!(way.url.as_deref(), Some(url.as_str()));
    let bundle = String::from_utf8(way.ca_bundle.clone().unwrap().0).unwrap();
    assert!(bundle.starts_with("-----BEGIN CERTIFICATE-----"), "{bundle}");

    process.stopped().await.unwrap();
    assert_eq!(holder(&client).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_stands_by_takes_over_from_one_that_stops() {
    let server = free().await;
    let client = serve(server).await;
    install(&client).await;
    let first = Process::start(server).await;
    until("the first leads", async || holder(&client).await.is_some()).await;
    let leader = holder(&client).await;
    let second = Process::start(server).await;
    second.is_ready().await;
    assert_eq!(holder(&client).await, leader, "one that stands by is ready and does not lead");

    first.stopped().await.unwrap();
    let taken = async || holder(&client).await.is_some_and(|holder| Some(holder) != leader);
    until("the second leads", taken).await;
    second.stopped().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_lease_ends_the_process() {
    let server = free().await;
    let client = serve(server).await;
    install(&client).await;
    let process = Process::start(server).await;
    process.is_ready().await;
    until("leading", async || holder(&client).await.is_some()).await;

    let leases: Api<Lease> = Api::default_namespaced(client.clone());
    let taken = json!({"spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600}});
    leases.patch("sluice", &PatchParams::default(), &Patch::Merge(taken)).await.unwrap();
    let ended = tokio::time::timeout(PATIENCE, process.ended).await.unwrap().unwrap();
    let error = ended.unwrap_err().to_string();
    assert!(error.starts_with("lost the lease default/sluice"), "{error}");
    assert_eq!(holder(&client).await.as_deref(), Some("another"));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_waits_for_the_server_stops_at_once() {
    let process = Process::start(free().await).await;
    process.says("waiting for API server").await;
    process.stopped().await.unwrap();
}

#[tokio::test]
async fn a_port_that_is_taken_is_said_before_anything_is_sent() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let kubeconfig = kubeconfig(free().await);
    let arguments = [
        "operator".to_owned(),
        format!("--kubeconfig={}", kubeconfig.path().display()),
        format!("--metrics-bind-address={address}"),
    ];
    let flags = Line::try_parse_from(arguments).unwrap().flags;
    let error = operator::run(flags, std::future::pending()).await.unwrap_err().to_string();
    let begins = format!("--metrics-bind-address={address}: cannot listen");
    assert!(error.starts_with(&begins), "{error}");
}
