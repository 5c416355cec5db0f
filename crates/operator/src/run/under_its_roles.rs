//! The whole operator but its listeners, in virtual time, under the roles of its own manifests: they
//! allow all that it asks for, and nothing that it never asks for.

use super::judge::Judge;
use super::*;
use crate::manifests::Install;
use clap::Parser;
use jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use simcluster::cluster::{Options, SimCluster};
use std::time::Duration;
use tokio::task::JoinHandle;

const HOME: &str = "sluice-system";
const SERVED: &str = "shop";
const SECRET: &str = "/api/v1/namespaces/sluice-system/secrets/sluice-webhook-authority";
const ROLLOUTS: &str = "/apis/bedrock.operator.slack.com/v1/namespaces/shop/statefulsetrollouts";
const ROLLOUT: &str = "/apis/bedrock.operator.slack.com/v1/namespaces/shop/statefulsetrollouts/web";
const STEPS: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/shop/rollouts";
const BUDGETS: &str = "/apis/policy/v1/namespaces/shop/poddisruptionbudgets";

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Definitions of the kinds that a cluster may be without.
const MAY_BE_MISSING: [&str; 5] = [
    "rollouts.rollouts.kruise.io",
    "batchreleases.rollouts.kruise.io",
    "clonesets.apps.kruise.io",
    "statefulsets.apps.kruise.io",
    "daemonsets.apps.kruise.io",
];

/// Whatever is released in batches, in one of its versions.
const KINDS: [(&str, &str); 6] = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("apps.kruise.io/v1alpha1", "CloneSet"),
    ("apps.kruise.io/v1beta1", "StatefulSet"),
    ("apps.kruise.io/v1alpha1", "DaemonSet"),
];

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    flags: Flags,
}

/// A cluster, and the operator of an installation on it.
struct Stage {
    cluster: SimCluster,
    clock: Clock,
    install: Install,
    judge: Judge,
    /// Everybody else.
    user: Client,
}

/// One life of the operator.
struct Life {
    stop: CancellationToken,
    ended: JoinHandle<Result<(), Error>>,
}

