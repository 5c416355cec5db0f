//! The revisions of a workload that keeps a current one and brings its Pods to another.

use super::revision::{self, Update};
use crate::behaviour::{View, Write};
use crate::json::Value;
use crate::object::{self, CONTROLLER_REVISIONS, Key, Object};

/// What a history comes to at one look.
#[derive(Debug)]
pub struct Revisions {
    /// Oldest first, without one that this look makes.
    pub history: Vec<Object>,
    /// The one that `status.currentRevision` names, else the update revision.
    pub current: Value,
    /// The one that holds the template of today.
    pub update: Value,
    /// What becomes `status.collisionCount`.
    pub collisions: i64,
}

impl Revisions {
    /// Of a set with this history, in whatever order; and the write that brings the history up to
    /// date, if there is one.
    pub fn of(view: &dyn View, set: &Value, mut history: Vec<Object>) -> (Self, Option<Write>) {
        revision::sort(&mut history);
        let namespace = object::namespace(set);
        let taken =
            |name: &str| view.get(&Key::new(CONTROLLER_REVISIONS, namespace, name)).is_some();
        let (update, collisions) = revision::update(set, &history, taken);
        let held = update.object().clone();
        let write = match update {
            Update::Newest(_) => None,
            Update::RolledBack(object) => Some(Write::Update {
                key: Key::of(CONTROLLER_REVISIONS, &object),
                subresource: None,
                object,
            }),
            Update::New(object) => Some(Write::Create { collection: CONTROLLER_REVISIONS, object }),
        };
        let named = &set["status"]["currentRevision"];
        let current = history.iter().find(|one| *named == *object::name(one));
        let current = current.map_or_else(|| held.clone(), |one| Value::clone(one));
        (Self { history, current, update: held, collisions }, write)
    }

    /// The name of the current revision.
    pub fn current_name(&self) -> &str {
        object::name(&self.current)
    }

    /// The name of the update revision.
    pub fn update_name(&self) -> &str {
        object::name(&self.update)
    }

    /// The revision of this name, if there is one.
    pub fn named(&self, name: &str) -> Option<&Value> {
        let of_history = self.history.iter().map(|one| &**one);
        of_history.chain([&self.update]).find(|one| object::name(one) == name)
    }

    /// Deletes what is beyond `spec.revisionHistoryLimit` and in no Pod's label.
    pub fn prune(&self, set: &Value, in_use: impl Fn(&str) -> bool) -> Vec<Write> {
        let limit = set["spec"]["revisionHistoryLimit"].as_u64().unwrap_or(10);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let live =
            |name: &str| name == self.current_name() || name == self.update_name() || in_use(name);
        let surplus = revision::surplus(&self.history, live, limit);
        let delete = |one: &Object| Write::delete(Key::of(CONTROLLER_REVISIONS, one), one);
        surplus.into_iter().map(delete).collect()
    }
}
