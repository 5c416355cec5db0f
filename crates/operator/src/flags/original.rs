//! The arguments of the original's manager, so that its manifests run this operator as they are.

use super::go;
use clap::Args;
use std::time::Duration;

/// Those that this operator has a use for.
#[derive(Debug, Clone, Args)]
pub struct Rules {
    /// Most Pods, in percent, that a step with traffic rules may have
    #[arg(
        long,
        env = "SLUICE_PARTITION_PERCENT_LIMIT",
        value_name = "PERCENT",
        default_value = "50"
    )]
    pub partition_percent_limit: u32,

    /// Refuse Rollouts of kinds of workload that are not known
    #[arg(
        long,
        env = "SLUICE_FILTER_WORKLOAD_TYPE",
        value_name = "BOOL",
        default_value = "true",
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set,
        value_parser = go::boolean,
    )]
    pub filter_workload_type: bool,
}

/// Those that are taken and change nothing: how many look at what at once is no setting here, requests are
/// counted and not throttled, and logs have flags of their own.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Ignored {
    #[arg(long, hide = true)]
    v: Option<i32>,
    #[arg(long, hide = true)]
    vmodule: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go::boolean)]
    logtostderr: Option<bool>,
    #[arg(long, hide = true)]
    stderrthreshold: Option<String>,
    #[arg(long, hide = true)]
    rollout_workers: Option<u32>,
    #[arg(long, hide = true)]
    batchrelease_workers: Option<u32>,
    #[arg(long, hide = true)]
    deployment_workers: Option<u32>,
    #[arg(long, hide = true)]
    nativedaemonset_workers: Option<u32>,
    #[arg(long, hide = true)]
    rollouthistory_workers: Option<u32>,
    #[arg(long, hide = true)]
    trafficrouting_workers: Option<u32>,
    #[arg(long, hide = true, value_parser = go::duration)]
    expectation_timeout: Option<Duration>,
    #[arg(long, hide = true, value_parser = go::duration)]
    grace_timeout: Option<Duration>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go::boolean)]
    disable_no_deepcopy: Option<bool>,
    #[arg(long, hide = true, value_parser = go::duration)]
    rate_limiter_base_delay: Option<Duration>,
    #[arg(long, hide = true, value_parser = go::duration)]
    rate_limiter_max_delay: Option<Duration>,
    #[arg(long, hide = true)]
    rate_limiter_qps: Option<f64>,
    #[arg(long, hide = true)]
    rate_limiter_bucket_size: Option<u32>,
}

impl Ignored {
    /// Those that are given, as they are written.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--v", self.v.is_some()),
            ("--vmodule", self.vmodule.is_some()),
            ("--logtostderr", self.logtostderr.is_some()),
            ("--stderrthreshold", self.stderrthreshold.is_some()),
            ("--rollout-workers", self.rollout_workers.is_some()),
            ("--batchrelease-workers", self.batchrelease_workers.is_some()),
            ("--deployment-workers", self.deployment_workers.is_some()),
            ("--nativedaemonset-workers", self.nativedaemonset_workers.is_some()),
            ("--rollouthistory-workers", self.rollouthistory_workers.is_some()),
            ("--trafficrouting-workers", self.trafficrouting_workers.is_some()),
            ("--expectation-timeout", self.expectation_timeout.is_some()),
            ("--grace-timeout", self.grace_timeout.is_some()),
            ("--disable-no-deepcopy", self.disable_no_deepcopy.is_some()),
            ("--rate-limiter-base-delay", self.rate_limiter_base_delay.is_some()),
            ("--rate-limiter-max-delay", self.rate_limiter_max_delay.is_some()),
            ("--rate-limiter-qps", self.rate_limiter_qps.is_some()),
            ("--rate-limiter-bucket-size", self.rate_limiter_bucket_size.is_some()),
        ];
        all.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }
}
