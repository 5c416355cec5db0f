//! Sequences on Kruise's workloads, written by hand. On the real cluster their controllers are ours,
//! too: what is compared is what their steps come to behind a real API server and a real scheduler.

use serde_json::{Value, json};

use super::act::Act;
use super::web;
use crate::step::{delete, merge, post};

pub(super) fn all() -> Vec<(&'static str, Vec<Act>)> {
    vec![
        ("a CloneSet moves under a partition", partition()),
        ("a CloneSet moves by percent", percent()),
        ("a CloneSet moves in place", in_place()),
        ("a CloneSet surges, scales and is paused", surges()),
        ("a CloneSet breaks and goes back", broken()),
        ("a CloneSet loses Pods and is deleted", lost()),
        ("an Advanced StatefulSet moves under a partition", ordered()),
        ("an Advanced StatefulSet moves in place", ordered_in_place()),
        ("an Advanced DaemonSet moves under a partition", daemons()),
        ("an Advanced DaemonSet moves in place", daemons_in_place()),
    ]
}

/// One kind: where its `web` is, and what it calls its counts of Pods, of updated and of ready ones.
struct Kind {
    kind: &'static str,
    all: &'static str,
    web: &'static str,
    counts: [&'static str; 3],
}

const CLONE_SET: Kind = Kind {
    kind: "CloneSet",
    all: "/apis/apps.kruise.io/v1alpha1/namespaces/$ns/clonesets",
    web: "/apis/apps.kruise.io/v1alpha1/namespaces/$ns/clonesets/web",
    counts: ["replicas", "updatedReplicas", "readyReplicas"],
};
const STATEFUL_SET: Kind = Kind {
    kind: "StatefulSet",
    all: "/apis/apps.kruise.io/v1alpha1/namespaces/$ns/statefulsets",
    web: "/apis/apps.kruise.io/v1alpha1/namespaces/$ns/statefulsets/web",
    counts: ["replicas", "updatedReplicas", "readyReplicas"],
};
const DAEMON_SET: Kind = Kind {
    kind: "DaemonSet",
    all: "/apis/apps.kruise.io/v1alpha1/namespaces/$ns/daemonsets",
    web: "/apis/apps.kruise.io/v1alpha1/namespaces/$ns/daemonsets/web",
    counts: ["currentNumberScheduled", "updatedNumberScheduled", "numberReady"],
};

impl Kind {
    fn made(&self, spec: &Value) -> Act {
        let mut object = web(self.kind, |of| {
            for (name, field) in spec.as_object().into_iter().flatten() {
                of[name.as_str()] = field.clone();
            }
        });
        object["apiVersion"] = "apps.kruise.io/v1alpha1".into();
        post(self.all, object).into()
    }

    fn spec(&self, spec: Value) -> Act {
        merge(self.web, json!({"spec": spec})).into()
    }

    fn strategy(&self, strategy: Value) -> Act {
        self.spec(json!({"updateStrategy": strategy}))
    }

    /// Another image, with a strategy.
    fn image(&self, image: &str, strategy: Value) -> Act {
        let container = json!({"name": "main", "image": image});
        self.spec(json!({
            "updateStrategy": strategy, "template": {"spec": {"containers": [container]}},
        }))
    }

