//! A rollout that a scenario has in hand: changing it, waiting for it, looking at its Pods.

use std::cell::Cell;

use serde_json::Value;

use super::diary::Diary;
use super::fixture::Rollout;
use super::pod::{Pod, names, pods};
use super::{DONE, FAILED};
use crate::env::{Env, Failure, Outcome, ROLLOUTS, Refused, SETS, ensure, same};

/// A rollout on the cluster.
pub(crate) struct Web {
    pub(crate) env: Env,
    pub(crate) rollout: Rollout,
    pub(crate) name: String,
}

/// `status.phase` of a rollout.
pub(crate) fn phase(rollout: &Value) -> &str {
    rollout["status"]["phase"].as_str().unwrap_or_default()
}

/// `status.reason` of a rollout.
pub(crate) fn reason(rollout: &Value) -> &str {
    rollout["status"]["reason"].as_str().unwrap_or_default()
}

/// A number of the status; one that is zero may be left out.
pub(crate) fn count(rollout: &Value, field: &str) -> u64 {
    rollout["status"][field].as_u64().unwrap_or(0)
}

/// A condition of an object that is `True`.
pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = object["status"]["conditions"].as_array()?;
    conditions.iter().find(|c| c["type"] == kind && c["status"] == "True")
}

impl Env {
    /// Applies a rollout.
    pub(crate) async fn begin(&self, rollout: Rollout) -> Result<Web, Refused> {
        self.apply(ROLLOUTS, &rollout.0).await?;
        let name = rollout.name().to_owned();
        Ok(Web { env: self.clone(), rollout, name })
    }

    /// Applies a rollout and waits until it is done.
    pub(crate) async fn deploy(&self, rollout: Rollout) -> Result<Web, Failure> {
        let web = self.begin(rollout).await?;
        web.done().await?;
        Ok(web)
    }
}

impl Web {
    /// Applies the rollout with a change.
    pub(crate) async fn change(
        &mut self,
        edit: impl FnOnce(Rollout) -> Rollout,
    ) -> Result<(), Refused> {
        let changed = edit(self.rollout.clone());
        self.env.apply(ROLLOUTS, &changed.0).await?;
        self.rollout = changed;
        Ok(())
    }

    /// The rollout as it is stored.
    pub(crate) async fn stored(&self) -> Result<Value, Failure> {
        Ok(self.env.get(ROLLOUTS, &self.name).await?)
    }

    /// The StatefulSet as it is stored.
    pub(crate) async fn set(&self) -> Result<Value, Failure> {
        Ok(self.env.get(SETS, &self.name).await?)
    }

    /// The Pods, by ordinal.
    pub(crate) async fn pods(&self) -> Result<Vec<Pod>, Failure> {
        pods(&self.env, &self.name).await
    }

    /// The names of the Pods that run an image, by ordinal.
    pub(crate) async fn running(&self, image: &str) -> Result<Vec<String>, Failure> {
        Ok(names(self.pods().await?.iter().filter(|pod| pod.image == image)))
    }

    /// A diary of the Pods, from now on.
    pub(crate) async fn diary(&self) -> Result<Diary, Failure> {
        Diary::begin(&self.env, &format!("app={}", self.name)).await
    }

    /// Waits until the status speaks of the newest generation and `what` holds of the rollout.
    pub(crate) async fn until(
        &self,
        seconds: u64,
        claim: &str,
        what: impl Fn(&Value) -> bool,
    ) -> Result<Value, Failure> {
        let newest = |rollout: &Value| {
            rollout["status"]["observedGeneration"] == rollout["metadata"]["generation"]
        };
        let limit = self.env.limit(seconds);
        self.env.until(ROLLOUTS, &self.name, limit, claim, |r| newest(r) && what(r)).await
    }

    /// Waits for a phase.
    pub(crate) async fn phase(&self, wanted: &str, seconds: u64) -> Result<Value, Failure> {
        let claim = format!("phase {wanted}");
        self.until(seconds, &claim, |rollout| phase(rollout) == wanted).await
    }

    /// Waits until some Pods that are ready run an image.
    pub(crate) async fn until_running(&self, image: &str, count: usize) -> Outcome {
        let mut patience = self.env.patience(self.env.limit(180));
        loop {
            let pods = self.pods().await?;
            if pods.iter().filter(|pod| pod.image == image && pod.healthy()).count() >= count {
                return Ok(());
            }
            patience.rest(|| format!("{count} Pods run {image}: {pods:?}")).await?;
        }
    }

    /// Waits until the rollout is done, and holds what the status says against the Pods.
    pub(crate) async fn done(&self) -> Result<Value, Failure> {
        // One that was given up seldom comes back: what is left of the limit would be waited in vain.
        let given_up = Cell::new(self.env.limit(60));
        let over = |rollout: &Value| match phase(rollout) {
            DONE => true,
            FAILED => {
                given_up.set(given_up.get().saturating_sub(self.env.look));
                given_up.get().is_zero()
            }
            _ => false,
        };
        let rollout = self.until(300, &format!("phase {DONE}"), over).await?;
        if phase(&rollout) != DONE {
            let words =
                format!("{} stays {FAILED}, is not {DONE}: {}", self.name, rollout["status"]);
            return Err(Failure::Late(words));
        }
        let status = &rollout["status"];
        // Those that are going because the set was scaled down are none of the rollout's.
        let first = rollout["spec"]["statefulset"]["spec"]["ordinals"]["start"].as_u64();
        let end = first.unwrap_or(0) + count(&rollout, "replicas");
        let mut pods = self.pods().await?;
        pods.retain(|pod| u64::from(pod.ordinal) < end);
        let updated = pods.iter().filter(|pod| status["updateRevision"] == pod.revision.as_str());
        let target = status["targetReplicas"].as_u64().unwrap_or(u64::MAX);
        let good = updated.clone().filter(|pod| pod.healthy()).count() as u64;
        ensure(good >= target, || format!("done, but only {good} of {target} are: {pods:?}"))?;
        same(
            "updatedReplicas when done",
            count(&rollout, "updatedReplicas"),
            updated.count() as u64,
        )?;
        same("percentDeployed when done", &status["percentDeployed"], &rollout["spec"]["percent"])?;
        Ok(rollout)
    }

    /// Waits until the rollout is given up.
    pub(crate) async fn failed(&self) -> Result<Value, Failure> {
        self.phase(FAILED, 300).await
    }

    /// Makes sure that for so many seconds none of the Pods is disturbed.
    pub(crate) async fn rests(&self, seconds: u64) -> Outcome {
        let diary = self.diary().await?;
        tokio::time::sleep(std::time::Duration::from_secs(seconds)).await;
        same(
            "Pods that went while nothing was to move",
            diary.read().await?.went(),
            Vec::<String>::new(),
        )
    }

    /// Makes sure that just these Pods are not those of `before`.
    pub(crate) async fn only_moved(&self, before: &[Pod], wanted: &[&str]) -> Outcome {
        let now = self.pods().await?;
        let moved = now.iter().filter(|pod| before.iter().all(|old| old.uid != pod.uid));
        same("Pods that were replaced", names(moved), wanted.to_vec())
    }
}
