//! Workloads in release, one file per kind: what is written on each, as plain functions from JSON to JSON
//! merge patches (RFC 7386).
//!
//! The same in every file, in the same order: [`deployment::hold`] (a change is to be released in batches:
//! the mark is set, and nothing moves) and [`deployment::keep_held`] (somebody else writes while it is held);
//! then what a BatchRelease does: `deployment::body` (what a decision looks at), `deployment::take` (its
//! name on it, and its Pods held) and `deployment::release` (all of that off, and the user's own back).
//! The webhook applies them to the object on its way in, the controller to the live one.
//!
//! Who writes is told by what is written, so that nobody has to know anybody's name: a workload is given
//! back by the write that takes away its control-info or its mark, and a partition is lowered by a write
//! that changes [`HELD_PARTITION`](api::batches::names::HELD_PARTITION) with it.

mod around;
pub mod daemonset;
pub mod deployment;
pub(crate) mod replica_sets;
pub mod statefulset;

pub(crate) use around::leader;
pub use around::{Surroundings, claims, surroundings};

use api::batches::names::{CONTROL_INFO, IN_PROGRESSING, WORKLOAD_TYPE};
use engine::front::batch_release::{Control, Held, Original};
use engine::quantity::IntOrPercent;
use serde_json::{Map, Value, json};

use crate::subject::Kind;

/// A partition above every ordinal that a set can be scaled to.
pub const ABOVE_ALL: u32 = 32767;

/// What a change is held with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold<'a> {
    /// Name of the Rollout that releases it.
    pub rollout: &'a str,
    /// Deployments: pod-template-hash of the ReplicaSet to go back to; `None` where it is not known, and
    /// where there is a label for it already.
    pub stable_revision: Option<&'a str>,
    /// StatefulSets: the partition. [`ABOVE_ALL`] before anything has moved.
    pub partition: u32,
}

impl<'a> Hold<'a> {
    /// Before anything has moved.
    pub fn before(rollout: &'a str) -> Self {
        Self { rollout, stable_revision: None, partition: ABOVE_ALL }
    }
}

/// What is put back of a workload that is held, when somebody else has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeepHeld {
    /// The template has changed again: whatever was opened is closed.
    pub restart: bool,
    /// The in-progressing mark has to stay.
    pub mark: bool,
    /// Control-info, and what stands beside it, has to stay.
    pub control: bool,
}

/// [`deployment::hold`] and its like, by kind.
pub fn hold(kind: Kind, object: &Value, by: &Hold<'_>) -> Value {
    match kind {
        Kind::Deployment => deployment::hold(object, by),
        Kind::StatefulSet => statefulset::hold(object, by),
        Kind::DaemonSet => daemonset::hold(object, by),
    }
}

/// [`deployment::keep_held`] and its like, by kind.
pub fn keep_held(kind: Kind, old: &Value, new: &Value, keep: KeepHeld) -> Value {
    match kind {
        Kind::Deployment => deployment::keep_held(old, new, keep),
        Kind::StatefulSet => statefulset::keep_held(old, new, keep),
        Kind::DaemonSet => daemonset::keep_held(old, new, keep),
    }
}

/// What a BatchRelease writes on the workload that it takes over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Take<'a> {
    /// The value of control-info.
    pub(crate) control: &'a str,
    /// The user's own, to be kept beside it.
    pub(crate) keep: Option<Original>,
    /// What holds the Pods.
    pub(crate) held: Held,
    /// What the workload ran before, where that is known.
    pub(crate) stable: Option<&'a str>,
    /// The revision of its template.
    pub(crate) update: &'a str,
}

/// Whose a workload is, and whether a Rollout goes on with it.
#[derive(Clone, Debug)]
pub(crate) struct Claimed {
    pub(crate) control: Control,
    pub(crate) in_progressing: bool,
}

/// A count or a percentage, where there is one that can be read.
fn count(value: &Value) -> Option<IntOrPercent> {
    api::batches::IntOrPercent::read(value).ok().map(Into::into)
}

/// A number of Pods, of seconds or of a generation; `absent` where there is none.
fn number(value: &Value, absent: u32) -> u32 {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(absent)
}

/// The value of the in-progressing mark.
pub fn mark(rollout: &str) -> String {
    json!({"rolloutName": rollout}).to_string()
}

/// An annotation of a raw object.
pub fn annotation<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get("metadata")?.get("annotations")?.get(name)?.as_str()
}

/// A label of a raw object.
pub fn label<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get("metadata")?.get("labels")?.get(name)?.as_str()
}

/// Whether the template differs in anything but the label `pod-template-hash`, which is its ReplicaSet's.
pub fn template_differs(old: &Value, new: &Value) -> bool {
    let template = |object: &Value| {
        let mut template = object["spec"]["template"].clone();
        if let Some(labels) =
            template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut)
        {
            labels.remove(api::batches::names::POD_TEMPLATE_HASH);
        }
        template
    };
    template(old) != template(new)
}

/// A merge patch that grows field by field.
#[derive(Debug, Default)]
struct Draft(Map<String, Value>);

impl Draft {
    fn set(&mut self, path: &[&str], value: Value) {
        let Some((last, parents)) = path.split_last() else { return };
        let mut at = &mut self.0;
        for parent in parents {
            let next = at.entry(*parent).or_insert_with(|| json!({}));
            let Value::Object(map) = next else { return };
            at = map;
        }
        at.insert((*last).to_owned(), value);
    }

    fn annotate(&mut self, name: &str, value: impl Into<Value>) {
        self.set(&["metadata", "annotations", name], value.into());
    }

    fn label(&mut self, name: &str, value: impl Into<Value>) {
        self.set(&["metadata", "labels", name], value.into());
    }

    /// Takes annotations off, those that are there.
    fn forget_annotations(&mut self, object: &Value, names: &[&str]) {
        for name in names.iter().filter(|name| annotation(object, name).is_some()) {
            self.annotate(name, Value::Null);
        }
    }

    /// Takes labels off, those that are there.
    fn forget_labels(&mut self, object: &Value, names: &[&str]) {
        for name in names.iter().filter(|name| label(object, name).is_some()) {
            self.label(name, Value::Null);
        }
    }

    /// Puts back what stood there and is gone.
    fn restore_annotations(&mut self, old: &Value, new: &Value, names: &[&str]) {
        for name in names {
            if let (Some(value), None) = (annotation(old, name), annotation(new, name)) {
                self.annotate(name, value);
            }
        }
    }

    fn restore_labels(&mut self, old: &Value, new: &Value, names: &[&str]) {
        for name in names {
            if let (Some(value), None) = (label(old, name), label(new, name)) {
                self.label(name, value);
            }
        }
    }

    /// The marks that all kinds have.
    fn restore_marks(&mut self, old: &Value, new: &Value, keep: KeepHeld) {
        if keep.mark {
            self.restore_annotations(old, new, &[IN_PROGRESSING]);
        }
        if keep.control {
            self.restore_annotations(old, new, &[CONTROL_INFO]);
        }
        // The webhooks select by it.
        self.restore_labels(old, new, &[WORKLOAD_TYPE]);
    }

    fn patch(self) -> Value {
        Value::Object(self.0)
    }
}

#[cfg(test)]
mod tests;
