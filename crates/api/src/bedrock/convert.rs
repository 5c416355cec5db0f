//! Between the resource and the engine: what is asked for goes in, the status goes both ways.
//!
//! A status that goes out and is read again is the same value, or every look would find something
//! new to write.

use engine::quantity::Percent;
use engine::status as inner;
use engine::world::{Applied, Build, Rollout, Uid};
use jiff::SignedDuration;
use kube::ResourceExt;
use serde_json::Value;

use super::desired::{Desired, DesiredError, desired};
use super::spec::{StatefulsetRollout, UnhealthyPods, VersionLeak};
use super::status::{
    BuildMetadata, Condition, Phase, Pod, StatefulsetApplied, StatefulsetRolloutStatus,
};
use super::version::pod_version;

/// From this many Pods on, rows at rest leave out what follows from the rest of the status, so that
/// the object stays far below the 256 KiB that a thousand full rows would fill.
const SHORT_ROWS_FROM: usize = 100;

/// What a stored resource asks for, as the engine sees it, and the document that is applied for it.
pub fn engine_rollout(resource: &StatefulsetRollout) -> Result<(Rollout, Desired), DesiredError> {
    let desired = desired(resource)?;
    let spec = &resource.spec;
    let rollout = Rollout {
        namespace: desired.namespace().to_owned(),
        name: resource.name_any(),
        uid: Uid(resource.uid().unwrap_or_default()),
        generation: resource.metadata.generation.unwrap_or(0),
        workload_name: desired.name().to_owned(),
        percent: Percent::new(spec.percent()).unwrap_or(Percent::ALL),
        pause_requested: spec.pause_requested(),
        identity: spec.rollout_identity().to_owned(),
        min_eviction_interval: SignedDuration::from_secs(spec.min_pod_eviction_interval_seconds()),
        progress_deadline: SignedDuration::from_secs(spec.progress_deadline_seconds()),
        unhealthy_pods: match spec.unhealthy_pods.unwrap_or_default() {
            UnhealthyPods::Report => engine::world::UnhealthyPods::Report,
            UnhealthyPods::Replace => engine::world::UnhealthyPods::Replace,
        },
        version_leak: match spec.version_leak.unwrap_or_default() {
            VersionLeak::Ignore => engine::world::VersionLeak::Ignore,
            VersionLeak::Report => engine::world::VersionLeak::Report,
            VersionLeak::Pause => engine::world::VersionLeak::Pause,
            VersionLeak::Prevent => engine::world::VersionLeak::Prevent,
        },
        desired_hash: desired.hash().to_owned(),
        replicas: spec.statefulset.replicas().map(narrow),
        channel: spec.channel().map(str::to_owned),
        callback_stage: spec.callback().map(|(_, stage)| stage.to_owned()),
        services: spec.service_names().to_vec(),
        build: build(resource),
    };
    Ok((rollout, desired))
}

/// The resource's own version label outranks the template's and the image.
fn build(resource: &StatefulsetRollout) -> Build {
    let BuildMetadata { branch, commit, origin, mut version } =
        BuildMetadata::of(&resource.metadata);
    if version.is_empty() {
        version = resource.spec.statefulset.template().map(pod_version).unwrap_or_default().version;
    }
    Build { version, branch, commit, origin }
}

