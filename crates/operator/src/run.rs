//! The whole process, put together.

use crate::admission::Upkeep;
use crate::certificates::Shown;
use crate::client::{self, Connection};
use crate::election::Election;
use crate::flags::Flags;
use crate::ready::Readiness;
use crate::registration::{Way, at_port};
use crate::servers::{Servers, listen};
use crate::{Error, https, identity, probes, stopping};
use axum::Router;
use cluster::Clock;
use controller::admission::Admission;
use controller::{Attention, Context, Metrics, Settings};
use futures::FutureExt;
use prometheus_client::registry::Registry;
use std::future::Future;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const METRICS: &str = "--metrics-bind-address";
const HEALTH: &str = "--health-probe-bind-address";
const WEBHOOK: &str = "--webhook-bind-address";

/// Serves the cluster until `shutdown` resolves; then the actions under way end and the Lease is
/// given back, within `--shutdown-timeout`.
///
/// An API server that is down, a custom resource that is not installed yet, and a permission that
/// is missing are waited for; `/readyz` says which.
///
/// # Errors
/// What waiting does not mend: a wrong flag or kubeconfig, a taken port, a lost Lease, a stop that
/// took too long.
pub async fn run(flags: Flags, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
    let flags = flags.settled()?;
    let limit = flags.shutdown_timeout;
    for remark in flags.remarks() {
        tracing::warn!("{remark}");
    }
    let stop = CancellationToken::new();
    stopping::until_told(process(&flags, &stop), shutdown, stop.clone(), limit).await
}

async fn process(flags: &Flags, stop: &CancellationToken) -> Result<(), Error> {
    let config = client::configuration(flags.kubeconfig.as_deref()).await?;
    let connection = client::connect(config)?;
    let parts = Parts::new(flags, connection, Clock::system());

    let mut servers = Servers::default();
    let metrics = listen(METRICS, flags.metrics_bind_address).await?;
    let health = listen(HEALTH, flags.health_probe_bind_address).await?;
    let webhook = listen(WEBHOOK, flags.webhook_bind_address).await?;
    servers.plain(METRICS, metrics, probes::metrics(parts.registry.clone()));
    servers.plain(HEALTH, health, probes::health(parts.readiness.clone()));
    // Handshakes fail until there is a certificate to show.
    let shown = match webhook {
        Some(listener) => {
            let shown = Shown::default();
            let port = listener.local_addr().map(|at| at.port()).unwrap_or_default();
            let url = flags.webhook_url.as_ref().map(|url| at_port(url, port));
            let router = Router::new().fallback_service(parts.admission(flags));
            let tls = shown.server_config()?;
            servers.other(|stop| https::serve(listener, tls, router, stop).map(Ok));
            Some((shown, url))
        }
        None => None,
    };

    let ended = tokio::select! { biased;
        failed = servers.failed() => Err(failed),
        ended = parts.serve(flags, stop, shown) => ended,
    };
    servers.stop().await;
    ended
}

/// What the parts of the process share.
struct Parts {
    connection: Connection,
    /// Of our own Lease and Secret.
    namespace: String,
    clock: Clock,
    readiness: Readiness,
    metrics: Metrics,
    registry: Arc<Registry>,
    attention: Attention,
}

impl Parts {
    fn new(flags: &Flags, connection: Connection, clock: Clock) -> Self {
        let own = flags.operator_namespace.clone();
        let namespace = own.unwrap_or_else(|| connection.namespace.clone());
        let metrics = Metrics::default();
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let attention = Attention::new();
        let readiness = Readiness::default();
        let caches = attention.caches.clone();
        readiness.ask("caches", move || caches.waiting_for());
        Self {
            connection,
            namespace,
            clock,
            readiness,
            metrics,
            registry: Arc::new(registry),
            attention,
        }
    }

    /// Waits for the cluster, then serves it until `stop`.
    async fn serve(
        &self,
        flags: &Flags,
        stop: &CancellationToken,
        shown: Option<(Shown, Option<String>)>,
    ) -> Result<(), Error> {
        let server = self.readiness.wait_for("API server");
        let resource = self.readiness.wait_for("custom resource");
        let admission =
            shown.map(|(shown, url)| (shown, url, self.readiness.wait_for("admission")));
        let there = async {
            client::wait_for_server(&self.connection, server).await;
            client::wait_for_resource(&self.connection, resource).await;
        };
        tokio::select! { biased;
            () = stop.cancelled() => return Ok(()),
            () = there => {}
        }

        let certified = async {
            match admission {
                Some((shown, url, handle)) => self.upkeep(flags, url).keep(&shown, handle).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! { biased;
            failed = certified => failed,
            ended = self.control(flags, stop) => ended,
        }
    }

    /// The controller, inside of the election.
    async fn control(&self, flags: &Flags, stop: &CancellationToken) -> Result<(), Error> {
        let Connection { client, .. } = &self.connection;
        let me = identity::identity(self.clock.now());
        let election = Election::join(flags, client, &self.clock, &me, &self.namespace);
        let settings = Settings { seed: identity::seed(&me), identity: me, ..settings(flags) };
        let context = Context {
            client: client.clone(),
            clock: self.clock.clone(),
            settings,
            leadership: election.leadership(),
            metrics: self.metrics.clone(),
            attention: self.attention.clone(),
        };
        let ended = controller::run(context, stop.cancelled()).await;
        let ended = ended.map_err(|controller::Lost| election.lost());
        election.leave().await?;
        ended
    }

    /// What judges reviews, by the same caches as the controller.
    fn admission(&self, flags: &Flags) -> Admission {
        Admission {
            attention: self.attention.clone(),
            clock: self.clock.clone(),
            settings: settings(flags).engine,
            rules: flags.rules(),
            gates: flags.gates(),
            metrics: self.metrics.clone(),
        }
    }

    /// What keeps the admission endpoint's certificate fresh.
    fn upkeep(&self, flags: &Flags, url: Option<String>) -> Upkeep {
        let way = match url {
            Some(url) => Way::Url(url),
            None => Way::Service {
                namespace: self.namespace.clone(),
                name: flags.webhook_service.clone(),
            },
        };
        Upkeep {
            connection: self.connection.clone(),
            namespace: self.namespace.clone(),
            way,
            only: flags.namespace.clone(),
            clock: self.clock.clone(),
        }
    }
}

/// What the flags say to the loop.
fn settings(flags: &Flags) -> Settings {
    let (namespace, gates) = (flags.namespace.clone(), flags.gates());
    let mut settings = Settings { namespace, gates, ..Settings::default() };
    let interval = flags.reconcile_interval.try_into();
    settings.engine.interval = interval.unwrap_or(jiff::SignedDuration::MAX);
    settings
}

#[cfg(test)]
mod judge;
#[cfg(test)]
mod under_its_roles;
