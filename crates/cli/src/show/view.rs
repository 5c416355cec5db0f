//! A rollout as commands show it and as `-o json` gives it: one value, made of what was read.

use std::collections::BTreeMap;

use api::bedrock::{Condition, StatefulsetRollout, StatefulsetRolloutStatus};
use cluster::seen::BudgetSeen;
use engine::world::{Pod, PodPhase};
use jiff::Timestamp;
use serde::Serialize;

use crate::facts::Facts;
use crate::facts::revision::Revision;
use crate::facts::workload::Workload;
use crate::find::Front;

/// A rollout, by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(crate) kind: &'static str,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// Name in `status.phase`; `RolloutPending` before anybody has looked at it.
    pub(crate) phase: String,
    /// A sentence.
    pub(crate) reason: String,
    /// Whether the status speaks of what is asked for now.
    pub(crate) current: bool,
    pub(crate) percent: i64,
    pub(crate) paused: bool,
    pub(crate) replicas: i64,
    pub(crate) target_replicas: i64,
    pub(crate) updated_replicas: i64,
    pub(crate) ready_replicas: i64,
    pub(crate) available_replicas: i64,
    pub(crate) leaked_replicas: i64,
    pub(crate) version: String,
    pub(crate) rollout_identity: String,
    pub(crate) generation: i64,
    pub(crate) observed_generation: i64,
    /// Why it cannot go on by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocked: Option<Blocked>,
    pub(crate) created: Option<Timestamp>,
}

/// What blocks a rollout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Blocked {
    /// One word; what it means and what to do is in `docs/operations.md`.
    pub(crate) reason: String,
    pub(crate) message: String,
}

/// A rollout with everything around it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct View {
    #[serde(flatten)]
    pub(crate) summary: Summary,
    pub(crate) version_leak: String,
    /// Name of the StatefulSet; absent while there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) statefulset: Option<String>,
    pub(crate) budgets: Vec<BudgetView>,
    /// Newest first; those that nobody runs any more are left out, but for the update revision.
    pub(crate) revisions: Vec<RevisionView>,
}

/// A disruption budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BudgetView {
    pub(crate) name: String,
    /// As its author wrote it: `maxUnavailable: 30%`.
    pub(crate) limit: String,
    pub(crate) disruptions_allowed: u32,
    pub(crate) current_healthy: u32,
    pub(crate) desired_healthy: u32,
    pub(crate) expected_pods: u32,
}

/// A revision with the Pods that run it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RevisionView {
    pub(crate) name: String,
    /// 0 when the ControllerRevision is gone.
    pub(crate) number: i64,
    pub(crate) version: String,
    pub(crate) image: String,
    /// `update`, `stable`, both, or neither.
    pub(crate) roles: Vec<&'static str>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) pods: Vec<PodView>,
}

/// A Pod.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PodView {
    pub(crate) name: String,
    pub(crate) uid: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<String>,
    pub(crate) ready: bool,
    /// `Ready`, `Starting`, `Pending`, `Terminating`, or what keeps it from coming up.
    pub(crate) state: String,
    /// The message that goes with the trouble.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) message: String,
    pub(crate) leaked: bool,
    /// The batch that it was updated in, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) batch: Option<u32>,
    pub(crate) created: Timestamp,
}

impl Summary {
    /// What the rollout itself says.
    pub(crate) fn of(rollout: &StatefulsetRollout) -> Self {
        let meta = &rollout.metadata;
        let fallback = StatefulsetRolloutStatus::default();
        let status = rollout.status.as_ref().unwrap_or(&fallback);
        let generation = meta.generation.unwrap_or(0);
        let spec = &rollout.spec;
        let template = spec.statefulset.template();
        Self {
            kind: Front::Percent.kind(),
            namespace: meta.namespace.clone().unwrap_or_default(),
            name: meta.name.clone().unwrap_or_default(),
            phase: status.phase.map_or("RolloutPending".to_owned(), |phase| format!("{phase:?}")),
            reason: status.reason.clone(),
            current: status.observed_generation >= generation
                && status.rollout_identity == spec.rollout_identity(),
            percent: spec.percent(),
            paused: status.paused,
            replicas: status.replicas,
            target_replicas: status.target_replicas,
            updated_replicas: status.updated_replicas,
            ready_replicas: status.ready_replicas,
            available_replicas: status.available_replicas,
            leaked_replicas: status.leaked_replicas,
            version: template.map(|one| api::bedrock::pod_version(one).version).unwrap_or_default(),
            rollout_identity: spec.rollout_identity().to_owned(),
            generation,
            observed_generation: status.observed_generation,
            blocked: condition(rollout, "Blocked")
                .filter(|one| one.status == "True")
                .map(|one| Blocked { reason: one.reason.clone(), message: one.message.clone() }),
            created: meta.creation_timestamp.as_ref().map(|time| time.0),
        }
    }
}

