//! `Rollout`, and the `BatchRelease` that it writes.

use engine::front::rollout as inner;
use engine::world::Uid;
use kube::ResourceExt;
use serde_json::{Map, Value, json};

use super::super::batch_release::{BatchRelease, ReleasePlan};
use super::super::names::{GROUP, PAUSED, PLAN_HASH, ROLLBACK_IN_BATCH, ROLLOUT_FINALIZER};
use super::super::plan::{Plan, StepPause, plan_hash, release_plan_hash};
use super::super::replicas::IntOrString;
use super::super::rollout::{Rollout, Strategy, WorkloadRef};
use super::super::rollout_status::{CanaryStatus, Condition, RolloutStatus};
use super::{narrow, says_true, times};

const REMEDY: &str = "Sluice releases in batches and leaves traffic alone";

/// What a stored Rollout asks for, as the engine sees it; who else leads its workload is told by whoever
/// knows the others.
pub fn engine_rollout(resource: &Rollout, rival: Option<String>) -> inner::Rollout {
    let spec = &resource.spec;
    let annotations = resource.metadata.annotations.as_ref();
    let canary = spec.strategy.canary.as_ref();
    let plan = match canary {
        Some(canary) => Plan::of_canary(canary).map_err(|error| error.to_string()),
        None => Err("the plan has no steps".to_owned()),
    };
    let threshold = plan.as_ref().ok().and_then(|plan| plan.failure_threshold);
    inner::Rollout {
        namespace: resource.namespace().unwrap_or_default(),
        name: resource.name_any(),
        generation: resource.metadata.generation.unwrap_or(0),
        deleted: resource.metadata.deletion_timestamp.is_some(),
        finalizer: resource.finalizers().iter().any(|it| it == ROLLOUT_FINALIZER),
        workload: format!("{} {}", spec.workload_ref.kind, spec.workload_ref.name),
        disabled: spec.disabled == Some(true),
        paused: spec.strategy.paused == Some(true),
        rollback_in_batch: says_true(annotations, ROLLBACK_IN_BATCH),
        steps: plan.map(steps),
        failure_threshold: threshold,
        hash: plan_hash(&spec.strategy),
        marked_hash: annotations.and_then(|all| all.get(PLAN_HASH)).cloned(),
        not_served: not_served(&spec.workload_ref, &spec.strategy),
        rival,
    }
}

fn steps(plan: Plan) -> Vec<inner::Step> {
    let step = |step: super::super::PlanStep| inner::Step {
        replicas: step.replicas,
        pause: match step.pause {
            StepPause::Approval => inner::Pause::Approval,
            StepPause::Seconds(seconds) => inner::Pause::Seconds(seconds),
        },
    };
    plan.steps.into_iter().map(step).collect()
}

/// What another kind of release would be needed for. The webhook refuses it in the same words.
fn not_served(workload: &WorkloadRef, strategy: &Strategy) -> Option<String> {
    if strategy.blue_green.is_some() {
        return Some(format!("blue-green releases are not served: {REMEDY}; use canary.steps"));
    }
    let canary = strategy.canary.as_ref()?;
    let routed = canary.common.traffic_routings.as_ref().is_some_and(|all| !all.is_empty())
        || canary.traffic_routing_ref.as_ref().is_some_and(|name| !name.is_empty());
    if routed {
        return Some(format!("traffic routing is not served: {REMEDY}; leave it out"));
    }
    // Of any other kind it asks for nothing.
    let extra = canary.enable_extra_workload_for_canary == Some(true);
    (extra && workload.kind == "Deployment").then(|| {
        format!(
            "releases by a canary Deployment are not served: {REMEDY}; set \
             enableExtraWorkloadForCanary to false (of v1alpha1: the annotation \
             {GROUP}/rolling-style to \"partition\")"
        )
    })
}

/// The status as it was last written, whoever wrote it.
pub fn engine_rollout_status(status: &RolloutStatus) -> inner::Status {
    inner::Status {
        observed_generation: status.observed_generation,
        phase: inner::Phase::of(&status.phase),
        message: status.message.clone(),
        conditions: status.conditions.iter().filter_map(condition_in).collect(),
        canary: status.canary_status.as_ref().map(canary_in),
    }
}

fn canary_in(canary: &CanaryStatus) -> inner::Canary {
    inner::Canary {
        observed_workload_generation: canary.observed_workload_generation,
        observed_rollout_id: canary.observed_rollout_id.clone(),
        rollout_hash: canary.rollout_hash.clone(),
        stable_revision: canary.stable_revision.clone(),
        canary_revision: canary.canary_revision.clone(),
        pod_template_hash: canary.pod_template_hash.clone(),
        canary_replicas: narrow(canary.canary_replicas),
        canary_ready_replicas: narrow(canary.canary_ready_replicas),
        current_step: narrow(canary.current_step_index),
        next_step: canary.next_step_index,
        state: inner::StepState::of(&canary.current_step_state).unwrap_or_default(),
        finalising: inner::Finalising::of(&canary.finalising_step),
        message: canary.message.clone(),
        last_update: canary.last_update_time,
    }
}

