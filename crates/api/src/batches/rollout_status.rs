//! The status of a `Rollout`. Users write into it as well: an approval is `currentStepState`, a jump
//! is `nextStepIndex`.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::schema;

/// Where a release stands.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status, extend("required" = ["currentStepIndex", "currentStepState"]))]
pub struct RolloutStatus {
    /// The generation that this status speaks of.
    #[serde(skip_serializing_if = "is_zero")]
    pub observed_generation: i64,

    /// The release itself; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canary_status: Option<CanaryStatus>,

    /// Of a blue-green release; kept, but not served.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::carried")]
    pub blue_green_status: Option<Value>,

    /// Progressing, Succeeded, Terminating.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// Initial, Healthy, Progressing, Terminating, Disabling or Disabled.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub phase: String,

    /// Why the Rollout is in this phase, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,

    /// The step of canaryStatus, for `kubectl get`.
    #[schemars(schema_with = "schema::small_integer")]
    pub current_step_index: i64,

    /// The state of canaryStatus, for `kubectl get`.
    pub current_step_state: String,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}

/// One release of one workload.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status, extend("required" = [
    "canaryReadyReplicas", "canaryReplicas", "canaryRevision", "currentStepState",
    "finalisingStep", "nextStepIndex", "podTemplateHash",
]))]
pub struct CanaryStatus {
    /// Generation of the workload whose revision is canaryRevision.
    #[serde(skip_serializing_if = "is_zero")]
    pub observed_workload_generation: i64,

    /// Id of this release, as its Pods are labelled.
    #[serde(rename = "observedRolloutID", skip_serializing_if = "String::is_empty")]
    pub observed_rollout_id: String,

    /// Hash of the plan that is followed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rollout_hash: String,

    /// The revision before this release.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stable_revision: String,

    /// The revision that is released.
    pub canary_revision: String,

    /// Value of the label by which the Pods of the new revision are told.
    pub pod_template_hash: String,

    /// Pods of the new revision.
    #[schemars(schema_with = "schema::small_integer")]
    pub canary_replicas: i64,

    /// Pods of the new revision that are ready.
    #[schemars(schema_with = "schema::small_integer")]
    pub canary_ready_replicas: i64,

    /// The step that is under way, from 1.
    #[schemars(schema_with = "schema::small_integer")]
    pub current_step_index: i64,

    /// The step that comes next, -1 for none; another one written here is a jump to it.
    #[schemars(schema_with = "schema::small_integer")]
    pub next_step_index: i64,

    /// Where the step is, BeforeStepUpgrade to Completed; StepReady written over StepPaused approves.
    pub current_step_state: String,

    /// What is being put back at the end; END when all is.
    pub finalising_step: String,

    /// What the BatchRelease says, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,

    /// When the step state last changed: pauses count from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub last_update_time: Option<Timestamp>,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}

/// A condition, in the shape of this group.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status, extend("required" = ["message", "reason", "status", "type"]))]
pub struct Condition {
    /// What it is about.
    #[serde(rename = "type")]
    pub type_: String,
    /// True, False or Unknown.
    pub status: String,
    /// When anything of it last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub last_update_time: Option<Timestamp>,
    /// When its status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub last_transition_time: Option<Timestamp>,
    /// One word for machines.
    pub reason: String,
    /// A sentence for people.
    pub message: String,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}

pub(super) fn is_zero(number: &i64) -> bool {
    *number == 0
}