impl Stage {
    async fn set(home: &str, only: Option<&str>) -> Self {
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap());
        let time = clock.clone();
        let options = Options::new(1, Arc::new(move || time.now()));
        let cluster = SimCluster::new(Options { kruise: true, ..options });
        tokio::spawn(cluster.drive());
        let user = Client::new(cluster.router(), "default");
        let install = Install {
            namespace: home.to_owned(),
            only: only.map(str::to_owned),
            image: "sluice".to_owned(),
            crds: false,
        };
        let judge = Judge::by(&install.manifests(), cluster.server().clone());
        let stage = Self { cluster, clock, install, judge, user };
        // Of these two an installation for one namespace makes none.
        let makes = stage.install.only.is_none().then_some(HOME);
        for name in [HOME, SERVED].into_iter().filter(|name| Some(*name) != makes) {
            let namespace = json!({"metadata": {"name": name}});
            stage.send("POST", "/api/v1/namespaces", &namespace).await;
        }
        let installed = Install { crds: true, ..stage.install.clone() };
        for one in installed.manifests() {
            stage.send("POST", &collection(&one), &one).await;
        }
        stage
    }

    /// A Pod of the Deployment starts.
    fn begin(&self) -> Life {
        let deployment = self.install.manifests().pop().expect("the Deployment is last");
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        let arguments = container["args"].as_array().into_iter().flatten();
        // With all that is behind a gate.
        let gates = "--feature-gates=RolloutHistory=true";
        let arguments = arguments.map(|one| one.as_str().unwrap()).chain([gates]);
        let line = Line::try_parse_from(arguments).unwrap();
        let flags = line.flags.settled().unwrap();
        let connection = Connection {
            client: Client::new(self.judge.before(self.cluster.router()), &self.install.namespace),
            address: "https://192.0.2.1".to_owned(),
            namespace: self.install.namespace.clone(),
        };
        let (clock, stop) = (self.clock.clone(), CancellationToken::new());
        let stopped = stop.clone();
        let ended = tokio::spawn(async move {
            let parts = Parts::new(&flags, connection, clock);
            let off = flags.webhook_bind_address == crate::flags::Address::Off;
            parts
                .serve(
                    &flags,
                    &stopped,
                    (!off).then(|| (Shown::default(), flags.webhook_url.clone())),
                )
                .await
        });
        Life { stop, ended }
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let content = match method {
            "PATCH" if path.contains("/pods/") => "application/strategic-merge-patch+json",
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header(http::header::CONTENT_TYPE, content).body(bytes).unwrap();
        let answer = self.user.request::<Value>(request).await;
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    async fn change(&self, spec: Value) {
        self.send("PATCH", ROLLOUT, &json!({"spec": spec})).await;
    }

    async fn image(&self, image: &str) {
        let template = json!({"spec": {"containers": [{"name": "main", "image": image}]}});
        self.change(json!({"statefulset": {"spec": {"template": template}}})).await;
    }

    /// Waits until the status of the rollout, as it is asked for now, is in this phase.
    async fn until(&self, phase: &str) {
        let mut last = Value::Null;
        for _ in 0..600 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            last = self.send("GET", ROLLOUT, &Value::Null).await;
            let (status, generation) = (&last["status"], &last["metadata"]["generation"]);
            if status["observedGeneration"] == *generation && status["phase"] == phase {
                return;
            }
        }
        let refused = &self.judge.seen().refused;
        panic!("never {phase}: {:#}; refused: {refused:#?}", last["status"]);
    }

    /// A release in batches of each kind. Nobody answers the webhook here: what is not held by hand is held
    /// by the controller.
    async fn release(&self) {
        for (version, kind) in KINDS {
            let word = version.split('.').nth(1).unwrap_or("native");
            let name = format!("{}-{word}-in-batches", kind.to_lowercase());
            let path = format!("/apis/{version}/namespaces/shop/{}s", kind.to_lowercase());
            self.send("POST", &path, &workload(version, kind, &name)).await;
            self.send("POST", STEPS, &steps(version, kind, &name)).await;
            let rollout = format!("{STEPS}/{name}");
            self.until_it(&rollout, |it| it["status"]["phase"] == "Healthy").await;
            let mut image = json!({"spec": {"template": {"spec": {
                "containers": [{"name": "main", "image": "app:v2"}],
            }}}});
            if kind == "Deployment" {
                // As the webhook writes it: the next ReplicaSet is the operator's to make.
                let mark = json!({"rollouts.kruise.io/in-progressing": "{}"});
                image["metadata"] = json!({"annotations": mark});
                image["spec"]["paused"] = json!(true);
            }
            self.send("PATCH", &format!("{path}/{name}"), &image).await;
            let succeeded = |it: &Value| {
                let conditions = it["status"]["conditions"].as_array().into_iter().flatten();
                let mut succeeded = conditions.filter(|one| one["type"] == "Succeeded");
                it["status"]["phase"] == "Healthy" && succeeded.any(|one| one["status"] == "True")
            };
            self.until_it(&rollout, succeeded).await;
            self.let_go(&rollout).await;
        }
    }

    async fn until_it(&self, path: &str, what: impl Fn(&Value) -> bool) {
        let mut last = Value::Null;
        for _ in 0..600 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            last = self.send("GET", path, &Value::Null).await;
            if what(&last) {
                return;
            }
        }
        let refused = &self.judge.seen().refused;
        panic!("{path}: {:#}; refused: {refused:#?}", last["status"]);
    }

    async fn let_go(&self, rollout: &str) {
        self.send("DELETE", rollout, &json!({})).await;
        for _ in 0..600 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let list = self.send("GET", STEPS, &Value::Null).await;
            if list["items"] == json!([]) {
                return;
            }
        }
        panic!("{rollout} is never let go");
    }

    /// Everything that an operator ever does.
    async fn play(&self) {
        let first = self.begin();
        self.release().await;
        self.send("POST", ROLLOUTS, &rollout()).await;
        self.send("POST", BUDGETS, &budget()).await;
        self.until("RolloutDone").await;

        // Pods are evicted.
        self.image("app:v2").await;
        self.until("RolloutDone").await;

        // The same is told twice.
        for paused in [true, false, true, false] {
            self.change(json!({"pauseRequested": paused})).await;
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
        self.until("RolloutDone").await;

        // A field that cannot change is named.
        self.change(json!({"statefulset": {"spec": {"serviceName": "other"}}})).await;
        self.until("RolloutFailed").await;
        self.change(json!({"statefulset": {"spec": {"serviceName": "web"}}})).await;
        self.until("RolloutDone").await;

        // Pods are unready and the budget refuses their eviction, so they are deleted.
        for name in ["web-0", "web-1"] {
            let conditions = json!([{"type": "Ready", "status": "False"}]);
            let path = format!("/api/v1/namespaces/shop/pods/{name}/status");
            self.send("PATCH", &path, &json!({"status": {"conditions": conditions}})).await;
        }
        tokio::time::sleep(Duration::from_secs(10)).await;
        self.image("app:v3").await;
        self.until("RolloutDone").await;
        first.ends().await;

        // The next replica finds the Lease, the webhook, and an authority that has to be replaced.
        if self.install.only.is_none() {
            self.send("PATCH", SECRET, &json!({"data": {"ca.key": "bm8ga2V5"}})).await;
        }
        let second = self.begin();
        self.image("app:v4").await;
        self.until("RolloutDone").await;
        // What a cluster may be without goes, and is waited for.
        for name in MAY_BE_MISSING {
            self.send("DELETE", &format!("{DEFINITIONS}/{name}"), &json!({})).await;
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
        second.ends().await;
    }
}

impl Life {
    async fn ends(self) {
        self.stop.cancel();
        self.ended.await.unwrap().unwrap();
    }
}

/// Where an object is to be created.
fn collection(one: &Value) -> String {
    let version = one["apiVersion"].as_str().unwrap();
    let root = if version.contains('/') { "apis" } else { "api" };
    let place = match one["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("namespaces/{namespace}/"),
        None => String::new(),
    };
    let plural = format!("{}s", one["kind"].as_str().unwrap().to_lowercase());
    format!("/{root}/{version}/{place}{plural}")
}

fn rollout() -> Value {
    json!({
        "apiVersion": "bedrock.operator.slack.com/v1",
        "kind": "StatefulsetRollout",
        "metadata": {"name": "web"},
        "spec": {
            "percent": 100,
            "unhealthyPods": "Replace",
            "progressDeadlineSeconds": 30,
            "statefulset": {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": "web"},
                "spec": {
                    "replicas": 3,
                    "serviceName": "web",
                    "podManagementPolicy": "Parallel",
                    "selector": {"matchLabels": {"app": "web"}},
                    "template": {
                        "metadata": {"labels": {"app": "web"}},
                        "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
                    },
                },
            },
        },
    })
}

/// Three Pods, or one on each Node.
fn workload(version: &str, kind: &str, name: &str) -> Value {
    let mut workload = json!({
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"of": name}},
            "template": {
                "metadata": {"labels": {"of": name}},
                "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
            },
        },
    });
    if kind != "DaemonSet" {
        workload["spec"]["replicas"] = json!(3);
    }
    if kind == "StatefulSet" {
        workload["spec"]["serviceName"] = json!(name);
    }
    workload
}

