//! The spec of a `StatefulsetRollout`, field for field as published, and ours beside it.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schema;
use super::statefulset::{RawStatefulSet, statefulset_schema};
use super::status::StatefulsetRolloutStatus;

/// What the engineer wants: a StatefulSet, and how far and how fast it is rolled out.
///
/// Optional fields stay absent when absent, so that a manifest comes out of these types as it went
/// in; the getters give the defaults.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "bedrock.operator.slack.com",
    version = "v1",
    kind = "StatefulsetRollout",
    plural = "statefulsetrollouts",
    singular = "statefulsetrollout",
    shortname = "ssr",
    category = "sluice",
    namespaced,
    status = "StatefulsetRolloutStatus",
    derive = "PartialEq",
    doc = "Rolls a StatefulSet out by percent, paced by its PodDisruptionBudget",
    scale(
        spec_replicas_path = ".spec.statefulset.spec.replicas",
        status_replicas_path = ".status.readyReplicas",
        label_selector_path = ".status.selector"
    ),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase", description = "Where the rollout is"),
    printcolumn(name = "Percent", type_ = "integer", json_path = ".spec.percent", description = "Percent that is asked for"),
    printcolumn(name = "Updated", type_ = "string", json_path = ".status.progress", description = "Updated Pods/target/replicas"),
    printcolumn(name = "Ready", type_ = "integer", json_path = ".status.readyReplicas", description = "Pods that are ready"),
    printcolumn(name = "Paused", type_ = "boolean", json_path = ".status.paused", description = "Whether the rollout is paused"),
    printcolumn(name = "Reason", type_ = "string", json_path = ".status.reason", description = "Why it is in this phase"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = Rule::new(
        "size(has(self.spec.statefulset.metadata) && has(self.spec.statefulset.metadata.name) && self.spec.statefulset.metadata.name != '' ? self.spec.statefulset.metadata.name : self.metadata.name) <= 52"
    ).message("the StatefulSet's name (spec.statefulset.metadata.name, else metadata.name) may have at most 52 characters: with a revision's hash it becomes a label value of at most 63"),
)]
#[serde(rename_all = "camelCase")]
#[schemars(
    description = "What is wanted: a StatefulSet, and how far and how fast it is rolled out."
)]
pub struct StatefulsetRolloutSpec {
    /// Where success or failure is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::bapi")]
    pub bapi: Option<Bapi>,

    /// Slack channel for notifications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::short_text")]
    pub channel: Option<String>,

    /// Least seconds between two Pod rotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::eviction_interval")]
    pub min_pod_eviction_interval_seconds: Option<i64>,

    /// How much the operator tells the channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::notify_level")]
    pub notify_level: Option<NotifyLevel>,

    /// True pauses an ongoing rollout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::pause_requested")]
    pub pause_requested: Option<bool>,

    /// How much of the set is to run the new revision, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::percent")]
    pub percent: Option<i64>,

    /// Seconds without progress, while waiting on Pods, after which the rollout has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::progress_deadline")]
    pub progress_deadline_seconds: Option<i64>,

    /// A new value starts the rollout again, also after a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::text")]
    pub rollout_identity: Option<String>,

    /// Consul services that must see a Pod healthy before it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::service_discovery")]
    pub service_discovery: Option<ServiceDiscovery>,

    /// The StatefulSet that is wanted.
    #[schemars(schema_with = "statefulset_schema")]
    pub statefulset: RawStatefulSet,

    /// What to do with an unready Pod whose eviction the budget refuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::unhealthy_pods")]
    pub unhealthy_pods: Option<UnhealthyPods>,

    /// What to do about Pods that come back at a revision that no step released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::version_leak")]
    pub version_leak: Option<VersionLeak>,
}

/// Callback of the Bedrock API; without both parts there is none.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bapi {
    /// Base URL of the Bedrock API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bapi_url: Option<String>,
    /// The stage that the release platform waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage_id: Option<String>,
}

/// Consul registration of the Pods.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceDiscovery {
    /// Consul datacenter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dc: Option<String>,
    /// Consul service names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_names: Option<Vec<String>>,
}

/// How much a channel is told.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NotifyLevel {
    #[default]
    Info,
    Debug,
    None,
}

/// What becomes of an unready Pod whose eviction the budget refuses.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
pub enum UnhealthyPods {
    /// Name the budget and its `unhealthyPodEvictionPolicy`.
    #[default]
    Report,
    /// Delete the Pod with a UID precondition.
    Replace,
}

/// What to do about a Pod that was lost for another reason and came back at the new revision.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
pub enum VersionLeak {
    Ignore,
    #[default]
    Report,
    Pause,
    Prevent,
}

/// `progressDeadlineSeconds` when absent.
pub const PROGRESS_DEADLINE_SECONDS: i64 = 600;

impl StatefulsetRolloutSpec {
    /// 0 to 100; 100 when absent. A value outside, which the schema refuses, is clamped.
    pub fn percent(&self) -> i64 {
        self.percent.unwrap_or(100).clamp(0, 100)
    }

    /// Seconds, 0 when absent.
    pub fn min_pod_eviction_interval_seconds(&self) -> i64 {
        self.min_pod_eviction_interval_seconds.unwrap_or(0).max(0)
    }

    /// Seconds, 600 when absent.
    pub fn progress_deadline_seconds(&self) -> i64 {
        self.progress_deadline_seconds.unwrap_or(PROGRESS_DEADLINE_SECONDS).max(1)
    }

    pub fn pause_requested(&self) -> bool {
        self.pause_requested.unwrap_or(false)
    }

    /// Empty when absent.
    pub fn rollout_identity(&self) -> &str {
        self.rollout_identity.as_deref().unwrap_or("")
    }

    /// The channel, if one is named; an empty string names none.
    pub fn channel(&self) -> Option<&str> {
        self.channel.as_deref().filter(|channel| !channel.is_empty())
    }

    /// URL and stage, if both are given and not empty.
    pub fn callback(&self) -> Option<(&str, &str)> {
        let bapi = self.bapi.as_ref()?;
        let url = bapi.bapi_url.as_deref().filter(|url| !url.is_empty())?;
        let stage = bapi.stage_id.as_deref().filter(|stage| !stage.is_empty())?;
        Some((url, stage))
    }

    /// The Consul services that must see a Pod healthy, empty when none is named.
    pub fn service_names(&self) -> &[String] {
        self.service_discovery
            .as_ref()
            .and_then(|discovery| discovery.service_names.as_deref())
            .unwrap_or_default()
    }
}
