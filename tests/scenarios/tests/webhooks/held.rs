//! A change of a workload that a Rollout names.

use std::time::Duration;

use scenarios::env::{
    ADVANCED_DAEMONSETS, ADVANCED_SETS, CLONESETS, DAEMONSETS, DEPLOYMENTS, Kind, SETS,
};
use serde_json::{Value, json};
use simulation::in_virtual_time;

use crate::stage::{CONTROL, MARK, Stage, image, is_held, more, path, rollouts};

/// Plays a scene for each kind.
macro_rules! each_kind {
    ($($(#[$doc:meta])* $name:ident => $scene:expr;)*) => {
        $($(#[$doc])* mod $name {
            use super::*;

            #[test]
            fn deployment() {
                in_virtual_time($scene(DEPLOYMENTS));
            }

            #[test]
            fn statefulset() {
                in_virtual_time($scene(SETS));
            }

            #[test]
            fn daemonset() {
                in_virtual_time($scene(DAEMONSETS));
            }

            #[test]
            fn cloneset() {
                in_virtual_time($scene(CLONESETS));
            }

            #[test]
            fn advanced_statefulset() {
                in_virtual_time($scene(ADVANCED_SETS));
            }

            #[test]
            fn advanced_daemonset() {
                in_virtual_time($scene(ADVANCED_DAEMONSETS));
            }
        })*
    };
}

each_kind! {
    a_change_is_held_in_the_write_that_brings_it => is_held_at_once;
    without_a_rollout_nothing_is_held => is_let_be;
    while_the_originals_manager_runs_nothing_is_held => is_left_to_the_original;
    a_disabled_rollout_holds_nothing => is_let_be_by_a_disabled_one;
    what_lets_go_in_mid_release_is_taken_back => stays_held;
    a_write_of_the_whole_object_takes_nothing_away => survives_a_replace;
    another_template_on_top_closes_what_was_open => is_closed_again;
}

async fn is_held_at_once(kind: Kind) {
    let stage = Stage::set().await;
    stage.released(kind).await;
    // Not a label, not a size, not what stands already.
    for patch in [
        json!({"metadata": {"labels": {"a": "b"}}}),
        more(&(kind.facts().min_ready)(1)),
        image("app:v1"),
    ] {
        let object = stage.patch(&path(kind), &patch).await.expect("the API server takes it");
        assert_eq!(object["metadata"]["annotations"][MARK], Value::Null, "{patch}");
        assert!(!is_held(kind, &object), "{patch}");
    }
    let object = stage.patch(&path(kind), &image("app:v2")).await.expect("the API server takes it");
    assert_eq!(object["metadata"]["annotations"][MARK], "{\"rolloutName\":\"web\"}");
    assert!(is_held(kind, &object), "{object:#}");
    if kind == DEPLOYMENTS {
        let stable = &object["metadata"]["labels"]["rollouts.kruise.io/stable-revision"];
        assert!(stable.is_string(), "{object:#}");
    }
}

async fn is_let_be(kind: Kind) {
    let stage = Stage::set().await;
    stage.deploy(kind).await;
    let label = json!({"metadata": {"labels": {"rollouts.kruise.io/workload-type": "x"}}});
    stage.patch(&path(kind), &label).await.expect("the API server takes it");
    let object = stage.patch(&path(kind), &image("app:v2")).await.expect("the API server takes it");
    assert_eq!(object["metadata"]["annotations"][MARK], Value::Null);
    assert!(!is_held(kind, &object), "{object:#}");
}

async fn is_let_be_by_a_disabled_one(kind: Kind) {
    let stage = Stage::set().await;
    stage.released(kind).await;
    let disabled = json!({"spec": {"disabled": true}});
    stage.patch(&rollouts("/web"), &disabled).await.expect("the API server takes it");
    stage.until(&rollouts("/web"), "disabled", |it| it["status"]["phase"] == "Disabled").await;
    let object = stage.patch(&path(kind), &image("app:v2")).await.expect("the API server takes it");
    assert_eq!(object["metadata"]["annotations"][MARK], Value::Null);
    assert!(!is_held(kind, &object), "{object:#}");
}

async fn is_left_to_the_original(kind: Kind) {
    let stage = Stage::set().await;
    stage.released(kind).await;
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "71ddec2c.kruise.io"},
        "spec": {
            "holderIdentity": "manager", "leaseDurationSeconds": 15,
            "renewTime": "2026-01-01T00:00:00.000000Z",
        },
    });
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    stage.send("POST", leases, &lease).await.expect("the API server takes it");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let object = stage.patch(&path(kind), &image("app:v2")).await.expect("the API server takes it");
    assert_eq!(object["metadata"]["annotations"][MARK], Value::Null);
    assert!(!is_held(kind, &object), "{object:#}");
}

