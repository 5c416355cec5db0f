//! The ControllerRevisions of a CloneSet: the history of its templates.

use serde_json::Value;

use super::KIND;
use crate::behaviour::own;
use crate::behaviour::statefulset::revision::{self, Update};
use crate::behaviour::{View, Write};
use crate::object::{self, CONTROLLER_REVISIONS, Key, Object};

/// What a set's history comes to at one look.
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
    /// Brings the history up to date.
    pub writes: Vec<Write>,
    /// The writes take orphans over, which moves their versions on: whatever else there is to do is
    /// for the next look.
    pub adopting: bool,
}

impl Revisions {
    /// Reads the history of a set; orphans that its selector selects are taken over first.
    pub fn of(view: &dyn View, set: &Value) -> Self {
        let claimed = own::claim(view, &CONTROLLER_REVISIONS, set, KIND, |_| true);
        let mut history = claimed.objects;
        revision::sort(&mut history);
        let namespace = object::namespace(set);
        let taken =
            |name: &str| view.get(&Key::new(CONTROLLER_REVISIONS, namespace, name)).is_some();
        let (update, collisions) = revision::update(set, &history, taken);
        let mut writes = claimed.writes;
        let held = update.object().clone();
        let adopting = !writes.is_empty();
        if !adopting {
            writes.extend(match update {
                Update::Newest(_) => None,
                Update::RolledBack(object) => Some(Write::Update {
                    key: Key::of(CONTROLLER_REVISIONS, &object),
                    subresource: None,
                    object,
                }),
                Update::New(object) => {
                    Some(Write::Create { collection: CONTROLLER_REVISIONS, object })
                }
            });
        }
        let named = &set["status"]["currentRevision"];
        let current = history.iter().find(|one| *named == *object::name(one));
        let current = current.map_or_else(|| held.clone(), |one| Value::clone(one));
        Self { history, current, update: held, collisions, writes, adopting }
    }

    /// The name of the current revision.
    pub fn current_name(&self) -> &str {
        object::name(&self.current)
    }

    /// The name of the update revision.
    pub fn update_name(&self) -> &str {
        object::name(&self.update)
    }

    /// The revision of this name, if the history has it.
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
        let delete = |one: &Object| Write::Delete {
            key: Key::of(CONTROLLER_REVISIONS, one),
            uid: Some(object::uid(one).to_owned()),
            grace_period_seconds: None,
        };
        surplus.into_iter().map(delete).collect()
    }
}
