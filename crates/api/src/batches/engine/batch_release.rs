//! `BatchRelease`.

use engine::front::batch_release as inner;
use engine::world::Uid;
use jiff::SignedDuration;
use kube::ResourceExt;

use super::{narrow, says_true, times};
use crate::batches::batch_release::{BatchRelease, BatchReleaseStatus, BatchStatus};
use crate::batches::names::{BATCH_RELEASE_FINALIZER, PAUSED, ROLLBACK_IN_BATCH};
use crate::batches::plan::{Plan, PlanError, release_plan_hash};
use crate::batches::rollout_status::Condition;

/// What a stored resource asks for, as the engine sees it. A plan that cannot be followed says why, and has
/// no batches.
///
/// `progress_deadline` is how long a batch may take without progress.
pub fn engine_release(
    resource: &BatchRelease,
    progress_deadline: SignedDuration,
) -> inner::Release {
    let spec = &resource.spec;
    let plan = &spec.release_plan;
    let workload = spec.workload_ref.clone().unwrap_or_default();
    let (batches, failure_threshold, plan_error) = match Plan::of_release(plan) {
        Ok(Plan { steps, failure_threshold }) => (steps, failure_threshold, None),
        // Without batches there is nothing to do, which the engine says by itself.
        Err(PlanError::Empty) => (Vec::new(), None, None),
        Err(error) => (Vec::new(), None, Some(error.to_string())),
    };
    let says = |name| says_true(resource.metadata.annotations.as_ref(), name);
    inner::Release {
        namespace: resource.namespace().unwrap_or_default(),
        name: resource.name_any(),
        uid: Uid(resource.uid().unwrap_or_default()),
        generation: resource.metadata.generation.unwrap_or(0),
        batches: batches.into_iter().map(|step| step.replicas).collect(),
        batch_partition: plan.batch_partition.map(narrow),
        rollout_id: plan.rollout_id.clone().unwrap_or_default(),
        failure_threshold,
        plan_hash: release_plan_hash(plan),
        plan_error,
        other_style: other_style(resource),
        rollback_in_batches: says(ROLLBACK_IN_BATCH),
        paused: says(PAUSED),
        immediate: plan.finalizing_policy.as_deref() != Some("WaitResume"),
        deleted: resource.metadata.deletion_timestamp.is_some(),
        finalizer: resource.finalizers().iter().any(|one| one == BATCH_RELEASE_FINALIZER),
        progress_deadline,
        kind: workload.kind,
        workload_name: workload.name,
    }
}

/// A style that is not by partition. Without one, a Deployment may ask for a canary by a flag.
fn other_style(resource: &BatchRelease) -> Option<String> {
    let plan = &resource.spec.release_plan;
    let kind = resource.spec.workload_ref.as_ref().map(|workload| workload.kind.as_str());
    match plan.rolling_style.as_deref().unwrap_or_default() {
        "" if kind == Some("Deployment") && plan.enable_extra_workload_for_canary == Some(true) => {
            Some("Canary".to_owned())
        }
        "" => None,
        style if style.eq_ignore_ascii_case("Partition") => None,
        style => Some(style.to_owned()),
    }
}

/// The status as it was last written. What is absent or unknown reads as its default.
pub fn engine_release_status(status: &BatchReleaseStatus) -> inner::Status {
    let batch = &status.canary_status;
    inner::Status {
        phase: inner::Phase::of(&status.phase),
        message: status.message.clone(),
        batch_state: inner::BatchState::of(&batch.batch_state),
        current_batch: narrow(batch.current_batch),
        batch_ready_time: batch.batch_ready_time,
        updated: narrow(batch.updated_replicas),
        updated_ready: narrow(batch.updated_ready_replicas),
        no_need_update: batch.no_need_update_replicas.map(narrow),
        stable_revision: status.stable_revision.clone(),
        update_revision: status.update_revision.clone(),
        observed_generation: status.observed_generation,
        observed_rollout_id: status.observed_rollout_id.clone(),
        observed_replicas: Some(status.observed_workload_replicas)
            .filter(|replicas| *replicas >= 0)
            .map(narrow),
        plan_hash: status.observed_release_plan_hash.clone(),
        conditions: status.conditions.iter().filter_map(condition_in).collect(),
        evicting: status.evicting.iter().map(|uid| Uid(uid.clone())).collect(),
        last_eviction: status.last_eviction_time,
        last_progress: status.last_progress_time,
        progressed: narrow(status.progressed_replicas),
    }
}