    /// Acts, each with what the counts come to at rest: all Pods, the updated and the ready ones.
    fn counted(&self, acts: Vec<(Act, [u32; 3])>) -> Vec<Act> {
        let each = acts.into_iter().flat_map(|(act, counts)| {
            let mut status = json!({});
            for (name, count) in self.counts.iter().zip(counts) {
                status[name] = count.into();
            }
            [act, Act::Rest, Act::Shows(self.web, json!({"status": status}))]
        });
        each.collect()
    }
}

/// The strategy of the kinds that keep theirs one level deeper.
fn rolling(rolling: Value) -> Value {
    json!({"rollingUpdate": rolling})
}

fn partition() -> Vec<Act> {
    let kind = CLONE_SET;
    kind.counted(vec![
        (kind.made(&json!({"replicas": 5, "updateStrategy": {"partition": 5}})), [5, 5, 5]),
        (kind.image("app:v2", json!({"partition": 3})), [5, 2, 5]),
        (kind.strategy(json!({"partition": 4})), [5, 2, 5]),
        (kind.strategy(json!({"partition": 1})), [5, 4, 5]),
        (kind.strategy(json!({"partition": 0})), [5, 5, 5]),
    ])
}

fn percent() -> Vec<Act> {
    let kind = CLONE_SET;
    let strategy = json!({"partition": "100%", "maxUnavailable": "50%"});
    kind.counted(vec![
        (kind.made(&json!({"replicas": 5, "updateStrategy": strategy})), [5, 5, 5]),
        (kind.image("app:v2", json!({"partition": "99%"})), [5, 1, 5]),
        (kind.strategy(json!({"partition": "50%"})), [5, 2, 5]),
        (kind.strategy(json!({"partition": "10%"})), [5, 4, 5]),
        (kind.strategy(json!({"partition": "0%"})), [5, 5, 5]),
    ])
}

fn in_place() -> Vec<Act> {
    let kind = CLONE_SET;
    let strategy = json!({"type": "InPlaceIfPossible", "partition": 4});
    // Not by its image alone: a Pod of its own.
    let environment = json!([{"name": "A", "value": "1"}]);
    let containers = json!([{"name": "main", "image": "app:v4", "env": environment}]);
    let change = json!({
        "updateStrategy": {"partition": 2}, "template": {"spec": {"containers": containers}},
    });
    kind.counted(vec![
        (kind.made(&json!({"replicas": 4, "updateStrategy": strategy})), [4, 4, 4]),
        (kind.image("app:v2", json!({"partition": 2})), [4, 2, 4]),
        (kind.strategy(json!({"partition": 0})), [4, 4, 4]),
        (kind.image("broken:v3", json!({"partition": 3})), [4, 1, 3]),
        (kind.image("app:v4", json!({"partition": 0})), [4, 4, 4]),
        (kind.spec(change), [4, 2, 4]),
    ])
}

fn surges() -> Vec<Act> {
    let kind = CLONE_SET;
    let surge = json!({"partition": 3, "maxSurge": 1, "maxUnavailable": 0});
    kind.counted(vec![
        (kind.made(&json!({"replicas": 4, "updateStrategy": surge})), [4, 4, 4]),
        (kind.image("app:v2", json!({})), [4, 1, 4]),
        (kind.spec(json!({"replicas": 6})), [6, 3, 6]),
        (kind.strategy(json!({"paused": true, "partition": 0})), [6, 3, 6]),
        (kind.spec(json!({"replicas": 3})), [3, 3, 3]),
        (kind.strategy(json!({"paused": false})), [3, 3, 3]),
        (kind.spec(json!({"replicas": 0})), [0, 0, 0]),
        (kind.spec(json!({"replicas": 2})), [2, 2, 2]),
    ])
}

fn broken() -> Vec<Act> {
    let kind = CLONE_SET;
    kind.counted(vec![
        (kind.made(&json!({"replicas": 4, "updateStrategy": {"partition": 4}})), [4, 4, 4]),
        (kind.image("broken:v2", json!({"partition": 2})), [4, 1, 3]),
        (kind.image("app:v1", json!({"partition": 2})), [4, 3, 3]),
        (kind.strategy(json!({"partition": 0})), [4, 4, 4]),
    ])
}

fn lost() -> Vec<Act> {
    let kind = CLONE_SET;
    let mut acts = kind.counted(vec![
        (kind.made(&json!({"replicas": 3, "updateStrategy": {"partition": 3}})), [3, 3, 3]),
        (kind.image("app:v2", json!({"partition": 2})), [3, 1, 3]),
        (Act::Lose(0), [3, 1, 3]),
        (Act::Lose(2), [3, 1, 3]),
    ]);
    // A real garbage collector looks for new kinds every half minute.
    acts.extend([Act::Pass(30), delete(kind.web).into(), Act::Rest]);
    acts
}

fn ordered() -> Vec<Act> {
    let kind = STATEFUL_SET;
    kind.counted(vec![
        (kind.made(&json!({"replicas": 4, "podManagementPolicy": "Parallel"})), [4, 4, 4]),
        (kind.image("app:v2", rolling(json!({"partition": 2, "maxUnavailable": 2}))), [4, 2, 4]),
        (Act::Lose(0), [4, 2, 4]),
        (kind.spec(json!({"reserveOrdinals": [1]})), [4, 3, 4]),
        (kind.spec(json!({"replicas": 3})), [3, 2, 3]),
        (kind.strategy(rolling(json!({"partition": 0}))), [3, 3, 3]),
    ])
}

fn ordered_in_place() -> Vec<Act> {
    let kind = STATEFUL_SET;
    let policy = rolling(json!({"podUpdatePolicy": "InPlaceIfPossible"}));
    kind.counted(vec![
        (kind.made(&json!({"replicas": 3, "updateStrategy": policy})), [3, 3, 3]),
        (kind.image("app:v2", rolling(json!({"partition": 1}))), [3, 2, 3]),
        (kind.strategy(rolling(json!({"partition": 0}))), [3, 3, 3]),
    ])
}

fn daemons() -> Vec<Act> {
    let kind = DAEMON_SET;
    kind.counted(vec![
        (kind.made(&json!({})), [3, 3, 3]),
        (kind.image("app:v2", rolling(json!({"partition": 2}))), [3, 1, 3]),
        (kind.strategy(rolling(json!({"partition": "50%"}))), [3, 2, 3]),
        (kind.strategy(rolling(json!({"partition": 0}))), [3, 3, 3]),
    ])
}

fn daemons_in_place() -> Vec<Act> {
    let kind = DAEMON_SET;
    let policy = rolling(json!({"rollingUpdateType": "InPlaceIfPossible"}));
    kind.counted(vec![
        (kind.made(&json!({"updateStrategy": policy})), [3, 3, 3]),
        (kind.image("app:v2", rolling(json!({"partition": 1}))), [3, 2, 3]),
        (kind.strategy(rolling(json!({"partition": 0}))), [3, 3, 3]),
    ])
}
