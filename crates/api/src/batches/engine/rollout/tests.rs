use engine::front::rollout::{Policy, ReleasePlan};
use engine::quantity::IntOrPercent;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;

fn rollout(spec: &Value) -> Rollout {
    serde_json::from_value(json!({
        "apiVersion": "rollouts.kruise.io/v1beta1",
        "kind": "Rollout",
        "metadata": {
            "namespace": "shop", "name": "web", "uid": "uid-1", "generation": 3,
            "finalizers": ["rollouts.kruise.io/rollout"],
            "annotations": {"rollouts.kruise.io/hash": "old"},
        },
        "spec": spec,
    }))
    .unwrap()
}

/// The published example.
fn usual() -> Rollout {
    rollout(&json!({
        "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "strategy": {"canary": {"enableExtraWorkloadForCanary": false, "steps": [
            {"replicas": 1, "pause": {}}, {"replicas": "50%", "pause": {"duration": 5}},
            {"replicas": "100%"},
        ]}},
    }))
}

#[test]
fn what_is_asked_for_is_read_as_it_is_written() {
    let read = engine_rollout(&usual(), None);
    assert_eq!((read.generation, read.finalizer, read.deleted), (3, true, false));
    assert_eq!(read.workload, "Deployment web");
    let steps = read.steps.unwrap();
    assert_eq!(steps[0].replicas, IntOrPercent::Int(1));
    assert_eq!(steps[1].pause, inner::Pause::Seconds(5));
    assert_eq!(steps[2].replicas, IntOrPercent::ALL);
    assert_eq!(read.marked_hash.as_deref(), Some("old"));
    assert_ne!(read.hash, "old");
    assert_eq!(read.not_served, None);
}

#[test]
fn what_is_not_served_is_said_and_what_asks_for_nothing_is_not() {
    let check = |kind: &str, strategy: Value, expect: Option<&str>| {
        let read = engine_rollout(
            &rollout(&json!({
                "workloadRef": {"apiVersion": "apps/v1", "kind": kind, "name": "web"},
                "strategy": strategy,
            })),
            None,
        );
        let said = read.not_served.as_deref();
        assert_eq!(said.map(|said| said.split(": ").next().unwrap()), expect, "{strategy}");
    };
    let canary = "releases by a canary Deployment are not served";
    let extra =
        json!({"canary": {"steps": [{"replicas": 1}], "enableExtraWorkloadForCanary": true}});
    check("Deployment", extra.clone(), Some(canary));
    check("StatefulSet", extra, None);
    check("Deployment", json!({"blueGreen": {}}), Some("blue-green releases are not served"));
    let routed = json!({"canary": {"steps": [], "trafficRoutings": [{"service": "web"}]}});
    check("Deployment", routed, Some("traffic routing is not served"));
    check("Deployment", json!({"canary": {"steps": [], "trafficRoutings": []}}), None);
    check("Deployment", json!({"canary": {"steps": [{"replicas": 1, "traffic": "5%"}]}}), None);
}

/// A status as users and the original leave it.
fn left() -> RolloutStatus {
    serde_json::from_value(json!({
        "observedGeneration": 2,
        "phase": "Progressing",
        "message": "Rollout is in step(1/3), and you need manually confirm to enter the next step",
        "currentStepIndex": 1,
        "currentStepState": "StepPaused",
        "later": {"kept": true},
        "conditions": [
            {"type": "Theirs", "status": "Unknown", "reason": "r", "message": "m"},
            {"type": "Progressing", "status": "True", "reason": "InRolling", "message": "m",
                "lastUpdateTime": "2026-01-01T00:00:01Z", "lastTransitionTime": "2026-01-01T00:00:00Z"},
        ],
        "canaryStatus": {
            "observedWorkloadGeneration": 4, "observedRolloutID": "v2", "rolloutHash": "h",
            "stableRevision": "v1", "canaryRevision": "v2", "podTemplateHash": "p",
            "canaryReplicas": 1, "canaryReadyReplicas": 1, "currentStepIndex": 1, "nextStepIndex": 2,
            "currentStepState": "StepPaused", "finalisingStep": "",
            "lastUpdateTime": "2026-01-01T00:00:02Z", "odd": 5,
        },
    }))
    .unwrap()
}

