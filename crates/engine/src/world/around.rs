//! What stands around a workload: disruption budgets, and service discovery.

use std::collections::BTreeSet;

use jiff::Timestamp;

/// A PodDisruptionBudget that selects the workload's Pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Name.
    pub name: String,
    /// Its limit as the user wrote it: `maxUnavailable: 30%`; [`Budget::NO_LIMIT`] where there is none.
    pub limit: String,
    /// Whether its status speaks of its spec.
    pub observed: bool,
    /// `status.disruptionsAllowed`.
    pub allowed: u32,
    /// `status.currentHealthy`.
    pub current_healthy: u32,
    /// `status.desiredHealthy`.
    pub desired_healthy: u32,
    /// `status.expectedPods`.
    pub expected: u32,
    /// Whether `unhealthyPodEvictionPolicy` is `AlwaysAllow`.
    pub always_allow_unhealthy: bool,
    /// Why its controller cannot compute it (`DisruptionAllowed` is false, reason `SyncFailed`).
    pub sync_failed: Option<String>,
}

impl Budget {
    /// The limit of one that has none. Kubernetes takes it, and never allows a disruption then.
    pub const NO_LIMIT: &str = "neither minAvailable nor maxUnavailable";
}

/// What service discovery says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// The rollout names no service.
    NotAsked,
    /// It names some, but this operator has no service discovery: it gates nothing, and says so.
    NotConfigured,
    /// A reading.
    Read {
        /// When it was taken.
        at: Timestamp,
        /// The named services that exist.
        services: Vec<String>,
        /// Pods that every existing service lists as passing, by name.
        passing: BTreeSet<String>,
    },
    /// It cannot be reached.
    Unreachable {
        /// Since when.
        since: Timestamp,
        /// What was said.
        message: String,
    },
}