/// `None` for a condition that is somebody else's.
fn condition_in(condition: &Condition) -> Option<inner::Condition> {
    let (updated, since) = times(condition);
    Some(inner::Condition {
        kind: inner::ConditionKind::of(&condition.type_)?,
        holds: condition.status == "True",
        reason: inner::Reason::of(&condition.reason).unwrap_or(inner::Reason::None),
        message: condition.message.clone(),
        updated,
        since,
    })
}

/// The status to be written over `before`: what is not the engine's stays as it is there.
pub fn rollout_status(status: &inner::Status, before: Option<&RolloutStatus>) -> RolloutStatus {
    let kept = before.cloned().unwrap_or_default();
    let theirs = |it: &Condition| inner::ConditionKind::of(&it.type_).is_none();
    let mut conditions: Vec<Condition> =
        kept.conditions.iter().filter(|it| theirs(it)).cloned().collect();
    conditions.extend(status.conditions.iter().map(|condition| {
        let same = |it: &&Condition| it.type_ == condition.kind.name();
        condition_out(condition, kept.conditions.iter().find(same))
    }));
    let canary = status.canary.as_ref();
    RolloutStatus {
        observed_generation: status.observed_generation,
        canary_status: canary.map(|canary| canary_out(canary, kept.canary_status.as_ref())),
        blue_green_status: kept.blue_green_status,
        conditions,
        phase: status.phase.map(|phase| phase.name().to_owned()).unwrap_or_default(),
        message: status.message.clone(),
        current_step_index: canary.map_or(0, |canary| canary.current_step.into()),
        current_step_state: canary.map(|it| it.state.name().to_owned()).unwrap_or_default(),
        rest: kept.rest,
    }
}

fn canary_out(canary: &inner::Canary, before: Option<&CanaryStatus>) -> CanaryStatus {
    CanaryStatus {
        observed_workload_generation: canary.observed_workload_generation,
        observed_rollout_id: canary.observed_rollout_id.clone(),
        rollout_hash: canary.rollout_hash.clone(),
        stable_revision: canary.stable_revision.clone(),
        canary_revision: canary.canary_revision.clone(),
        pod_template_hash: canary.pod_template_hash.clone(),
        canary_replicas: canary.canary_replicas.into(),
        canary_ready_replicas: canary.canary_ready_replicas.into(),
        current_step_index: canary.current_step.into(),
        next_step_index: canary.next_step,
        current_step_state: canary.state.name().to_owned(),
        finalising_step: canary.finalising.map(|it| it.name().to_owned()).unwrap_or_default(),
        message: canary.message.clone(),
        last_update_time: canary.last_update,
        rest: before.map(|before| before.rest.clone()).unwrap_or_default(),
    }
}

fn condition_out(condition: &inner::Condition, before: Option<&Condition>) -> Condition {
    Condition {
        type_: condition.kind.name().to_owned(),
        status: if condition.holds { "True" } else { "False" }.to_owned(),
        last_update_time: Some(condition.updated),
        last_transition_time: Some(condition.since),
        reason: condition.reason.name().to_owned(),
        message: condition.message.clone(),
        rest: before.map(|before| before.rest.clone()).unwrap_or_default(),
    }
}

/// The BatchRelease of a Rollout, as the engine sees it.
pub fn written_release(release: &BatchRelease, rollout: &Rollout) -> inner::BatchRelease {
    let plan = &release.spec.release_plan;
    let status = release.status.clone().unwrap_or_default();
    let (uid, owner) = (release.uid().unwrap_or_default(), rollout.uid());
    let ours = release
        .owner_references()
        .iter()
        .any(|it| it.controller == Some(true) && Some(&it.uid) == owner.as_ref());
    let asked = read_plan(release, plan);
    let as_written = asked.is_some()
        && release.spec.workload_ref.as_ref() == Some(&rollout.spec.workload_ref)
        && plan.rolling_style.as_deref() == Some(STYLE)
        && plan.enable_extra_workload_for_canary == Some(false)
        && plan.patch_pod_template_metadata.is_none();
    inner::BatchRelease {
        uid: Uid(uid),
        ours,
        deleting: release.metadata.deletion_timestamp.is_some(),
        generation: release.metadata.generation.unwrap_or(0),
        observed_generation: status.observed_generation,
        plan: asked.unwrap_or_else(unreadable),
        as_written,
        plan_seen: status.observed_release_plan_hash == release_plan_hash(plan),
        phase: inner::ReleasePhase::of(&status.phase),
        batch_state: inner::BatchState::of(&status.canary_status.batch_state),
        current_batch: narrow(status.canary_status.current_batch),
        updated: narrow(status.canary_status.updated_replicas),
        updated_ready: narrow(status.canary_status.updated_ready_replicas),
        held: held(&status.conditions),
        surplus: condition(&status.conditions, "Surplus", "True").map(|it| it.message.clone()),
        observed_rollout_id: status.observed_rollout_id,
        message: status.message,
    }
}

