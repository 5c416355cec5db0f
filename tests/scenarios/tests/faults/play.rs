//! One play: two rollouts, by eviction and by partition, on which an operator works in trouble.

use std::path::Path;
use std::time::Duration;

use fastrand::Rng;
use scenarios::env::{BUDGETS, Kind, PODS, ROLLOUTS};
use scenarios::{Env, Failure, Outcome};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::operator::Operator;
use crate::plane::Plane;
use crate::proxy::Proxy;
use crate::witness::{Asked, Witness, judge, version};

const REPLICAS: usize = 8;
const ROOM: usize = 2;
const HALF: usize = 4;
/// How often a component of the cluster is taken away: its own controllers back off up to half a
/// minute from a server that was, and more would be a test of their patience.
const STRIKES: usize = 3;
const LEASES: Kind = Kind("/apis/coordination.k8s.io/v1", "leases");

/// What happens to an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is killed with signal 9, and started again at once.
    Killed,
    /// There are two; the leader is stopped past its lease, and goes on as if nothing had been, or is
    /// killed.
    Contended,
    /// The API server is killed, and comes back.
    ApiServer,
    /// etcd doesn't answer for some seconds.
    Etcd,
    /// Its connections are dropped.
    Cut,
}

/// All of them.
pub(crate) const ALL: [Trouble; 5] =
    [Trouble::Killed, Trouble::Contended, Trouble::ApiServer, Trouble::Etcd, Trouble::Cut];

/// How a play ended.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    /// Promises that were broken, each a sentence.
    pub(crate) broken: Vec<String>,
    /// What did not come in time, though nothing was broken until then.
    pub(crate) late: Vec<String>,
    /// What was done, and when.
    pub(crate) deeds: String,
}

/// Plays one, in a namespace of its own; `round` tells several of one seed apart.
pub(crate) async fn play(
    plane: &Plane,
    sluice: &Path,
    trouble: Trouble,
    seed: u64,
    round: u32,
) -> Ending {
    let namespace = format!("{trouble:?}-{seed}-{round}").to_lowercase();
    let client = plane.client().await;
    let env =
        Env { client, namespace: namespace.clone(), look: Duration::from_millis(200), patience: 1 };
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let made = env.send("POST", "/api/v1/namespaces", "application/json", &body).await;
    made.expect("a namespace");
    let proxy = Proxy::before(&plane.address).await;
    // Each life has an identity of its own, and one that is killed leaves its lease to run out.
    let elects = trouble != Trouble::Killed;
    let operators = if trouble == Trouble::Contended { 2 } else { 1 };
    let mut operators: Vec<Operator> = (0..operators)
        .map(|n| {
            let log = plane.dir().join(format!("logs/{namespace}-{n}.log"));
            let kubeconfig = plane.operators_kubeconfig(&proxy.address);
            Operator::new(sluice, kubeconfig, &namespace, elects, log)
        })
        .collect();
    let mut deeds = Vec::new();
    let outcome = {
        let hands = Hands { plane, env: &env, proxy: &proxy, rng: Rng::with_seed(seed), trouble };
        let roll = async {
            tokio::join!(rollout(&env, "report", "Report"), rollout(&env, "prevent", "Prevent"))
        };
        tokio::select! {
            biased;
            outcome = roll => outcome,
            never = hands.make(&mut operators, &mut deeds) => match never {},
        }
    };
    let mut ending = Ending::default();
    for (name, (broken, failure)) in [("report", outcome.0), ("prevent", outcome.1)] {
        ending.broken.extend(broken.into_iter().map(|words| format!("{name}: {words}")));
        match failure {
            Err(Failure::Broken(words)) => ending.broken.push(format!("{name}: {words}")),
            Err(Failure::Late(words)) => ending.late.push(format!("{name}: {words}")),
            Ok(()) => {}
        }
    }
    // The end may have come in the midst of it; etcd that runs refuses to be resumed.
    match trouble {
        Trouble::ApiServer => plane.order("restart", "kube-apiserver").await,
        Trouble::Etcd => drop(plane.ordered("resume", "etcd").await),
        _ => {}
    }
    for operator in &operators {
        let said = operator.said();
        let panics = said.lines().filter(|line| line.contains("panicked"));
        ending.broken.extend(panics.map(str::to_owned));
    }
    for mut operator in operators {
        operator.kill().await;
    }
    if ending.broken.is_empty() {
        let path = format!("/api/v1/namespaces/{namespace}");
        let _ = env.send("DELETE", &path, "application/json", &json!({})).await;
    }
    Ending { deeds: deeds.join(", "), ..ending }
}

