//! Deployments, ReplicaSets, DaemonSets and Kruise's CloneSets on both clusters: what they and their Pods come to.
//!
//! Names of Pods are chance and hashes are made differently, so that answers and lists cannot be
//! compared as they are, as [`crate::run`] does. Compared are answers without those names, and at
//! rest a [`picture`] in which a ReplicaSet is called by its revision and a Pod by what it is like.

pub mod act;
pub mod autoscalers;
pub mod daemonsets;
pub mod deployments;
pub mod grammar;
pub mod kruise;
pub mod picture;
pub mod run;

use serde_json::{Value, json};

use crate::sequences::quick;

pub(crate) const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/$ns/deployments";
pub(crate) const REPLICASETS: &str = "/apis/apps/v1/namespaces/$ns/replicasets";
pub(crate) const DAEMONSETS: &str = "/apis/apps/v1/namespaces/$ns/daemonsets";

/// Every written sequence, with what it is about.
pub fn all() -> Vec<(&'static str, Vec<act::Act>)> {
    let all = deployments::all().into_iter().chain(daemonsets::all());
    all.chain(autoscalers::all()).chain(kruise::all()).collect()
}

/// An object `web` with selector and template.
pub(crate) fn web(kind: &str, edit: impl FnOnce(&mut Value)) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}, "annotations": quick()},
                "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
            },
        },
    });
    edit(&mut object["spec"]);
    object
}