/// What a BatchRelease that does not go on by itself waits for, where that is not its Rollout.
fn held(conditions: &[Condition]) -> Option<(inner::Reason, String)> {
    let goes_on = condition(conditions, "Progressing", "False")?;
    Some((inner::Reason::of_release(&goes_on.reason)?, goes_on.message.clone()))
}

fn condition<'a>(all: &'a [Condition], kind: &str, status: &str) -> Option<&'a Condition> {
    all.iter().find(|it| it.type_ == kind && it.status == status)
}

const STYLE: &str = "Partition";

/// `None` where a count in it says nothing.
fn read_plan(release: &BatchRelease, plan: &ReleasePlan) -> Option<inner::ReleasePlan> {
    let annotations = release.metadata.annotations.as_ref();
    let batches = plan.batches.iter().flatten();
    let batches = batches.map(|batch| batch.canary_replicas.read().ok());
    let threshold = plan
        .failure_threshold
        .as_ref()
        .map(|it| it.read().ok())
        .map_or(Some(None), |threshold| threshold.map(Some))?;
    Some(inner::ReleasePlan {
        batches: batches.collect::<Option<_>>()?,
        partition: plan.batch_partition.map(narrow),
        rollout_id: plan.rollout_id.clone().unwrap_or_default(),
        failure_threshold: threshold,
        policy: match plan.finalizing_policy.as_deref() {
            Some("WaitResume") => Some(inner::Policy::WaitResume),
            Some("Immediate") => Some(inner::Policy::Immediate),
            _ => None,
        },
        rollback_in_batch: says_true(annotations, ROLLBACK_IN_BATCH),
        paused: says_true(annotations, PAUSED),
    })
}

/// A plan that no step asks for, and that holds the workload.
fn unreadable() -> inner::ReleasePlan {
    inner::ReleasePlan {
        batches: Vec::new(),
        partition: Some(0),
        rollout_id: String::new(),
        failure_threshold: None,
        policy: None,
        rollback_in_batch: false,
        paused: false,
    }
}

/// The BatchRelease to be created for a Rollout.
pub fn new_release(rollout: &Rollout, plan: &inner::ReleasePlan) -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1",
        "kind": "BatchRelease",
        "metadata": {
            "namespace": rollout.namespace(),
            "name": rollout.name_any(),
            "annotations": without_nulls(annotations(plan)),
            "ownerReferences": [{
                "apiVersion": "rollouts.kruise.io/v1beta1",
                "kind": "Rollout",
                "name": rollout.name_any(),
                "uid": rollout.uid(),
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "workloadRef": rollout.spec.workload_ref,
            "releasePlan": without_nulls(release_plan(plan)),
        },
    })
}

/// The merge patch that has a BatchRelease be as this plan asks.
pub fn release_patch(rollout: &Rollout, plan: &inner::ReleasePlan) -> Value {
    json!({
        "metadata": { "annotations": annotations(plan) },
        "spec": {
            "workloadRef": rollout.spec.workload_ref,
            "releasePlan": release_plan(plan),
        },
    })
}

/// The merge patch by which a BatchRelease lets its workload go.
pub fn promotion(policy: inner::Policy) -> Value {
    json!({
        "metadata": { "annotations": { PAUSED: null } },
        "spec": { "releasePlan": {
            "batchPartition": null,
            "finalizingPolicy": policy_name(policy),
        } },
    })
}

fn policy_name(policy: inner::Policy) -> &'static str {
    match policy {
        inner::Policy::WaitResume => "WaitResume",
        inner::Policy::Immediate => "Immediate",
    }
}

/// With null for what is not to be there.
fn annotations(plan: &inner::ReleasePlan) -> Value {
    let said = |said: bool| if said { json!("true") } else { Value::Null };
    json!({ ROLLBACK_IN_BATCH: said(plan.rollback_in_batch), PAUSED: said(plan.paused) })
}

/// With null for what is not to be there.
fn release_plan(plan: &inner::ReleasePlan) -> Value {
    let batches: Vec<Value> = plan
        .batches
        .iter()
        .map(|batch| json!({ "canaryReplicas": IntOrString::from(*batch) }))
        .collect();
    let id = Some(&plan.rollout_id).filter(|id| !id.is_empty());
    json!({
        "batches": batches,
        "batchPartition": plan.partition,
        "rolloutID": id,
        "failureThreshold": plan.failure_threshold.map(IntOrString::from),
        "finalizingPolicy": plan.policy.map(policy_name),
        "patchPodTemplateMetadata": null,
        "rollingStyle": STYLE,
        "enableExtraWorkloadForCanary": false,
    })
}

fn without_nulls(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { return Map::new() };
    map.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

#[cfg(test)]
mod tests;
