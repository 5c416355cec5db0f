//! `default/web`: a Rollout of a Deployment of five, in the midst of its second step, which waits for an
//! approval.

use serde_json::{Value, json};

use super::FarSide;

const ROLLOUTS: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";

impl FarSide {
    /// Three Pods run v2, two v1.
    pub(crate) fn in_steps() -> Self {
        Self::in_steps_with(&rollout(), &deployment("v2"))
    }

    /// As it is with another Rollout or Deployment.
    pub(crate) fn in_steps_with(rollout: &Value, deployment: &Value) -> Self {
        let list = |items: &[Value]| json!({"kind": "List", "items": items});
        Self::default()
            .with(ROLLOUTS, &list(std::slice::from_ref(rollout)))
            .with(&format!("{ROLLOUTS}/web"), rollout)
            .with(&format!("{ROLLOUTS}/web/status"), rollout)
            .with(DEPLOYMENT, deployment)
            .with(
                "/apis/apps/v1/namespaces/default/deployments",
                &list(std::slice::from_ref(deployment)),
            )
            .with(
                "/apis/apps/v1/namespaces/default/replicasets",
                &list(&[replica_set(1, "aaa", "v1"), replica_set(2, "bbb", "v2")]),
            )
            .with("/api/v1/namespaces/default/pods", &list(&pods()))
            .with("/apis/policy/v1/namespaces/default/poddisruptionbudgets", &list(&[]))
            .with("/api/v1/namespaces/default/events", &list(&[]))
            .with(
                "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts",
                &list(&[]),
            )
            .with(
                "/apis/rollouts.kruise.io/v1beta1/namespaces/default/batchreleases/web",
                &batch_release(),
            )
            .with(
                "/apis/rollouts.kruise.io/v1alpha1/namespaces/default/rollouthistories",
                &list(&[history()]),
            )
    }
}

/// The Rollout.
pub(crate) fn rollout() -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1",
        "kind": "Rollout",
        "metadata": {
            "name": "web", "namespace": "default", "uid": "u-web", "generation": 1,
            "resourceVersion": "88", "creationTimestamp": "2026-11-29T11:00:00Z",
        },
        "spec": {
            "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "strategy": {"canary": {"steps": [
                {"replicas": 1}, {"replicas": "50%"}, {"replicas": "100%"},
            ]}},
        },
        "status": {
            "phase": "Progressing", "observedGeneration": 1,
            "message": "Rollout is in step(2/3), and you need manually confirm to enter the next step",
            "currentStepIndex": 2, "currentStepState": "StepPaused",
            "canaryStatus": {
                "observedWorkloadGeneration": 2, "observedRolloutID": "web-v2",
                "stableRevision": "aaa", "canaryRevision": "6f9c", "podTemplateHash": "bbb",
                "canaryReplicas": 3, "canaryReadyReplicas": 3, "currentStepIndex": 2,
                "nextStepIndex": 3, "currentStepState": "StepPaused", "finalisingStep": "",
                "lastUpdateTime": "2026-11-29T11:58:00Z",
            },
            "conditions": [
                {"type": "Progressing", "status": "True", "reason": "InRolling",
                 "message": "Rollout is in step(2/3), and you need manually confirm to enter the next step",
                 "lastUpdateTime": "2026-11-29T11:58:00Z",
                 "lastTransitionTime": "2026-11-29T11:50:00Z"},
            ],
        },
    })
}

/// The Rollout with some fields of its status, and of its `canaryStatus`, as given.
pub(crate) fn rollout_at(status: &Value, canary: &Value) -> Value {
    let mut object = rollout();
    let over = |into: &mut Value, from: &Value| {
        for (key, value) in from.as_object().unwrap() {
            into[key] = value.clone();
        }
    };
    over(&mut object["status"], status);
    over(&mut object["status"]["canaryStatus"], canary);
    object
}

/// The Rollout after a release, of which `condition` Succeeded says how it ended.
pub(crate) fn healthy(succeeded: &str) -> Value {
    rollout_at(
        &json!({"phase": "Healthy", "conditions": [
            {"type": "Progressing", "status": "False", "reason": "Completed", "message": "done"},
            {"type": "Succeeded", "status": succeeded, "reason": "", "message": ""}]}),
        &json!({"currentStepState": "Completed", "currentStepIndex": 3, "nextStepIndex": -1}),
    )
}

fn template(version: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "a", "image": format!("web:{version}")}]},
    })
}

