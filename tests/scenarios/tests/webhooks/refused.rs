//! What is refused on its way in, with the original's words.

use scenarios::env::{DAEMONSETS, DEPLOYMENTS, SETS};
use serde_json::json;
use simulation::in_virtual_time;

use crate::stage::{Stage, image, path, rollout, rollouts};

#[test]
fn a_rollout_without_steps_is_refused() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        let mut empty = rollout(DEPLOYMENTS);
        empty["spec"]["strategy"]["canary"]["steps"] = json!([]);
        let (code, message) = stage.send("POST", &rollouts(""), &empty).await.unwrap_err();
        assert_eq!(code, 422, "{message}");
        assert!(message.contains("The number of Canary.Steps cannot be empty"), "{message}");
    });
}

#[test]
fn a_rollout_of_the_older_version_is_refused_by_the_fields_that_its_author_wrote() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        let older = json!({
            "apiVersion": "rollouts.kruise.io/v1alpha1", "kind": "Rollout",
            "metadata": {"name": "web"},
            "spec": {
                "objectRef": {"workloadRef": {
                    "apiVersion": "apps/v1", "kind": "Deployment", "name": "web",
                }},
                "strategy": {"canary": {"steps": [{"weight": 20}]}},
            },
        });
        let path = rollouts("").replace("v1beta1", "v1alpha1");
        let (code, message) = stage.send("POST", &path, &older).await.unwrap_err();
        assert_eq!(code, 422, "{message}");
        for word in ["rollouts.kruise.io/rolling-style", "partition"] {
            assert!(message.contains(word), "{message}");
        }
    });
}

#[test]
fn a_second_rollout_of_one_workload_is_refused_and_the_first_is_named() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        stage.released(SETS).await;
        let mut second = rollout(SETS);
        second["metadata"]["name"] = json!("other");
        let (code, message) = stage.send("POST", &rollouts(""), &second).await.unwrap_err();
        assert_eq!(code, 422, "{message}");
        assert!(message.contains("This rollout conflict with Rollout(shop/web)"), "{message}");
    });
}

#[test]
fn the_number_of_steps_cannot_change_in_mid_release() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        stage.released(DAEMONSETS).await;
        stage.patch(&path(DAEMONSETS), &image("app:v2")).await.unwrap();
        let progresses = |it: &serde_json::Value| it["status"]["phase"] == "Progressing";
        stage.until(&rollouts("/web"), "progressing", progresses).await;
        let steps = json!({"spec": {"strategy": {"canary": {"steps": [{"replicas": "100%"}]}}}});
        let (code, message) = stage.patch(&rollouts("/web"), &steps).await.unwrap_err();
        assert_eq!(code, 422, "{message}");
        assert!(message.contains("Amount of Rollout steps are immutable"), "{message}");
    });
}

#[test]
fn a_deployment_that_would_be_recreated_is_refused_and_the_remedy_named() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        stage.released(DEPLOYMENTS).await;
        let strategy = json!({"type": "Recreate", "rollingUpdate": null});
        let recreate = json!({"spec": {"strategy": strategy}});
        let path = path(DEPLOYMENTS);
        stage.patch(&path, &recreate).await.unwrap();
        let (code, message) = stage.patch(&path, &image("app:v2")).await.unwrap_err();
        assert_eq!(code, 422, "{message}");
        for word in ["Deployment shop/web", "Rollout web", "Recreate", "RollingUpdate"] {
            assert!(message.contains(word), "{message}");
        }
    });
}
