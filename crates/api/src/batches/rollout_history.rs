//! `RolloutHistory` (v1alpha1, behind the gate of that name): what one release was, for later.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema;

/// The objects of a release as they were when it began.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "rollouts.kruise.io",
    version = "v1alpha1",
    kind = "RolloutHistory",
    plural = "rollouthistories",
    singular = "rollouthistory",
    namespaced,
    status = "RolloutHistoryStatus",
    derive = "PartialEq",
    doc = "What one release of a Rollout was"
)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status, description = "The objects of a release, as they were.")]
pub struct RolloutHistorySpec {
    /// The Rollout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<RolloutInfo>,
    /// The workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadInfo>,
    /// The Service, where traffic was routed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<NameAndData>,
    /// What routed the traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic_routing: Option<TrafficRoutingInfo>,
}

/// A Rollout as it was.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status, extend("required" = ["name", "rolloutID"]))]
pub struct RolloutInfo {
    /// Id of the release.
    #[serde(rename = "rolloutID")]
    pub rollout_id: String,
    /// Name of the Rollout.
    pub name: String,
    /// Its spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_spec")]
    pub data: Option<Value>,
}

/// A workload as it was.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status, extend("required" = ["name"]))]
pub struct WorkloadInfo {
    /// Its API group and version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// Its kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_spec")]
    pub data: Option<Value>,
}

/// Another object as it was.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status, extend("required" = ["name"]))]
pub struct NameAndData {
    /// Its name.
    pub name: String,
    /// Its spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_spec")]
    pub data: Option<Value>,
}

/// What routed the traffic.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status)]
pub struct TrafficRoutingInfo {
    /// An Ingress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress: Option<NameAndData>,
    /// An HTTPRoute.
    #[serde(rename = "httpRoute", skip_serializing_if = "Option::is_none")]
    pub http_route: Option<NameAndData>,
}

/// How the release ended.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status)]
pub struct RolloutHistoryStatus {
    /// Empty or completed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub phase: String,
    /// The Pods of each step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub canary_steps: Vec<CanaryStepInfo>,
}

/// One step of the release.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status)]
pub struct CanaryStepInfo {
    /// Which, from 1.
    #[schemars(schema_with = "schema::small_integer")]
    pub canary_step_index: i64,
    /// The Pods that it updated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<PodInfo>,
}

/// One Pod.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status)]
pub struct PodInfo {
    /// Its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its address.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ip: String,
    /// The node that it ran on.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub node_name: String,
}
