//! Objects that read as sentences: `rollout("web").replicas(4).percent(50).image("app:v2")`.

use serde_json::{Value, json};

/// A `StatefulsetRollout` in the making.
#[derive(Clone)]
pub(crate) struct Rollout(pub(crate) Value);

/// Four Pods of `app:v1` that come up in parallel, at 100 percent; the Pods bear `app: NAME`.
pub(crate) fn rollout(name: &str) -> Rollout {
    Rollout(json!({
        "apiVersion": "bedrock.operator.slack.com/v1",
        "kind": "StatefulsetRollout",
        "metadata": {"name": name},
        "spec": {"percent": 100, "rolloutIdentity": "first", "statefulset": set(name)},
    }))
}

/// The StatefulSet of [`rollout`], for those that are there before.
pub(crate) fn set(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": 4,
            "serviceName": name,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
            },
        },
    })
}

/// A PodDisruptionBudget for the Pods of the rollout of that name, with one limit still to be said.
pub(crate) fn budget(name: &str) -> Budget {
    Budget(json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": name}}},
    }))
}

/// A PodDisruptionBudget in the making.
pub(crate) struct Budget(Value);

impl Budget {
    /// A number or a percentage, as JSON.
    pub(crate) fn max_unavailable(mut self, limit: impl Into<Value>) -> Value {
        self.0["spec"]["maxUnavailable"] = limit.into();
        self.0
    }

    /// A number or a percentage, as JSON.
    pub(crate) fn min_available(mut self, limit: impl Into<Value>) -> Value {
        self.0["spec"]["minAvailable"] = limit.into();
        self.0
    }

    pub(crate) fn named(mut self, name: &str) -> Self {
        self.0["metadata"]["name"] = name.into();
        self
    }

    /// Selects by this label in place of `app`.
    pub(crate) fn selecting(mut self, label: &str, value: &str) -> Self {
        self.0["spec"]["selector"]["matchLabels"] = json!({ label: value });
        self
    }
}

impl Rollout {
    pub(crate) fn name(&self) -> &str {
        self.0["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Any field, by its path with slashes; what is missing on the way is made.
    pub(crate) fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        let mut at = &mut self.0;
        for key in path.split('/') {
            at = match key.parse::<usize>() {
                Ok(index) => &mut at[index],
                Err(_) => &mut at[key],
            };
        }
        *at = value.into();
        self
    }

    /// Leaves out a field of `spec.statefulset.spec`.
    pub(crate) fn without(mut self, field: &str) -> Self {
        if let Some(spec) = self.0["spec"]["statefulset"]["spec"].as_object_mut() {
            spec.remove(field);
        }
        self
    }

    pub(crate) fn replicas(self, replicas: u32) -> Self {
        self.with("spec/statefulset/spec/replicas", replicas)
    }

    pub(crate) fn percent(self, percent: u32) -> Self {
        self.with("spec/percent", percent)
    }

    pub(crate) fn identity(self, identity: &str) -> Self {
        self.with("spec/rolloutIdentity", identity)
    }

    pub(crate) fn paused(self, paused: bool) -> Self {
        self.with("spec/pauseRequested", paused)
    }

    /// A word in it tells the kubelet what to do: `broken`, `crash`, `slow`.
    pub(crate) fn image(self, image: &str) -> Self {
        self.with("spec/statefulset/spec/template/spec/containers/0/image", image)
    }

    pub(crate) fn leak(self, mode: &str) -> Self {
        self.with("spec/versionLeak", mode)
    }

    /// Seconds between two rotations.
    pub(crate) fn interval(self, seconds: u32) -> Self {
        self.with("spec/minPodEvictionIntervalSeconds", seconds)
    }

    /// Seconds without progress.
    pub(crate) fn deadline(self, seconds: u32) -> Self {
        self.with("spec/progressDeadlineSeconds", seconds)
    }

    pub(crate) fn min_ready(self, seconds: u32) -> Self {
        self.with("spec/statefulset/spec/minReadySeconds", seconds)
    }

    pub(crate) fn ordered(self) -> Self {
        self.with("spec/statefulset/spec/podManagementPolicy", "OrderedReady")
    }

    pub(crate) fn label(self, label: &str, value: &str) -> Self {
        self.with(&format!("spec/statefulset/spec/template/metadata/labels/{label}"), value)
    }

    /// Tells the kubelet in detail: `startup`, `ready-after`, `terminate-after`, `crash-after`.
    pub(crate) fn pods_take(mut self, what: &str, span: &str) -> Self {
        let template = &mut self.0["spec"]["statefulset"]["spec"]["template"];
        template["metadata"]["annotations"][format!("simcluster.sluice.dev/{what}")] = span.into();
        self
    }
}
