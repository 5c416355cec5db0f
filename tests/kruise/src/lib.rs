//! Controllers of the embedded cluster, driven through the API of a real server.
//!
//! A real control plane has no Kruise. `simcluster` has its controllers as pure steps
//! (`simcluster::behaviour`), and a step cares little where its picture comes from: here it is kept
//! by watches ([`picture`]), and what a step wants is sent as requests ([`carry`]). So the same rules
//! stand behind CloneSets on both clusters, and what is found on the real one is true of the embedded.
//!
//! [`Driver`] never looks at a key before its picture shows what the last look at it wrote: a Pod whose
//! name is drawn by chance would be made twice.

pub mod carry;
pub mod clock;
pub mod driver;
pub mod install;
pub mod picture;
pub mod resource;
pub mod watch;

pub use driver::{Driver, Failure};

use kube::Client;
use simcluster::behaviour::kruise::clone_set::CloneSets;
use simcluster::behaviour::kruise::daemon_set::AdvancedDaemonSets;
use simcluster::behaviour::kruise::stateful_set::AdvancedStatefulSets;
use simcluster::behaviour::kruise::{
    ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS, definitions,
};
use simcluster::object::{CLAIMS, CONTROLLER_REVISIONS, Collection, NODES, PODS};

/// What Kruise's controllers look at.
pub const WATCHED: [Collection; 7] = [
    CLONESETS,
    ADVANCED_STATEFULSETS,
    ADVANCED_DAEMONSETS,
    PODS,
    CONTROLLER_REVISIONS,
    CLAIMS,
    NODES,
];

/// Brings Kruise to a real cluster: installs its definitions; its controllers run while the driver does.
pub async fn install_all(client: &Client) -> Result<Driver, install::NotServed> {
    let all = definitions::all();
    install::install(client, &all).await?;
    let kinds = resource::Kinds::with(&all);
    Ok(Driver::new(client.clone(), clock::wall(), kinds, &WATCHED, SEED).with_kruise())
}

impl Driver {
    /// Adds the controllers of Kruise's workloads, which look at all that is [`WATCHED`].
    #[must_use]
    pub fn with_kruise(self) -> Self {
        self.with(CloneSets, 10..=40)
            .with(AdvancedStatefulSets, 10..=40)
            .with(AdvancedDaemonSets::default(), 10..=40)
    }
}

/// A real cluster has its own time, so that a seed fixes nothing there.
const SEED: u64 = 1;