/// The Deployment, in release.
pub(crate) fn deployment(version: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "web", "namespace": "default", "uid": "u-deployment", "generation": 2,
            "resourceVersion": "99",
            "annotations": {"rollouts.kruise.io/in-progressing": "{\"rolloutName\":\"web\"}"},
        },
        "spec": {
            "replicas": 5, "paused": true, "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": {"app": "web"}}, "template": template(version),
        },
        "status": {"observedGeneration": 2, "replicas": 5, "updatedReplicas": 3, "readyReplicas": 5},
    })
}

/// The Deployment when every Pod runs v2, and nothing is held.
pub(crate) fn deployment_done() -> Value {
    let mut object = deployment("v2");
    object["metadata"]["annotations"] = json!({});
    object["spec"]["paused"] = json!(false);
    object["status"]["updatedReplicas"] = json!(5);
    object
}

fn replica_set(number: i64, hash: &str, version: &str) -> Value {
    let mut template = template(version);
    template["metadata"]["labels"]["pod-template-hash"] = json!(hash);
    json!({
        "metadata": {
            "name": format!("web-{hash}"), "namespace": "default", "uid": format!("u-{hash}"),
            "creationTimestamp": "2026-11-29T11:30:00Z",
            "labels": {"app": "web", "pod-template-hash": hash},
            "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web",
                "uid": "u-deployment", "controller": true}],
        },
        "spec": {"replicas": 3, "template": template},
    })
}

fn pods() -> Vec<Value> {
    let pod = |name: &str, version: &str, hash: &str, batch: Option<&str>| {
        let mut pod = json!({
            "metadata": {
                "name": format!("web-{hash}-{name}"), "namespace": "default",
                "uid": format!("u-{name}"), "resourceVersion": "5",
                "creationTimestamp": "2026-11-29T11:55:00Z",
                "labels": {"app": "web", "pod-template-hash": hash},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet",
                    "name": format!("web-{hash}"), "uid": format!("u-{hash}"), "controller": true}],
            },
            "spec": {"nodeName": "node-1",
                "containers": [{"name": "a", "image": format!("web:{version}")}]},
            "status": {"phase": "Running", "conditions": [
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-29T11:57:00Z"}]},
        });
        if let Some(batch) = batch {
            pod["metadata"]["labels"]["rollouts.kruise.io/rollout-batch-id"] = json!(batch);
        }
        pod
    };
    vec![
        pod("p", "v1", "aaa", None),
        // It was the last of an earlier release.
        pod("q", "v1", "aaa", Some("3")),
        pod("x", "v2", "bbb", Some("1")),
        pod("y", "v2", "bbb", Some("2")),
        pod("z", "v2", "bbb", Some("2")),
    ]
}

fn batch_release() -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "BatchRelease",
        "metadata": {"name": "web", "namespace": "default", "uid": "u-release", "ownerReferences": [
            {"apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout", "name": "web",
             "uid": "u-web", "controller": true}]},
        "spec": {"workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "releasePlan": {"batchPartition": 1, "batches": [{"canaryReplicas": 1},
                {"canaryReplicas": "50%"}, {"canaryReplicas": "100%"}]}},
        "status": {"phase": "Progressing", "canaryStatus": {"currentBatch": 1, "batchState": "Ready"}},
    })
}

/// A BatchRelease of one's own, ready at the first of its two batches.
pub(crate) fn release_of_ones_own() -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "BatchRelease",
        "metadata": {"name": "own", "namespace": "default", "uid": "u-own", "generation": 1,
            "resourceVersion": "66"},
        "spec": {"workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "releasePlan": {"batchPartition": 0, "batches": [{"canaryReplicas": 1},
                {"canaryReplicas": "100%"}]}},
        "status": {"phase": "Progressing", "observedGeneration": 1, "canaryStatus":
            {"currentBatch": 0, "batchState": "Ready", "updatedReplicas": 1,
             "updatedReadyReplicas": 1}},
    })
}

fn history() -> Value {
    json!({
        "metadata": {"name": "web-abcdef", "creationTimestamp": "2026-11-29T10:00:00Z"},
        "spec": {"rollout": {"rolloutID": "web-v1", "name": "web"}, "workload":
            {"name": "web", "data": {"template": template("v1")}}},
        "status": {"phase": "completed", "canarySteps": [
            {"canaryStepIndex": 1, "pods": [{"name": "a"}]},
            {"canaryStepIndex": 2, "pods": [{"name": "b"}, {"name": "c"}]}]},
    })
}
