//! Releases in batches: what is seen of each kind of workload, and what is written on it. One file a kind, and
//! [`any`] for what is the same on all.

#![allow(clippy::needless_pass_by_value, reason = "objects read better where they are made")]

mod any;
mod daemonset;
mod deployment;
mod kruise;
mod statefulset;

use std::collections::VecDeque;

use cluster::act::batch_release::act;
use cluster::observe::batch_release::{Observed, Terms, observe};
use cluster::{ActReport, Front, GoOn, Key, Subject, Unseen};
use engine::decision::Action as Motion;
use engine::front::batch_release::{
    Action, Body, Control, Held, Label, Machinery, Mark, Original, Rolling, Target,
};
use engine::mover::replica_sets::Write as Size;
use engine::nature::Nature;
use engine::quantity::IntOrPercent;
use engine::world::{Outcome, Settings, Strategy, Uid};
use serde_json::{Value, json};

use super::far::{Asked, Reply};
use super::played::{Played, nothing};

const KEPT: &str = r#"{"partition":0,"paused":false,"rollingStyle":"Partition","rollingUpdate":{"maxSurge":2,"maxUnavailable":0}}"#;

fn release(kind: &str) -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "BatchRelease",
        "metadata": {
            "namespace": "exch", "name": "rel", "uid": "uid-of-rel", "generation": 1,
            "resourceVersion": "40", "finalizers": ["other/one"],
        },
        "spec": {
            "workloadRef": {"apiVersion": "apps/v1", "kind": kind, "name": "web"},
            "releasePlan": {
                "batches": [{"canaryReplicas": 1}, {"canaryReplicas": "100%"}],
                "batchPartition": 0, "rolloutID": "7",
            },
        },
    })
}

fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": image}]},
    })
}

fn workload(version: u32, spec: Value, status: Value) -> Value {
    let mut object = json!({
        "metadata": {
            "namespace": "exch", "name": "web", "uid": "uid-of-web", "generation": 3,
            "resourceVersion": version.to_string(), "annotations": {"team": "a"}, "labels": {},
        },
        "spec": {
            "selector": {"matchLabels": {"app": "web"}}, "template": template("web:v2"),
        },
        "status": status,
    });
    object["status"]["observedGeneration"] = json!(3);
    for (key, value) in spec.as_object().into_iter().flatten() {
        object["spec"][key] = value.clone();
    }
    object
}

fn deployment() -> Value {
    let rolling = json!({"maxSurge": 2, "maxUnavailable": 0});
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
    workload(50, json!({"replicas": 4, "strategy": strategy}), json!({}))
}

fn owned(kind: &str, owner: &str, name: &str, version: u32, labels: Value) -> Value {
    json!({
        "namespace": "exch", "name": name, "uid": format!("uid-of-{name}"), "generation": 1,
        "resourceVersion": version.to_string(), "labels": labels,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "ownerReferences": [{
            "apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": format!("uid-of-{owner}"),
            "controller": true,
        }],
    })
}

fn set(image: &str, hash: &str, size: u32, revision: u32) -> Value {
    let name = format!("web-{hash}");
    let mut template = template(image);
    template["metadata"]["labels"]["pod-template-hash"] = json!(hash);
    let labels = template["metadata"]["labels"].clone();
    let mut metadata = owned("Deployment", "web", &name, 60, labels);
    metadata["annotations"] = json!({
        "deployment.kubernetes.io/revision": revision.to_string(),
        "deployment.kubernetes.io/desired-replicas": "3",
    });
    json!({
        "metadata": metadata, "spec": {"replicas": size, "template": template},
        "status": {"observedGeneration": 1, "replicas": size, "availableReplicas": size},
    })
}

fn pod(kind: &str, owner: &str, name: &str, labels: Value) -> Value {
    let mut labels = labels;
    labels["app"] = json!("web");
    json!({
        "metadata": owned(kind, owner, name, 70, labels),
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "web:v1"}]},
        "status": {"phase": "Running", "conditions": [{
            "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z",
        }]},
    })
}

type Objects = Vec<(&'static str, Value)>;

fn of_deployment(live: Value) -> Objects {
    vec![
        ("batchreleases", release("Deployment")),
        ("deployments", live),
        ("replicasets", set("web:v1", "old", 4, 5)),
        ("pods", pod("ReplicaSet", "web-old", "web-old-a", json!({"pod-template-hash": "old"}))),
    ]
}

fn look(played: &Played) -> Observed {
    let terms = Terms { settings: &Settings::default(), keep_paused: false };
    let mut unseen = Unseen::default();
    let key = Key::new("exch", "rel");
    observe(&played.caches, &key, terms, Outcome::default(), &mut unseen).unwrap()
}

async fn seen(objects: Objects) -> (Observed, Body) {
    let played = Played::start(objects, nothing).await;
    let observed = look(&played);
    let Target::Found(body) = observed.world.target.clone() else { panic!("no workload") };
    (observed, *body)
}

/// What is asked, and what is reported, when the far side answers with these.
async fn acted(objects: Objects, action: &Action, replies: Vec<Reply>) -> (Vec<Asked>, ActReport) {
    let mut replies: VecDeque<Reply> = replies.into();
    let played = Played::start(objects, move |_| replies.pop_front().unwrap()).await;
    let observed = look(&played);
    let report = act(&played.hands, &observed, action, &|| GoOn::Yes).await;
    (played.far.take(), report)
}

fn done(version: u32) -> Reply {
    Reply::ok(json!({"metadata": {"resourceVersion": version.to_string()}}))
}

/// The body of the one PATCH that an action is; it goes to this path.
async fn patched(objects: Objects, action: &Action, path: &str) -> Value {
    let (mut asked, report) = acted(objects, action, vec![done(90)]).await;
    assert_eq!(asked.len(), 1, "{asked:?}");
    let asked = asked.remove(0);
    assert_eq!(asked.line, format!("PATCH {path}?fieldManager=sluice"));
    assert_eq!(asked.content, "application/merge-patch+json");
    assert_eq!((report.failed, report.requests), (None, 1));
    assert!(!report.unseen.is_empty(), "it waits until the caches show it");
    asked.body
}

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/exch/deployments/web";
const STATEFULSET: &str = "/apis/apps/v1/namespaces/exch/statefulsets/web";
const DAEMONSET: &str = "/apis/apps/v1/namespaces/exch/daemonsets/web";
const CONTROL: &str = "batchrelease.rollouts.kruise.io/control-info";
const STRATEGY: &str = "rollouts.kruise.io/deployment-strategy";
const ORIGINAL: &str = "sluice.dev/original-update-strategy";
const HELD: &str = "sluice.dev/held-partition";
const DAEMONS: &str = "rollouts.kruise.io/daemonset-original-update-strategy";

fn rolling() -> Rolling {
    Rolling { max_surge: IntOrPercent::Int(2), max_unavailable: IntOrPercent::Int(0) }
}

fn partition(partition: u32) -> Strategy {
    Strategy::RollingUpdate { partition }
}

fn take(keep: Option<Original>, held: Held) -> Action {
    Action::Take { keep, held }
}

/// As a patch of ours leaves it.
fn with(object: &Value, patch: &Value) -> Value {
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
    let mut object = object.clone();
    merge(&mut object, patch);
    object
}
