//! The flags of `sluice operator`; each has a twin in the environment, `SLUICE_` and its name.

mod address;
mod gates;
pub mod go;
mod original;

pub use address::Address;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// All flags of `sluice operator`.
#[derive(Debug, Clone, Args)]
pub struct Flags {
    /// Kubeconfig of the cluster; without it KUBECONFIG, else the account of the Pod it runs in
    #[arg(long, env = "SLUICE_KUBECONFIG", value_name = "FILE", value_parser = path)]
    pub kubeconfig: Option<PathBuf>,

    /// Serve one namespace; without it all namespaces
    #[arg(long, env = "SLUICE_NAMESPACE", value_name = "NAME")]
    pub namespace: Option<String>,

    /// Namespace of the operator's own Lease and Secret; without it the namespace of its Pod, or of
    /// the kubeconfig's context
    #[arg(long, env = "SLUICE_OPERATOR_NAMESPACE", value_name = "NAME")]
    pub operator_namespace: Option<String>,

    /// Least time between two actions on one rollout
    #[arg(
        long,
        env = "SLUICE_RECONCILE_INTERVAL",
        value_name = "DURATION",
        default_value = "2s",
        value_parser = go::period,
    )]
    pub reconcile_interval: Duration,

    /// Act only while holding the Lease, so that several replicas can stand by
    #[arg(
        long,
        env = "SLUICE_LEADER_ELECT",
        value_name = "BOOL",
        default_value = "true",
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set,
        value_parser = go::boolean,
    )]
    pub leader_elect: bool,

    /// How long a Lease lasts that its holder doesn't renew
    #[arg(
        long,
        env = "SLUICE_LEADER_ELECT_LEASE_DURATION",
        value_name = "DURATION",
        default_value = "15s",
        value_parser = go::period,
    )]
    pub leader_elect_lease_duration: Duration,

    /// How long the leader tries to renew before it gives up; less than the lease duration
    #[arg(
        long,
        env = "SLUICE_LEADER_ELECT_RENEW_DEADLINE",
        value_name = "DURATION",
        default_value = "10s",
        value_parser = go::period,
    )]
    pub leader_elect_renew_deadline: Duration,

    /// Time between two tries to take or renew the Lease; less than the renew deadline
    #[arg(
        long,
        env = "SLUICE_LEADER_ELECT_RETRY_PERIOD",
        value_name = "DURATION",
        default_value = "2s",
        value_parser = go::period,
    )]
    pub leader_elect_retry_period: Duration,

    /// Where /metrics is served; 0 is off
    #[arg(
        long,
        env = "SLUICE_METRICS_BIND_ADDRESS",
        value_name = "ADDRESS",
        default_value = ":8080"
    )]
    pub metrics_bind_address: Address,

    /// Where /healthz and /readyz are served; 0 is off
    #[arg(
        long,
        env = "SLUICE_HEALTH_PROBE_BIND_ADDRESS",
        value_name = "ADDRESS",
        default_value = ":8081"
    )]
    pub health_probe_bind_address: Address,

    /// Where the admission webhook is served, by HTTPS; empty or 0 is off
    #[arg(long, env = "SLUICE_WEBHOOK_BIND_ADDRESS", value_name = "ADDRESS", default_value = "")]
    pub webhook_bind_address: Address,

    /// Where the API server reaches the webhook when the operator runs outside of the cluster, as
    /// in https://192.0.2.7:9443; without it by the Service
    #[arg(long, env = "SLUICE_WEBHOOK_URL", value_name = "URL")]
    pub webhook_url: Option<String>,

    /// The Service, in the operator's namespace, by which the API server reaches the webhook
    #[arg(
        long,
        env = "SLUICE_WEBHOOK_SERVICE",
        value_name = "NAME",
        default_value = "sluice-webhook"
    )]
    pub webhook_service: String,

    /// What is switched on and off, as in AdvancedDeployment=true,RolloutHistory=true
    #[arg(
        long,
        env = "SLUICE_FEATURE_GATES",
        value_name = "GATES",
        value_delimiter = ',',
        value_parser = gates::item,
    )]
    pub feature_gates: Vec<gates::Item>,

    /// What may be set about the rules for Rollouts.
    #[command(flatten)]
    pub rules: original::Rules,

    #[command(flatten)]
    pub(crate) ignored: original::Ignored,

    /// How long a stop may take: the action under way ends, the Lease is given back
    #[arg(
        long,
        env = "SLUICE_SHUTDOWN_TIMEOUT",
        value_name = "DURATION",
        default_value = "20s",
        value_parser = go::period,
    )]
    pub shutdown_timeout: Duration,

    /// How log lines look
    #[arg(
        long,
        env = "SLUICE_LOG_FORMAT",
        value_name = "FORMAT",
        value_enum,
        default_value = "text"
    )]
    pub log_format: LogFormat,

    /// What is logged: error, warn, info, debug, trace, or by part, as in info,controller=debug
    #[arg(
        long,
        env = "SLUICE_LOG_LEVEL",
        value_name = "LEVEL",
        default_value = "info",
        value_parser = crate::logs::level,
    )]
    pub log_level: String,
}