/// The status to write for a resource. What the engine does not hold is taken from the status that the
/// resource has.
pub fn release_status(status: &inner::Status, resource: &BatchRelease) -> BatchReleaseStatus {
    let before = resource.status.clone().unwrap_or_default();
    BatchReleaseStatus {
        conditions: status.conditions.iter().map(condition_out).collect(),
        canary_status: BatchStatus {
            batch_state: status
                .batch_state
                .map(inner::BatchState::name)
                .unwrap_or_default()
                .to_owned(),
            current_batch: i64::from(status.current_batch),
            batch_ready_time: status.batch_ready_time,
            updated_replicas: i64::from(status.updated),
            updated_ready_replicas: i64::from(status.updated_ready),
            no_need_update_replicas: status.no_need_update.map(i64::from),
            rest: before.canary_status.rest,
        },
        stable_revision: status.stable_revision.clone(),
        update_revision: status.update_revision.clone(),
        observed_generation: status.observed_generation,
        observed_rollout_id: status.observed_rollout_id.clone(),
        observed_workload_replicas: status.observed_replicas.map_or(-1, i64::from),
        collision_count: before.collision_count,
        observed_release_plan_hash: status.plan_hash.clone(),
        phase: status.phase.map(inner::Phase::name).unwrap_or_default().to_owned(),
        message: status.message.clone(),
        evicting: status.evicting.iter().map(|uid| uid.0.clone()).collect(),
        last_eviction_time: status.last_eviction,
        last_progress_time: status.last_progress,
        progressed_replicas: i64::from(status.progressed),
        rest: before.rest,
    }
}

fn condition_out(condition: &inner::Condition) -> Condition {
    Condition {
        type_: condition.kind.name().to_owned(),
        status: if condition.holds { "True" } else { "False" }.to_owned(),
        last_update_time: Some(condition.updated),
        last_transition_time: Some(condition.since),
        reason: condition.reason.clone(),
        message: condition.message.clone(),
        rest: serde_json::Map::new(),
    }
}

