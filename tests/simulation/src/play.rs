//! Plays one seed: a user, an operator, faults, crashes; and what came of it.

use std::collections::BTreeMap;
use std::time::Duration;

use controller::Settings;
use serde_json::{Value, json};
use simcluster::fault::{FaultPlan, Faults, Rates, When};

use crate::facts::{Facts, is_ready};
use crate::harness::{Harness, Operator, send};
use crate::script::{self, Script, Step};
use crate::witness::Witness;

const ROLLOUTS: &str = "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts";
const ROLLOUT: &str =
    "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts/web";
const SET: &str = "/apis/apps/v1/namespaces/default/statefulsets/web";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const BUDGET: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// How faults come.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// None.
    None,
    /// Each kind at this rate, from this seed.
    Rate(u64, f64),
    /// One crash of the operator, at its n-th write.
    Crash(u64, When),
}

/// What came of a play.
#[derive(Debug)]
pub struct Report {
    /// Promises broken, and ends not reached.
    pub broken: Vec<String>,
    /// Every request of the operator.
    pub log: Vec<String>,
    /// Requests by kind.
    pub kinds: BTreeMap<String, u64>,
    /// Writes of the operator.
    pub writes: u64,
    /// The virtual time that it took.
    pub took: Duration,
    /// Where the Pods and the rollout ended.
    pub end: String,
}

struct Play {
    harness: Harness,
    witness: Witness,
    faults: Faults,
    client: kube::Client,
    operator: Option<Operator>,
    standby: Option<Operator>,
    standby_faults: Faults,
    lives: u32,
    broken: Vec<String>,
}

/// Plays the script of `seed` under `trouble`, from an empty cluster to its end.
pub async fn play(seed: u64, trouble: Trouble) -> Report {
    play_script(seed, &Script::of(seed), trouble).await
}

/// Plays a given script.
pub async fn play_script(seed: u64, script: &Script, trouble: Trouble) -> Report {
    let began = tokio::time::Instant::now();
    let harness = Harness::start(seed).await;
    let witness =
        Witness::new(std::sync::Arc::clone(harness.cluster.server()), harness.clock.clone());
    let plan = match trouble {
        Trouble::Rate(seed, rate) => FaultPlan::new(seed, Rates::all(rate)),
        _ => FaultPlan::new(seed, Rates::NONE),
    };
    let standby_faults = Faults::new(FaultPlan { seed: !plan.seed, ..plan.clone() });
    let faults = Faults::new(plan);
    if let Trouble::Crash(number, when) = trouble {
        faults.crash_at(number, when);
    }
    let client = harness.client();
    let mut play = Play {
        harness,
        witness,
        faults,
        client,
        operator: None,
        standby: None,
        standby_faults,
        lives: 0,
        broken: Vec::new(),
    };
    play.begin();
    if script.start.standby {
        play.stand_by();
    }
    play.act(script).await;
    let end = play.finish(script).await;
    let mut seen = play.witness.seen();
    let twice = seen.evicted.iter().filter(|(_, times)| **times > 1);
    let mut broken: Vec<String> =
        twice.map(|(uid, times)| format!("evicted {times} times while it stood: {uid}")).collect();
    broken.append(&mut seen.broken);
    let (log, kinds) = (std::mem::take(&mut seen.log), std::mem::take(&mut seen.kinds));
    drop(seen);
    broken.append(&mut play.broken);
    Report { broken, log, kinds, writes: play.faults.writes(), took: began.elapsed(), end }
}

impl Play {
    /// Starts an operator, the next life of the one client.
    fn begin(&mut self) {
        self.operator = Some(self.live("operator", &self.faults.clone()));
    }

    /// Starts the other operator, which waits for the lease.
    fn stand_by(&mut self) {
        self.standby = Some(self.live("standby", &self.standby_faults.clone()));
    }

    fn live(&mut self, who: &str, faults: &Faults) -> Operator {
        self.lives += 1;
        let router = faults.wrap(self.witness.before(self.harness.router()));
        let settings = Settings { seed: self.harness.seed, ..Settings::default() };
        self.harness.operator(router, &format!("{who}-{}", self.lives), settings)
    }

    /// Lets time pass; an operator that crashes or loses its lease begins its next life.
    async fn pass(&mut self, span: Duration) {
        let end = tokio::time::Instant::now() + span;
        loop {
            let tick = tokio::time::sleep_until(
                end.min(tokio::time::Instant::now() + Duration::from_secs(1)),
            );
            tokio::select! {
                biased;
                () = self.faults.crashed() => self.again().await,
                () = tick => {}
            }
            if self.operator.as_ref().is_some_and(Operator::has_ended) {
                self.again().await;
            }
            if self.standby.as_ref().is_some_and(Operator::has_ended) {
                self.stand_by();
            }
            if tokio::time::Instant::now() >= end {
                return;
            }
        }
    }

    async fn again(&mut self) {
        if let Some(operator) = self.operator.take() {
            operator.kill().await;
        }
        self.begin();
    }

    async fn user(&mut self, method: &str, path: &str, body: Value) {
        if let Err(error) = send(&self.client, method, path, &body).await {
            // A Pod that is already gone, a name that is taken, a budget without room.
            let known = matches!(&*error, kube::Error::Api(status) if [404, 409, 429].contains(&status.code));
            if !known {
                self.broken.push(format!("the cluster refuses {method} {path}: {error}"));
            }
        }
    }

    async fn act(&mut self, script: &Script) {
        self.user("POST", ROLLOUTS, script::rollout(&script.start, "app:v1")).await;
        if let Some(limit) = &script.start.budget {
            self.user("POST", BUDGETS, script::budget(limit)).await;
        }
        self.until_done(Duration::from_secs(400)).await;
        for step in &script.steps {
            self.step(step, script).await;
        }
    }

