//! Sequences on CloneSets, written by hand. On the real cluster the controller is ours, too: what is
//! compared is what its steps come to behind a real API server and a real scheduler.

use serde_json::{Value, json};

use super::act::Act;
use super::web;
use crate::step::{delete, merge, post};

const CLONESETS: &str = "/apis/apps.kruise.io/v1alpha1/namespaces/$ns/clonesets";
const WEB: &str = "/apis/apps.kruise.io/v1alpha1/namespaces/$ns/clonesets/web";

pub(super) fn all() -> Vec<(&'static str, Vec<Act>)> {
    vec![
        ("a CloneSet moves under a partition", partition()),
        ("a CloneSet moves by percent", percent()),
        ("a CloneSet moves in place", in_place()),
        ("a CloneSet surges, scales and is paused", surges()),
        ("a CloneSet breaks and goes back", broken()),
        ("a CloneSet loses Pods and is deleted", lost()),
    ]
}

fn clone_set(replicas: u32, strategy: &Value) -> Act {
    let mut set = web("CloneSet", |spec| {
        spec["replicas"] = replicas.into();
        spec["updateStrategy"] = strategy.clone();
    });
    set["apiVersion"] = "apps.kruise.io/v1alpha1".into();
    post(CLONESETS, set).into()
}

fn spec(spec: Value) -> Act {
    merge(WEB, json!({"spec": spec})).into()
}

fn strategy(strategy: Value) -> Act {
    spec(json!({"updateStrategy": strategy}))
}

/// Another image, with a strategy.
fn image(image: &str, strategy: Value) -> Act {
    let container = json!({"name": "main", "image": image});
    spec(json!({
        "updateStrategy": strategy, "template": {"spec": {"containers": [container]}},
    }))
}

/// The counts of replicas, of updated and of ready ones.
fn counts(replicas: u32, updated: u32, ready: u32) -> Act {
    let counts = json!({
        "replicas": replicas, "updatedReplicas": updated, "readyReplicas": ready,
    });
    Act::Shows(WEB, json!({"status": counts}))
}

/// Acts, each with the counts that it comes to at rest.
fn counted(acts: Vec<(Act, [u32; 3])>) -> Vec<Act> {
    let each = acts.into_iter().flat_map(|(act, [replicas, updated, ready])| {
        [act, Act::Rest, counts(replicas, updated, ready)]
    });
    each.collect()
}

fn partition() -> Vec<Act> {
    counted(vec![
        (clone_set(5, &json!({"partition": 5})), [5, 5, 5]),
        (image("app:v2", json!({"partition": 3})), [5, 2, 5]),
        (strategy(json!({"partition": 4})), [5, 2, 5]),
        (strategy(json!({"partition": 1})), [5, 4, 5]),
        (strategy(json!({"partition": 0})), [5, 5, 5]),
    ])
}

fn percent() -> Vec<Act> {
    counted(vec![
        (clone_set(5, &json!({"partition": "100%", "maxUnavailable": "50%"})), [5, 5, 5]),
        (image("app:v2", json!({"partition": "99%"})), [5, 1, 5]),
        (strategy(json!({"partition": "50%"})), [5, 2, 5]),
        (strategy(json!({"partition": "10%"})), [5, 4, 5]),
        (strategy(json!({"partition": "0%"})), [5, 5, 5]),
    ])
}

fn in_place() -> Vec<Act> {
    let type_ = "InPlaceIfPossible";
    let mut acts = counted(vec![
        (clone_set(4, &json!({"type": type_, "partition": 4})), [4, 4, 4]),
        (image("app:v2", json!({"partition": 2})), [4, 2, 4]),
        (strategy(json!({"partition": 0})), [4, 4, 4]),
        (image("broken:v3", json!({"partition": 3})), [4, 1, 3]),
        (image("app:v4", json!({"partition": 0})), [4, 4, 4]),
    ]);
    // Not by its image alone: a Pod of its own.
    let environment =
        json!([{"name": "main", "image": "app:v4", "env": [{"name": "A", "value": "1"}]}]);
    let change = json!({
        "updateStrategy": {"partition": 2}, "template": {"spec": {"containers": environment}},
    });
    acts.extend(counted(vec![(spec(change), [4, 2, 4])]));
    acts
}

fn surges() -> Vec<Act> {
    let surge = json!({"partition": 3, "maxSurge": 1, "maxUnavailable": 0});
    counted(vec![
        (clone_set(4, &surge), [4, 4, 4]),
        (image("app:v2", json!({})), [4, 1, 4]),
        (spec(json!({"replicas": 6})), [6, 3, 6]),
        (strategy(json!({"paused": true, "partition": 0})), [6, 3, 6]),
        (spec(json!({"replicas": 3})), [3, 3, 3]),
        (strategy(json!({"paused": false})), [3, 3, 3]),
        (spec(json!({"replicas": 0})), [0, 0, 0]),
        (spec(json!({"replicas": 2})), [2, 2, 2]),
    ])
}

fn broken() -> Vec<Act> {
    counted(vec![
        (clone_set(4, &json!({"partition": 4})), [4, 4, 4]),
        (image("broken:v2", json!({"partition": 2})), [4, 1, 3]),
        (image("app:v1", json!({"partition": 2})), [4, 3, 3]),
        (strategy(json!({"partition": 0})), [4, 4, 4]),
    ])
}

fn lost() -> Vec<Act> {
    counted(vec![
        (clone_set(3, &json!({"partition": 3})), [3, 3, 3]),
        (image("app:v2", json!({"partition": 2})), [3, 1, 3]),
        (Act::Lose(0), [3, 1, 3]),
        (Act::Lose(2), [3, 1, 3]),
    ])
    .into_iter()
    // A real garbage collector looks for new kinds every half minute.
    .chain([Act::Pass(30), delete(WEB).into(), Act::Rest])
    .collect()
}
