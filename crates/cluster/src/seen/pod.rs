//! Pods, decoded straight into the engine's notion of one: a Pod is never held whole.

use api::bedrock::version::image_version;
use engine::front::batch_release::Marks;
use engine::world::{Pod, PodPhase, Trouble, Uid};
use jiff::Timestamp;
use serde::Deserialize;

use super::meta::{Owner, null_is_empty};
use crate::key::Key;
use crate::watch::{Source, Watched};

/// A Pod and what controls it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Raw")]
pub struct PodSeen {
    /// Its namespace and name.
    pub key: Key,
    /// What controls it, if anything does.
    pub owner: Option<Owner>,
    /// The Pod as decisions see it.
    pub pod: Pod,
    /// What it carries for a release in batches.
    pub marks: Marks,
    /// Its annotation `controller.kubernetes.io/pod-deletion-cost`.
    pub cost: Option<i32>,
    /// The label `controller-revision-hash`, where that is not its revision: the original gives it to
    /// Pods of Deployments.
    pub also_called: String,
}

impl PodSeen {
    /// Where they are watched.
    pub const SOURCE: Source = Source::of("pods", &["/api/v1"]);
}

impl Watched for PodSeen {
    fn resource_version(&self) -> &str {
        &self.pod.resource_version
    }
}

