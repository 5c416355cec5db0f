//! The ControllerRevisions of a DaemonSet.

use super::KIND;
use crate::behaviour::own;
use crate::behaviour::statefulset::revision;
use crate::json::Value;
use crate::object::{self, Object};

/// The label of a revision and of the Pods made from it.
pub const HASH: &str = "controller-revision-hash";

/// What a history says of the template of today.
#[derive(Debug, PartialEq)]
pub enum Current {
    /// This revision holds it, under the highest number.
    Known(Object),
    /// This revision holds it, and gets a number above all others.
    Raised(Value),
    /// None holds it: this one has to be made.
    New(Value),
}

impl Current {
    /// The revision, stored already or about to be.
    pub fn object(&self) -> &Value {
        match self {
            Self::Known(object) => object,
            Self::Raised(object) | Self::New(object) => object,
        }
    }

    /// The hash in its Pods' labels.
    pub fn hash(&self) -> &str {
        object::label(self.object(), HASH).unwrap_or_default()
    }
}

/// Splits a history into the revision of today and the others.
pub fn current(set: &Value, history: &[Object]) -> (Current, Vec<Object>) {
    let data = revision::data(set);
    let (same, old): (Vec<Object>, Vec<Object>) =
        history.iter().cloned().partition(|one| one["data"] == data);
    let next = old.iter().map(|one| revision::number(one)).max().unwrap_or(0) + 1;
    let current = match same.into_iter().max_by_key(|one| revision::number(one)) {
        Some(known) if revision::number(&known) >= next => Current::Known(known),
        Some(known) => {
            let mut raised = Value::clone(&known);
            raised["revision"] = next.into();
            Current::Raised(raised)
        }
        None => Current::New(build(set, &data, next)),
    };
    (current, old)
}

fn build(set: &Value, data: &Value, number: i64) -> Value {
    let collisions = set["status"]["collisionCount"].as_i64().unwrap_or(0);
    let hash = revision::hash(&set["spec"]["template"], collisions);
    let name = format!("{}-{hash}", object::name(set));
    revision::build(set, &name, (HASH, &hash), data, number, &own::reference(set, KIND))
}

/// The revisions above the limit, oldest first; those of Pods that are there stay.
pub fn surplus(old: &[Object], live: impl Fn(&str) -> bool, limit: usize) -> Vec<Object> {
    let mut old = old.to_vec();
    old.sort_by_key(|one| revision::number(one));
    let surplus = old.len().saturating_sub(limit);
    old.retain(|one| !object::label(one, HASH).is_some_and(&live));
    old.truncate(surplus);
    old
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    fn set(image: &str) -> Value {
        json!({
            "metadata": {"name": "agent", "namespace": "ns", "uid": "u"},
            "spec": {"template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {"containers": [{"image": image}]},
            }},
        })
    }

    fn history(images: &[&str]) -> Vec<Object> {
        let mut all = Vec::new();
        for image in images {
            all.push(Object::new(current(&set(image), &all).0.object().clone()));
        }
        all
    }

    #[test]
    fn a_template_has_one_revision_which_is_raised_when_it_comes_back() {
        let history = history(&["v1", "v2"]);
        assert_eq!(current(&set("v2"), &history).0, Current::Known(history[1].clone()));
        let (Current::Raised(raised), old) = current(&set("v1"), &history) else { panic!() };
        assert_eq!(
            (object::name(&raised), revision::number(&raised)),
            (object::name(&history[0]), 3)
        );
        assert_eq!(old, [history[1].clone()]);
    }

    #[test]
    fn live_revisions_stay_though_they_count() {
        let history = history(&["v1", "v2", "v3"]);
        let hash = |i: usize| object::label(&history[i], HASH).unwrap().to_owned();
        let names = |live: &str, limit| -> Vec<i64> {
            surplus(&history, |hash| hash == live, limit)
                .iter()
                .map(|one| revision::number(one))
                .collect()
        };
        assert_eq!(names("", 1), [1, 2]);
        assert_eq!(names(&hash(0), 2), [2]);
        assert_eq!(names("", 3), [0; 0]);
    }
}
