//! What runs behind an API server: controllers, kubelets and nodes, as pure steps over a view.
//!
//! A behaviour never touches the store. It is told what changed, names the objects that it wants to
//! look at again, and returns writes; the driver commits them through the same path as a client's.
//! So a step can be tested as a table, and the same step can drive a real API server.

pub mod account;
pub mod affinity;
pub mod definitions;
pub mod budget;
pub mod claim;
pub mod daemonset;
pub mod deployment;
pub mod garbage;
pub mod kruise;
pub mod kubelet;
pub mod namespace;
pub mod node;
pub mod own;
pub mod pod;
pub mod pod_control;
pub mod publisher;
pub mod replicaset;
pub mod scheduler;
pub mod select;
pub mod share;
pub mod statefulset;
mod write;

use jiff::Timestamp;

use crate::json::Value;

pub use self::write::{Verb, Write};
use crate::object::{Collection, Key, Object};

/// What a step may read: a consistent picture of the store.
pub trait View {
    /// One object.
    fn get(&self, key: &Key) -> Option<&Object>;

    /// All objects of a collection, in one namespace or in all, ordered by namespace and name.
    fn list<'a>(
        &'a self,
        collection: &Collection,
        namespace: Option<&str>,
    ) -> Box<dyn Iterator<Item = &'a Object> + 'a>;

    /// The objects of a collection whose controller reference has this UID, ordered by key; those
    /// without a controller for an empty one.
    fn controlled_by<'a>(
        &'a self,
        collection: &Collection,
        owner_uid: &str,
    ) -> Box<dyn Iterator<Item = &'a Object> + 'a>;

    /// The objects of a namespace that have no controller, ordered by name.
    fn orphans<'a>(
        &'a self,
        collection: &Collection,
        namespace: &'a str,
    ) -> Box<dyn Iterator<Item = &'a Object> + 'a>;

    /// The objects of a namespace that a LabelSelector selects, ordered by name.
    fn selected<'a>(
        &'a self,
        collection: &Collection,
        namespace: &str,
        selector: &'a Value,
    ) -> Box<dyn Iterator<Item = &'a Object> + 'a>;
}

/// One change that the store has committed.
#[derive(Clone, Debug)]
pub struct Change {
    /// Where.
    pub key: Key,
    /// What was there before; `None` when created.
    pub before: Option<Object>,
    /// What is there now; `None` when gone.
    pub after: Option<Object>,
}

/// A write that the server did not take.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What it would have done.
    pub verb: Verb,
    /// To which object.
    pub key: Key,
    /// The server's message.
    pub message: String,
}

/// What one step wants.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// In order.
    pub writes: Vec<Write>,
    /// When to look at this key again though nothing changed.
    pub wake: Option<Timestamp>,
}

/// One controller or kubelet.
pub trait Behaviour: Send + Sync {
    /// The component's name, as it appears in `managedFields` and Events.
    fn name(&self) -> &'static str;

    /// The keys that have to be looked at again because of a change.
    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key>;

    /// What to say when a write of a step on this key was refused.
    fn refused(&self, key: &Key, refusal: &Refusal) -> Option<Write> {
        let _ = (key, refusal);
        None
    }

    /// One look at one key. Randomness is seeded, so the same history gives the same steps.
    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, rng: &mut fastrand::Rng) -> Step;
}
