//! Rollouts: what is seen of each kind of workload, and what is written.

#![allow(clippy::needless_pass_by_value, reason = "objects read better where they are made")]

mod kruise;
mod seeing;
mod writing;

use cluster::Key;
use cluster::observe::rollout::{Observed, observe};
use engine::front::rollout::{Settings, Workload};
use serde_json::{Value, json};

use super::played::{Played, nothing};

const MARK: &str = "rollouts.kruise.io/in-progressing";

type Objects = Vec<(&'static str, Value)>;

fn named(name: &str, created: &str, kind: &str, status: Value) -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout",
        "metadata": {
            "namespace": "exch", "name": name, "uid": format!("uid-of-{name}"), "generation": 2,
            "resourceVersion": "40", "creationTimestamp": created,
            "finalizers": ["other/one", "rollouts.kruise.io/rollout"],
        },
        "spec": {
            "workloadRef": {"apiVersion": "apps/v1", "kind": kind, "name": "web"},
            "strategy": {"canary": {"steps": [{"replicas": 1}, {"replicas": "100%"}]}},
        },
        "status": status,
    })
}

fn rollout(kind: &str) -> Value {
    named("web", "2026-01-01T00:00:00Z", kind, json!({}))
}

fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": image}]},
    })
}

/// At `web:v2`.
fn workload(spec: Value, status: Value) -> Value {
    let mut object = json!({
        "metadata": {
            "namespace": "exch", "name": "web", "uid": "uid-of-workload", "generation": 3,
            "resourceVersion": "50", "annotations": {"team": "a"},
            "labels": {"rollouts.kruise.io/workload-type": "x"},
        },
        "spec": {"replicas": 4, "template": template("web:v2")},
        "status": status,
    });
    object["status"]["observedGeneration"] = json!(3);
    for (key, value) in spec.as_object().into_iter().flatten() {
        object["spec"][key] = value.clone();
    }
    object
}

/// With these annotations on it.
fn with(mut object: Value, annotations: Value) -> Value {
    for (key, value) in annotations.as_object().into_iter().flatten() {
        object["metadata"]["annotations"][key] = value.clone();
    }
    object
}

fn owned(kind: &str, name: &str, labels: Value) -> Value {
    json!({
        "namespace": "exch", "name": name, "uid": format!("uid-of-{name}"),
        "resourceVersion": "60", "labels": labels, "creationTimestamp": "2026-01-01T00:00:00Z",
        "ownerReferences": [{
            "apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "uid-of-workload",
            "controller": true,
        }],
    })
}

fn replica_set(image: &str, hash: &str, size: u32, pods: u32, revision: &str) -> Value {
    let name = format!("web-{hash}");
    let mut metadata = owned("Deployment", &name, json!({"pod-template-hash": hash}));
    metadata["annotations"] = json!({"deployment.kubernetes.io/revision": revision});
    json!({
        "metadata": metadata, "spec": {"replicas": size, "template": template(image)},
        "status": {"replicas": pods},
    })
}

fn pod(kind: &str, name: &str, revision: &str) -> Value {
    json!({
        "metadata": owned(kind, name, json!({"controller-revision-hash": revision})),
        "spec": {"nodeName": "n"}, "status": {"phase": "Running"},
    })
}

fn revision(hash: &str, image: &str, number: u32) -> Value {
    let labels = json!({"controller-revision-hash": hash});
    json!({
        "metadata": owned("DaemonSet", &format!("web-{hash}"), labels),
        "revision": number,
        "data": {"spec": {"template": template(image)}},
    })
}

fn deployment() -> Value {
    workload(json!({}), json!({"replicas": 4}))
}

fn of_deployment(live: Value) -> Objects {
    vec![
        ("rollouts", rollout("Deployment")),
        ("deployments", live),
        ("replicasets", replica_set("web:v1", "old", 3, 3, "5")),
        ("replicasets", replica_set("web:v2", "new", 1, 1, "6")),
    ]
}

fn look(played: &Played) -> Observed {
    observe(&played.caches, &Key::new("exch", "web"), &Settings::default()).unwrap()
}

async fn seen(objects: Objects) -> Observed {
    look(&Played::start(objects, nothing).await)
}

async fn of(objects: Objects) -> Workload {
    seen(objects).await.world.workload.unwrap()
}

fn statefulset(strategy: Value) -> Value {
    let status = json!({
        "replicas": 4, "updatedReplicas": 1, "updateRevision": "web-2", "currentRevision": "web-1",
    });
    workload(json!({"updateStrategy": strategy}), status)
}

fn of_statefulset(live: Value) -> Objects {
    let mut objects = vec![("rollouts", rollout("StatefulSet")), ("statefulsets", live)];
    objects.extend((0..3).map(|it| ("pods", pod("StatefulSet", &format!("web-{it}"), "web-1"))));
    objects.push(("pods", pod("StatefulSet", "web-3", "web-2")));
    objects
}

fn release() -> Value {
    json!({
        "metadata": {
            "namespace": "exch", "name": "web", "uid": "uid-of-release", "resourceVersion": "45",
            "ownerReferences": [{
                "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout", "name": "web",
                "uid": "uid-of-web", "controller": true,
            }],
        },
        "spec": {"releasePlan": {"batches": [{"canaryReplicas": 1}], "batchPartition": 0}},
    })
}