/// At the first step, which has moved one Pod and waits for somebody.
async fn at_step_1(kind: Kind) -> Stage {
    let stage = Stage::set().await;
    stage.released(kind).await;
    stage.patch(&path(kind), &image("app:v2")).await.expect("the API server takes it");
    let waits = |it: &Value| it["status"]["currentStepState"] == "StepPaused";
    stage.until(&rollouts("/web"), "at step 1", waits).await;
    assert_eq!(stage.running("app:v2").await, 1);
    stage
}

async fn stays_held(kind: Kind) {
    let stage = at_step_1(kind).await;
    let before = stage.get(&path(kind)).await;
    let object =
        stage.patch(&path(kind), &(kind.facts().lets_go)()).await.expect("the API server takes it");
    assert_eq!(object["spec"], before["spec"], "{kind:?}");
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(stage.running("app:v2").await, 1, "{kind:?}");
}

async fn survives_a_replace(kind: Kind) {
    let stage = at_step_1(kind).await;
    let before = stage.get(&path(kind)).await;
    let mut object = before.clone();
    object["metadata"]["annotations"] = json!({});
    object["metadata"]["labels"] = json!({});
    object["spec"]["paused"] = json!(false);
    let object = stage.send("PUT", &path(kind), &object).await.expect("the API server takes it");
    assert_eq!(object["spec"], before["spec"], "{kind:?}");
    for mark in [MARK, CONTROL] {
        let stands = &object["metadata"]["annotations"][mark];
        assert_eq!(*stands, before["metadata"]["annotations"][mark], "{kind:?} {mark}");
    }
    assert_eq!(object["metadata"]["labels"], before["metadata"]["labels"], "{kind:?}");
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(stage.running("app:v2").await, 1, "{kind:?}");
}

async fn is_closed_again(kind: Kind) {
    let stage = at_step_1(kind).await;
    let object = stage.patch(&path(kind), &image("app:v3")).await.expect("the API server takes it");
    assert!(is_held(kind, &object), "{object:#}");
    assert!(object["metadata"]["annotations"][MARK].is_string());
    let on_top = |it: &Value| {
        it["status"]["currentStepState"] == "StepPaused" && it["status"]["currentStepIndex"] == 1
    };
    tokio::time::sleep(Duration::from_secs(60)).await;
    stage.until(&rollouts("/web"), "at step 1 again", on_top).await;
    assert_eq!(stage.running("app:v3").await, 1, "{kind:?}");
}

#[test]
fn bounds_without_a_type_are_kept_and_not_refused_beside_recreate() {
    in_virtual_time(async {
        let stage = at_step_1(DEPLOYMENTS).await;
        let bounds = json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 3}}}});
        let object =
            stage.patch(&path(DEPLOYMENTS), &bounds).await.expect("the API server takes it");
        assert_eq!(object["spec"]["strategy"], json!({"type": "Recreate"}));
        let kept = &object["metadata"]["annotations"]["rollouts.kruise.io/deployment-strategy"];
        assert!(kept.as_str().unwrap_or_default().contains("\"maxSurge\":3"), "{kept}");
    });
}
