//! A workload of any kind, and a `BatchRelease` that somebody wrote by hand for it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::pod::{Pod, pods};
use super::{Diary, condition};
use crate::env::{Env, Failure, Kind, Outcome, RELEASES, ensure, same};
use crate::kinds::put_over;

/// A workload of Pods of `app:v1` that bear `app: NAME`.
pub(crate) struct Workload {
    pub(crate) env: Env,
    pub(crate) kind: Kind,
    pub(crate) name: String,
    diary: Option<Diary>,
}

impl Workload {
    /// Creates one, and waits until all its Pods are ready. `spec` is put over the usual one; how many Pods
    /// there are is in it, but for a DaemonSet.
    pub(crate) async fn deploy(
        env: &Env,
        kind: Kind,
        name: &str,
        spec: Value,
    ) -> Result<Self, Failure> {
        let mut object = kind.manifest(name, 1);
        put_over(&mut object["spec"], &spec);
        env.create(kind, &object).await?;
        Self::found(env, kind, name).await
    }

    /// One that is there, once all its Pods are ready.
    pub(crate) async fn found(env: &Env, kind: Kind, name: &str) -> Result<Self, Failure> {
        let workload = Self { env: env.clone(), kind, name: name.to_owned(), diary: None };
        workload
            .until("all Pods are ready", 120, |it| {
                let seen = it["status"]["observedGeneration"] == it["metadata"]["generation"];
                let wanted = kind.wanted(it);
                seen && wanted > 0 && kind.count(it, kind.facts().ready) == wanted
            })
            .await?;
        Ok(workload)
    }

    pub(crate) async fn read(&self) -> Result<Value, Failure> {
        Ok(self.env.get(self.kind, &self.name).await?)
    }

    pub(crate) async fn change(&self, patch: &Value) -> Outcome {
        self.env.patch(self.kind, &self.name, patch).await?;
        Ok(())
    }

    /// From here on every Pod is written down.
    pub(crate) async fn watch(&mut self) -> Outcome {
        self.diary = Some(Diary::begin(&self.env, &format!("app={}", self.name)).await?);
        Ok(())
    }

    /// A new image, held; from here on every Pod is written down.
    pub(crate) async fn change_image(&mut self, image: &str) -> Outcome {
        self.watch().await?;
        let mut patch = (self.kind.facts().hold)();
        patch["spec"]["template"] =
            json!({"spec": {"containers": [{"name": "main", "image": image}]}});
        self.change(&patch).await
    }

    pub(crate) async fn until(
        &self,
        claim: &str,
        seconds: u64,
        what: impl Fn(&Value) -> bool,
    ) -> Result<Value, Failure> {
        self.env.until(self.kind, &self.name, self.env.limit(seconds), claim, what).await
    }

    /// The Pods that are not going.
    pub(crate) async fn pods(&self) -> Result<Vec<Pod>, Failure> {
        let pods = pods(&self.env, &self.name).await?;
        Ok(pods.into_iter().filter(|pod| !pod.terminating).collect())
    }

    /// Pods of this image that are there, and how many of it there ever were.
    pub(crate) async fn running(&self, image: &str) -> Result<(usize, usize), Failure> {
        let now =
            self.pods().await?.into_iter().filter(|pod| pod.image == image && pod.ready).count();
        let Some(diary) = &self.diary else { return Ok((now, now)) };
        Ok((now, diary.read().await?.ever_of(image)))
    }

    /// Exactly so many Pods of this image are there and ready, and no other ever was.
    pub(crate) async fn runs(&self, image: &str, pods: usize) -> Outcome {
        same(&format!("Pods of {image}, now and ever"), self.running(image).await?, (pods, pods))
    }

    /// Another number of Pods, by the subresource, as an autoscaler writes it.
    pub(crate) async fn scale(&self, replicas: usize) -> Outcome {
        let patch = json!({"spec": {"replicas": replicas}});
        let content = "application/merge-patch+json";
        self.env.patch_sub(self.kind, &self.name, "scale", content, &patch).await?;
        Ok(())
    }