#[test]
fn a_status_that_is_read_and_written_is_the_same() {
    let left = left();
    let read = engine_rollout_status(&left);
    let out = rollout_status(&read, Some(&left));
    assert_eq!(serde_json::to_value(&out).unwrap(), serde_json::to_value(&left).unwrap());
    assert_eq!(engine_rollout_status(&out), read);
}

#[test]
fn times_come_back_as_they_were() {
    let at: Timestamp = "2026-01-01T00:00:00.123456789Z".parse().unwrap();
    let mut read = engine_rollout_status(&left());
    read.canary.as_mut().unwrap().last_update = Some(at);
    read.conditions[0].updated = at;
    let text = serde_json::to_string(&rollout_status(&read, None)).unwrap();
    let again: RolloutStatus = serde_json::from_str(&text).unwrap();
    assert_eq!(engine_rollout_status(&again), read);
}

#[test]
fn the_step_is_mirrored_at_the_top() {
    let mut read = engine_rollout_status(&left());
    let canary = read.canary.as_mut().unwrap();
    (canary.current_step, canary.state) = (2, inner::StepState::StepUpgrade);
    let out = rollout_status(&read, Some(&left()));
    assert_eq!((out.current_step_index, out.current_step_state.as_str()), (2, "StepUpgrade"));
    let out = rollout_status(&inner::Status::default(), None);
    assert_eq!((out.current_step_index, out.current_step_state.as_str()), (0, ""));
}

fn plan() -> ReleasePlan {
    ReleasePlan {
        batches: vec![IntOrPercent::Int(1), IntOrPercent::Percent(50), IntOrPercent::ALL],
        partition: Some(1),
        rollout_id: "v2".to_owned(),
        failure_threshold: None,
        policy: None,
        rollback_in_batch: false,
        paused: false,
    }
}

/// As it would come back from a server.
fn stored(value: &Value) -> BatchRelease {
    let mut value = value.clone();
    value["metadata"]["uid"] = json!("uid-of-release");
    serde_json::from_value(value).unwrap()
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return };
    for (key, value) in patch {
        let at = target.as_object_mut().unwrap();
        match value {
            Value::Null => drop(at.remove(key)),
            Value::Object(_) => merge(at.entry(key).or_insert_with(|| json!({})), value),
            value => drop(at.insert(key.clone(), value.clone())),
        }
    }
}

#[test]
fn a_release_reads_as_it_was_written() {
    let full = ReleasePlan {
        failure_threshold: Some(IntOrPercent::Percent(10)),
        policy: Some(Policy::WaitResume),
        rollback_in_batch: true,
        paused: true,
        partition: None,
        ..plan()
    };
    for one in [plan(), full.clone()] {
        let made = new_release(&usual(), &one);
        let read = written_release(&stored(&made), &usual());
        assert_eq!(read.plan, one);
        assert!(read.as_written && read.ours && !read.plan_seen);
        for other in [plan(), full.clone()] {
            let mut patched = made.clone();
            merge(&mut patched, &release_patch(&usual(), &other));
            assert_eq!(written_release(&stored(&patched), &usual()).plan, other);
        }
        let mut promoted = made;
        merge(&mut promoted, &promotion(Policy::Immediate));
        let read = written_release(&stored(&promoted), &usual()).plan;
        let expect =
            ReleasePlan { partition: None, policy: Some(Policy::Immediate), paused: false, ..one };
        assert_eq!(read, expect);
    }
}

#[test]
fn a_release_of_somebody_else_or_changed_by_somebody_else_is_told() {
    let made = new_release(&usual(), &plan());
    let with = |patch: Value| {
        let mut made = made.clone();
        merge(&mut made, &patch);
        written_release(&stored(&made), &usual())
    };
    assert!(!with(json!({"metadata": {"ownerReferences": []}})).ours);
    assert!(!with(json!({"spec": {"releasePlan": {"rollingStyle": "Canary"}}})).as_written);
    assert!(!with(json!({"spec": {"workloadRef": {"name": "other"}}})).as_written);
    let odd = with(json!({"spec": {"releasePlan": {"batches": [{"canaryReplicas": "x"}]}}}));
    assert!(!odd.as_written);
    assert_eq!(odd.plan.partition, Some(0), "nothing is let go for it");
    let hash = release_plan_hash(&stored(&made).spec.release_plan);
    assert!(with(json!({"status": {"observedReleasePlanHash": hash}})).plan_seen);
}
