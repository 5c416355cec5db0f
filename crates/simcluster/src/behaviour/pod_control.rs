//! How Pods without an identity are made and deleted: ReplicaSets and DaemonSets do it with the same
//! code, and say the same of it.

use super::{Refusal, Verb, Write, own, pod};
use crate::json::Value;
use crate::object::{self, Key, PODS};
use crate::server::meta::random_suffix;

/// Longest prefix of a Pod's name.
const PREFIX: usize = 58;

/// The hands of one controller.
#[derive(Clone, Copy, Debug)]
pub struct PodControl {
    /// Who says what is said.
    pub component: &'static str,
    /// The kind of the owners.
    pub kind: &'static str,
}

impl PodControl {
    /// A Pod of a template, owned by its controller, under a name of its own.
    pub fn build(&self, owner: &Value, template: &Value, rng: &mut fastrand::Rng) -> Value {
        // Names are ASCII: validated as DNS names.
        let prefix = format!("{}-", object::name(owner));
        let name = format!("{}{}", &prefix[..prefix.len().min(PREFIX)], random_suffix(rng));
        let mut pod = pod::of_template(template, owner, &own::reference(owner, self.kind));
        pod["metadata"]["name"] = name.into();
        pod
    }

    /// Makes a Pod, and says so; `key` is its owner's.
    pub fn create(&self, key: &Key, pod: Value) -> [Write; 2] {
        let message = format!("Created pod: {}", object::name(&pod));
        let create = Write::Create { collection: PODS, object: pod };
        [create, self.event(key, "Normal", "SuccessfulCreate", message)]
    }

    /// Deletes a Pod, and says so; `key` is its owner's.
    pub fn delete(&self, key: &Key, pod: &Value) -> [Write; 2] {
        let message = format!("Deleted pod: {}", object::name(pod));
        let delete = Write::delete(Key::of(PODS, pod), pod);
        [delete, self.event(key, "Normal", "SuccessfulDelete", message)]
    }

    /// What is said when a Pod could not be made or deleted.
    pub fn refused(&self, key: &Key, refusal: &Refusal) -> Option<Write> {
        let (reason, what) = match refusal.verb {
            _ if refusal.key.collection != PODS => return None,
            Verb::Create => ("FailedCreate", "creating"),
            Verb::Delete => ("FailedDelete", "deleting"),
            _ => return None,
        };
        let message = &refusal.message;
        // Where everything goes nothing is missed.
        let goes = message.contains("because it is being terminated");
        (!goes).then(|| self.event(key, "Warning", reason, format!("Error {what}: {message}")))
    }

    /// An Event about an owner.
    pub fn event(
        &self,
        key: &Key,
        type_: &'static str,
        reason: &'static str,
        message: String,
    ) -> Write {
        Write::event(self.component, key, type_, reason, message)
    }
}