/// What makes the trouble.
struct Hands<'a> {
    plane: &'a Plane,
    env: &'a Env,
    proxy: &'a Proxy,
    rng: Rng,
    trouble: Trouble,
}

impl Hands<'_> {
    /// Makes trouble until it is dropped.
    async fn make(
        mut self,
        operators: &mut [Operator],
        deeds: &mut Vec<String>,
    ) -> std::convert::Infallible {
        let began = Instant::now();
        loop {
            let longest = if self.trouble == Trouble::Killed { 3_000 } else { 5_000 };
            let end = Instant::now() + Duration::from_millis(self.rng.u64(300..longest));
            while Instant::now() < end {
                operators.iter_mut().for_each(Operator::keep);
                sleep(Duration::from_millis(50)).await;
            }
            let own = matches!(self.trouble, Trouble::ApiServer | Trouble::Etcd);
            if own && (deeds.len() >= STRIKES || !self.rolls().await) {
                continue;
            }
            let deed = self.strike(operators).await;
            deeds.push(format!("{:.1?} {deed}", began.elapsed()));
        }
    }

    /// Whether both rollouts have gone on from their first template.
    async fn rolls(&self) -> bool {
        let rollouts = self.env.list(ROLLOUTS, "").await.unwrap_or_default();
        let on = |r: &Value| r["metadata"]["generation"].as_u64().is_some_and(|n| n > 1);
        rollouts.len() == 2 && rollouts.iter().all(on)
    }

    async fn strike(&mut self, operators: &mut [Operator]) -> String {
        let while_away = Duration::from_millis(self.rng.u64(1_000..6_000));
        match self.trouble {
            Trouble::Killed => {
                for operator in operators {
                    operator.kill().await;
                }
                "killed".to_owned()
            }
            Trouble::Contended => {
                let lease = Env { namespace: "sluice-system".to_owned(), ..self.env.clone() };
                let lease = lease.get(LEASES, "sluice").await.unwrap_or_default();
                let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default();
                let Some(leader) = operators.iter_mut().find(|operator| operator.is(holder)) else {
                    return "no leader".to_owned();
                };
                if self.rng.u8(0..4) == 0 {
                    leader.kill().await;
                    return "leader killed".to_owned();
                }
                leader.signal("STOP").await;
                // The lease lasts 4 s: mostly past it, sometimes just short of it.
                sleep(while_away + Duration::from_secs(3)).await;
                leader.signal("CONT").await;
                format!("leader stopped for {:?}", while_away + Duration::from_secs(3))
            }
            Trouble::ApiServer => {
                self.plane.order("kill", "kube-apiserver").await;
                sleep(while_away).await;
                self.plane.order("restart", "kube-apiserver").await;
                // Kubernetes' own watches pause for up to a minute after a few such ends, and after the 403
                // of a server that has not read its roles yet; what is tried here is the operator.
                for component in ["kube-controller-manager", "kube-scheduler"] {
                    self.plane.order("restart", component).await;
                }
                format!("API server away for {while_away:?}")
            }
            Trouble::Etcd => {
                self.plane.order("pause", "etcd").await;
                sleep(while_away + Duration::from_secs(2)).await;
                self.plane.order("resume", "etcd").await;
                format!("etcd paused for {:?}", while_away + Duration::from_secs(2))
            }
            Trouble::Cut => format!("{} connections cut", self.proxy.cut(&mut self.rng)),
        }
    }
}

/// One rollout under a witness: what was broken until its end, and how it ended.
async fn rollout(env: &Env, name: &str, leak: &str) -> (Vec<String>, Outcome) {
    let witness = Witness::of(env, name);
    let mut asked = Vec::new();
    let mut outcome = steps(env, name, leak, &mut asked).await;
    // Also of one that is late.
    let mut broken = judge(&witness.notes(), &asked, "app:v2", leak == "Report");
    if outcome.is_ok() {
        match end(env, name).await {
            Ok(words) => broken.extend(words),
            Err(failure) => outcome = Err(failure),
        }
    }
    (broken, outcome)
}

