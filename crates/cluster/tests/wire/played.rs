//! A played cluster: lists, open watches that tests push events into, and caches fed by them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cluster::observe::statefulset_rollout::{Observed, observe};
use cluster::{Caches, Hands, Key, Subject, Why};
use engine::world::{Outcome, Settings};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::far::{Asked, Far, Reply, far, hands};

pub(crate) const KINDS: [&str; 13] = [
    "statefulsetrollouts",
    "rollouts",
    "batchreleases",
    "deployments",
    "replicasets",
    "statefulsets",
    "daemonsets",
    "controllerrevisions",
    "pods",
    "poddisruptionbudgets",
    "clonesets.apps.kruise.io",
    "statefulsets.apps.kruise.io",
    "daemonsets.apps.kruise.io",
];

/// The kind that a path lists or watches.
fn listed(path: &str) -> Option<&'static str> {
    let plural = path.rsplit('/').next().unwrap_or_default();
    let group = if path.contains("/apps.kruise.io/") { ".apps.kruise.io" } else { "" };
    KINDS.into_iter().find(|kind| kind.strip_suffix(group) == Some(plural))
}

type Senders = Arc<Mutex<BTreeMap<&'static str, UnboundedSender<Value>>>>;

pub(crate) struct Played {
    pub(crate) caches: Arc<Caches>,
    pub(crate) hands: Hands,
    pub(crate) far: Far,
    woken: Arc<Mutex<Vec<(Subject, Why)>>>,
    watches: Senders,
}

impl Played {
    /// Caches of these objects, by plural; other requests than lists and watches get `answer`.
    pub(crate) async fn start(
        objects: Vec<(&'static str, Value)>,
        mut answer: impl FnMut(&Asked) -> Reply + Send + 'static,
    ) -> Self {
        let watches = Senders::default();
        let open = Arc::clone(&watches);
        let (client, far) = far(move |asked| {
            let path = asked.line.split('?').next().unwrap_or_default().to_owned();
            let plural = listed(&path);
            // A list by labels is none of the watches'.
            let of_watch = asked.line.starts_with("GET ") && !asked.line.contains("labelSelector=");
            match plural.filter(|_| of_watch) {
                Some(plural) if asked.line.contains("watch=true") => {
                    let (tell, told) = unbounded_channel();
                    open.lock().unwrap().insert(plural, tell);
                    Reply::Stream(told)
                }
                Some(plural) => {
                    let items = objects.iter().filter(|(kind, _)| *kind == plural);
                    let items: Vec<&Value> = items.map(|(_, object)| object).collect();
                    Reply::ok(json!({"metadata": {"resourceVersion": "100"}, "items": items}))
                }
                None => answer(asked),
            }
        });
        let woken = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&woken);
        let caches = Caches::new(Box::new(move |subject: &Subject, why| {
            heard.lock().unwrap().push((subject.clone(), why));
        }));
        for (_, watch) in caches.watches(&client, None, 1) {
            tokio::spawn(watch);
        }
        let played = Self { caches, hands: hands(client), far, woken, watches };
        played.settle().await;
        played.far.take();
        played
    }

    /// Lets everything happen that is about to.
    pub(crate) async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    /// A watch event.
    pub(crate) async fn push(&self, plural: &str, kind: &str, object: Value) {
        let event = json!({"type": kind, "object": object});
        self.watches.lock().unwrap()[plural].send(event).unwrap();
        self.settle().await;
    }

    /// Who was woken since the last time.
    pub(crate) fn woken(&self) -> Vec<(String, Why)> {
        let woken = std::mem::take(&mut *self.woken.lock().unwrap());
        woken.into_iter().map(|(subject, why)| (subject.key.name, why)).collect()
    }

    pub(crate) fn look(&self, name: &str) -> Option<Observed> {
        let outcome = Outcome::default();
        observe(&self.caches, &Key::new("exch", name), &Settings::default(), outcome)
    }
}

pub(crate) fn rollout(name: &str, version: u32) -> Value {
    json!({
        "apiVersion": "bedrock.operator.slack.com/v1",
        "kind": "StatefulsetRollout",
        "metadata": {
            "namespace": "exch", "name": name, "uid": format!("uid-of-{name}"), "generation": 1,
            "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "managedFields": [{"manager": "kubectl"}],
        },
        "spec": {
            "percent": 50,
            "statefulset": {
                "metadata": {"name": "web"},
                "spec": {
                    "replicas": 4,
                    "selector": {"matchLabels": {"app": "web"}},
                    "serviceName": "web",
                    "template": {
                        "metadata": {"labels": {"app": "web"}},
                        "spec": {"containers": [{"name": "c", "image": "repo/web:v2"}]},
                    },
                },
            },
        },
    })
}

/// The StatefulSet as the rollout `web` asks for it, claimed by the rollout of that name.
pub(crate) fn set(claimed_by: &str) -> Value {
    let mut set = rollout("web", 1)["spec"]["statefulset"].clone();
    set["metadata"] = json!({
        "namespace": "exch", "name": "web", "uid": "uid-of-set", "generation": 3,
        "resourceVersion": "50",
        "annotations": {"sluice.dev/owned-by": format!("uid-of-{claimed_by}")},
    });
    set["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    set["status"] = json!({
        "observedGeneration": 3, "updateRevision": "web-2", "currentRevision": "web-1",
    });
    set
}

pub(crate) fn pod(ordinal: u32, version: u32) -> Value {
    json!({
        "metadata": {
            "namespace": "exch", "name": format!("web-{ordinal}"),
            "uid": format!("uid-of-{ordinal}"), "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": "web", "controller-revision-hash": "web-1"},
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web",
                "uid": "uid-of-set", "controller": true,
            }],
        },
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "repo/web:v1"}]},
        "status": {
            "phase": "Running",
            "conditions": [{
                "type": "Ready", "status": "True",
                "lastTransitionTime": "2026-01-01T00:00:05Z",
            }],
        },
    })
}

pub(crate) fn budget(app: &str) -> Value {
    json!({
        "metadata": {
            "namespace": "exch", "name": format!("pdb-{app}"), "uid": format!("uid-of-pdb-{app}"),
            "resourceVersion": "60", "generation": 1,
        },
        "spec": {"maxUnavailable": "30%", "selector": {"matchLabels": {"app": app}}},
        "status": {
            "observedGeneration": 1, "disruptionsAllowed": 2, "currentHealthy": 4,
            "desiredHealthy": 2, "expectedPods": 4,
        },
    })
}

/// One rollout, its StatefulSet, four Pods and a budget.
pub(crate) fn usual() -> Vec<(&'static str, Value)> {
    let mut all = vec![
        ("statefulsetrollouts", rollout("web", 40)),
        ("statefulsets", set("web")),
        ("poddisruptionbudgets", budget("web")),
    ];
    all.extend((0..4).map(|ordinal| ("pods", pod(ordinal, 50 + ordinal))));
    all
}

/// What an unexpected request gets.
pub(crate) fn nothing(asked: &Asked) -> Reply {
    panic!("unexpected request: {}", asked.line)
}
