//! The cluster that a session talks to: a kubeconfig, and whatever serves it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::SignedDuration;
use simcluster::cluster::{Options, SimCluster, serve};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// Where a session's `kubectl` looks.
pub struct Address {
    /// `https://127.0.0.1:6443`.
    pub server: String,
    /// What the kubeconfig says of the user and the cluster, beside the server: JSON of both.
    pub kubeconfig: serde_json::Value,
}

impl Address {
    /// Of a cluster that asks nobody who he is.
    pub fn open(server: String) -> Self {
        let kubeconfig = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "sluice",
            "clusters": [{"name": "sluice", "cluster": {"server": server}}],
            "users": [{"name": "sluice", "user": {}}],
            "contexts": [{"name": "sluice", "context": {"cluster": "sluice", "user": "sluice"}}],
        });
        Self { server, kubeconfig }
    }

    /// The kubeconfig with this namespace as default, in a folder.
    pub fn write(&self, folder: &Path, namespace: &str) -> std::io::Result<PathBuf> {
        let mut config = self.kubeconfig.clone();
        config["contexts"][0]["context"]["namespace"] = namespace.into();
        let path = folder.join("kubeconfig");
        std::fs::write(&path, config.to_string())?;
        Ok(path)
    }
}

/// The embedded cluster on a port of its own, alive until this is dropped.
pub struct Served {
    /// Where it is.
    pub address: Address,
    /// A home for `kubectl`'s cache.
    pub folder: TempDir,
    tasks: Vec<JoinHandle<()>>,
}

impl Served {
    /// Brings one up on the runtime that calls.
    pub async fn up() -> std::io::Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let start = tokio::time::Instant::now();
        // `kubectl` reckons ages from its own clock, so this cluster has to live in the same time.
        #[allow(clippy::disallowed_methods)]
        let zero = jiff::Timestamp::now();
        let clock = Arc::new(move || zero.saturating_add(start.elapsed()).unwrap_or(zero));
        let options = Options {
            start_up: SignedDuration::from_millis(100),
            address: address.to_string(),
            ..Options::new(7, clock)
        };
        let cluster = SimCluster::new(options);
        let (router, life) = (cluster.router(), cluster.drive());
        let tasks = vec![
            tokio::spawn(life),
            tokio::spawn(async move {
                let _cluster = cluster;
                let served = serve(router, listener, std::future::pending()).await;
                served.expect("loopback is served");
            }),
        ];
        let folder = tempfile::tempdir()?;
        Ok(Self { address: Address::open(format!("http://{address}")), folder, tasks })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}
