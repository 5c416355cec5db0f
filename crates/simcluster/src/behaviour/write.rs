//! What a step may ask for.

use crate::json::Value;
use crate::object::{self, Collection, Key, Object};

/// A write that a step asks for. It is committed as a client's would be, so it may fail with a
/// conflict; the change that caused the conflict then brings the step round again.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// POST. `metadata.generateName` works.
    Create {
        /// Where.
        collection: Collection,
        /// The whole object.
        object: Value,
    },
    /// PUT of a whole object, read from the view and changed; carries its resourceVersion.
    Update {
        /// Where.
        key: Key,
        /// `None` for the object itself, `Some("status")` for its status.
        subresource: Option<&'static str>,
        /// The whole object.
        object: Value,
    },
    /// DELETE.
    Delete {
        /// Which.
        key: Key,
        /// Precondition on the UID.
        uid: Option<String>,
        /// Seconds; `None` for the object's own, 0 for at once (what a kubelet does at the end).
        grace_period_seconds: Option<i64>,
    },
    /// DELETE with `propagationPolicy=Foreground`: whatever it owns goes first.
    DeleteForeground {
        /// Which.
        key: Key,
        /// Precondition on the UID.
        uid: Option<String>,
    },
    /// A core/v1 Event about an object, counted up when it repeats.
    Event {
        /// About which.
        regarding: Key,
        /// `Normal` or `Warning`.
        type_: &'static str,
        /// CamelCase reason.
        reason: &'static str,
        /// A sentence.
        message: String,
        /// The component that says so, for example `statefulset-controller`.
        component: &'static str,
    },
}

impl Write {
    /// DELETE of this very object, as gently as it says itself.
    pub fn delete(key: Key, object: &Value) -> Self {
        let uid = Some(object::uid(object).to_owned());
        Self::Delete { key, uid, grace_period_seconds: None }
    }

    /// PUT of an object that this finalizer holds no longer.
    pub fn without_finalizer(key: &Key, object: &Value, name: &str) -> Self {
        let mut object = object.clone();
        if let Some(all) = object["metadata"]["finalizers"].as_array_mut() {
            all.retain(|finalizer| finalizer != name);
        }
        Self::Update { key: key.clone(), subresource: None, object }
    }

    /// An Event about an object, from one of its controllers.
    pub fn event(
        component: &'static str,
        key: &Key,
        type_: &'static str,
        reason: &'static str,
        message: String,
    ) -> Self {
        Self::Event { regarding: key.clone(), type_, reason, message, component }
    }

    /// PUT of a status, if it says anything new.
    pub fn status(key: &Key, object: &Object, status: Value) -> Option<Self> {
        (status != object["status"]).then(|| {
            let mut object = Value::clone(object);
            object["status"] = status;
            Self::Update { key: key.clone(), subresource: Some("status"), object }
        })
    }

    /// What it does and to which object; an Event's is the object that it is about.
    pub fn target(&self) -> (Verb, Key) {
        match self {
            Self::Create { collection, object } => {
                (Verb::Create, Key::of(collection.clone(), object))
            }
            Self::Update { key, .. } => (Verb::Update, key.clone()),
            Self::Delete { key, .. } | Self::DeleteForeground { key, .. } => {
                (Verb::Delete, key.clone())
            }
            Self::Event { regarding, .. } => (Verb::Event, regarding.clone()),
        }
    }
}

/// What a [`Write`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// POST.
    Create,
    /// PUT.
    Update,
    /// DELETE.
    Delete,
    /// An Event.
    Event,
}
