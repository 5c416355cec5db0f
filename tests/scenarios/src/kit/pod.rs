//! Pods as scenarios see them, and what other people do to them.

use kube::api::ObjectMeta;
use serde_json::{Value, json};

use crate::env::{Env, Failure, Outcome, PODS};

/// One Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pod {
    pub(crate) ordinal: u32,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) revision: String,
    pub(crate) image: String,
    pub(crate) ready: bool,
    pub(crate) terminating: bool,
}

impl Pod {
    pub(crate) fn read(pod: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let conditions = pod["status"]["conditions"].as_array();
        let ready = |c: &Value| c["type"] == "Ready" && c["status"] == "True";
        let name = text(&pod["metadata"]["name"]);
        Self {
            ordinal: name.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or(u32::MAX),
            uid: text(&pod["metadata"]["uid"]),
            revision: text(&pod["metadata"]["labels"]["controller-revision-hash"]),
            image: text(&pod["spec"]["containers"][0]["image"]),
            ready: conditions.into_iter().flatten().any(ready),
            terminating: pod["metadata"]["deletionTimestamp"].is_string(),
            name,
        }
    }

    /// Ready, and not on its way out.
    pub(crate) fn healthy(&self) -> bool {
        self.ready && !self.terminating
    }
}

/// Pods whose label `app` is `name`, by ordinal.
pub(crate) async fn pods(env: &Env, name: &str) -> Result<Vec<Pod>, Failure> {
    let list = env.list(PODS, &format!("app={name}")).await?;
    let mut pods: Vec<Pod> = list.iter().map(Pod::read).collect();
    pods.sort_by_key(|pod| pod.ordinal);
    Ok(pods)
}

/// A time of the server's, in seconds.
pub(crate) fn seconds(time: &Value) -> Option<i64> {
    let meta = serde_json::from_value::<ObjectMeta>(json!({"creationTimestamp": time}));
    meta.ok()?.creation_timestamp.map(|time| time.0.as_second())
}

/// Names, for comparing.
pub(crate) fn names<'a>(pods: impl IntoIterator<Item = &'a Pod>) -> Vec<String> {
    pods.into_iter().map(|pod| pod.name.clone()).collect()
}

impl Env {
    /// Deletes a Pod, as somebody else would, and waits until its successor is ready.
    pub(crate) async fn lose(&self, name: &str) -> Result<Pod, Failure> {
        let before = Pod::read(&self.get(PODS, name).await?);
        self.delete(PODS, name).await?;
        let claim = format!("a successor of Pod {name} is ready");
        let back = |pod: &Value| {
            let pod = Pod::read(pod);
            pod.uid != before.uid && pod.healthy()
        };
        self.until(PODS, name, self.limit(90), &claim, back).await.map(|pod| Pod::read(&pod))
    }

    /// Evicts a Pod, as a drain would.
    pub(crate) async fn evict(&self, name: &str) -> Outcome {
        let eviction = json!({
            "apiVersion": "policy/v1", "kind": "Eviction",
            "metadata": {"name": name, "namespace": self.namespace},
        });
        self.create_sub(PODS, name, "eviction", &eviction).await?;
        Ok(())
    }

    /// Sets the Ready condition of a running Pod, as a sick or recovered application would.
    pub(crate) async fn make_ready(&self, name: &str, ready: bool) -> Outcome {
        let status = if ready { "True" } else { "False" };
        let patch = json!({"status": {"conditions": [{"type": "Ready", "status": status}]}});
        let content = "application/strategic-merge-patch+json";
        self.patch_sub(PODS, name, "status", content, &patch).await?;
        Ok(())
    }

    /// Keeps a Pod from going until [`release`](Self::release).
    pub(crate) async fn hold(&self, name: &str) -> Outcome {
        let patch = json!({"metadata": {"finalizers": ["scenario.test/hold"]}});
        self.patch(PODS, name, &patch).await?;
        Ok(())
    }

    /// Lets a held Pod go.
    pub(crate) async fn release(&self, name: &str) -> Outcome {
        self.patch(PODS, name, &json!({"metadata": {"finalizers": null}})).await?;
        Ok(())
    }
}