impl PodSeen {
    /// Whether `other` differs in nothing that a decision looks at.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        let same_version =
            Pod { resource_version: other.pod.resource_version.clone(), ..self.pod.clone() };
        (&self.owner, &self.marks, self.cost, &self.also_called)
            == (&other.owner, &other.marks, other.cost, &other.also_called)
            && same_version == other.pod
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Raw {
    metadata: RawMeta,
    spec: RawSpec,
    status: RawStatus,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawMeta {
    namespace: String,
    name: String,
    uid: String,
    resource_version: String,
    creation_timestamp: Option<Timestamp>,
    deletion_timestamp: Option<Timestamp>,
    #[serde(deserialize_with = "null_is_empty")]
    finalizers: Vec<String>,
    #[serde(deserialize_with = "null_is_empty")]
    labels: RawLabels,
    #[serde(deserialize_with = "null_is_empty")]
    annotations: RawAnnotations,
    #[serde(deserialize_with = "null_is_empty")]
    owner_references: Vec<Owner>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawLabels {
    #[serde(rename = "controller-revision-hash")]
    revision: String,
    #[serde(rename = "pod-template-hash")]
    template_hash: String,
    #[serde(rename = "app.kubernetes.io/version")]
    version: String,
    #[serde(rename = "rollouts.kruise.io/rollout-id")]
    rollout_id: String,
    #[serde(rename = "rollouts.kruise.io/rollout-batch-id")]
    batch: String,
    #[serde(rename = "rollouts.kruise.io/no-need-update")]
    no_need_update: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawAnnotations {
    #[serde(rename = "controller.kubernetes.io/pod-deletion-cost")]
    cost: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawSpec {
    node_name: Option<String>,
    containers: Vec<RawContainer>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawContainer {
    image: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawStatus {
    phase: String,
    reason: String,
    message: String,
    #[serde(deserialize_with = "null_is_empty")]
    conditions: Vec<RawCondition>,
    #[serde(deserialize_with = "null_is_empty")]
    init_container_statuses: Vec<RawContainerStatus>,
    #[serde(deserialize_with = "null_is_empty")]
    container_statuses: Vec<RawContainerStatus>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawCondition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    reason: String,
    message: String,
    last_transition_time: Option<Timestamp>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawContainerStatus {
    name: String,
    ready: bool,
    restart_count: u32,
    state: RawState,
    last_state: RawState,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawState {
    waiting: Option<RawWhy>,
    terminated: Option<RawWhy>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawWhy {
    reason: String,
    message: String,
    exit_code: i64,
}

impl From<Raw> for PodSeen {
    fn from(raw: Raw) -> Self {
        let ready_since = raw.ready_since();
        let trouble = if ready_since.is_some() { None } else { raw.trouble() };
        let Raw { metadata, spec, status } = raw;
        let owner = metadata.owner_references.into_iter().find(|owner| owner.controller);
        let of_deployment = owner.as_ref().is_some_and(|owner| owner.kind == "ReplicaSet");
        let labels = metadata.labels;
        let (revision, also_called) = match of_deployment {
            true => (labels.template_hash, labels.revision),
            false => (labels.revision, String::new()),
        };
        let image = spec.containers.first().map_or("", |container| container.image.as_str());
        let version = match labels.version.is_empty() {
            true => image_version(image).to_owned(),
            false => labels.version,
        };
        let marks = Marks {
            rollout_id: labels.rollout_id,
            batch: labels.batch.parse().ok(),
            no_need_update: labels.no_need_update,
        };
        let pod = Pod {
            ordinal: ordinal(&metadata.name),
            name: metadata.name.clone(),
            uid: Uid(metadata.uid),
            resource_version: metadata.resource_version,
            node: spec.node_name.filter(|node| !node.is_empty()),
            revision,
            version,
            phase: match status.phase.as_str() {
                "Running" => PodPhase::Running,
                "Succeeded" | "Failed" => PodPhase::Finished,
                // `Unknown` has not been set since Kubernetes 1.13; a Pod without one is new.
                _ => PodPhase::Pending,
            },
            ready_since,
            created: metadata.creation_timestamp.unwrap_or_default(),
            deletion: metadata.deletion_timestamp,
            finalizers: metadata.finalizers,
            trouble,
        };
        Self {
            key: Key::new(metadata.namespace, metadata.name),
            owner,
            pod,
            marks,
            cost: metadata.annotations.cost.parse().ok(),
            also_called,
        }
    }
}

/// The number at the end of a name; 0 where there is none.
fn ordinal(name: &str) -> u32 {
    name.rsplit_once('-').and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
}

impl Raw {
    fn ready_since(&self) -> Option<Timestamp> {
        let is_true = |condition: &&RawCondition| condition.status == "True";
        let ready = self.condition("Ready").filter(is_true)?;
        let since = ready.last_transition_time.or(self.metadata.creation_timestamp);
        // While Kruise updates a Pod in place the kubelet may still say Ready of what was there before.
        let in_place = match self.condition("InPlaceUpdateReady") {
            Some(condition) => is_true(&condition).then_some(condition.last_transition_time)?,
            None => None,
        };
        Some(since.max(in_place).unwrap_or_default())
    }

    fn condition(&self, kind: &str) -> Option<&RawCondition> {
        self.status.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// What keeps it from coming up, the most telling first. Being on the way is no trouble.
    fn trouble(&self) -> Option<Trouble> {
        let containers =
            || self.status.init_container_statuses.iter().chain(&self.status.container_statuses);
        let waiting = containers().find_map(|container| {
            let why = container.state.waiting.as_ref()?;
            let on_its_way =
                matches!(why.reason.as_str(), "" | "ContainerCreating" | "PodInitializing");
            (!on_its_way).then(|| trouble(&why.reason, &why.message))
        });
        let scheduled = self.condition("PodScheduled");
        let unscheduled = || {
            let condition = scheduled.filter(|condition| condition.status == "False")?;
            Some(trouble(&condition.reason, &condition.message))
        };
        let failed = || {
            (self.status.phase == "Failed" && !self.status.reason.is_empty())
                .then(|| trouble(&self.status.reason, &self.status.message))
        };
        // Between two crashes a container runs: without this, a crash loop would look like a start.
        let ended = || {
            containers().filter(|container| !container.ready).find_map(|container| {
                let why = container.state.terminated.as_ref();
                let why = why.or(container.last_state.terminated.as_ref())?;
                let RawContainerStatus { name, restart_count, .. } = container;
                let (code, reason) = (why.exit_code, why.reason.as_str());
                (code != 0).then(|| {
                    let message = format!(
                        "container {name} ended with exit code {code} and was restarted \
                         {restart_count} times"
                    );
                    trouble(if reason.is_empty() { "Error" } else { reason }, &message)
                })
            })
        };
        waiting.or_else(unscheduled).or_else(failed).or_else(ended)
    }
}

fn trouble(reason: &str, message: &str) -> Trouble {
    Trouble { reason: reason.to_owned(), message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_pod_that_is_updated_in_place_is_ready_when_kruise_says_so_too() {
        fn check(in_place: Option<(&str, &str)>, expect: Option<&str>) {
            let at = |time: &str| format!("2026-01-01T00:00:{time}Z");
            let mut conditions =
                vec![json!({"type": "Ready", "status": "True", "lastTransitionTime": at("05")})];
            conditions.extend(in_place.map(|(status, time)| {
                json!({"type": "InPlaceUpdateReady", "status": status, "lastTransitionTime": at(time)})
            }));
            let pod: Value =
                json!({"metadata": {"name": "shop-x"}, "status": {"conditions": conditions}});
            let seen: PodSeen = serde_json::from_value(pod).unwrap();
            let expect: Option<Timestamp> = expect.map(|time| at(time).parse().unwrap());
            assert_eq!(seen.pod.ready_since, expect, "{in_place:?}");
        }
        check(None, Some("05"));
        check(Some(("True", "01")), Some("05"));
        // The kubelet has not looked at it since.
        check(Some(("False", "09")), None);
        check(Some(("True", "09")), Some("09"));
    }
}
