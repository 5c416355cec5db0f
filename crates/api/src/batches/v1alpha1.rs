//! The older version, served beside v1beta1: types that are there for its schema. Whoever works with
//! an object works with v1beta1, see [`super::convert`].
//!
//! Plan and status of a BatchRelease are the same in both, and so are their types; where a map has
//! fields that only one version knows, what both know is a type of its own ([`CanaryFields`],
//! [`StepFields`]). Unlike those of v1beta1, types here keep no `rest`: nobody writes them, and a
//! conversion works on the raw object.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::batch_release::BatchReleaseStatus;
use super::rollout::{CanaryFields, StepFields, WorkloadRef, one_strategy, rules, some_steps};
use super::rollout_status::RolloutStatus;
use super::schema;

/// As [`super::RolloutSpec`].
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "rollouts.kruise.io",
    version = "v1alpha1",
    kind = "Rollout",
    plural = "rollouts",
    singular = "rollout",
    namespaced,
    status = "OldRolloutStatus",
    derive = "PartialEq",
    doc = "Releases each change of a workload in steps",
    printcolumn(name = "STATUS", type_ = "string", json_path = ".status.phase", description = "The rollout status phase"),
    printcolumn(name = "CANARY_STEP", type_ = "integer", json_path = ".status.canaryStatus.currentStepIndex", description = "The rollout canary status step"),
    printcolumn(name = "CANARY_STATE", type_ = "string", json_path = ".status.canaryStatus.currentStepState", description = "The rollout canary status step state"),
    printcolumn(name = "MESSAGE", type_ = "string", json_path = ".status.message", description = "The rollout canary status message"),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = Rule::new(
        "!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in ['Progressing', 'Terminating']) || !has(oldSelf.spec.objectRef.workloadRef) || (has(self.spec.objectRef.workloadRef) && self.spec.objectRef.workloadRef.apiVersion == oldSelf.spec.objectRef.workloadRef.apiVersion && self.spec.objectRef.workloadRef.kind == oldSelf.spec.objectRef.workloadRef.kind && self.spec.objectRef.workloadRef.name == oldSelf.spec.objectRef.workloadRef.name)"
    ).message("Rollout 'ObjectRef' field is immutable").field_path(".spec.objectRef"),
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::plain, description = "What is released, and in which steps.")]
pub struct RolloutSpec {
    /// What is released.
    pub object_ref: ObjectRef,

    /// In which steps.
    pub strategy: Strategy,

    /// Deprecated and without effect; the label rollouts.kruise.io/rollout-id of the workload counts.
    #[serde(default, rename = "rolloutID", skip_serializing_if = "Option::is_none")]
    pub rollout_id: Option<String>,

    /// True: changes of the workload are not held any more; in mid-release, what is left is updated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::disabled")]
    pub disabled: Option<bool>,
}

/// Names what is released.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::plain)]
pub struct ObjectRef {
    /// The workload that is released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_ref: Option<WorkloadRef>,
}

/// How a release goes on. Whether in batches is said by the annotation
/// rollouts.kruise.io/rolling-style. Apart from that of v1beta1, since its canary is another, and
/// blueGreen is none of its own fields: it is there for what is converted.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::plain, transform = one_strategy)]
pub struct Strategy {
    /// True: the release stands still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,

    /// Release in batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<Canary>,

    /// Of v1beta1: release by a second set of Pods; kept, but not served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::carried")]
    pub blue_green: Option<Value>,
}

/// The steps, and what holds for all of them; as many as there are, where v1beta1 has a bound.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::plain, transform = some_steps)]
pub struct Canary {
    /// The batches, in order; each says how many Pods are updated at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step>>,

    /// What v1beta1 says as well.
    #[serde(flatten)]
    pub common: CanaryFields,
}

// Apart from that of v1beta1: `weight` sizes a batch where there are no replicas, `traffic` sizes none.
/// One batch.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::plain, transform = some_size)]
pub struct Step {
    /// Percent of the traffic; without replicas, percent of the Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::small_integer")]
    pub weight: Option<i64>,

    /// What v1beta1 says as well.
    #[serde(flatten)]
    pub common: StepFields,
}

fn some_size(schema: &mut schemars::Schema) {
    let rule = "has(self.replicas) || has(self.weight)";
    rules(schema, &[(rule, "weight and replicas cannot be empty at the same time")]);
}

/// Where a release stands: as in v1beta1, without the two fields for `kubectl get`.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(transparent)]
pub struct OldRolloutStatus(pub Map<String, Value>);

impl JsonSchema for OldRolloutStatus {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OldRolloutStatus".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = RolloutStatus::json_schema(generator);
        schema.remove("required");
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.remove("currentStepIndex");
            properties.remove("currentStepState");
        }
        schema
    }
}

/// As [`super::BatchReleaseSpec`].
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "rollouts.kruise.io",
    version = "v1alpha1",
    kind = "BatchRelease",
    plural = "batchreleases",
    singular = "batchrelease",
    namespaced,
    status = "BatchReleaseStatus",
    derive = "PartialEq",
    doc = "Updates a workload batch by batch",
    printcolumn(name = "KIND", type_ = "string", json_path = ".spec.targetReference.workloadRef.kind"),
    printcolumn(name = "PHASE", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "BATCH", type_ = "integer", json_path = ".status.canaryStatus.currentBatch"),
    printcolumn(name = "BATCH-STATE", type_ = "string", json_path = ".status.canaryStatus.batchState"),
    printcolumn(name = "APIVERSION", type_ = "string", json_path = ".spec.targetReference.workloadRef.apiVersion"),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = Rule::new(
        "!has(oldSelf.status) || !has(oldSelf.status.phase) || oldSelf.status.phase == 'Completed' || !has(oldSelf.spec.targetReference.workloadRef) || (has(self.spec.targetReference.workloadRef) && self.spec.targetReference.workloadRef.apiVersion == oldSelf.spec.targetReference.workloadRef.apiVersion && self.spec.targetReference.workloadRef.kind == oldSelf.spec.targetReference.workloadRef.kind && self.spec.targetReference.workloadRef.name == oldSelf.spec.targetReference.workloadRef.name)"
    ).message("workloadRef is immutable until the BatchRelease is Completed").field_path(".spec.targetReference"),
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::plain, description = "What is released, and how far it may go.")]
pub struct BatchReleaseSpec {
    /// What is updated.
    pub target_reference: ObjectRef,
    /// The batches.
    pub release_plan: super::batch_release::ReleasePlan,
}