    async fn step(&mut self, step: &Step, script: &Script) {
        let seconds = |n: &u32| Duration::from_secs(u64::from(*n));
        match step {
            Step::Roll { image, percent } => {
                let mut patch = script::image(image);
                patch["spec"]["percent"] = json!(percent);
                self.user("PATCH", ROLLOUT, patch).await;
            }
            Step::Percent(percent) => {
                self.user("PATCH", ROLLOUT, json!({"spec": {"percent": percent}})).await;
            }
            Step::Scale(replicas) => {
                self.witness.chaos();
                let patch = json!({"spec": {"statefulset": {"spec": {"replicas": replicas}}}});
                self.user("PATCH", ROLLOUT, patch).await;
            }
            Step::Pause(span) => {
                self.user("PATCH", ROLLOUT, json!({"spec": {"pauseRequested": true}})).await;
                self.pass(seconds(span)).await;
                self.user("PATCH", ROLLOUT, json!({"spec": {"pauseRequested": false}})).await;
            }
            Step::Lose(ordinal) => {
                self.witness.chaos();
                self.user("DELETE", &format!("{PODS}/web-{ordinal}"), json!({})).await;
            }
            Step::Drain(ordinal) => {
                self.witness.chaos();
                let name = format!("web-{ordinal}");
                let eviction = json!({
                    "apiVersion": "policy/v1",
                    "kind": "Eviction",
                    "metadata": {"name": name, "namespace": "default"},
                });
                self.user("POST", &format!("{PODS}/{name}/eviction"), eviction).await;
            }
            Step::Close(span) => {
                if let Some(limit) = &script.start.budget {
                    self.user("PATCH", BUDGET, json!({"spec": {"maxUnavailable": 0}})).await;
                    self.pass(seconds(span)).await;
                    self.user("PATCH", BUDGET, json!({"spec": {"maxUnavailable": limit}})).await;
                }
            }
            Step::Restart => {
                let at = self.harness.clock.now().to_string();
                let annotations = json!({"kubectl.kubernetes.io/restartedAt": at});
                let template = json!({"metadata": {"annotations": annotations}});
                self.user("PATCH", SET, json!({"spec": {"template": template}})).await;
            }
            Step::Retry => {
                let identity = self.harness.clock.now().to_string();
                self.user("PATCH", ROLLOUT, json!({"spec": {"rolloutIdentity": identity}})).await;
            }
            Step::Wait(span) => self.pass(seconds(span)).await,
            Step::Kill => self.again().await,
            Step::LoseLease(span) => {
                self.faults.refuse(|_, path| path.contains("/leases"));
                self.pass(seconds(span)).await;
                self.faults.accept();
            }
        }
    }

    fn facts(&self) -> Facts {
        Facts::read(self.harness.cluster.server())
    }

    async fn until_done(&mut self, limit: Duration) -> bool {
        let end = tokio::time::Instant::now() + limit;
        while tokio::time::Instant::now() < end {
            if Facts::rollout(self.harness.cluster.server()).is_done() {
                return true;
            }
            self.pass(Duration::from_secs(1)).await;
        }
        false
    }

    /// No more faults; everything that is asked for in the end can be had. Then it must be had, and
    /// nothing may be asked of the cluster any more.
    async fn finish(&mut self, script: &Script) -> String {
        self.faults.set_rates(Rates::NONE);
        self.standby_faults.set_rates(Rates::NONE);
        let mut last = script::image(&script.last_image);
        last["spec"]["percent"] = json!(100);
        last["spec"]["pauseRequested"] = json!(false);
        last["spec"]["rolloutIdentity"] = json!("last");
        self.user("PATCH", ROLLOUT, last).await;
        if !self.until_done(Duration::from_secs(3600)).await {
            let status = serde_json::to_string(&self.facts().rollout["status"]).unwrap_or_default();
            self.broken.push(format!("loss: the rollout does not come to its end: {status}"));
            return status;
        }
        self.pass(Duration::from_secs(60)).await;
        let requests = self.witness.seen().log.len();
        self.pass(Duration::from_secs(600)).await;
        self.still(requests);
        self.reached(script)
    }

    /// Stillness: watches and the lease, nothing else.
    fn still(&mut self, requests: usize) {
        let seen = self.witness.seen();
        let noise: Vec<String> = seen
            .log
            .iter()
            .skip(requests)
            .filter(|line| !line.contains("watch=") && !line.contains("/leases/"))
            .cloned()
            .collect();
        drop(seen);
        self.broken.extend(noise.into_iter().map(|line| format!("stillness: {line}")));
    }

    fn reached(&mut self, script: &Script) -> String {
        let facts = self.facts();
        let images: Vec<&str> = facts
            .pods
            .iter()
            .map(|pod| pod["spec"]["containers"][0]["image"].as_str().unwrap_or_default())
            .collect();
        let all = images.iter().all(|image| *image == script.last_image);
        let ready = facts.pods.iter().all(is_ready);
        let count = facts.pods.len() == usize::try_from(script.last_replicas).unwrap_or(0);
        let left =
            facts.rollout["status"]["evicting"].as_array().is_some_and(|all| !all.is_empty());
        let phase = facts.phase();
        let end = format!("{phase} {}/{} {images:?}", facts.good(), facts.replicas());
        if phase != "RolloutDone" || !all || !ready || !count || left {
            self.broken.push(format!(
                "loss: ended as {end}, ready {ready}, evicting {left}; wanted {} x {}",
                script.last_replicas, script.last_image
            ));
        }
        end
    }
}