/// The status as it was last written. What is absent or unknown reads as its default.
pub fn engine_status(status: &StatefulsetRolloutStatus) -> inner::Status {
    let conditions: Vec<inner::Condition> =
        status.conditions.iter().filter_map(condition_in).collect();
    let progressing = conditions.iter().find(|c| c.kind == inner::ConditionKind::Progressing);
    let build = Build {
        version: status.build_metadata.version.clone(),
        branch: status.build_metadata.branch.clone(),
        commit: status.build_metadata.commit.clone(),
        origin: status.build_metadata.origin.clone(),
    };
    inner::Status {
        phase: status.phase.map(|phase| match phase {
            Phase::RolloutPending => inner::Phase::Pending,
            Phase::RolloutInProgress => inner::Phase::InProgress,
            Phase::RolloutPaused => inner::Phase::Paused,
            Phase::RolloutDone => inner::Phase::Done,
            Phase::RolloutFailed => inner::Phase::Failed,
        }),
        percent_requested: status.percent_requested.and_then(|percent| u8::try_from(percent).ok()),
        reason: status.reason.clone(),
        reason_code: progressing.and_then(|condition| inner::Reason::of(&condition.reason)),
        ready_replicas: narrow(status.ready_replicas),
        discovery_ready: status.ready_replicas_service_discovery.map(narrow),
        paused: status.paused,
        deleted: status.deleted,
        pods: status.pods.iter().map(|pod| row_in(pod, status)).collect(),
        reconcile_after: status.reconcile_after,
        last_updated: status.last_updated,
        last_callback_stage: status.last_callback_stage_id.clone(),
        build,
        consul_services: status.consul_services.clone().unwrap_or_default(),
        workload_name: status.statefulset_name.clone(),
        spec_current: status.statefulset_spec_current,
        identity: status.rollout_identity.clone(),
        observed_generation: status.observed_generation,
        conditions,
        update_revision: status.update_revision.clone(),
        stable_revision: status.stable_revision.clone(),
        replicas: narrow(status.replicas),
        target_replicas: narrow(status.target_replicas),
        updated_replicas: narrow(status.updated_replicas),
        available_replicas: narrow(status.available_replicas),
        leaked_replicas: narrow(status.leaked_replicas),
        evicting: status.evicting.iter().map(|uid| Uid(uid.clone())).collect(),
        last_eviction: status.last_eviction_time,
        last_progress: status.last_progress_time,
        progressed: narrow(status.progressed_replicas),
        paused_seconds: status.paused_seconds,
        stopped_since: status.stopped_since,
        desired_hash: status.statefulset_hash.clone(),
        applied: status.statefulset_applied.as_ref().map(|applied| Applied {
            uid: applied.uid.as_str().into(),
            hash: applied.hash.clone(),
            generation: applied.generation,
        }),
    }
}

/// The status to write for a resource. What the engine does not hold (the Slack message) is taken
/// from the status that the resource has.
pub fn status(status: &inner::Status, resource: &StatefulsetRollout) -> StatefulsetRolloutStatus {
    let before = resource.status.as_ref();
    let (updated, target, replicas) =
        (status.updated_replicas, status.target_replicas, status.replicas);
    StatefulsetRolloutStatus {
        phase: status.phase.map(|phase| match phase {
            inner::Phase::Pending => Phase::RolloutPending,
            inner::Phase::InProgress => Phase::RolloutInProgress,
            inner::Phase::Paused => Phase::RolloutPaused,
            inner::Phase::Done => Phase::RolloutDone,
            inner::Phase::Failed => Phase::RolloutFailed,
        }),
        percent_requested: status.percent_requested.map(i64::from),
        reason: status.reason.clone(),
        ready_replicas: i64::from(status.ready_replicas),
        ready_replicas_service_discovery: status.discovery_ready.map(i64::from),
        paused: status.paused,
        deleted: status.deleted,
        pods: status.pods.iter().map(|row| row_out(row, status)).collect(),
        reconcile_after: status.reconcile_after,
        last_updated: status.last_updated,
        last_callback_stage_id: status.last_callback_stage.clone(),
        build_metadata: BuildMetadata {
            branch: status.build.branch.clone(),
            commit: status.build.commit.clone(),
            origin: status.build.origin.clone(),
            version: status.build.version.clone(),
        },
        slack_message: before.and_then(|before| before.slack_message.clone()),
        consul_services: Some(status.consul_services.clone()).filter(|names| !names.is_empty()),
        statefulset_name: status.workload_name.clone(),
        statefulset_spec_current: status.spec_current,
        rollout_identity: status.identity.clone(),
        observed_generation: status.observed_generation,
        conditions: status.conditions.iter().map(condition_out).collect(),
        update_revision: status.update_revision.clone(),
        stable_revision: status.stable_revision.clone(),
        replicas: i64::from(replicas),
        target_replicas: i64::from(target),
        updated_replicas: i64::from(updated),
        available_replicas: i64::from(status.available_replicas),
        leaked_replicas: i64::from(status.leaked_replicas),
        progress: format!("{updated}/{target}/{replicas}"),
        selector: selector(resource.spec.statefulset.0.pointer("/spec/selector")),
        evicting: status.evicting.iter().map(|uid| uid.0.clone()).collect(),
        last_eviction_time: status.last_eviction,
        last_progress_time: status.last_progress,
        progressed_replicas: i64::from(status.progressed),
        paused_seconds: status.paused_seconds,
        stopped_since: status.stopped_since,
        statefulset_hash: status.desired_hash.clone(),
        statefulset_applied: status.applied.as_ref().map(|applied| StatefulsetApplied {
            uid: applied.uid.0.clone(),
            hash: applied.hash.clone(),
            generation: applied.generation,
        }),
    }
}