fn condition_in(condition: &Condition) -> Option<inner::Condition> {
    let (updated, since) = times(condition);
    Some(inner::Condition {
        kind: inner::ConditionKind::of(&condition.type_)?,
        holds: condition.status == "True",
        reason: condition.reason.clone(),
        message: condition.message.clone(),
        since,
        updated,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::batches::convert::{Version, convert};

    #[expect(clippy::needless_pass_by_value, reason = "its callers read better")]
    fn resource(plan: Value) -> BatchRelease {
        serde_json::from_value(json!({
            "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "BatchRelease",
            "metadata": {
                "name": "web", "namespace": "shop", "uid": "u-1", "generation": 4,
                "annotations": {"sluice.dev/paused": "true"},
                "finalizers": ["rollouts.kruise.io/batch-release-finalizer"],
            },
            "spec": {
                "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop"},
                "releasePlan": plan,
            },
        }))
        .unwrap()
    }

    fn release(plan: Value) -> inner::Release {
        engine_release(&resource(plan), SignedDuration::from_secs(600))
    }

    #[test]
    fn a_release_is_read_whole() {
        use engine::quantity::IntOrPercent::{Int, Percent};
        let read = release(json!({
            "batches": [{"canaryReplicas": 1}, {"canaryReplicas": "50%"}],
            "batchPartition": 1, "rolloutID": "7", "failureThreshold": "10%",
            "finalizingPolicy": "WaitResume", "rollingStyle": "Partition",
        }));
        assert_eq!(read.batches, [Int(1), Percent(50)]);
        assert_eq!((read.batch_partition, read.failure_threshold), (Some(1), Some(Percent(10))));
        assert_eq!((read.kind.as_str(), read.workload_name.as_str()), ("Deployment", "shop"));
        assert_eq!((read.rollout_id.as_str(), read.generation), ("7", 4));
        assert!(read.paused && read.finalizer && !read.immediate && !read.deleted);
        assert_eq!((read.other_style, read.plan_error), (None, None));
    }

    #[test]
    fn a_plan_that_cannot_be_followed_says_why() {
        let error = |plan: Value| release(plan).plan_error.unwrap_or_default();
        assert_eq!(error(json!({"batches": []})), "");
        assert_eq!(error(json!({"batches": [{"canaryReplicas": "0%"}]})), "step 1 is of no Pods");
        let error = error(json!({"batches": [{"canaryReplicas": 1}], "failureThreshold": "x"}));
        assert!(error.starts_with("failureThreshold: \"x\""), "{error}");
    }

    #[test]
    fn only_batches_by_partition_are_of_this_style() {
        let check = |plan: Value, expect: Option<&str>| {
            assert_eq!(release(plan.clone()).other_style.as_deref(), expect, "{plan}");
        };
        check(json!({}), None);
        check(json!({"rollingStyle": "partition"}), None);
        check(json!({"rollingStyle": "Canary"}), Some("Canary"));
        check(json!({"rollingStyle": "BlueGreen"}), Some("BlueGreen"));
        check(json!({"enableExtraWorkloadForCanary": true}), Some("Canary"));
        check(json!({"enableExtraWorkloadForCanary": true, "rollingStyle": "Partition"}), None);
    }

    fn full() -> inner::Status {
        let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
        let condition = |kind, holds| inner::Condition {
            kind,
            holds,
            reason: "Word".into(),
            message: "a sentence".into(),
            since: at("2026-01-01T00:00:00Z"),
            updated: at("2026-01-01T00:00:01.5Z"),
        };
        inner::Status {
            phase: Some(inner::Phase::Progressing),
            message: "batch 2 of 3".into(),
            batch_state: Some(inner::BatchState::Verifying),
            current_batch: 1,
            batch_ready_time: Some(at("2026-01-01T00:00:02.123456789Z")),
            updated: 5,
            updated_ready: 4,
            no_need_update: Some(0),
            stable_revision: "v1".into(),
            update_revision: "v2".into(),
            observed_generation: 4,
            observed_rollout_id: "7".into(),
            observed_replicas: Some(0),
            plan_hash: "hash".into(),
            conditions: vec![
                condition(inner::ConditionKind::Progressing, true),
                condition(inner::ConditionKind::Stuck, true),
                condition(inner::ConditionKind::Degraded, true),
                condition(inner::ConditionKind::Surplus, false),
            ],
            evicting: vec![Uid("p-1".into()), Uid("p-2".into())],
            last_eviction: Some(at("2026-01-01T00:00:03Z")),
            last_progress: Some(at("2026-01-01T00:00:04Z")),
            progressed: 9,
        }
    }

    #[test]
    fn a_status_that_is_written_reads_as_the_same_in_both_versions() {
        for status in [full(), inner::Status::default()] {
            let mut object = resource(json!({"batches": [{"canaryReplicas": 1}]}));
            object.status = Some(release_status(&status, &object));
            let stored = serde_json::to_value(&object).unwrap();
            let old = convert(&stored, Version::V1alpha1).unwrap();
            let back = convert(&old, Version::V1beta1).unwrap();
            assert_eq!(back, stored);
            let back: BatchRelease = serde_json::from_value(back).unwrap();
            assert_eq!(engine_release_status(back.status.as_ref().unwrap()), status);
        }
    }

    #[test]
    fn what_another_manager_left_in_a_status_is_kept_and_read() {
        let mut object = resource(json!({}));
        object.status = serde_json::from_value(json!({
            "phase": "Initial", "collisionCount": 3, "observedWorkloadReplicas": -1,
            "conditions": [{"type": "Unknown", "status": "True", "reason": "", "message": ""}],
            "later": {"a": 1},
        }))
        .ok();
        let read = engine_release_status(object.status.as_ref().unwrap());
        assert_eq!(read, inner::Status::default());
        let written = release_status(&read, &object);
        assert_eq!(written.collision_count, Some(3));
        assert_eq!(written.rest["later"], json!({"a": 1}));
    }
}
