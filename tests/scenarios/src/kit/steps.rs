//! A `Rollout` of a workload: its steps, and what a user says in between.

use serde_json::{Value, json};

use super::{Workload, condition};
use crate::env::{Env, Failure, Kind, Outcome, PODS, RELEASED, RELEASES, ensure, same};
use crate::kinds::meant;

/// Labels that stay on a workload for as long as it has a Rollout.
const WORKLOAD_TYPE: &str = "rollouts.kruise.io/workload-type";
const MARK: &str = "rollouts.kruise.io/in-progressing";

/// A `Rollout` with the workload that it releases.
pub(crate) struct Steps {
    pub(crate) env: Env,
    pub(crate) web: Workload,
}

/// What holds a change, as admission writes it.
pub(crate) fn held(kind: Kind) -> Value {
    let mut held = (kind.facts().hold)();
    held["metadata"]["annotations"][MARK] = json!("{\"rolloutName\":\"web\"}");
    held
}

/// Five Pods, or as many as there are Nodes, where these say it; under a Rollout of these steps: a size, or a
/// size and what is waited for.
pub(crate) async fn steps(env: &Env, kind: Kind, steps: &Value) -> Result<Steps, Failure> {
    Steps::of(Workload::deploy(env, kind, "web", kind.sized(5)).await?, steps).await
}

impl Steps {
    /// A Rollout for a workload that is there, at rest.
    pub(crate) async fn of(web: Workload, steps: &Value) -> Result<Self, Failure> {
        Self::named(web, steps, &|reference| reference).await
    }

    /// The same, of a Rollout that refers to its workload in another way.
    pub(crate) async fn named(
        web: Workload,
        steps: &Value,
        other: &dyn Fn(Value) -> Value,
    ) -> Result<Self, Failure> {
        let steps = Self::refer(web, steps, other).await?;
        steps.until("healthy", |it| it["status"]["phase"] == "Healthy").await?;
        Ok(steps)
    }

    /// A Rollout for a workload that is there.
    pub(crate) async fn begin(web: Workload, steps: &Value) -> Result<Self, Failure> {
        Self::refer(web, steps, &|reference| reference).await
    }

    async fn refer(
        web: Workload,
        steps: &Value,
        other: &dyn Fn(Value) -> Value,
    ) -> Result<Self, Failure> {
        let env = web.env.clone();
        let object = json!({
            "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout",
            "metadata": {"name": "web"},
            "spec": {
                "workloadRef": other(web.kind.named(&web.name)),
                "strategy": {"canary": {"enableExtraWorkloadForCanary": false, "steps": plan(steps)}},
            },
        });
        env.create(RELEASED, &object).await?;
        Ok(Self { env, web })
    }

    /// A new image, held.
    pub(crate) async fn change(&mut self, image: &str) -> Outcome {
        self.change_with(image, held(self.web.kind)).await
    }

    /// A new image, and nothing that would hold it.
    pub(crate) async fn slip(&mut self, image: &str) -> Outcome {
        self.change_with(image, json!({})).await
    }

    /// A new image over one that is held: what holds it stays.
    pub(crate) async fn change_again(&mut self, image: &str) -> Outcome {
        // Admission closes at once what would let the first Pods of it go.
        let kind = self.web.kind;
        let held = if kind.facts().opens { held(kind) } else { json!({}) };
        self.change_with(image, held).await
    }

    async fn change_with(&mut self, image: &str, mut patch: Value) -> Outcome {
        self.web.watch().await?;
        patch["spec"]["template"] =
            json!({"spec": {"containers": [{"name": "main", "image": image}]}});
        self.web.change(&patch).await
    }

    pub(crate) async fn read(&self) -> Result<Value, Failure> {
        Ok(self.env.get(RELEASED, "web").await?)
    }

    pub(crate) async fn until(
        &self,
        claim: &str,
        what: impl Fn(&Value) -> bool,
    ) -> Result<Value, Failure> {
        self.env.until(RELEASED, "web", self.env.limit(180), claim, what).await
    }

    /// Waits until the Pods of this step are ready, and it waits for somebody.
    pub(crate) async fn waits(&self, step: u32) -> Result<Value, Failure> {
        self.until(&format!("step {step} waits"), |it| {
            it["status"]["currentStepIndex"] == step
                && it["status"]["currentStepState"] == "StepPaused"
        })
        .await
    }

    /// Waits until this step waits and all its Pods are ready, and no other ever was of this image. As many as
    /// the workload's `maxUnavailable` may still come up when it begins to wait.
    pub(crate) async fn stands(
        &self,
        step: u32,
        image: &str,
        pods: usize,
    ) -> Result<Value, Failure> {
        self.waits(step).await?;
        let ready = |it: &Value| it["status"]["canaryStatus"]["canaryReadyReplicas"] == pods;
        let status = self.until("all Pods of the step are ready", ready).await?;
        self.web.runs(image, pods).await?;
        Ok(status)
    }

    /// A user pauses it, and it says that it is paused.
    pub(crate) async fn pause(&self) -> Outcome {
        self.set(&json!({"strategy": {"paused": true}})).await?;
        let paused =
            |it: &Value| condition(it, "Progressing").is_some_and(|it| it["reason"] == "Paused");
        self.until("paused", paused).await?;
        Ok(())
    }

