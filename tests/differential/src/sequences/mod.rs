//! Sequences written by hand, by theme.

mod autoscalers;
mod bodies;
mod budgets;
mod custom;
mod drains;
mod garbage;
mod kept;
mod lease;
mod metadata;
mod nodes;
mod objects;
mod paths;
mod rollout;
mod sets;
mod verbs;

pub(crate) use self::custom::{DEFINITIONS, WIDGETS, definition, widget};

use serde_json::{Value, json};

use crate::step::{Step, post};

/// All of them, with what each is about.
pub fn all() -> Vec<(&'static str, Vec<Step>)> {
    // The slowest begin first.
    let mut all = nodes::all();
    all.extend(objects::all());
    all.extend(autoscalers::all());
    all.extend(bodies::all());
    all.extend(metadata::all());
    all.extend(lease::all());
    all.extend(custom::all());
    all.extend(budgets::all());
    all.extend(rollout::all());
    all.extend(garbage::all());
    all.extend(verbs::all());
    all.extend(paths::all());
    all.extend(sets::all());
    all.extend(drains::all());
    all.extend(kept::all());
    all
}

pub(crate) const CONFIGMAPS: &str = "/api/v1/namespaces/$ns/configmaps";
pub(crate) const PODS: &str = "/api/v1/namespaces/$ns/pods";
pub(crate) const SETS: &str = "/apis/apps/v1/namespaces/$ns/statefulsets";
pub(crate) const WEB: &str = "/apis/apps/v1/namespaces/$ns/statefulsets/web";
pub(crate) const BUDGETS: &str = "/apis/policy/v1/namespaces/$ns/poddisruptionbudgets";

/// A ConfigMap of the default namespace of the request.
pub(crate) fn config_map(name: &str, labels: Value, data: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "labels": labels}, "data": data,
    })
}

/// What makes a Pod start and stop at once.
pub(crate) fn quick() -> Value {
    json!({
        "simcluster.sluice.dev/startup": "100ms",
        "simcluster.sluice.dev/terminate-after": "100ms",
    })
}

/// The StatefulSet `web`.
pub(crate) fn web(replicas: u32, strategy: Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas, "serviceName": "web", "updateStrategy": strategy,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}, "annotations": quick()},
                "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
            },
        },
    })
}

/// A Pod of its own.
pub(crate) fn pod(name: &str, app: &str, image: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": app}, "annotations": quick()},
        "spec": {"containers": [{"name": "main", "image": image}]},
    })
}

/// A budget over Pods of an app.
pub(crate) fn budget(name: &str, app: &str, spec: Value) -> Step {
    let mut body = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
        "spec": spec,
    });
    body["spec"]["selector"] = json!({"matchLabels": {"app": app}});
    post(BUDGETS, body)
}

/// The merge patch that gives `web` another image.
pub(crate) fn image(image: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}})
}
