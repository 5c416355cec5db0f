//! A CloneSet of five Pods `app: web` in a cluster of its own.

use jiff::SignedDuration;
use simcluster::behaviour::kruise::CLONESETS;
use simcluster::json::{Value, json};
use simcluster::object::{self, Key, Object, PODS};
use simcluster::patch::merge;

use crate::lab::{Lab, template};

/// The set, with the cluster that it is in. Pods start in a second.
pub(crate) struct Cloned {
    pub(crate) lab: Lab,
    pub(crate) key: Key,
}

impl Cloned {
    /// Five Pods of `app:v1` that are all at work, under this update strategy.
    pub(crate) fn new(strategy: &Value) -> Self {
        let lab = Lab::of(11, |options| {
            options.kruise = true;
            options.start_up = SignedDuration::from_secs(1);
        });
        let mut set = json!({
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"replicas": 5, "updateStrategy": strategy},
        });
        set["spec"] = merge::apply(&set["spec"], &template("app:v1"));
        lab.create(CLONESETS, set);
        let mut cloned = Self { lab, key: Key::new(CLONESETS, "default", "web") };
        cloned.rest();
        assert_eq!(cloned.status("availableReplicas"), 5);
        cloned
    }

    /// Lets ten seconds pass.
    pub(crate) fn rest(&mut self) {
        self.lab.pass(10);
    }

    pub(crate) fn status(&self, field: &str) -> i64 {
        self.lab.get(&self.key).unwrap()["status"][field].as_i64().unwrap_or(0)
    }

    /// Patches the spec and lets it rest.
    pub(crate) fn patch(&mut self, patch: &Value) {
        self.lab.edit(&self.key, |set| set["spec"] = merge::apply(&set["spec"], patch));
        self.rest();
    }

    /// Gives the template another image and lets it rest.
    pub(crate) fn image(&mut self, image: &str) {
        self.template(|template| template["spec"]["containers"][0]["image"] = image.into());
    }

    /// Edits the template and lets it rest.
    pub(crate) fn template(&mut self, edit: impl FnOnce(&mut Value)) {
        self.lab.edit(&self.key, |set| edit(&mut set["spec"]["template"]));
        self.rest();
    }

    /// The Pods by name.
    pub(crate) fn pods(&self) -> Vec<Object> {
        self.lab.pods()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.pods().iter().map(|pod| object::name(pod).to_owned()).collect()
    }

    pub(crate) fn images(&self) -> Vec<String> {
        self.lab.images()
    }

    /// Labels a Pod.
    pub(crate) fn label(&self, pod: &str, label: &str, value: &str) {
        let key = Key::new(PODS, "default", pod);
        self.lab.edit(&key, |pod| pod["metadata"]["labels"][label] = value.into());
    }

    /// Deletes a Pod, as an eviction does.
    pub(crate) fn lose(&self, pod: &str) {
        self.lab.delete(&Key::new(PODS, "default", pod));
    }
}