/// From `app:v1` to half of `app:v2`, to all of it with a pause in between.
async fn steps(env: &Env, name: &str, leak: &str, asked: &mut Vec<Asked>) -> Outcome {
    // Trouble begins with the operator: the user may have to ask twice.
    create(env, BUDGETS, &budget(name)).await?;
    create(env, ROLLOUTS, &object(name, leak)).await?;
    let done = |r: &Value| r["status"]["phase"] == "RolloutDone";
    let ready = until(env, name, "v1 is done", done).await?;
    let healthy = REPLICAS - ROOM;
    let ask = |at: &Value, target, paused| Asked { version: version(at), target, healthy, paused };
    asked.push(ask(&ready, HALF, false));
    let image = "spec/statefulset/spec/template/spec/containers";
    let v2 = json!([{"op": "replace", "path": format!("/{image}/0/image"), "value": "app:v2"},
        {"op": "replace", "path": "/spec/percent", "value": 50}]);
    patch(env, name, &v2).await?;
    until(env, name, "half is done", done).await?;
    let all = json!([{"op": "replace", "path": "/spec/percent", "value": 100}]);
    asked.push(ask(&patch(env, name, &all).await?, REPLICAS, false));
    until(env, name, "more than half is updated", |r| moved(r) > HALF as u64).await?;
    let pause = |on: bool| json!([{"op": "add", "path": "/spec/pauseRequested", "value": on}]);
    patch(env, name, &pause(true)).await?;
    let paused = |r: &Value| r["status"]["phase"] == "RolloutPaused" || done(r);
    let paused = until(env, name, "the pause is observed", paused).await?;
    asked.push(ask(&paused, REPLICAS, true));
    sleep(Duration::from_secs(6)).await;
    asked.push(ask(&patch(env, name, &pause(false)).await?, REPLICAS, false));
    until(env, name, "all is done", |r| done(r) && r["spec"]["percent"] == 100).await?;
    Ok(())
}

fn moved(rollout: &Value) -> u64 {
    rollout["status"]["updatedReplicas"].as_u64().unwrap_or(0)
}

/// The Pods have to be as the verdict says.
async fn end(env: &Env, name: &str) -> Result<Vec<String>, Failure> {
    let pods = env.list(PODS, &format!("app={name}")).await?;
    let right = pods.iter().filter(|pod| {
        let conditions = pod["status"]["conditions"].as_array();
        let ready = |c: &Value| c["type"] == "Ready" && c["status"] == "True";
        pod["spec"]["containers"][0]["image"] == "app:v2"
            && pod["metadata"]["deletionTimestamp"].is_null()
            && conditions.into_iter().flatten().any(ready)
    });
    let (right, all) = (right.count(), pods.len());
    let wrong = right != REPLICAS || all != REPLICAS;
    Ok(wrong.then(|| format!("truth: done with {right} right of {all}")).into_iter().collect())
}

/// Waits until the status speaks of the spec, and `what` holds.
async fn until(
    env: &Env,
    name: &str,
    claim: &str,
    what: impl Fn(&Value) -> bool,
) -> Result<Value, Failure> {
    let observed = |r: &Value| r["status"]["observedGeneration"] == r["metadata"]["generation"];
    env.until(ROLLOUTS, name, Duration::from_secs(240), claim, |r| observed(r) && what(r)).await
}

/// Asks again while the server is away.
async fn create(env: &Env, kind: Kind, object: &Value) -> Result<(), Failure> {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        match env.create(kind, object).await {
            Ok(_) => return Ok(()),
            Err(refused) if refused.code == 409 => return Ok(()),
            Err(refused) if Instant::now() > end => return Err(refused.into()),
            Err(_) => sleep(env.look).await,
        }
    }
}

async fn patch(env: &Env, name: &str, patch: &Value) -> Result<Value, Failure> {
    let path = env.path(ROLLOUTS, name);
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        match env.send("PATCH", &path, "application/json-patch+json", patch).await {
            Ok(patched) => return Ok(patched),
            Err(refused) if Instant::now() > end => return Err(refused.into()),
            Err(_) => sleep(env.look).await,
        }
    }
}

fn budget(name: &str) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"maxUnavailable": ROOM, "selector": {"matchLabels": {"app": name}}},
    })
}

fn object(name: &str, leak: &str) -> Value {
    let annotations = json!({
        "simcluster.sluice.dev/startup": "1s",
        "simcluster.sluice.dev/terminate-after": "1s",
    });
    json!({
        "apiVersion": "bedrock.operator.slack.com/v1",
        "kind": "StatefulsetRollout",
        "metadata": {"name": name},
        "spec": {
            "percent": 100,
            "rolloutIdentity": "first",
            "versionLeak": leak,
            "statefulset": {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": name},
                "spec": {
                    "replicas": REPLICAS,
                    "serviceName": name,
                    "podManagementPolicy": "Parallel",
                    "selector": {"matchLabels": {"app": name}},
                    "template": {
                        "metadata": {"labels": {"app": name}, "annotations": annotations},
                        "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
                    },
                },
            },
        },
    })
}