/// A condition of a rollout by its type.
pub(crate) fn condition<'a>(rollout: &'a StatefulsetRollout, kind: &str) -> Option<&'a Condition> {
    rollout.status.as_ref()?.conditions.iter().find(|condition| condition.type_ == kind)
}

impl View {
    /// All of it.
    pub(crate) fn of(facts: &Facts) -> Self {
        let status = facts.rollout.status.as_ref();
        let leaked: Vec<&str> = status
            .iter()
            .flat_map(|status| &status.pods)
            .filter(|row| row.leaked)
            .map(|row| row.uid.as_str())
            .collect();
        let workload = facts.workload.as_ref();
        Self {
            summary: Summary::of(&facts.rollout),
            version_leak: format!("{:?}", facts.rollout.spec.version_leak.unwrap_or_default()),
            statefulset: workload.map(|set| set.name.clone()),
            budgets: workload.map(budgets).unwrap_or_default(),
            revisions: workload
                .map(|set| revisions(set, facts.stable(), &leaked))
                .unwrap_or_default(),
        }
    }

    /// All Pods by ordinal, each with whether it runs the update revision.
    pub(crate) fn pods(&self) -> Vec<(&PodView, bool)> {
        let of = |revision: &'_ RevisionView| revision.roles.contains(&"update");
        let mut pods: Vec<(&PodView, bool)> = self
            .revisions
            .iter()
            .flat_map(|revision| revision.pods.iter().map(move |pod| (pod, of(revision))))
            .collect();
        pods.sort_by_key(|(pod, _)| ordinal(&pod.name));
        pods
    }
}

/// The number at the end of a Pod's name.
pub(crate) fn ordinal(name: &str) -> u32 {
    name.rsplit_once('-').and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
}

/// The budgets of a workload.
pub(super) fn budgets(workload: &Workload) -> Vec<BudgetView> {
    workload.budgets.iter().map(budget).collect()
}

fn budget(seen: &BudgetSeen) -> BudgetView {
    let budget = &seen.budget;
    BudgetView {
        name: budget.name.clone(),
        limit: budget.limit.clone(),
        disruptions_allowed: budget.allowed,
        current_healthy: budget.current_healthy,
        desired_healthy: budget.desired_healthy,
        expected_pods: budget.expected,
    }
}

/// The revisions of a workload that anybody runs, and the one of its template, with their Pods. `stable`
/// is a word that a status calls the stable revision by; `leaked` are UIDs.
pub(super) fn revisions(workload: &Workload, stable: &str, leaked: &[&str]) -> Vec<RevisionView> {
    let mut pods: BTreeMap<&str, Vec<PodView>> = BTreeMap::new();
    for one in &workload.pods {
        let batch = workload.batches.get(&one.uid.0).copied();
        let view = pod(one, leaked.contains(&one.uid.0.as_str()), batch);
        pods.entry(&one.revision).or_default().push(view);
    }
    let mut all = workload.revisions.clone();
    for hash in
        pods.keys().filter(|hash| all.iter().all(|one| one.hash != **hash)).collect::<Vec<_>>()
    {
        // Its ControllerRevision is gone, or not made yet.
        let version = workload.pods.iter().find(|pod| pod.revision == *hash);
        all.push(Revision {
            name: (*hash).to_owned(),
            hash: (*hash).to_owned(),
            number: 0,
            image: String::new(),
            version: version.map(|pod| pod.version.clone()).unwrap_or_default(),
            created: None,
            template: serde_json::Value::Null,
        });
    }
    all.into_iter()
        .filter_map(|revision| {
            let update = revision.hash == workload.update;
            let pods = pods.remove(revision.hash.as_str()).unwrap_or_default();
            if pods.is_empty() && !update {
                return None;
            }
            let roles = [(update, "update"), (revision.is_called(stable), "stable")];
            Some(RevisionView {
                roles: roles.into_iter().filter(|(is, _)| *is).map(|(_, role)| role).collect(),
                name: revision.name,
                number: revision.number,
                version: revision.version,
                image: revision.image,
                created: revision.created,
                pods,
            })
        })
        .collect()
}

fn pod(pod: &Pod, leaked: bool, batch: Option<u32>) -> PodView {
    let ready = pod.ready_since.is_some() && pod.deletion.is_none();
    let trouble = pod.trouble.as_ref();
    let state = match (pod.deletion.is_some(), trouble, pod.phase) {
        (true, _, _) => "Terminating",
        (false, Some(trouble), _) => trouble.reason.as_str(),
        _ if ready => "Ready",
        (false, None, PodPhase::Pending) => "Pending",
        (false, None, PodPhase::Running) => "Starting",
        (false, None, PodPhase::Finished) => "Finished",
    };
    PodView {
        name: pod.name.clone(),
        uid: pod.uid.0.clone(),
        node: pod.node.clone(),
        ready,
        state: state.to_owned(),
        message: trouble.map(|trouble| trouble.message.clone()).unwrap_or_default(),
        leaked,
        batch,
        created: pod.created,
    }
}
