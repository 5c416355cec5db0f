//! Rollouts in the version that they were not written in.

use scenarios::env::{
    ADVANCED_DAEMONSETS, ADVANCED_SETS, CLONESETS, DAEMONSETS, DEPLOYMENTS, Kind, SETS,
};
use serde_json::{Value, json};
use simulation::in_virtual_time;

use crate::stage::{Stage, image, path, rollout, rollouts};

fn older(path: &str) -> String {
    path.replace("v1beta1", "v1alpha1")
}

/// Without what the server writes.
fn bare(object: &Value) -> Value {
    let annotations = object["metadata"]["annotations"].clone();
    json!({"spec": object["spec"], "annotations": annotations})
}

#[test]
fn an_older_rollout_is_read_in_the_newer_version_and_comes_back_as_it_was() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        let written = json!({
            "apiVersion": "rollouts.kruise.io/v1alpha1", "kind": "Rollout",
            "metadata": {
                "name": "web",
                "annotations": {"rollouts.kruise.io/rolling-style": "Partition"},
            },
            "spec": {
                "objectRef": {"workloadRef": {
                    "apiVersion": "apps/v1", "kind": "Deployment", "name": "web",
                }},
                "strategy": {"canary": {"steps": [
                    {"weight": 5, "pause": {}}, {"replicas": "50%", "pause": {"duration": 60}},
                ]}},
            },
        });
        let made = stage.send("POST", &older(&rollouts("")), &written).await.unwrap();
        let newer = stage.get(&rollouts("/web")).await;
        assert_eq!(newer["apiVersion"], "rollouts.kruise.io/v1beta1");
        assert_eq!(newer["spec"]["workloadRef"]["name"], "web");
        assert_eq!(newer["spec"]["strategy"]["canary"]["steps"][0]["replicas"], "5%");
        assert_eq!(newer["spec"]["strategy"]["canary"]["enableExtraWorkloadForCanary"], false);

        let again = stage.get(&older(&rollouts("/web"))).await;
        let style = &again["metadata"]["annotations"]["rollouts.kruise.io/rolling-style"];
        assert_eq!(*style, "Partition");
        assert_eq!(again["spec"], made["spec"]);

        // Written in the newer one, which the operator does as well, it loses nothing either.
        let label = json!({"metadata": {"labels": {"a": "b"}}});
        stage.patch(&rollouts("/web"), &label).await.unwrap();
        assert_eq!(stage.get(&older(&rollouts("/web"))).await["spec"], made["spec"]);
    });
}

#[test]
fn a_newer_rollout_is_read_in_the_older_version_and_written_back_as_it_was() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        let mut written = rollout(DAEMONSETS);
        // Not a word of the older version.
        written["spec"]["strategy"]["canary"]["enableExtraWorkloadForCanary"] = json!(true);
        stage.send("POST", &rollouts(""), &written).await.unwrap();
        let before = stage.get(&rollouts("/web")).await;
        let shown = stage.get(&older(&rollouts("/web"))).await;
        assert_eq!(shown["spec"]["objectRef"]["workloadRef"]["name"], "web");
        stage.send("PUT", &older(&rollouts("/web")), &shown).await.unwrap();
        assert_eq!(bare(&stage.get(&rollouts("/web")).await)["spec"], bare(&before)["spec"]);
    });
}

#[test]
fn a_list_is_in_one_version_whatever_its_objects_were_written_in() {
    in_virtual_time(async {
        let stage = Stage::set().await;
        stage.send("POST", &rollouts(""), &rollout(DAEMONSETS)).await.unwrap();
        for (path, version) in [(rollouts(""), "v1beta1"), (older(&rollouts("")), "v1alpha1")] {
            let list = stage.get(&path).await;
            assert_eq!(list["apiVersion"], format!("rollouts.kruise.io/{version}"));
            assert_eq!(list["items"].as_array().map(Vec::len), Some(1), "{list:#}");
        }
    });
}

/// The steps of the older manifest, approved in the older version too.
async fn goes_through(kind: Kind, style: Option<&str>) {
    let stage = Stage::set().await;
    stage.deploy(kind).await;
    let mut written = json!({
        "apiVersion": "rollouts.kruise.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "web"},
        "spec": {
            "objectRef": {"workloadRef": kind.named("web")},
            "strategy": {"canary": {"steps": [
                {"replicas": 1, "pause": {}},
                {"replicas": "50%", "pause": {}},
                {"replicas": "100%"},
            ]}},
        },
    });
    if let Some(style) = style {
        let annotations = json!({"rollouts.kruise.io/rolling-style": style});
        written["metadata"]["annotations"] = annotations;
    }
    let (rollout, collection) = (older(&rollouts("/web")), older(&rollouts("")));
    let before = stage.get(&path(kind)).await["spec"].clone();
    stage.send("POST", &collection, &written).await.expect("the API server takes it");
    stage.until(&rollout, "healthy", |it| it["status"]["phase"] == "Healthy").await;
    stage.patch(&path(kind), &image("app:v2")).await.expect("the API server takes it");
    for (step, updated) in [(1, 1), (2, 2)] {
        stage
            .until(&rollout, "the step waits", |it| {
                let canary = &it["status"]["canaryStatus"];
                canary["currentStepState"] == "StepPaused"
                    && canary["currentStepIndex"] == step
                    && canary["canaryReadyReplicas"] == updated
            })
            .await;
        assert_eq!(stage.running("app:v2").await, updated, "{kind:?}, step {step}");
        let status = json!({"canaryStatus": {"currentStepState": "StepReady"}});
        let path = format!("{rollout}/status");
        stage.patch(&path, &json!({"status": status})).await.expect("the API server takes it");
    }
    stage.until(&rollout, "healthy", |it| it["status"]["phase"] == "Healthy").await;
    assert_eq!(stage.running("app:v2").await, 3, "{kind:?}");
    let mut after = stage.get(&path(kind)).await["spec"].clone();
    after["template"] = before["template"].clone();
    assert_eq!(after, before, "{kind:?}: its own fields are back");
}

#[test]
fn an_older_manifest_goes_through_its_steps() {
    in_virtual_time(goes_through(DEPLOYMENTS, Some("partition")));
    in_virtual_time(goes_through(SETS, None));
    in_virtual_time(goes_through(SETS, Some("Partition")));
    for kind in [CLONESETS, ADVANCED_SETS, ADVANCED_DAEMONSETS] {
        in_virtual_time(goes_through(kind, None));
    }
}