fn steps(version: &str, kind: &str, name: &str) -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1",
        "kind": "Rollout",
        "metadata": {"name": name},
        "spec": {
            "workloadRef": {"apiVersion": version, "kind": kind, "name": name},
            "strategy": {"canary": {"steps": [
                {"replicas": 1, "pause": {"duration": 1}}, {"replicas": "100%"},
            ]}},
        },
    })
}

fn budget() -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    })
}

/// The roles are exactly what the operator asks for.
async fn check(home: &str, only: Option<&str>) {
    let stage = Stage::set(home, only).await;
    stage.play().await;
    let refused = stage.judge.seen().refused.clone();
    assert!(refused.is_empty(), "no rule covers these: {refused:#?}");
    let unused = stage.judge.unused();
    assert!(unused.is_empty(), "nobody asks for these: {unused:#?}");
}

#[tokio::test(start_paused = true)]
async fn the_roles_for_the_whole_cluster_are_what_the_operator_asks_for() {
    check(HOME, None).await;
}

#[tokio::test(start_paused = true)]
async fn the_roles_for_one_namespace_are_what_the_operator_asks_for() {
    check(HOME, Some(SERVED)).await;
}

#[tokio::test(start_paused = true)]
async fn an_operator_that_lives_where_it_serves_needs_no_more() {
    check(SERVED, Some(SERVED)).await;
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_is_missing_is_noticed() {
    let mut stage = Stage::set(HOME, None).await;
    stage.judge = stage.judge.without("poddisruptionbudgets");
    let life = stage.begin();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let refused = stage.judge.seen().refused.clone();
    assert!(refused.iter().any(|wish| wish.contains("poddisruptionbudgets")), "{refused:#?}");
    life.ends().await;
}
