//! What a Deployment and its new ReplicaSet keep of each other, from the making of the set on.

use super::sizes::Size;
use super::{Look, sets, sizes, status};
use crate::behaviour::statefulset::revision;
use crate::behaviour::{Verb, Write};
use crate::json::{Value, json};
use crate::object::{self, Key, REPLICASETS};

impl Look<'_> {
    /// Says that the Deployment is paused, or resumed. Of one that has failed nothing is said.
    pub(super) fn pause(&mut self) -> bool {
        let reason = status::progress_reason(self.deployment);
        if status::deadline(self.deployment).is_none() || reason == Some("ProgressDeadlineExceeded")
        {
            return false;
        }
        let paused = self.deployment["spec"]["paused"] == true;
        let (reason, message) = match (paused, reason == Some("DeploymentPaused")) {
            (true, false) => ("DeploymentPaused", "Deployment is paused"),
            (false, true) => ("DeploymentResumed", "Deployment is resumed"),
            _ => return false,
        };
        let mut status = self.deployment["status"].clone();
        status::set(&mut status, status::progressing("Unknown", reason, message, self.now));
        self.write_status(status);
        true
    }

    /// Brings the notes up to date that the Deployment and its new set keep of each other; says
    /// whether they were already.
    pub(super) fn noted(&mut self) -> bool {
        let Some(new) = self.new.clone() else { return true };
        let mut set = Value::clone(&new);
        sets::annotate(self.deployment, &mut set, self.next_revision());
        let seconds = |object: &Value| object["spec"]["minReadySeconds"].as_i64().unwrap_or(0);
        let wanted = seconds(self.deployment);
        if seconds(&set) != wanted {
            set["spec"]["minReadySeconds"] = wanted.into();
        }
        if set != *new {
            let key = Key::of(REPLICASETS, &set);
            self.writes.push(Write::Update { key, subresource: None, object: set });
            return false;
        }
        let revision = object::annotation(&new, sets::REVISION).unwrap_or_default();
        let known = object::annotation(self.deployment, sets::REVISION) == Some(revision);
        let silent = status::deadline(self.deployment).is_some()
            && status::progress_reason(self.deployment).is_none();
        if known && !silent {
            return true;
        }
        let mut status = self.deployment["status"].clone();
        if silent {
            let message = format!("Found new replica set \"{}\"", object::name(&new));
            let found = status::progressing("True", "FoundNewReplicaSet", &message, self.now);
            status::set(&mut status, found);
        }
        self.write_noted(status, revision);
        false
    }

    fn next_revision(&self) -> i64 {
        self.old.iter().map(|set| sets::number(set)).max().unwrap_or(0) + 1
    }

    /// Makes the new set; its size follows from the room that there is.
    pub(super) fn create(&mut self) {
        let mut set = sets::build(self.deployment);
        let key = Key::of(REPLICASETS, &set);
        if self.view.get(&key).is_some() {
            self.write_status(revision::collided(self.deployment));
            return;
        }
        if let Some(message) = self.refused.take() {
            let failed = status::progressing("False", "ReplicaSetCreateError", &message, self.now);
            let mut status = self.deployment["status"].clone();
            status::set(&mut status, failed);
            if status != self.deployment["status"] && status::deadline(self.deployment).is_some() {
                self.write_status(status);
            }
        }
        let others: Vec<Size> = self.old.iter().map(|set| sets::size(set)).collect();
        let size = sizes::room(self.bounds, 0, &others);
        set["spec"]["replicas"] = size.into();
        let revision = self.next_revision();
        sets::annotate(self.deployment, &mut set, revision);
        sets::note_size(&mut set, self.bounds);
        self.writes.push(Write::Create { collection: REPLICASETS, object: set });
        let name = key.name;
        if size > 0 {
            self.event(format!("Scaled up replica set {name} from 0 to {size}"));
        }
        if self.writes.iter().any(|write| write.target() == (Verb::Update, self.key.clone())) {
            return;
        }
        let mut status = self.deployment["status"].clone();
        if status::deadline(self.deployment).is_some() {
            let message = format!("Created new replica set \"{name}\"");
            let made = status::progressing("True", "NewReplicaSetCreated", &message, self.now);
            status::set(&mut status, made);
        }
        self.write_noted(status, &revision.to_string());
    }

    /// With the revision that the Deployment is at, which goes in with the status.
    fn write_noted(&mut self, status: Value, revision: &str) {
        let mut object = Value::clone(self.deployment);
        object["status"] = status;
        sets::note(&mut object, sets::REVISION, json!(revision));
        let key = self.key.clone();
        self.writes.push(Write::Update { key, subresource: Some("status"), object });
    }
}
