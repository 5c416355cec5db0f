//! Plays one seed: a user, an operator, its webhook, faults, crashes; and what came of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use controller::admission::{Admission, hooks};
use futures::FutureExt;
use simcluster::json::{Value, json};

use super::facts::{Facts, image};
use super::judge::judge;
use super::kind::{Held, Kind};
use super::script::{self, Script, Start, Step};
use crate::harness::{Harness, send};
use crate::pods::is_ready;
use crate::stage::{Report, Stage, Trouble};

const ROLLOUTS: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts";
const ROLLOUT: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts/web";
const STATUS: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts/web/status";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const BUDGET: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// Who answers the webhook just now.
pub(super) type Answering = Arc<Mutex<Option<Admission>>>;

struct Play {
    stage: Stage,
    answering: Answering,
    /// Path of the workload.
    workload: String,
    /// The image before the last one.
    before: String,
    now: String,
    /// How many Pods may run it, by the steps that were allowed so far.
    allowed: u32,
}

/// Plays the script of `seed` under `trouble`, with one of these kinds, from an empty cluster to its end.
pub async fn play(seed: u64, kinds: &'static [Kind], trouble: Trouble) -> Report {
    play_script(seed, &Script::of(seed, kinds), trouble).await
}

/// Plays a given script.
pub async fn play_script(seed: u64, script: &Script, trouble: Trouble) -> Report {
    let began = tokio::time::Instant::now();
    let stage = Stage::set(seed, script.start.kind.is_kruise(), &trouble, judge).await;
    let object = script::workload(&script.start, "app:v1");
    let collection = script.start.kind.path();
    let first = "app:v1".to_owned();
    let mut play = Play {
        stage,
        answering: Answering::default(),
        workload: format!("{collection}/web"),
        before: first.clone(),
        now: first,
        allowed: u32::MAX,
    };
    answer_webhooks(&play.stage.harness, &play.answering).await;
    play.stage.begin();
    play.listen(true);
    if script.start.standby {
        play.stage.stand_by();
    }
    play.stage.user("POST", &collection, object).await;
    if let Some(limit) = &script.start.budget {
        play.stage.user("POST", BUDGETS, script::budget(&script.start, limit)).await;
    }
    play.stage.user("POST", ROLLOUTS, script::rollout(&script.start)).await;
    let begun = |facts: &Facts| {
        let all = facts.updated() == facts.replicas() && facts.pods.iter().all(|pod| is_ready(pod));
        facts.phase() == "Healthy" && all
    };
    if !play.until(300, begun).await {
        play.stage.broken.push("loss: the first template does not get healthy".to_owned());
    }
    for step in &script.steps {
        play.step(step, script).await;
    }
    let end = play.finish(script).await;
    play.stage.report(began, end)
}

/// Whether all of this stands in an object.
fn holds(object: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::Object(fields) => fields.iter().all(|(name, value)| holds(&object[name], value)),
        wanted => object == wanted,
    }
}

/// Tells the cluster of the webhooks, which are answered by whoever answers then.
pub(super) async fn answer_webhooks(harness: &Harness, answering: &Answering) {
    let answering = Arc::clone(answering);
    harness.cluster.register_webhook_service(Arc::new(move |call| {
        let path = call.url.as_deref().and_then(|url| url.split_once("invalid"));
        let path = path.map_or("", |path| path.1);
        let admission = answering.lock().unwrap_or_else(PoisonError::into_inner);
        let review = (&call.review).into();
        let answer = admission.as_ref().and_then(|admission| admission.answer(path, &review));
        let answer = answer.map(Into::into).ok_or("nobody answers".to_owned());
        async move { answer }.boxed()
    }));
    let at = |path: &str| serde_json::json!({"url": format!("https://sluice.invalid{path}")});
    let group = "/apis/admissionregistration.k8s.io/v1";
    for (plural, hooks) in [
        ("validatingwebhookconfigurations", hooks::validating(&at, None)),
        ("mutatingwebhookconfigurations", hooks::mutating(&at, None)),
    ] {
        let path = format!("{group}/{plural}");
        send(&harness.client(), "POST", &path, &hooks).await.expect("the webhooks are taken");
    }
}

impl Play {
    /// Has the living operator answer the webhook, or nobody.
    fn listen(&mut self, listens: bool) {
        let admission = self.stage.admission().filter(|_| listens);
        *self.answering.lock().unwrap_or_else(PoisonError::into_inner) = admission;
    }

    async fn pass(&mut self, span: Duration) {
        let end = tokio::time::Instant::now() + span;
        while tokio::time::Instant::now() < end {
            let left = end - tokio::time::Instant::now();
            let lives = self.stage.lives();
            self.stage.pass(left.min(Duration::from_secs(1))).await;
            if self.stage.lives() != lives {
                self.listen(true);
            }
            self.look();
        }
    }

