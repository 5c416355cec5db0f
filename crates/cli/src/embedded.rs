//! The embedded cluster on loopback, with a kubeconfig for it.

mod tls;

use std::future::Future;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use base64::Engine as _;
use cluster::Clock;
use jiff::SignedDuration;
use serde_json::json;
use simcluster::cluster::{Options, SimCluster};
use tokio::net::TcpListener;

use crate::exit::Failure;
use crate::webhook;

/// What the cluster is made of.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Flags {
    /// Where the kubeconfig is written
    #[arg(long, value_name = "FILE", default_value = "sluice.kubeconfig")]
    pub(crate) kubeconfig: PathBuf,

    /// How many Nodes there are
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=5000))]
    pub(crate) nodes: u16,

    /// How long a Pod takes to come up, as in 500ms or 10s
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = operator::flags::go::duration)]
    pub(crate) start_up: Duration,

    /// Have Kruise's CloneSets, StatefulSets and DaemonSets, and what runs behind them
    #[arg(long)]
    pub(crate) kruise: bool,

    /// Where it listens, on loopback only since whoever comes may do everything; port 0 is any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", value_parser = loopback)]
    pub(crate) listen: SocketAddr,
}

/// What the one context is called, and its cluster and its user.
const CONTEXT: &str = "sluice";

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let text = text.replacen("localhost:", "127.0.0.1:", 1);
    let address: SocketAddr =
        text.parse().map_err(|_| "an address looks like 127.0.0.1:6443".to_owned())?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err("everybody who reaches it may do everything, so it listens on loopback only".to_owned())
}

/// A cluster that listens.
pub(crate) struct Embedded {
    /// `https://127.0.0.1:PORT`.
    pub(crate) url: String,
    kubeconfig: PathBuf,
    listener: tls::Listener,
    router: Router,
    cluster: SimCluster,
}

impl Embedded {
    /// Listens and writes the kubeconfig.
    pub(crate) async fn start(flags: &Flags) -> Result<Self, Failure> {
        let listener = TcpListener::bind(flags.listen).await.map_err(|error| {
            Failure::Failed(format!("--listen {}: cannot listen: {error}", flags.listen))
        })?;
        let address = listener.local_addr()?;
        let clock = Clock::system();
        // A cluster of its own each time: names and UIDs are not those of the last one.
        let seed = clock.now().as_nanosecond().unsigned_abs() as u64;
        let options = Options {
            nodes: usize::from(flags.nodes),
            start_up: SignedDuration::try_from(flags.start_up).unwrap_or(SignedDuration::MAX),
            address: address.to_string(),
            kruise: flags.kruise,
            ..Options::new(seed, Arc::new(move || clock.now()))
        };
        let cluster = SimCluster::new(options);
        cluster.register_webhook_service(webhook::caller());
        let url = format!("https://{address}");
        let (listener, identity) = tls::around(listener)
            .map_err(|error| Failure::Failed(format!("cannot make a certificate: {error}")))?;
        write(&flags.kubeconfig, &kubeconfig(&url, &identity))?;
        let (router, kubeconfig) = (cluster.router(), flags.kubeconfig.clone());
        Ok(Self { url, kubeconfig, listener, router, cluster })
    }

    /// Where the kubeconfig is.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Serves and lives until it is dropped.
    pub(crate) fn run(self) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        let life = self.cluster.drive();
        let Self { listener, router, cluster, .. } = self;
        async move {
            // The store lives as long as it is served.
            let _cluster = cluster;
            tokio::select! { biased;
                // Whoever watches never hangs up by himself: the end does not wait for anybody.
                served = simcluster::cluster::serve_on(router, listener, std::future::pending()) => served,
                () = life => Ok(()),
            }
        }
    }
}

/// A kubeconfig with one context, `sluice`, for the server with this certificate. Its user says nothing of
/// himself to the server, which asks nobody for a certificate: he is the admin, until `kubectl --token` or
/// `--as` says otherwise. But over TLS kubectl asks a user who has nothing at all for name and password.
fn kubeconfig(url: &str, identity: &tls::Identity) -> String {
    let encoded = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let authority = encoded(&identity.certificate);
    api::to_yaml(&json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [{"name": CONTEXT, "cluster": {
            "server": url,
            "certificate-authority-data": authority,
        }}],
        "users": [{"name": CONTEXT, "user": {
            "client-certificate-data": authority,
            "client-key-data": encoded(&identity.key),
        }}],
        "contexts": [{
            "name": CONTEXT,
            "context": {"cluster": CONTEXT, "user": CONTEXT, "namespace": "default"},
        }],
    }))
}

