//! `BatchRelease`, as v1beta1 has it: one release of one workload, written by a Rollout or by hand.

use jiff::Timestamp;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::replicas::IntOrString;
use super::rollout::WorkloadRef;
use super::rollout_status::{Condition, is_zero};
use super::schema;

/// What is released, and how far it may go.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "rollouts.kruise.io",
    version = "v1beta1",
    kind = "BatchRelease",
    plural = "batchreleases",
    singular = "batchrelease",
    namespaced,
    status = "BatchReleaseStatus",
    derive = "PartialEq",
    doc = "Updates a workload batch by batch",
    printcolumn(name = "KIND", type_ = "string", json_path = ".spec.workloadRef.kind"),
    printcolumn(name = "PHASE", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "BATCH", type_ = "integer", json_path = ".status.canaryStatus.currentBatch"),
    printcolumn(name = "BATCH-STATE", type_ = "string", json_path = ".status.canaryStatus.batchState"),
    printcolumn(name = "APIVERSION", type_ = "string", json_path = ".spec.workloadRef.apiVersion"),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = Rule::new(
        "!has(oldSelf.status) || !has(oldSelf.status.phase) || oldSelf.status.phase == 'Completed' || !has(oldSelf.spec.workloadRef) || (has(self.spec.workloadRef) && self.spec.workloadRef.apiVersion == oldSelf.spec.workloadRef.apiVersion && self.spec.workloadRef.kind == oldSelf.spec.workloadRef.kind && self.spec.workloadRef.name == oldSelf.spec.workloadRef.name)"
    ).message("workloadRef is immutable until the BatchRelease is Completed").field_path(".spec.workloadRef"),
)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = schema::plain,
    extend("required" = ["releasePlan"]),
    description = "What is released, and how far it may go."
)]
pub struct BatchReleaseSpec {
    /// The workload that is updated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_ref: Option<WorkloadRef>,

    /// The batches.
    #[serde(default)]
    pub release_plan: ReleasePlan,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}

// Apart from the canary of a Rollout, of which it has some fields: a plan routes no traffic.
/// The batches, and what holds for all of them.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::plain)]
pub struct ReleasePlan {
    /// In order; each says how many Pods are updated at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<Vec<Batch>>,

    /// The last batch that may be begun, from 0; absent, the release is brought to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::small_integer")]
    pub batch_partition: Option<i64>,

    /// Id of this release, as its Pods are labelled.
    #[serde(default, rename = "rolloutID", skip_serializing_if = "Option::is_none")]
    pub rollout_id: Option<String>,

    /// How many updated Pods of a batch may be unready; absent, the workload's maxUnavailable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::count")]
    pub failure_threshold: Option<IntOrString>,

    /// WaitResume after a success, else Immediate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finalizing_policy: Option<String>,

    /// For the Pods of a canary Deployment; kept, without effect on batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::pod_template_metadata")]
    pub patch_pod_template_metadata: Option<Value>,

    /// Partition; Canary and BlueGreen are not served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolling_style: Option<String>,

    /// True asks for a canary Deployment, which is not served; no matter on other kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_extra_workload_for_canary: Option<bool>,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}

/// One batch.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::plain, extend("required" = ["canaryReplicas"]))]
pub struct Batch {
    /// How many Pods are updated at the end of this batch, those before included: a number or a percentage.
    #[serde(default)]
    #[schemars(schema_with = "schema::count")]
    pub canary_replicas: IntOrString,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}

/// Where a release stands.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status)]
pub struct BatchReleaseStatus {
    /// What went wrong or is slow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// The batch that is under way.
    pub canary_status: BatchStatus,

    /// The revision before this release.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stable_revision: String,

    /// The revision that is released.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub update_revision: String,

    /// The generation that this status speaks of.
    #[serde(skip_serializing_if = "is_zero")]
    pub observed_generation: i64,

    /// The rolloutID that this status speaks of.
    #[serde(rename = "observedRolloutID", skip_serializing_if = "String::is_empty")]
    pub observed_rollout_id: String,

    /// Replicas of the workload when the batch was last counted; -1 for never.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(schema_with = "schema::small_integer")]
    pub observed_workload_replicas: i64,

    /// For names of canary Deployments; kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::small_integer")]
    pub collision_count: Option<i64>,

    /// Hash of the plan that is followed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub observed_release_plan_hash: String,

    /// Preparing, Progressing, Finalizing or Completed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub phase: String,

    /// What it waits for, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,

    /// UIDs of the Pods that are about to be evicted, or were and have not gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evicting: Vec<String>,

    /// When a Pod was last evicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub last_eviction_time: Option<Timestamp>,

    /// When the batch last got on; absent while nothing is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub last_progress_time: Option<Timestamp>,

    /// How far it had come at lastProgressTime.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(schema_with = "schema::small_integer")]
    pub progressed_replicas: i64,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}

/// One batch of a release.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status, extend("required" = ["currentBatch"]))]
pub struct BatchStatus {
    /// Upgrading, Verifying or Ready.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub batch_state: String,

    /// Which batch, from 0.
    #[schemars(schema_with = "schema::small_integer")]
    pub current_batch: i64,

    /// Since when it is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub batch_ready_time: Option<Timestamp>,

    /// Pods of the new revision.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(schema_with = "schema::small_integer")]
    pub updated_replicas: i64,

    /// Pods of the new revision that are ready.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(schema_with = "schema::small_integer")]
    pub updated_ready_replicas: i64,

    /// Pods that ran the revision already, in a roll back in batches.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::small_integer")]
    pub no_need_update_replicas: Option<i64>,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}