/// clap's own parser of paths refuses the empty one, which a variable that is set but empty gives.
fn path(text: &str) -> Result<PathBuf, std::convert::Infallible> {
    Ok(PathBuf::from(text))
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A line for people.
    Text,
    /// A JSON object a line.
    Json,
}

impl Flags {
    /// What is switched on and off.
    pub fn gates(&self) -> controller::Gates {
        gates::gates(&self.feature_gates).0
    }

    /// What may be set about the rules for Rollouts.
    pub(crate) fn rules(&self) -> api::batches::Rules {
        api::batches::Rules {
            partition_percent_limit: self.rules.partition_percent_limit,
            filter_workload_type: self.rules.filter_workload_type,
        }
    }

    /// What is given and changes nothing, a sentence each.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let (_, mut remarks) = gates::gates(&self.feature_gates);
        let ignored = self.ignored.given();
        remarks.extend(ignored.iter().map(|flag| format!("{flag} has no effect")));
        remarks
    }

    /// Refuses what each flag alone can't see. A variable of the environment that is set but empty
    /// counts as not set.
    pub(crate) fn settled(mut self) -> Result<Self, crate::Error> {
        self.kubeconfig = self.kubeconfig.filter(|path| !path.as_os_str().is_empty());
        self.namespace = self.namespace.filter(|name| !name.is_empty());
        self.operator_namespace = self.operator_namespace.filter(|name| !name.is_empty());
        self.webhook_url = self.webhook_url.filter(|url| !url.is_empty());
        let lease = self.leader_elect_lease_duration;
        let renew = self.leader_elect_renew_deadline;
        let retry = self.leader_elect_retry_period;
        if self.leader_elect && !(lease > renew && renew > retry) {
            return Err(crate::Error::LeaseTimes { lease, renew, retry });
        }
        if let Some(url) = &self.webhook_url {
            crate::registration::host_of(url)?;
            if self.webhook_bind_address == Address::Off {
                return Err(crate::Error::UrlWithoutWebhook);
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        flags: Flags,
    }

    fn parsed(arguments: &[&str]) -> Flags {
        Line::try_parse_from([&["operator"], arguments].concat()).unwrap().flags
    }

    #[test]
    fn every_flag_has_a_twin_in_the_environment_a_help_text_and_a_line_in_the_docs() {
        let docs = include_str!("../../../../docs/operator-flags.md");
        let command = Line::command();
        for flag in command.get_arguments().filter(|flag| flag.get_id() != "help") {
            let name = flag.get_long().unwrap();
            if flag.is_hide_set() {
                // Taken from the original's manifests, and without effect.
                assert!(docs.contains(&format!("`--{name}`")), "docs/operator-flags.md: {name}");
                continue;
            }
            let twin = format!("SLUICE_{}", name.to_uppercase().replace('-', "_"));
            assert_eq!(flag.get_env().and_then(|env| env.to_str()), Some(twin.as_str()), "{name}");
            assert!(flag.get_help().is_some(), "{name}");
            let row = format!("| `--{name}` | `{twin}` |");
            assert!(docs.contains(&row), "docs/operator-flags.md has no line {row}");
        }
    }

    #[test]
    fn leader_election_is_switched_as_in_go() {
        fn check(arguments: &[&str], expect: bool) {
            assert_eq!(parsed(arguments).leader_elect, expect, "{arguments:?}");
        }
        check(&[], true);
        check(&["--leader-elect"], true);
        check(&["--leader-elect=true"], true);
        check(&["--leader-elect=false"], false);
        check(&["--leader-elect=F"], false);
    }

    #[test]
    fn the_webhook_is_off_by_default() {
        assert_eq!(parsed(&[]).webhook_bind_address, Address::Off);
        let on = parsed(&["--webhook-bind-address=127.0.0.1:9443"]);
        assert_ne!(on.webhook_bind_address, Address::Off);
    }

    #[test]
    fn the_arguments_of_the_original_are_taken() {
        let flags = parsed(&[
            "--health-probe-bind-address=:8081",
            "--metrics-bind-address=127.0.0.1:8080",
            "--leader-elect",
            "--feature-gates=AdvancedDeployment=true,AppendPodSelector=true",
            "--feature-gates=RolloutHistory=true",
            "--v=5",
            "--rollout-workers=3",
            "--rate-limiter-qps=10",
            "--grace-timeout=5m",
            "--filter-workload-type=false",
        ]);
        assert!(flags.gates().advanced_deployment && flags.gates().rollout_history);
        assert!(!flags.rules().filter_workload_type);
        let remarks = flags.settled().unwrap().remarks().join("; ");
        for word in ["AppendPodSelector", "--v ", "--rollout-workers", "--rate-limiter-qps"] {
            assert!(remarks.contains(word), "{remarks}");
        }
        assert!(!remarks.contains("--leader-elect"), "{remarks}");
        assert_eq!(parsed(&[]).remarks(), Vec::<String>::new());
    }

    #[test]
    fn a_wrong_value_is_refused_with_its_flag() {
        fn check(argument: &str, says: &[&str]) {
            let error = Line::try_parse_from(["operator", argument]).unwrap_err().to_string();
            for says in says {
                assert!(error.contains(says), "{argument}: {error}");
            }
        }
        check("--reconcile-interval=2", &["--reconcile-interval", "the unit is missing"]);
        check("--reconcile-interval=0s", &["--reconcile-interval", "more than zero"]);
        check("--leader-elect=maybe", &["--leader-elect", "true or false"]);
        check("--metrics-bind-address=8080", &["--metrics-bind-address", ":8080"]);
        check("--log-level=info,=loud=", &["--log-level"]);
        check("--log-format=xml", &["--log-format", "json"]);
        check("--feature-gates=Fast=true", &["--feature-gates", "Fast", "AdvancedDeployment"]);
    }

    #[test]
    fn lease_times_out_of_order_are_refused() {
        let error = parsed(&["--leader-elect-renew-deadline=15s"]).settled().unwrap_err();
        assert!(error.to_string().contains("--leader-elect-renew-deadline"), "{error}");
        let off = parsed(&["--leader-elect=false", "--leader-elect-renew-deadline=15s"]);
        assert!(off.settled().is_ok());
    }

    #[test]
    fn an_empty_value_counts_as_none() {
        let flags = parsed(&["--namespace=", "--kubeconfig=", "--webhook-url="]).settled().unwrap();
        assert_eq!((flags.namespace, flags.kubeconfig, flags.webhook_url), (None, None, None));
    }

    #[test]
    fn a_url_without_a_webhook_is_refused() {
        let error = parsed(&["--webhook-url=https://192.0.2.7:9443"]).settled().unwrap_err();
        assert!(error.to_string().contains("--webhook-bind-address"), "{error}");
    }
}
