//! Who has a release of a workload, as the caches show it: what a webhook asks about.

use api::batches::names::{CONTROL_INFO, IN_PROGRESSING};
use api::batches::{BatchRelease, Claim, Context, Rollout, validate};
use engine::admit::workload::{Around, Leader, Release};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::annotation;
use crate::caches::{Caches, Held};
use crate::key::Key;
use crate::seen::replica_set::fingerprint;
use crate::seen::{ReplicaSetSeen, Resource};
use crate::subject::{Kind, Workload};

/// Annotation of a ReplicaSet, by Kubernetes: a later template has a larger number.
const REVISION: &str = "deployment.kubernetes.io/revision";

/// What the caches show around a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Who has a release of it.
    pub around: Around,
    /// Deployments: whether a ReplicaSet of it has Pods.
    pub running: Option<bool>,
    /// Deployments: pod-template-hash of the ReplicaSet to go back to from `new`.
    pub stable_revision: Option<String>,
}

/// Looks around a workload that is about to become `new` instead of `old`.
pub fn surroundings(
    caches: &Caches,
    workload: &Workload,
    old: &Value,
    new: &Value,
) -> Surroundings {
    let held = caches.lock();
    let waiting = held.waiting_for();
    if !waiting.is_empty() {
        let why = format!("not yet listed: {}", waiting.join(", "));
        return Surroundings { around: Around::Unknown(why), running: None, stable_revision: None };
    }
    let leader = leader(&held, workload, annotation(old, IN_PROGRESSING));
    let release = release(&held, workload, annotation(old, CONTROL_INFO));
    let around = Around::Known { leader: leader.map(described), release };
    if workload.kind != Kind::Deployment {
        return Surroundings { around, running: None, stable_revision: None };
    }
    let uid = old["metadata"]["uid"].as_str().unwrap_or_default();
    let active: Vec<&ReplicaSetSeen> =
        held.replica_sets.owned_by(uid).filter(|set| set.size > 0 || set.pods > 0).collect();
    let template = fingerprint(&new["spec"]["template"]);
    let others = active.iter().filter(|set| set.template != template && !set.hash().is_empty());
    let stable = others.min_by_key(|set| revision(set)).map(|set| set.hash().to_owned());
    Surroundings { around, running: Some(!active.is_empty()), stable_revision: stable }
}

/// The workloads that the Rollouts of a namespace name; none where that cannot be said yet.
pub fn claims(caches: &Caches, namespace: &str) -> Vec<Claim> {
    let held = caches.lock();
    let read = |seen: &Resource<Rollout>| {
        let workload = seen.object.as_ref().ok()?.spec.workload_ref.clone();
        let Key { namespace, name } = seen.meta.key();
        seen.meta.deletion_timestamp.is_none().then_some(Claim { namespace, name, workload })
    };
    held.rollouts.in_namespace(namespace).filter_map(read).collect()
}

/// The Rollout that leads a workload: whose mark it bears, or whose release is under way; else the oldest
/// that holds changes.
pub(crate) fn leader<'a>(
    held: &'a Held,
    workload: &Workload,
    mark: Option<&str>,
) -> Option<&'a Resource<Rollout>> {
    let mark: Value = mark.and_then(|mark| serde_json::from_str(mark).ok()).unwrap_or_default();
    let rank = |seen: &&Resource<Rollout>| {
        let marked = mark["rolloutName"] == seen.meta.name.as_str();
        let phase = phase(seen);
        let under_way = ["Progressing", "Terminating", "Disabling"].contains(&phase);
        let age: (Option<Timestamp>, String) =
            (seen.meta.creation_timestamp, seen.meta.name.clone());
        (!marked, !under_way, is_idle(seen), age)
    };
    held.rollouts_naming(workload).min_by_key(rank)
}

fn described(seen: &Resource<Rollout>) -> Leader {
    let status = seen.object.as_ref().ok().and_then(|rollout| rollout.status.as_ref());
    let conditions = status.map(|status| status.conditions.as_slice()).unwrap_or_default();
    let reason = conditions.iter().find(|one| one.type_ == "Progressing");
    let reason = reason.map(|condition| condition.reason.as_str()).unwrap_or_default();
    let ends = ["Finalising", "Cancelling", "Completed"].contains(&reason);
    let ending = match phase(seen) {
        "Terminating" | "Disabling" => true,
        "Progressing" => ends,
        _ => false,
    };
    let name = seen.meta.name.clone();
    Leader { name, idle: is_idle(seen), ending, obstacle: obstacle(seen) }
}

fn phase(seen: &Resource<Rollout>) -> &str {
    let status = seen.object.as_ref().ok().and_then(|rollout| rollout.status.as_ref());
    status.map_or("", |status| status.phase.as_str())
}

fn is_idle(seen: &Resource<Rollout>) -> bool {
    let disabled = seen.object.as_ref().ok().and_then(|rollout| rollout.spec.disabled);
    disabled == Some(true) || seen.meta.deletion_timestamp.is_some()
}

/// What is wrong with a Rollout as it stands; it may have come in before there was a webhook.
fn obstacle(seen: &Resource<Rollout>) -> Option<String> {
    let rollout = match &seen.object {
        Ok(rollout) => rollout,
        Err(why) => return Some(why.clone()),
    };
    let errors = validate(&json!(**rollout), &Context::default());
    let first = errors.into_iter().find(|finding| finding.severity == api::Severity::Error)?;
    Some(format!("{}: {}", first.path, first.message))
}

/// The BatchRelease that control-info names.
fn release(held: &Held, workload: &Workload, control: Option<&str>) -> Release {
    let owner: Value =
        control.and_then(|owner| serde_json::from_str(owner).ok()).unwrap_or_default();
    let key = Key::new(&*workload.key.namespace, owner["name"].as_str().unwrap_or_default());
    let Some(seen) = held.releases.get(&key) else { return Release::None };
    if owner["uid"] != seen.meta.uid.as_str() {
        return Release::None;
    }
    let lets_go = |release: &BatchRelease| {
        let phase = release.status.as_ref().map(|status| status.phase.as_str());
        release.spec.release_plan.batch_partition.is_none() || phase == Some("Completed")
    };
    let ending = seen.object.as_ref().is_ok_and(|release| lets_go(release));
    match ending || seen.meta.deletion_timestamp.is_some() {
        true => Release::Ending,
        false => Release::GoesOn,
    }
}

/// The revision number that Kubernetes gives a ReplicaSet.
fn revision(set: &ReplicaSetSeen) -> u64 {
    let number = set.meta.annotations.get(REVISION);
    number.and_then(|number| number.parse().ok()).unwrap_or(u64::MAX)
}
