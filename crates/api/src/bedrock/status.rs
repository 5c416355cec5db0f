//! The status of a `StatefulsetRollout`: the published struct with its names, odd ones included, and
//! ours below it. Nothing that a restart needs is kept anywhere else.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schema;

/// What the operator knows about a rollout.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::without_defaults)]
pub struct StatefulsetRolloutStatus {
    /// Where the rollout is in its life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,

    /// The percent that this status speaks of; spec.percent at the end of a rollout.
    #[serde(rename = "percentDeployed", skip_serializing_if = "Option::is_none")]
    pub percent_requested: Option<i64>,

    /// Why the rollout is in this phase, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,

    /// Pods that Kubernetes shows as ready.
    pub ready_replicas: i64,

    /// Pods that service discovery shows as ready.
    #[serde(rename = "readyReplicasRotor", skip_serializing_if = "Option::is_none")]
    pub ready_replicas_service_discovery: Option<i64>,

    /// True while the rollout is paused.
    #[serde(skip_serializing_if = "is_false")]
    pub paused: bool,

    /// True when the StatefulSet under management was deleted.
    #[serde(skip_serializing_if = "is_false")]
    pub deleted: bool,

    /// The Pods of the StatefulSet; short rows for those at rest in a large set.
    #[serde(rename = "Pods", skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<Pod>,

    /// When the next reconcile is due, if one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub reconcile_after: Option<Timestamp>,

    /// When this status was written.
    #[schemars(schema_with = "schema::date_time")]
    pub last_updated: Option<Timestamp>,

    /// Stage of the last callback that was taken.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_callback_stage_id: String,

    /// Branch, commit and the like of what is rolled out.
    #[serde(skip_serializing_if = "BuildMetadata::is_empty")]
    pub build_metadata: BuildMetadata,

    /// The Slack message that is edited as the rollout goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack_message: Option<SlackMessage>,

    /// The named Consul services that exist; absent when none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consul_services: Option<Vec<String>>,

    /// The StatefulSet under management; empty when there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub statefulset_name: String,

    /// True when the StatefulSet's spec is the one asked for.
    #[serde(skip_serializing_if = "is_false")]
    pub statefulset_spec_current: bool,

    /// The rollout identity that this status speaks of.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rollout_identity: String,

    /// The generation that this status speaks of.
    #[serde(skip_serializing_if = "is_zero")]
    pub observed_generation: i64,

    /// Progressing, Available, Blocked, Leaked, NotGated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,

    /// The revision that is rolled out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub update_revision: String,

    /// The revision that the set ran before.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stable_revision: String,

    /// Pods that are wanted.
    pub replicas: i64,

    /// Pods that may run the update revision now.
    pub target_replicas: i64,

    /// Pods that run the update revision.
    pub updated_replicas: i64,

    /// Pods of any revision that are available by the set's minReadySeconds.
    pub available_replicas: i64,

    /// Pods that came back at the update revision without a step that released them.
    #[serde(skip_serializing_if = "is_zero")]
    pub leaked_replicas: i64,

    /// Updated Pods/target/replicas, for `kubectl get`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub progress: String,

    /// Selector of the Pods, for the scale subresource.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub selector: String,

    /// UIDs of Pods about to be evicted, or evicted and not seen gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evicting: Vec<String>,

    /// When the last eviction was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub last_eviction_time: Option<Timestamp>,

    /// When the rollout last came nearer to its target.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub last_progress_time: Option<Timestamp>,

    /// The progress that lastProgressTime speaks of.
    #[serde(skip_serializing_if = "is_zero")]
    pub progressed_replicas: i64,

    /// Seconds since the last progress for which the deadline stood still.
    #[serde(skip_serializing_if = "is_zero")]
    pub paused_seconds: i64,

    /// Since when the deadline stands still now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub stopped_since: Option<Timestamp>,

    /// Fingerprint of the StatefulSet that this status speaks of, applied or not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub statefulset_hash: String,

    /// What was last applied to the StatefulSet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statefulset_applied: Option<StatefulsetApplied>,
}

/// Where a rollout is in its life. The last two are final.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
pub enum Phase {
    RolloutPending,
    RolloutInProgress,
    RolloutPaused,
    RolloutDone,
    RolloutFailed,
}

/// One Pod of the set.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::without_defaults)]
pub struct Pod {
    /// Name of the Pod.
    pub name: String,
    /// UID of the Pod.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Node that it runs on.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub node: String,
    /// Its revision.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub revision: String,
    /// Label app.kubernetes.io/version, else image tag.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Ready in Kubernetes.
    #[serde(skip_serializing_if = "is_false")]
    pub ready: bool,
    /// Passing in service discovery; absent where nobody asks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_discovery_ready: Option<bool>,
    /// What it is doing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub state: String,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub since: Option<Timestamp>,
    /// Came back at the update revision though no step released it.
    #[serde(skip_serializing_if = "is_false")]
    pub leaked: bool,
}

/// A condition as Kubernetes has them.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::without_defaults)]
pub struct Condition {
    /// Progressing, Available, Blocked, Leaked or NotGated.
    #[serde(rename = "type")]
    pub type_: String,
    /// True, False or Unknown.
    pub status: String,
    /// One word for machines.
    #[serde(default)]
    pub reason: String,
    /// A sentence for people.
    #[serde(default)]
    pub message: String,
    /// When the status last changed.
    #[serde(default)]
    #[schemars(schema_with = "schema::date_time")]
    pub last_transition_time: Option<Timestamp>,
    /// The generation that it speaks of.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub observed_generation: i64,
}

/// Where the build came from.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::without_defaults)]
pub struct BuildMetadata {
    /// Git branch.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub branch: String,
    /// Git commit.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commit: String,
    /// Git origin.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub origin: String,
    /// Version of the application.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
}

impl BuildMetadata {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// From the annotations `slack.com/bedrock.git.{branch,commit,origin}` and the label
    /// `app.kubernetes.io/version` of a resource; what is missing stays empty.
    pub fn of(meta: &kube::core::ObjectMeta) -> Self {
        let annotation = |name: &str| {
            let key = format!("slack.com/bedrock.git.{name}");
            meta.annotations.as_ref().and_then(|all| all.get(&key)).cloned().unwrap_or_default()
        };
        let labels = meta.labels.as_ref();
        Self {
            branch: annotation("branch"),
            commit: annotation("commit"),
            origin: annotation("origin"),
            version: labels
                .and_then(|all| all.get("app.kubernetes.io/version"))
                .cloned()
                .unwrap_or_default(),
        }
    }
}

/// Where the Slack message of a rollout is.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::without_defaults)]
pub struct SlackMessage {
    /// Channel that it is in.
    pub channel: String,
    /// Slack's id of the message.
    pub ts: String,
    /// Ids of further pages in its thread.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<String>,
}

/// What was last applied to the StatefulSet, to tell a foreign change from our own.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = schema::without_defaults)]
pub struct StatefulsetApplied {
    /// UID of the StatefulSet.
    pub uid: String,
    /// Fingerprint of the document, without the update strategy.
    pub hash: String,
    /// Generation of the StatefulSet that came of it.
    pub generation: i64,
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !*flag
}
