//! The far side of the wire in tests: a small router that answers with fixed objects.

pub(crate) mod embedded;
pub(crate) mod web;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use clap::{Args, Command};
use cluster::Clock;
use http::Method;
use kube::Client;
use serde_json::{Value, json};

use crate::session::Session;

/// What is answered and what was asked.
#[derive(Clone, Default)]
pub(crate) struct FarSide(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// By path: one answer after another, the last of them for ever; null is a 404.
    answers: BTreeMap<String, Vec<Value>>,
    /// Path and body.
    patches: Vec<(String, Value)>,
}

impl FarSide {
    /// Answers a path with an object, or with a Status under its own code.
    pub(crate) fn with(self, path: &str, answer: &Value) -> Self {
        self.with_each(path, std::slice::from_ref(answer))
    }

    /// Answers a path with one object after another.
    pub(crate) fn with_each(self, path: &str, answers: &[Value]) -> Self {
        let mut reversed = answers.to_vec();
        reversed.reverse();
        self.0.lock().unwrap().answers.insert(path.to_owned(), reversed);
        self
    }

    /// `default/tester` on its way from v1 to v2: tester-3 is there, tester-2 does not come up, and
    /// tester-1 leaked.
    pub(crate) fn rolling_out() -> Self {
        let list = |items: &[Value]| json!({"kind": "List", "items": items});
        let rollouts = "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts";
        Self::default()
            .with(rollouts, &list(&[rollout()]))
            .with("/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts", &list(&[]))
            .with(&format!("{rollouts}/tester"), &rollout())
            .with("/apis/apps/v1/namespaces/default/statefulsets/tester", &set())
            .with("/api/v1/namespaces/default/pods", &list(&pods()))
            .with(
                "/apis/apps/v1/namespaces/default/controllerrevisions",
                &list(&[revision(1, "tester-aaa", "v1"), revision(2, "tester-bbb", "v2")]),
            )
            .with("/apis/policy/v1/namespaces/default/poddisruptionbudgets", &list(&[budget()]))
            .with("/api/v1/namespaces/default/events", &list(&[event()]))
    }

    /// A session with it.
    pub(crate) fn session(&self) -> Session {
        let state = Arc::clone(&self.0);
        let router = Router::new().fallback(move |request| answer(Arc::clone(&state), request));
        Session::new(Client::new(router, "default"), "default", "http://far.side")
    }

    /// The bodies of all patches.
    pub(crate) fn patches(&self) -> Vec<Value> {
        self.0.lock().unwrap().patches.iter().map(|(_, body)| body.clone()).collect()
    }

    /// The paths of all patches.
    pub(crate) fn patched(&self) -> Vec<String> {
        self.0.lock().unwrap().patches.iter().map(|(path, _)| path.clone()).collect()
    }
}

async fn answer(state: Arc<Mutex<State>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let mut state = state.lock().unwrap();
    if parts.method == Method::PATCH {
        let path = parts.uri.path().to_owned();
        state.patches.push((path, serde_json::from_slice(&body).unwrap()));
    }
    let path = parts.uri.path();
    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
    let found = state.answers.get_mut(path).and_then(|answers| match answers.as_slice() {
        [_, _, ..] => answers.pop(),
        last => last.first().cloned(),
    });
    let answer = found.filter(|answer| !answer.is_null()).unwrap_or_else(|| {
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
            "reason": "NotFound", "message": format!("{name:?} not found"),
            "details": {"name": name}})
    });
    let code = match answer["code"].as_u64() {
        Some(code) if answer["kind"] == "Status" => u16::try_from(code).unwrap(),
        _ => 200,
    };
    Response::builder().status(code).body(Body::from(answer.to_string())).unwrap()
}

/// Flags as clap reads them.
pub(crate) fn flags<F: Args>(arguments: &[&str]) -> F {
    let command = F::augment_args(Command::new("sluice").no_binary_name(true));
    F::from_arg_matches(&command.try_get_matches_from(arguments).unwrap()).unwrap()
}

/// A clock that stands at noon.
pub(crate) fn noon() -> Clock {
    Clock::starting_at("2026-11-29T12:00:00Z".parse().unwrap())
}

/// Something to write on and to read afterwards.
#[derive(Clone, Default)]
pub(crate) struct Paper(Arc<Mutex<Vec<u8>>>);

impl Paper {
    /// What is on it.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn template(version: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "tester"}},
        "spec": {"containers": [{"name": "a", "image": format!("tester:{version}")}]},
    })
}

