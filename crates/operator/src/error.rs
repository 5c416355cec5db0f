//! What ends the process with a failure.

use std::time::Duration;

/// Why the operator couldn't run, or had to end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kubeconfig can't be read or makes no sense.
    #[error("kubeconfig {path}: {source}")]
    Kubeconfig { path: String, source: Box<kube::config::KubeconfigError> },
    /// Neither a kubeconfig nor a Pod's account.
    #[error(
        "no cluster to serve: give --kubeconfig or KUBECONFIG, or run in a Pod with a service \
         account ({0})"
    )]
    NoCluster(Box<kube::config::InClusterError>),
    /// A client can't be made from the configuration, for instance of a bad certificate in it.
    #[error("client for {address}: {source}")]
    Client { address: String, source: Box<kube::Error> },
    /// A server's address can't be had.
    #[error(
        "{flag}={address}: cannot listen: {source}; give another address, or 0 to switch it off"
    )]
    Listen { flag: &'static str, address: String, source: std::io::Error },
    /// A server stopped by itself.
    #[error("the server of {flag} stopped: {source}")]
    Serve { flag: &'static str, source: std::io::Error },
    /// A part of the process died of a bug.
    #[error("a part of the operator died: {0}")]
    Task(tokio::task::JoinError),
    /// The times of the leader election contradict each other.
    #[error(
        "--leader-elect-lease-duration ({lease:?}) must be longer than \
         --leader-elect-renew-deadline ({renew:?}), and that longer than \
         --leader-elect-retry-period ({retry:?})"
    )]
    LeaseTimes { lease: Duration, renew: Duration, retry: Duration },
    /// The address for the API server is none.
    #[error("--webhook-url={url}: {problem}; it looks like https://192.0.2.7:9443")]
    WebhookUrl { url: String, problem: String },
    /// An address for the API server, but nothing is served there.
    #[error("--webhook-url is given, but the webhook is off: give --webhook-bind-address too")]
    UrlWithoutWebhook,
    /// Making or loading a certificate.
    #[error("certificate of the webhook: {0}")]
    Certificate(String),
    /// Leadership went to somebody else, or couldn't be renewed in time.
    #[error(
        "lost the lease {lease}: it could not be renewed in time, or another has it; stopping \
         before two act at once"
    )]
    LeaseLost { lease: String },
    /// The stop took longer than it may.
    #[error("not stopped within {0:?} (--shutdown-timeout); what was under way is cut off")]
    StopTimedOut(Duration),
}