    /// Asks for a roll back through the steps, where it comes to one.
    pub(crate) async fn back_in_batches(&self) -> Outcome {
        let mark = json!({"rollouts.kruise.io/rollback-in-batch": "true"});
        self.env.patch(RELEASED, "web", &json!({"metadata": {"annotations": mark}})).await?;
        Ok(())
    }

    /// As `kubectl kruise rollout approve` does it.
    pub(crate) async fn approve(&self) -> Outcome {
        self.say(&json!({"currentStepState": "StepReady"})).await
    }

    /// Writes into the status of the release.
    pub(crate) async fn say(&self, canary: &Value) -> Outcome {
        let patch = json!({"status": {"canaryStatus": canary}});
        let content = "application/merge-patch+json";
        self.env.patch_sub(RELEASED, "web", "status", content, &patch).await?;
        Ok(())
    }

    /// Changes the spec of the Rollout.
    pub(crate) async fn set(&self, spec: &Value) -> Outcome {
        self.env.patch(RELEASED, "web", &json!({ "spec": spec })).await?;
        Ok(())
    }

    pub(crate) async fn plan(&self, steps: &Value) -> Outcome {
        self.set(&json!({"strategy": {"canary": {"steps": plan(steps)}}})).await
    }

    /// Waits until the release is over, with success or without.
    pub(crate) async fn ends(&self, success: bool) -> Result<Value, Failure> {
        let says = if success { "True" } else { "False" };
        let over = |it: &Value| it["type"] == "Succeeded" && it["status"] == says;
        self.until("the release is over", |it| {
            let conditions = it["status"]["conditions"].as_array();
            it["status"]["phase"] == "Healthy" && conditions.into_iter().flatten().any(over)
        })
        .await
    }

    /// The last step is approved, and all Pods come to run this image.
    pub(crate) async fn finishes(&self, image: &str) -> Outcome {
        self.approve().await?;
        self.ends(true).await?;
        self.all_run(image).await
    }

    /// Rolled back, all is as it was before.
    pub(crate) async fn is_back(&self, before: &Value) -> Outcome {
        self.ends(false).await?;
        self.all_run("app:v1").await?;
        self.given_back(before).await
    }

    /// A user deletes the Rollout.
    pub(crate) async fn delete(&self) -> Outcome {
        self.env.delete(RELEASED, "web").await?;
        self.gone().await
    }

    /// Makes room for the next of its name.
    pub(crate) async fn away(self) -> Outcome {
        self.delete().await?;
        self.env.delete(self.web.kind, "web").await?;
        self.no_pods().await
    }

    /// Waits until the last Pod is gone.
    pub(crate) async fn no_pods(&self) -> Outcome {
        let mut patience = self.env.patience(self.env.limit(120));
        while !self.env.list(PODS, "app=web").await?.is_empty() {
            patience.rest(|| "the last Pod is gone".to_owned()).await?;
        }
        Ok(())
    }

    /// Waits until it is gone.
    pub(crate) async fn gone(&self) -> Outcome {
        let mut patience = self.env.patience(self.env.limit(60));
        while self.env.get(RELEASED, "web").await.is_ok() {
            patience.rest(|| "the Rollout is gone".to_owned()).await?;
        }
        Ok(())
    }

    /// Waits until all Pods run this image.
    pub(crate) async fn all_run(&self, image: &str) -> Outcome {
        let mut patience = self.env.patience(self.env.limit(180));
        loop {
            let pods = self.web.pods().await?;
            if !pods.is_empty() && pods.iter().all(|pod| pod.image == image && pod.ready) {
                return Ok(());
            }
            patience.rest(|| format!("all Pods run {image}: {pods:?}")).await?;
        }
    }

    /// Nothing of a release stands on the workload but the label by which webhooks select, its own fields are
    /// as they were before, and there is no BatchRelease.
    pub(crate) async fn given_back(&self, before: &Value) -> Outcome {
        let after = self.web.read().await?;
        for map in ["annotations", "labels"] {
            for key in after["metadata"][map].as_object().into_iter().flatten().map(|(key, _)| key)
            {
                let ours = key.contains("rollouts.kruise.io/") || key.contains("sluice.dev/");
                ensure(!ours || key == WORKLOAD_TYPE, || format!("{key} is left: {after}"))?;
            }
        }
        for field in ["strategy", "updateStrategy", "paused", "minReadySeconds"] {
            same(field, meant(&after["spec"][field]), meant(&before["spec"][field]))?;
        }
        ensure(self.env.get(RELEASES, "web").await.is_err(), || {
            "the BatchRelease is left".to_owned()
        })
    }

    /// So many Pods bear the label of this batch, from 1, of the release that is under way.
    pub(crate) async fn batch_has(&self, batch: usize, pods: usize) -> Outcome {
        let status = self.read().await?["status"]["canaryStatus"].clone();
        let id = status["observedRolloutID"].as_str().unwrap_or_default().to_owned();
        let selector = format!(
            "app=web,rollouts.kruise.io/rollout-id={id},rollouts.kruise.io/rollout-batch-id={batch}"
        );
        let found = self.env.list(PODS, &selector).await?.len();
        same(&format!("Pods with the label of batch {batch}"), found, pods)
    }
}

/// `[1, ["50%", 5]]`: a step without a number of seconds waits for approval.
fn plan(steps: &Value) -> Vec<Value> {
    let step = |step: &Value| match step.as_array() {
        Some(pair) => json!({"replicas": pair[0], "pause": {"duration": pair[1]}}),
        None => json!({"replicas": step}),
    };
    steps.as_array().into_iter().flatten().map(step).collect()
}