    /// What holds at any time: no more Pods run the template than any step allowed so far.
    fn look(&mut self) {
        let facts = self.facts();
        if !facts.is_in_release() || !facts.is_observed() || !self.stage.witness.calm() {
            return;
        }
        self.allowed = self.allowed.max(facts.target());
        let (new, allowed) = (facts.updated(), self.allowed);
        if new > allowed {
            let (now, reason) = (self.stage.harness.clock.now(), facts.reason());
            self.stage
                .broken
                .push(format!("{now} leak: {new} Pods run the template, {allowed} may ({reason})"));
        }
    }

    fn facts(&self) -> Facts {
        Facts::read(self.stage.harness.cluster.server())
    }

    async fn until(&mut self, seconds: u64, holds: impl Fn(&Facts) -> bool) -> bool {
        let end = tokio::time::Instant::now() + Duration::from_secs(seconds);
        while tokio::time::Instant::now() < end {
            if holds(&self.facts()) {
                return true;
            }
            self.pass(Duration::from_secs(1)).await;
        }
        false
    }

    /// A change of the workload, until the webhook takes it: an operator that has just died is back in a
    /// moment.
    async fn change(&mut self, patch: &Value) {
        for _ in 0..60 {
            if self.stage.tries("PATCH", &self.workload.clone(), patch).await {
                return;
            }
            self.pass(Duration::from_secs(2)).await;
        }
        self.stage.broken.push(format!("the workload cannot be changed: {patch}"));
    }

    async fn roll(&mut self, start: &Start, image: &str) {
        let before = std::mem::replace(&mut self.now, image.to_owned());
        if before != image && !before.contains("broken") {
            self.before = before;
        }
        // What goes back finds Pods that are there already; what was just scaled makes them.
        let fresh = self.stage.witness.calm()
            && self.facts().pods.iter().all(|pod| super::facts::image(&pod["spec"]) != image);
        self.allowed = if fresh { 0 } else { u32::MAX };
        self.change(&script::image(start, image)).await;
    }

    async fn approve(&mut self) {
        let facts = self.facts();
        if facts.step_state() == "StepPaused" {
            self.allowed = self.allowed.max(facts.target_at(facts.step() + 1));
            let status = json!({"canaryStatus": {"currentStepState": "StepReady"}});
            self.stage.user("PATCH", STATUS, json!({"status": status})).await;
        }
    }

    async fn strategy(&mut self, strategy: Value) {
        self.stage.user("PATCH", ROLLOUT, json!({"spec": {"strategy": strategy}})).await;
    }

    async fn step(&mut self, step: &Step, script: &Script) {
        let seconds = |n: &u32| Duration::from_secs(u64::from(*n));
        let start = &script.start;
        match step {
            Step::Roll(image) => self.roll(start, image).await,
            Step::RollBack => {
                let before = self.before.clone();
                self.roll(start, &before).await;
            }
            Step::Approve => self.approve().await,
            Step::Jump(to) => {
                let status = json!({"canaryStatus": {"nextStepIndex": to}});
                if self.facts().is_in_release() {
                    self.stage.user("PATCH", STATUS, json!({"status": status})).await;
                }
            }
            Step::Pause(span) => {
                self.strategy(json!({"paused": true})).await;
                self.pass(seconds(span)).await;
                self.strategy(json!({"paused": false})).await;
            }
            Step::Replan(steps) => {
                // In mid-release there are as many steps as there were.
                let rollout = self.facts().rollout;
                let has = &rollout["spec"]["strategy"]["canary"]["steps"];
                let length = |steps: &Value| steps.as_array().map(Vec::len);
                if length(has) == length(steps) {
                    self.strategy(json!({"canary": {"steps": steps}})).await;
                }
            }
            Step::Scale(replicas) if !start.kind.nodes => {
                self.stage.witness.chaos();
                // Its own controller gives both templates their share at once, whatever a step says in numbers.
                self.allowed = u32::MAX;
                self.change(&json!({"spec": {"replicas": replicas}})).await;
            }
            Step::Scale(_) => {}
            Step::Disable(span) => {
                // From here on its own controller goes on with it.
                self.allowed = u32::MAX;
                self.stage.user("PATCH", ROLLOUT, json!({"spec": {"disabled": true}})).await;
                self.pass(seconds(span)).await;
                self.stage.user("PATCH", ROLLOUT, json!({"spec": {"disabled": false}})).await;
            }
            Step::Delete(span) => {
                self.allowed = u32::MAX;
                self.stage.user("DELETE", ROLLOUT, json!({})).await;
                self.pass(seconds(span)).await;
                if !self.until(600, |facts| facts.rollout.is_null()).await {
                    self.stage.broken.push("loss: the Rollout does not go".to_owned());
                }
                self.stage.user("POST", ROLLOUTS, script::rollout(start)).await;
            }
            Step::Lose(number) => {
                if let Some(pod) = self.pod(*number) {
                    self.unheld(start);
                    self.stage.witness.chaos();
                    self.stage.user("DELETE", &format!("{PODS}/{pod}"), json!({})).await;
                }
            }
            Step::Drain(number) => {
                if let Some(name) = self.pod(*number) {
                    self.unheld(start);
                    self.stage.witness.chaos();
                    let eviction = json!({
                        "apiVersion": "policy/v1",
                        "kind": "Eviction",
                        "metadata": {"name": name, "namespace": "default"},
                    });
                    self.stage.user("POST", &format!("{PODS}/{name}/eviction"), eviction).await;
                }
            }
            Step::Close(span) => {
                if start.budget.is_some() {
                    self.stage.user("PATCH", BUDGET, script::limit(start, false)).await;
                    self.pass(seconds(span)).await;
                    self.stage.user("PATCH", BUDGET, script::limit(start, true)).await;
                }
            }
            Step::Meddle => {
                let field = start.kind.strategy();
                let mut patch = json!({"spec": {field: start.strategy}});
                if start.kind.held == Held::Sizes {
                    patch["spec"]["paused"] = json!(false);
                }
                self.change(&patch).await;
            }
            Step::Silence(span) => {
                self.listen(false);
                let end = tokio::time::Instant::now() + seconds(span);
                while tokio::time::Instant::now() < end {
                    self.stage.pass(Duration::from_secs(1)).await;
                }
                self.listen(true);
            }
            Step::Wait(span) => self.pass(seconds(span)).await,
            Step::Kill => {
                self.listen(false);
                self.stage.again().await;
                self.listen(true);
            }
            Step::LoseLease(span) => {
                self.stage.faults.refuse(|_, path| path.contains("/leases"));
                self.pass(seconds(span)).await;
                self.stage.faults.accept();
            }
        }
    }

