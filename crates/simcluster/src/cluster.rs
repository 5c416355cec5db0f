//! A whole cluster in one value: server, clock, Nodes, and what runs behind them.

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::serve::{Listener, ListenerExt};
use jiff::{SignedDuration, Timestamp};
use tokio::net::TcpListener;

use crate::admission::WebhookCaller;
use crate::behaviour::{Write, kruise};
use crate::driver::{Conduct, Driver};
use crate::http::access::Access;
use crate::http::{Clock, Skin, router};
use crate::json::json;
use crate::object::{CRDS, NAMESPACES, NODES};
use crate::server::Server;

/// What a cluster is made of.
#[derive(Clone)]
pub struct Options {
    /// Every UID, name suffix and latency follows from it.
    pub seed: u64,
    /// Where the time comes from.
    pub clock: Clock,
    /// How many Nodes there are, `node-0` and up.
    pub nodes: usize,
    /// How long a Pod takes to run when nothing says otherwise.
    pub start_up: SignedDuration,
    /// How many changes of its collection a watch can go back before it gets a 410. Each holds what
    /// the object of its time had of its own, and, once a watch has sent it, its text.
    pub window: usize,
    /// Host and port that `/api` names.
    pub address: String,
    /// Who may ask for what; by default everybody may everything.
    pub access: Access,
    /// Whether each namespace is given a ConfigMap with the cluster's certificate, as it is in every
    /// whole cluster.
    pub publisher: bool,
    /// Whether Kruise is there: its definitions, and the controllers of its workloads.
    pub kruise: bool,
}

impl Options {
    /// Three Nodes, Pods that start in two seconds, watches that can go 4,000 changes back, no Kruise.
    pub fn new(seed: u64, clock: Clock) -> Self {
        Self {
            seed,
            clock,
            nodes: 3,
            start_up: SignedDuration::from_secs(2),
            window: 4_000,
            address: "127.0.0.1:6443".to_owned(),
            access: Access::default(),
            publisher: true,
            kruise: false,
        }
    }
}

/// An API server with its clock.
pub struct SimCluster {
    server: Arc<Server>,
    options: Options,
}

impl SimCluster {
    /// A cluster with the namespaces that every cluster has, and its Nodes.
    pub fn new(options: Options) -> Self {
        let server = Arc::new(Server::new(options.seed, options.window));
        let now = (options.clock)();
        for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
            let object = json!({"metadata": {"name": name}});
            server
                .commit(Write::Create { collection: NAMESPACES, object }, "kube-apiserver", now)
                .expect("an empty server takes the first namespaces");
        }
        for number in 0..options.nodes {
            let object = node(number, now);
            server
                .commit(Write::Create { collection: NODES, object }, "kubelet", now)
                .expect("an empty server takes the first nodes");
        }
        server.furnish(now);
        if options.kruise {
            for object in kruise::definitions::all() {
                server
                    .commit(Write::Create { collection: CRDS, object }, kruise::MANAGER, now)
                    .expect("an empty server takes definitions");
            }
        }
        Self { server, options }
    }

    /// The synchronous server behind the router.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// The clock that the cluster was made with.
    pub fn clock(&self) -> &Clock {
        &self.options.clock
    }

    /// The HTTP side; `kube::Client::new(router, ns)` takes it as it is.
    pub fn router(&self) -> Router {
        router(Skin {
            server: self.server.clone(),
            clock: self.options.clock.clone(),
            address: self.options.address.clone(),
            access: Arc::new(self.options.access.clone()),
            seed: self.options.seed,
        })
    }

    /// The controllers, kubelets and nodes, to be run by hand: `run_due(now)`, `next_due()`.
    pub fn driver(&self) -> Driver {
        let conduct = Conduct { seed: self.options.seed, start_up: self.options.start_up };
        let driver = Driver::standard(self.server.clone(), &conduct);
        let driver = if self.options.publisher { driver.with_publisher() } else { driver };
        if self.options.kruise { driver.with_kruise() } else { driver }
    }

    /// Runs the controllers, kubelets and nodes for ever. To be called once.
    pub fn drive(&self) -> impl Future<Output = ()> + Send + use<> {
        self.driver().drive(self.options.clock.clone())
    }

    /// A token of a ServiceAccount, whether it has been made or not, that is good for a year.
    pub fn token(&self, namespace: &str, account: &str) -> String {
        let now = (self.options.clock)();
        let until = now.saturating_add(SignedDuration::from_hours(24 * 365)).unwrap_or(now);
        crate::authorization::token::mint(self.options.seed, namespace, account, "", until)
    }

    /// Hands in what carries calls to admission webhooks.
    pub fn register_webhook_service(&self, caller: WebhookCaller) {
        self.server.set_webhook_caller(caller);
    }
}

/// A Node that is ready and has room for everything.
fn node(number: usize, now: Timestamp) -> crate::json::Value {
    let name = format!("node-{number}");
    let at = crate::server::meta::stamp(now);
    let room = json!({"cpu": "64", "memory": "256Gi", "pods": "1k"});
    json!({
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "beta.kubernetes.io/os": "linux",
            "beta.kubernetes.io/arch": "amd64",
            "kubernetes.io/arch": "amd64",
        }},
        "spec": {},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [{
                "type": "Ready",
                "status": "True",
                "reason": "KubeletReady",
                "message": "kubelet is posting ready status",
                "lastHeartbeatTime": at,
                "lastTransitionTime": at,
            }],
            "addresses": [
                {"type": "InternalIP", "address": format!("10.0.0.{}", number + 1)},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": {
                "kubeletVersion": "v1.36.3",
                "osImage": "simcluster",
                "containerRuntimeVersion": "simcluster://1",
                "kernelVersion": "0",
                "architecture": "amd64",
                "operatingSystem": "linux",
                "machineID": "",
                "systemUUID": "",
                "bootID": "",
                "kubeProxyVersion": "",
            },
        },
    })
}

/// Serves a router over plain TCP until `shutdown` is done.
pub async fn serve(
    router: Router,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    // A watch is many small writes: none of them should wait for another's acknowledgement.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY on a connection");
        }
    });
    serve_on(router, listener, shutdown).await
}

/// Serves a router on any listener until `shutdown` is done. Open watches are cut off then: they would
/// keep a graceful stop waiting for half an hour.
pub async fn serve_on<L: Listener<Addr: std::fmt::Debug>>(
    router: Router,
    listener: L,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    tokio::select! {
        biased;
        () = shutdown => Ok(()),
        out = axum::serve(listener, router) => out,
    }
}
