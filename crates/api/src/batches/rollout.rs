//! The spec of a `Rollout`, as v1beta1 has it: the stored version, and the one that is worked with.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::replicas::IntOrString;
use super::rollout_status::RolloutStatus;
use super::schema;

/// How the next change of a workload is released: in steps, each with its share of the Pods.
///
/// Fields that are absent stay absent, and those that are not known here are kept in `rest`, so that
/// an object comes out of these types as it went in. Whatever the schema of either version lets
/// through can be read: one odd object must not end the watch of all.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "rollouts.kruise.io",
    version = "v1beta1",
    kind = "Rollout",
    plural = "rollouts",
    singular = "rollout",
    namespaced,
    status = "RolloutStatus",
    derive = "PartialEq",
    doc = "Releases each change of a workload in steps",
    printcolumn(name = "STATUS", type_ = "string", json_path = ".status.phase", description = "The rollout status phase"),
    printcolumn(name = "CANARY_STEP", type_ = "integer", json_path = ".status.currentStepIndex", description = "The rollout canary status step"),
    printcolumn(name = "CANARY_STATE", type_ = "string", json_path = ".status.currentStepState", description = "The rollout canary status step state"),
    printcolumn(name = "MESSAGE", type_ = "string", json_path = ".status.message", description = "The rollout canary status message"),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = Rule::new(
        "!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in ['Progressing', 'Terminating']) || (self.spec.workloadRef.apiVersion == oldSelf.spec.workloadRef.apiVersion && self.spec.workloadRef.kind == oldSelf.spec.workloadRef.kind && self.spec.workloadRef.name == oldSelf.spec.workloadRef.name)"
    ).message("Rollout 'ObjectRef' field is immutable").field_path(".spec.workloadRef"),
    validation = Rule::new(
        "!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in ['Progressing', 'Terminating']) || !has(self.spec.strategy.canary) || !has(oldSelf.spec.strategy.canary) || !has(self.spec.strategy.canary.steps) || !has(oldSelf.spec.strategy.canary.steps) || size(self.spec.strategy.canary.steps) == size(oldSelf.spec.strategy.canary.steps)"
    ).message("Amount of Rollout steps are immutable").field_path(".spec.strategy.canary.steps"),
)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = schema::plain,
    extend("required" = ["strategy", "workloadRef"]),
    description = "What is released, and in which steps."
)]
pub struct RolloutSpec {
    /// The workload that is released.
    #[serde(default)]
    pub workload_ref: WorkloadRef,

    /// In which steps.
    #[serde(default)]
    pub strategy: Strategy,

    /// True: changes of the workload are not held any more; in mid-release, what is left is updated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::disabled")]
    pub disabled: Option<bool>,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}

/// Names a workload in the namespace of whoever names it.
#[derive(
    Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, JsonSchema,
)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::status, extend("required" = ["apiVersion", "kind", "name"]))]
pub struct WorkloadRef {
    /// Its API group and version, such as apps/v1.
    pub api_version: String,
    /// Its kind, such as Deployment.
    pub kind: String,
    /// Its name.
    pub name: String,
}

impl WorkloadRef {
    /// The group alone; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Whether both are one workload, in whichever version each names it.
    pub fn is_same_workload(&self, other: &Self) -> bool {
        (self.group(), &self.kind, &self.name) == (other.group(), &other.kind, &other.name)
    }
}

/// How a release goes on.
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

    /// Release by a second set of Pods; kept, but not served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::carried")]
    pub blue_green: Option<Value>,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}

/// The steps, and what holds for all of them.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::plain, transform = some_steps)]
pub struct Canary {
    /// The batches, in order; each says how many Pods are updated at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50))]
    pub steps: Option<Vec<Step>>,

    /// True asks for a canary Deployment, which is not served; no matter on other kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_extra_workload_for_canary: Option<bool>,

    /// Name of a TrafficRouting; kept, but not served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic_routing_ref: Option<String>,

    #[serde(flatten)]
    pub common: CanaryFields,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}

/// What both versions say for all steps.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CanaryFields {
    /// Traffic routing; kept, but not served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::traffic_routings")]
    pub traffic_routings: Option<Vec<Value>>,

    /// How many updated Pods of a batch may be unready; absent, the workload's maxUnavailable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::count")]
    pub failure_threshold: Option<IntOrString>,

    /// For the Pods of a canary Deployment; kept, without effect on batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::pod_template_metadata")]
    pub patch_pod_template_metadata: Option<Value>,

    /// For traffic routing; kept, without effect on batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_generate_canary_service: Option<bool>,
}

/// One batch.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::plain, transform = some_replicas)]
pub struct Step {
    /// Share of the traffic; kept, without effect on batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<String>,

    #[serde(flatten)]
    pub common: StepFields,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}

/// What both versions say of one batch.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepFields {
    /// How many Pods are updated at the end of this step, those before included: a number or a percentage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::count")]
    pub replicas: Option<IntOrString>,

    /// What is waited for at the end of this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,

    /// Requests that are routed; kept, without effect on batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::matches")]
    pub matches: Option<Vec<Value>>,

    /// Headers of routed requests; kept, without effect on batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::carried")]
    pub request_header_modifier: Option<Value>,
}

/// What is waited for between two steps.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::plain)]
pub struct Pause {
    /// Seconds, after which the release goes on by itself; absent, it waits for an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::seconds")]
    pub duration: Option<i64>,

    #[serde(flatten)]
    #[schemars(skip)]
    pub rest: Map<String, Value>,
}

pub(super) fn rules(schema: &mut schemars::Schema, rules: &[(&str, &str)]) {
    let rules: Vec<Value> = rules
        .iter()
        .map(|(rule, message)| serde_json::json!({"rule": rule, "message": message}))
        .collect();
    schema.insert("x-kubernetes-validations".into(), Value::Array(rules));
}

pub(super) fn one_strategy(schema: &mut schemars::Schema) {
    rules(
        schema,
        &[
            (
                "has(self.canary) || has(self.blueGreen)",
                "Canary and BlueGreen cannot both be empty",
            ),
            (
                "!has(self.canary) || !has(self.blueGreen)",
                "Canary and BlueGreen cannot both be set",
            ),
        ],
    );
}

pub(super) fn some_steps(schema: &mut schemars::Schema) {
    rules(
        schema,
        &[(
            "has(self.steps) && size(self.steps) > 0",
            "The number of Canary.Steps cannot be empty",
        )],
    );
}

fn some_replicas(schema: &mut schemars::Schema) {
    rules(schema, &[("has(self.replicas)", "replicas cannot be empty")]);
}