/// The revision and version that a row at rest has unless it says otherwise.
fn at_rest<'a>(
    state: inner::PodState,
    update: &'a str,
    stable: &'a str,
    version: &'a str,
) -> (&'a str, &'a str) {
    match state {
        inner::PodState::Updated => (update, version),
        inner::PodState::Old => (stable, ""),
        _ => ("", ""),
    }
}

fn row_out(row: &inner::PodRow, status: &inner::Status) -> Pod {
    let mut pod = Pod {
        name: row.name.clone(),
        uid: row.uid.0.clone(),
        node: row.node.clone(),
        revision: row.revision.clone(),
        version: row.version.clone(),
        ready: row.ready,
        service_discovery_ready: row.discovery_ready,
        state: row.state.name().to_owned(),
        since: row.since,
        leaked: row.leaked,
    };
    if status.pods.len() >= SHORT_ROWS_FROM {
        let rest = at_rest(
            row.state,
            &status.update_revision,
            &status.stable_revision,
            &status.build.version,
        );
        if (row.revision.as_str(), row.version.as_str()) == rest {
            pod.revision.clear();
            pod.version.clear();
        } else if row.revision == rest.0 && row.version.is_empty() == rest.1.is_empty() {
            pod.revision.clear();
        }
    }
    pod
}

fn row_in(pod: &Pod, status: &StatefulsetRolloutStatus) -> inner::PodRow {
    let state = inner::PodState::of(&pod.state).unwrap_or(inner::PodState::Missing);
    let (mut revision, mut version) = (pod.revision.clone(), pod.version.clone());
    if status.pods.len() >= SHORT_ROWS_FROM && revision.is_empty() {
        let rest = at_rest(
            state,
            &status.update_revision,
            &status.stable_revision,
            &status.build_metadata.version,
        );
        revision = rest.0.to_owned();
        if version.is_empty() {
            version = rest.1.to_owned();
        }
    }
    inner::PodRow {
        name: pod.name.clone(),
        uid: Uid(pod.uid.clone()),
        node: pod.node.clone(),
        revision,
        version,
        ready: pod.ready,
        discovery_ready: pod.service_discovery_ready,
        state,
        since: pod.since,
        leaked: pod.leaked,
    }
}

fn condition_out(condition: &inner::Condition) -> Condition {
    Condition {
        type_: condition.kind.name().to_owned(),
        status: if condition.holds { "True" } else { "False" }.to_owned(),
        reason: condition.reason.clone(),
        message: condition.message.clone(),
        last_transition_time: Some(condition.since),
        observed_generation: condition.observed_generation,
    }
}

fn condition_in(condition: &Condition) -> Option<inner::Condition> {
    Some(inner::Condition {
        kind: inner::ConditionKind::of(&condition.type_)?,
        holds: condition.status == "True",
        reason: condition.reason.clone(),
        message: condition.message.clone(),
        since: condition.last_transition_time?,
        observed_generation: condition.observed_generation,
    })
}

/// A label selector as text, for the scale subresource: `app=web,tier in (a,b),!old`.
pub fn selector(selector: Option<&Value>) -> String {
    let Some(selector) = selector else { return String::new() };
    let mut parts = Vec::new();
    for (key, value) in selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten()
    {
        parts.push(format!("{key}={}", value.as_str().unwrap_or_default()));
    }
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    for expression in expressions.into_iter().flatten() {
        let key = expression["key"].as_str().unwrap_or_default();
        let values: Vec<&str> = expression["values"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let values = values.join(",");
        parts.push(match expression["operator"].as_str() {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} notin ({values})"),
            Some("DoesNotExist") => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    parts.join(",")
}

/// Numbers of Pods are never negative and far below the limit; what is not is held to the range.
fn narrow(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
