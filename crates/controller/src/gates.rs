//! What can be switched on and off, by the names that the original has for it.

/// The feature gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gates {
    /// `AdvancedDeployment`: Deployments are released in batches. Off, their changes are let be.
    pub advanced_deployment: bool,
    /// `MinReadySecondsStrategy`: Deployments are held by their own minReadySeconds, not by pausing them.
    pub min_ready_seconds_strategy: bool,
    /// `KeepWorkloadPausedOnRolloutDeletion`: a workload whose Rollout is deleted in mid-release stays
    /// held where it is.
    pub keep_workload_paused_on_rollout_deletion: bool,
    /// `RolloutHistory`: each release leaves a RolloutHistory behind.
    pub rollout_history: bool,
}

impl Default for Gates {
    /// As the original's own manifests have them.
    fn default() -> Self {
        Self {
            advanced_deployment: true,
            min_ready_seconds_strategy: false,
            keep_workload_paused_on_rollout_deletion: false,
            rollout_history: false,
        }
    }
}