/// The rollout at generation 3, in progress.
pub(crate) fn rollout() -> Value {
    json!({
        "apiVersion": "bedrock.operator.slack.com/v1",
        "kind": "StatefulsetRollout",
        "metadata": {
            "name": "tester", "namespace": "default", "uid": "u-rollout", "generation": 3,
            "resourceVersion": "77", "creationTimestamp": "2026-11-29T11:00:00Z",
        },
        "spec": {
            "percent": 50, "rolloutIdentity": "two", "versionLeak": "Report",
            "statefulset": {"spec": {
                "replicas": 4, "selector": {"matchLabels": {"app": "tester"}},
                "template": template("v2"),
            }},
        },
        "status": {
            "phase": "RolloutInProgress", "reason": "waiting for tester-2", "percentDeployed": 50,
            "observedGeneration": 3, "rolloutIdentity": "two", "replicas": 4, "targetReplicas": 2,
            "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3, "leakedReplicas": 1,
            "updateRevision": "tester-bbb", "stableRevision": "tester-aaa",
            "buildMetadata": {"branch": "master", "version": "v2"},
            "Pods": [
                {"name": "tester-0", "uid": "u-0", "state": "Old"},
                {"name": "tester-1", "uid": "u-1", "state": "Updated", "leaked": true},
                {"name": "tester-2", "uid": "u-2", "state": "Broken"},
                {"name": "tester-3", "uid": "u-3", "state": "Updated"},
            ],
            "conditions": [
                {"type": "Progressing", "status": "True", "reason": "WaitingForPods",
                 "message": "waiting for tester-2", "lastTransitionTime": "2026-11-29T11:58:00Z"},
                {"type": "Leaked", "status": "True", "reason": "LeakFound",
                 "message": "tester-1 leaked", "lastTransitionTime": "2026-11-29T11:59:00Z"},
            ],
        },
    })
}

fn set() -> Value {
    json!({
        "metadata": {"name": "tester", "namespace": "default", "uid": "u-set", "generation": 2},
        "spec": {
            "replicas": 4, "selector": {"matchLabels": {"app": "tester"}},
            "template": template("v2"), "updateStrategy": {"type": "OnDelete"},
        },
        "status": {"observedGeneration": 2, "updateRevision": "tester-bbb",
            "currentRevision": "tester-aaa"},
    })
}

fn owned(uid: &str) -> Value {
    json!([{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "tester", "uid": uid,
        "controller": true}])
}

fn pods() -> Vec<Value> {
    let pod = |ordinal: u32, version: &str, revision: &str, minutes: u32| {
        json!({
            "metadata": {
                "name": format!("tester-{ordinal}"), "namespace": "default",
                "uid": format!("u-{ordinal}"), "resourceVersion": "5",
                "creationTimestamp": format!("2026-11-29T11:{:02}:00Z", 60 - minutes),
                "labels": {"app": "tester", "controller-revision-hash": revision},
                "ownerReferences": owned("u-set"),
            },
            "spec": {"nodeName": format!("node-{}", ordinal % 2),
                "containers": [{"name": "a", "image": format!("tester:{version}")}]},
            "status": {"phase": "Running", "conditions": [
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-29T11:57:00Z"}]},
        })
    };
    let mut broken = pod(2, "v2", "tester-bbb", 2);
    broken["status"] = json!({"phase": "Pending", "containerStatuses": [{"name": "a", "ready": false,
        "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}}]});
    let mut stranger = pod(9, "v1", "tester-aaa", 1);
    stranger["metadata"]["ownerReferences"] = owned("u-another");
    vec![
        pod(3, "v2", "tester-bbb", 4),
        broken,
        pod(1, "v2", "tester-bbb", 3),
        pod(0, "v1", "tester-aaa", 60),
        stranger,
    ]
}

fn revision(number: i64, name: &str, version: &str) -> Value {
    let mut template = template(version);
    template["$patch"] = json!("replace");
    template["metadata"]["creationTimestamp"] = Value::Null;
    json!({
        "metadata": {"name": name, "creationTimestamp": "2026-11-29T11:30:00Z",
            "ownerReferences": owned("u-set")},
        "revision": number,
        "data": {"spec": {"template": template}},
    })
}

fn budget() -> Value {
    json!({
        "metadata": {"name": "tester", "namespace": "default", "generation": 1},
        "spec": {"maxUnavailable": "30%", "selector": {"matchLabels": {"app": "tester"}}},
        "status": {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 3,
            "desiredHealthy": 2, "expectedPods": 4},
    })
}

fn event() -> Value {
    json!({"type": "Warning", "reason": "LeakFound", "message": "tester-1 leaked",
        "lastTimestamp": "2026-11-29T11:59:00Z", "count": 2,
        "involvedObject": {"kind": "StatefulsetRollout"}})
}
