//! Nobody answers: what the API server does then, by the failure policies.

use scenarios::env::{DEPLOYMENTS, Kind};
use scenarios::kinds;
use serde_json::{Value, json};
use simulation::in_virtual_time;

use crate::stage::{MARK, Stage, image, more, path, rollout, rollouts};

/// A release at its first step, and nobody behind the webhook any more.
async fn in_mid_release(kind: Kind) -> Stage {
    let stage = Stage::set().await;
    stage.released(kind).await;
    stage.patch(&path(kind), &image("app:v2")).await.expect("the API server takes it");
    let waits = |it: &Value| it["status"]["currentStepState"] == "StepPaused";
    stage.until(&rollouts("/web"), "at step 1", waits).await;
    stage.take_the_webhook_away();
    stage
}

#[test]
fn a_change_that_nobody_could_hold_is_refused() {
    for kind in kinds::all() {
        in_virtual_time(async {
            let stage = Stage::set().await;
            stage.released(kind).await;
            stage.take_the_webhook_away();
            let (code, message) = stage.patch(&path(kind), &image("app:v2")).await.unwrap_err();
            assert_eq!(code, 500, "{kind:?}: {message}");
            assert!(message.contains("failed calling webhook"), "{kind:?}: {message}");
            let object = stage.get(&path(kind)).await;
            assert_eq!(object["metadata"]["annotations"][MARK], Value::Null, "{kind:?}");
        });
    }
}

#[test]
fn what_moves_no_pod_waits_for_nobody() {
    for kind in kinds::all() {
        in_virtual_time(async {
            let stage = Stage::set().await;
            stage.released(kind).await;
            stage.take_the_webhook_away();
            for patch in [
                json!({"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}}),
                json!({"spec": {"revisionHistoryLimit": 3}}),
                more(&(kind.facts().min_ready)(1)),
            ] {
                stage.patch(&path(kind), &patch).await.expect("the API server takes it");
            }
            if kind.facts().replicas {
                stage
                    .patch(&path(kind), &json!({"spec": {"replicas": 4}}))
                    .await
                    .expect("the API server takes it");
                let scale = format!("{}/scale", path(kind));
                stage
                    .patch(&scale, &json!({"spec": {"replicas": 5}}))
                    .await
                    .expect("the API server takes it");
            }
        });
    }
}

#[test]
fn a_workload_that_no_rollout_has_labelled_waits_for_nobody() {
    for kind in kinds::all() {
        in_virtual_time(async {
            let stage = Stage::set().await;
            stage.deploy(kind).await;
            stage.take_the_webhook_away();
            stage.patch(&path(kind), &image("app:v2")).await.expect("the API server takes it");
        });
    }
}

#[test]
fn in_mid_release_nothing_can_be_let_go_and_everything_else_can_be_done() {
    for kind in kinds::all() {
        in_virtual_time(async {
            let stage = in_mid_release(kind).await;
            let (code, message) =
                stage.patch(&path(kind), &(kind.facts().lets_go)()).await.unwrap_err();
            assert_eq!(code, 500, "{kind:?}: {message}");
            let unmark = json!({"metadata": {"annotations": {MARK: null}}});
            assert!(stage.patch(&path(kind), &unmark).await.is_err(), "{kind:?}");
            let label = json!({"metadata": {"labels": {"a": "b"}}});
            stage.patch(&path(kind), &label).await.expect("the API server takes it");
            // A pause is never refused.
            let pause = json!({"spec": {"strategy": {"paused": true}}});
            stage.patch(&rollouts("/web"), &pause).await.expect("the API server takes it");
        });
    }
}

#[test]
fn whoever_cannot_wait_takes_the_label_off_first() {
    for kind in kinds::all() {
        in_virtual_time(async {
            let stage = Stage::set().await;
            stage.released(kind).await;
            stage.take_the_webhook_away();
            // The Rollout first, or it would put the label back.
            stage
                .send("DELETE", &rollouts("/web"), &json!({}))
                .await
                .expect("the API server takes it");
            let label = json!({"metadata": {"labels": {"rollouts.kruise.io/workload-type": null}}});
            stage.patch(&path(kind), &label).await.expect("the API server takes it");
            stage.patch(&path(kind), &image("app:v2")).await.expect("the API server takes it");
        });
    }
}

#[test]
fn a_rollout_is_let_in_and_says_in_its_status_what_is_wrong() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        stage.take_the_webhook_away();
        let mut canary = rollout(DEPLOYMENTS);
        canary["spec"]["strategy"]["canary"]["enableExtraWorkloadForCanary"] = json!(true);
        stage.send("POST", &rollouts(""), &canary).await.expect("the API server takes it");
        let blocked = |it: &Value| {
            let conditions = it["status"]["conditions"].as_array().cloned().unwrap_or_default();
            conditions.iter().any(|one| one["type"] == "Blocked" && one["status"] == "True")
        };
        stage.until(&rollouts("/web"), "blocked", blocked).await;
    });
}

#[test]
fn without_conversion_the_stored_version_is_served_and_the_other_says_why_not() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        stage
            .send("POST", &rollouts(""), &rollout(DEPLOYMENTS))
            .await
            .expect("the API server takes it");
        stage.take_the_webhook_away();
        stage.get(&rollouts("/web")).await;
        let older = rollouts("/web").replace("v1beta1", "v1alpha1");
        let (_, message) = stage.send("GET", &older, &Value::Null).await.unwrap_err();
        assert!(message.contains("conversion webhook"), "{message}");
    });
}
