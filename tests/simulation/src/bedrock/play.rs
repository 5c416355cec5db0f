//! Plays one seed: a user, an operator, faults, crashes; and what came of it.

use std::time::Duration;

use simcluster::json::json;

use super::facts::Facts;
use super::judge::judge;
use super::script::{self, Script, Step};
use crate::pods::is_ready;
use crate::stage::{Report, Stage, Trouble};

const ROLLOUTS: &str = "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts";
const ROLLOUT: &str =
    "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts/web";
const SET: &str = "/apis/apps/v1/namespaces/default/statefulsets/web";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const BUDGET: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web";
const PODS: &str = "/api/v1/namespaces/default/pods";

struct Play {
    stage: Stage,
}

/// Plays the script of `seed` under `trouble`, from an empty cluster to its end.
pub async fn play(seed: u64, trouble: Trouble) -> Report {
    play_script(seed, &Script::of(seed), trouble).await
}

/// Plays a given script.
pub async fn play_script(seed: u64, script: &Script, trouble: Trouble) -> Report {
    let began = tokio::time::Instant::now();
    let mut play = Play { stage: Stage::set(seed, false, &trouble, judge).await };
    play.stage.begin();
    if script.start.standby {
        play.stage.stand_by();
    }
    play.act(script).await;
    let end = play.finish(script).await;
    play.stage.report(began, end)
}

impl Play {
    async fn act(&mut self, script: &Script) {
        self.stage.user("POST", ROLLOUTS, script::rollout(&script.start, "app:v1")).await;
        if let Some(limit) = &script.start.budget {
            self.stage.user("POST", BUDGETS, script::budget(limit)).await;
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
                self.stage.user("PATCH", ROLLOUT, patch).await;
            }
            Step::Percent(percent) => {
                self.stage.user("PATCH", ROLLOUT, json!({"spec": {"percent": percent}})).await;
            }
            Step::Scale(replicas) => {
                self.stage.witness.chaos();
                let patch = json!({"spec": {"statefulset": {"spec": {"replicas": replicas}}}});
                self.stage.user("PATCH", ROLLOUT, patch).await;
            }
            Step::Pause(span) => {
                self.stage.user("PATCH", ROLLOUT, json!({"spec": {"pauseRequested": true}})).await;
                self.stage.pass(seconds(span)).await;
                self.stage.user("PATCH", ROLLOUT, json!({"spec": {"pauseRequested": false}})).await;
            }
            Step::Lose(ordinal) => {
                self.stage.witness.chaos();
                self.stage.user("DELETE", &format!("{PODS}/web-{ordinal}"), json!({})).await;
            }
            Step::Drain(ordinal) => {
                self.stage.witness.chaos();
                let name = format!("web-{ordinal}");
                let eviction = json!({
                    "apiVersion": "policy/v1",
                    "kind": "Eviction",
                    "metadata": {"name": name, "namespace": "default"},
                });
                self.stage.user("POST", &format!("{PODS}/{name}/eviction"), eviction).await;
            }
            Step::Close(span) => {
                if let Some(limit) = &script.start.budget {
                    self.stage.user("PATCH", BUDGET, json!({"spec": {"maxUnavailable": 0}})).await;
                    self.stage.pass(seconds(span)).await;
                    self.stage
                        .user("PATCH", BUDGET, json!({"spec": {"maxUnavailable": limit}}))
                        .await;
                }
            }
            Step::Restart => {
                let at = self.stage.harness.clock.now().to_string();
                let annotations = json!({"kubectl.kubernetes.io/restartedAt": at});
                let template = json!({"metadata": {"annotations": annotations}});
                self.stage.user("PATCH", SET, json!({"spec": {"template": template}})).await;
            }
            Step::Retry => {
                let identity = self.stage.harness.clock.now().to_string();
                self.stage
                    .user("PATCH", ROLLOUT, json!({"spec": {"rolloutIdentity": identity}}))
                    .await;
            }
            Step::Wait(span) => self.stage.pass(seconds(span)).await,
            Step::Kill => self.stage.again().await,
            Step::LoseLease(span) => {
                self.stage.faults.refuse(|_, path| path.contains("/leases"));
                self.stage.pass(seconds(span)).await;
                self.stage.faults.accept();
            }
        }
    }

    fn facts(&self) -> Facts {
        Facts::read(self.stage.harness.cluster.server())
    }

    async fn until_done(&mut self, limit: Duration) -> bool {
        let end = tokio::time::Instant::now() + limit;
        while tokio::time::Instant::now() < end {
            if Facts::rollout(self.stage.harness.cluster.server()).is_done() {
                return true;
            }
            self.stage.pass(Duration::from_secs(1)).await;
        }
        false
    }

    /// No more faults; everything that is asked for in the end can be had. Then it must be had, and
    /// nothing may be asked of the cluster any more.
    async fn finish(&mut self, script: &Script) -> String {
        self.stage.calm_down();
        let mut last = script::image(&script.last_image);
        last["spec"]["percent"] = json!(100);
        last["spec"]["pauseRequested"] = json!(false);
        last["spec"]["rolloutIdentity"] = json!("last");
        self.stage.user("PATCH", ROLLOUT, last).await;
        if !self.until_done(Duration::from_secs(3600)).await {
            let status = serde_json::to_string(&self.facts().rollout["status"]).unwrap_or_default();
            self.stage.broken.push(format!("loss: the rollout does not come to its end: {status}"));
            return status;
        }
        self.stage.pass(Duration::from_secs(60)).await;
        self.stage.stillness().await;
        self.reached(script)
    }

    fn reached(&mut self, script: &Script) -> String {
        let facts = self.facts();
        let images: Vec<&str> = facts
            .pods
            .iter()
            .map(|pod| pod["spec"]["containers"][0]["image"].as_str().unwrap_or_default())
            .collect();
        let all = images.iter().all(|image| *image == script.last_image);
        let ready = facts.pods.iter().all(|pod| is_ready(pod));
        let count = facts.pods.len() == usize::try_from(script.last_replicas).unwrap_or(0);
        let left =
            facts.rollout["status"]["evicting"].as_array().is_some_and(|all| !all.is_empty());
        let phase = facts.phase();
        let end = format!("{phase} {}/{} {images:?}", facts.good(), facts.replicas());
        if phase != "RolloutDone" || !all || !ready || !count || left {
            self.stage.broken.push(format!(
                "loss: ended as {end}, ready {ready}, evicting {left}; wanted {} x {}",
                script.last_replicas, script.last_image
            ));
        }
        end
    }
}