    /// What is lost where nothing holds the old template comes back at the new one.
    fn unheld(&mut self, start: &Start) {
        let held = matches!(start.kind.held, Held::Sizes | Held::Partition);
        if !held || start.strategy["type"] == "OnDelete" {
            self.allowed = self.allowed.saturating_add(1);
        }
    }

    /// The name of one of the Pods.
    fn pod(&self, number: u32) -> Option<String> {
        let facts = self.facts();
        let index = usize::try_from(number).unwrap_or(0) % facts.pods.len().max(1);
        Some(facts.pods.get(index)?["metadata"]["name"].as_str()?.to_owned())
    }

    /// No more faults; everything that is asked for in the end can be had, and every step is approved.
    /// Then it must be had, and nothing may be asked of the cluster any more.
    async fn finish(&mut self, script: &Script) -> String {
        self.stage.calm_down();
        self.strategy(json!({"paused": false})).await;
        self.stage.user("PATCH", ROLLOUT, json!({"spec": {"disabled": false}})).await;
        self.roll(&script.start, &script.last_image).await;
        let end = tokio::time::Instant::now() + Duration::from_secs(3600);
        loop {
            self.pass(Duration::from_secs(1)).await;
            self.approve().await;
            let facts = self.facts();
            let done = facts.phase() == "Healthy" && facts.is_observed() && facts.outdated() == 0;
            if done
                && facts.updated() == facts.replicas()
                && facts.pods.iter().all(|pod| is_ready(pod))
            {
                break;
            }
            if tokio::time::Instant::now() >= end {
                let (status, release) = (&facts.rollout["status"], &facts.release["status"]);
                let pods: Vec<&str> = facts.pods.iter().map(|pod| image(&pod["spec"])).collect();
                let stuck = format!("{pods:?} {status} {release}");
                self.stage.broken.push(format!("loss: no end: {stuck}"));
                return stuck;
            }
        }
        self.pass(Duration::from_secs(60)).await;
        self.stage.stillness().await;
        self.reached(script)
    }

    fn reached(&mut self, script: &Script) -> String {
        let facts = self.facts();
        let images: Vec<&str> = facts.pods.iter().map(|pod| image(&pod["spec"])).collect();
        let all = images.iter().all(|image| *image == script.last_image);
        let wanted = match script.start.kind.nodes {
            true => facts.replicas(),
            false => script.last_replicas,
        };
        let count = u32::try_from(facts.pods.len()).unwrap_or(0) == wanted;
        let phase = facts.phase();
        let end = format!("{phase} {}/{} {images:?}", facts.updated(), facts.replicas());
        if phase != "Healthy" || !all || !count {
            self.stage
                .broken
                .push(format!("loss: ended as {end}; wanted {wanted} x {}", script.last_image));
        }
        self.restored(&facts, &script.start);
        end
    }

    /// Everything on the workload is as the user left it.
    fn restored(&mut self, facts: &Facts, start: &Start) {
        let field = start.kind.strategy();
        let live = &facts.workload["spec"][field];
        let held = start.kind.partition(&facts.workload, facts.replicas()).unwrap_or(0);
        let same = holds(live, &start.strategy) && held == 0;
        let paused = facts.workload["spec"]["paused"] == true;
        if !same || paused {
            let spec = format!("{live}, paused {paused}");
            self.stage.broken.push(format!("left: {field} {spec}; it was {}", start.strategy));
        }
        let marks: Vec<String> =
            facts.marks().into_iter().filter(|mark| !mark.ends_with("/rollout-id")).collect();
        if !marks.is_empty() || !facts.release.is_null() {
            let release = &facts.release["status"]["phase"];
            self.stage.broken.push(format!("left: {marks:?}, BatchRelease {release}"));
        }
    }
}