    /// Waits until just so many Pods are there, and all of them ready.
    pub(crate) async fn all_ready(&self, pods: usize) -> Outcome {
        let mut patience = self.env.patience(self.env.limit(180));
        loop {
            let there = self.pods().await?;
            if there.len() == pods && there.iter().all(|pod| pod.ready) {
                return Ok(());
            }
            patience.rest(|| format!("{pods} Pods are there and ready: {there:?}")).await?;
        }
    }

    /// UIDs of the Pods.
    pub(crate) async fn uids(&self) -> Result<BTreeSet<String>, Failure> {
        Ok(self.pods().await?.into_iter().map(|pod| pod.uid).collect())
    }

    /// A release of the workload in these batches, as far as the first of them.
    pub(crate) async fn release(&self, batches: &Value) -> Result<Release, Failure> {
        let batches = batches.as_array().into_iter().flatten();
        let batches: Vec<Value> = batches.map(|size| json!({"canaryReplicas": size})).collect();
        let object = json!({
            "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "BatchRelease",
            "metadata": {"name": self.name},
            "spec": {
                "workloadRef": self.kind.named(&self.name),
                "releasePlan": {
                    "batches": batches, "batchPartition": 0, "rolloutID": "r1", "failureThreshold": 0,
                    "enableExtraWorkloadForCanary": false,
                },
            },
        });
        self.env.create(RELEASES, &object).await?;
        Ok(Release { env: self.env.clone(), name: self.name.clone() })
    }

    /// Nothing of a release stands on the workload any more.
    pub(crate) async fn is_clean(&self) -> Outcome {
        let workload = self.read().await?;
        let metadata = &workload["metadata"];
        for map in ["annotations", "labels"] {
            for key in metadata[map].as_object().into_iter().flatten().map(|(key, _)| key) {
                let ours = key.contains("rollouts.kruise.io/") || key.contains("sluice.dev/");
                ensure(!ours, || format!("{key} is left: {metadata}"))?;
            }
        }
        ensure(workload["spec"]["paused"] != true, || format!("left paused: {workload}"))
    }
}

/// A `BatchRelease` of one's own.
pub(crate) struct Release {
    pub(crate) env: Env,
    pub(crate) name: String,
}

impl Release {
    /// Lets it go as far as this batch, from 0; `null` to its end.
    pub(crate) async fn go_to(&self, batch: impl Into<Value>) -> Outcome {
        let patch = json!({"spec": {"releasePlan": {"batchPartition": batch.into()}}});
        self.env.patch(RELEASES, &self.name, &patch).await?;
        Ok(())
    }

    pub(crate) async fn until(
        &self,
        claim: &str,
        what: impl Fn(&Value) -> bool,
    ) -> Result<Value, Failure> {
        self.env.until(RELEASES, &self.name, self.env.limit(180), claim, what).await
    }

    /// Waits until this batch, from 0, is ready.
    pub(crate) async fn ready(&self, batch: u32) -> Result<Value, Failure> {
        let claim = format!("batch {batch} is ready");
        self.until(&claim, |release| {
            let status = &release["status"];
            let batches = &status["canaryStatus"];
            let seen = status["observedGeneration"] == release["metadata"]["generation"];
            seen && batches["currentBatch"] == batch && batches["batchState"] == "Ready"
        })
        .await
    }

    /// Waits until it is Completed.
    pub(crate) async fn completed(&self) -> Result<Value, Failure> {
        self.until("completed", |release| release["status"]["phase"] == "Completed").await
    }

    /// Deletes it, and waits until it is gone.
    pub(crate) async fn delete(&self) -> Outcome {
        self.env.delete(RELEASES, &self.name).await?;
        let mut patience = self.env.patience(self.env.limit(60));
        while self.env.get(RELEASES, &self.name).await.is_ok() {
            patience.rest(|| "the BatchRelease is gone".to_owned()).await?;
        }
        Ok(())
    }

    /// Waits until it says that it cannot do its work, and why.
    pub(crate) async fn degraded(&self) -> Result<String, Failure> {
        let holds = |release: &Value| {
            condition(release, "Degraded").is_some_and(|degraded| degraded["status"] == "True")
        };
        let release = self.until("degraded", holds).await?;
        let degraded = condition(&release, "Degraded").cloned().unwrap_or_default();
        Ok(degraded["message"].as_str().unwrap_or_default().to_owned())
    }
}