/// Puts the file in place whole, for its owner's eyes: nobody reads half of it, and nobody loses the way to
/// another cluster.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |why: &str| {
        Failure::Failed(format!("cannot write the kubeconfig {}: {why}", path.display()))
    };
    if let Ok(there) = std::fs::metadata(path)
        && !(there.is_file() && ours(path))
    {
        let why = "what is there is not from an embedded cluster; --kubeconfig names another place";
        return Err(failed(why));
    }
    let beside = path.with_extension("kubeconfig.new");
    // One that a stopped process left may be open to others.
    let _ = std::fs::remove_file(&beside);
    let mut options = std::fs::OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(&beside);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.and_then(|()| std::fs::rename(&beside, path)).map_err(|error| {
        // What is left of it is of no use to anybody.
        let _ = std::fs::remove_file(&beside);
        failed(&error.to_string())
    })
}

/// Whether a file is empty, or a kubeconfig that leads to embedded clusters alone.
fn ours(path: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(path) else { return false };
    let read = kube::config::Kubeconfig::from_yaml(&text);
    text.trim().is_empty()
        || read.is_ok_and(|read| {
            !read.contexts.is_empty() && read.contexts.iter().all(|one| one.name == CONTEXT)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_listens_on_loopback_only() {
        fn check(text: &str, expect: bool) {
            assert_eq!(loopback(text).is_ok(), expect, "{text}");
        }
        check("127.0.0.1:0", true);
        check("localhost:6443", true);
        check("[::1]:6443", true);
        check("0.0.0.0:6443", false);
        check("192.0.2.1:6443", false);
        check("6443", false);
    }

    #[test]
    fn the_kubeconfig_is_one_that_clients_read() {
        let words = || "words".to_owned();
        let identity = tls::Identity { certificate: words(), key: words() };
        let text = kubeconfig("https://127.0.0.1:1", &identity);
        let read = kube::config::Kubeconfig::from_yaml(&text).unwrap();
        assert_eq!(read.current_context.as_deref(), Some("sluice"));
        assert_eq!(
            read.contexts[0].context.as_ref().unwrap().namespace.as_deref(),
            Some("default")
        );
        let user = read.auth_infos[0].auth_info.as_ref().unwrap();
        assert!(user.client_certificate_data.is_some(), "kubectl would ask for name and password");
    }

    #[test]
    fn a_kubeconfig_is_its_owners_and_never_written_over_that_of_another_cluster() {
        fn check(before: Option<&str>, expect: bool) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("kubeconfig");
            if let Some(before) = before {
                std::fs::write(&path, before).unwrap();
            }
            assert_eq!(write(&path, "new").is_ok(), expect, "{before:?}");
            let after = std::fs::read_to_string(&path).unwrap();
            assert_eq!(after, if expect { "new" } else { before.unwrap_or_default() });
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left");
            if expect {
                let mode = std::os::unix::fs::PermissionsExt::mode(
                    &std::fs::metadata(&path).unwrap().permissions(),
                );
                assert_eq!(mode & 0o777, 0o600);
            }
        }
        let identity = tls::Identity { certificate: String::new(), key: String::new() };
        let own = kubeconfig("https://127.0.0.1:1", &identity);
        check(None, true);
        check(Some(""), true);
        check(Some(&own), true);
        check(Some(&own.replace("sluice", "production")), false);
        check(Some("no kubeconfig at all"), false);
    }

    #[test]
    fn what_is_no_file_stays_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write(folder.path(), "new").is_err());
        assert!(folder.path().is_dir());
    }

    #[tokio::test]
    async fn who_comes_with_a_token_is_heard_since_it_comes_over_tls() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubeconfig");
        let flags = Flags {
            kubeconfig: path.clone(),
            nodes: 1,
            start_up: Duration::ZERO,
            kruise: false,
            listen: "127.0.0.1:0".parse().unwrap(),
        };
        let served = tokio::spawn(Embedded::start(&flags).await.ok().unwrap().run());
        let ask = async |token: Option<&str>| {
            let mut config = kube::config::Kubeconfig::read_from(&path).unwrap();
            if let Some(token) = token {
                let user = config.auth_infos[0].auth_info.as_mut().unwrap();
                user.token = Some(token.to_owned().into());
            }
            let options = kube::config::KubeConfigOptions::default();
            let config = kube::Config::from_custom_kubeconfig(config, &options).await.unwrap();
            let client = kube::Client::try_from(config).unwrap();
            let request = http::Request::get("/api/v1/namespaces/default").body(Vec::new());
            match client.request_text(request.unwrap()).await {
                Ok(_) => 200,
                Err(kube::Error::Api(status)) => status.code,
                Err(other) => panic!("{other}"),
            }
        };
        assert_eq!(ask(None).await, 200);
        assert_eq!(ask(Some("nobody's")).await, 401);
        served.abort();
    }
}
