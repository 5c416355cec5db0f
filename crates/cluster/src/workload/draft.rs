//! Merge patches (RFC 7386) of a workload, as they grow field by field.

use api::batches::names::{CONTROL_INFO, IN_PROGRESSING, WORKLOAD_TYPE};
use serde_json::{Map, Value, json};

use super::{KeepHeld, annotation, label};

/// A merge patch that grows field by field.
#[derive(Debug, Default)]
pub(super) struct Draft(Map<String, Value>);

impl Draft {
    pub(super) fn set(&mut self, path: &[&str], value: Value) {
        let Some((last, parents)) = path.split_last() else { return };
        let mut at = &mut self.0;
        for parent in parents {
            let next = at.entry(*parent).or_insert_with(|| json!({}));
            let Value::Object(map) = next else { return };
            at = map;
        }
        at.insert((*last).to_owned(), value);
    }

    pub(super) fn annotate(&mut self, name: &str, value: impl Into<Value>) {
        self.set(&["metadata", "annotations", name], value.into());
    }

    pub(super) fn label(&mut self, name: &str, value: impl Into<Value>) {
        self.set(&["metadata", "labels", name], value.into());
    }

    /// Takes annotations off, those that are there.
    pub(super) fn forget_annotations(&mut self, object: &Value, names: &[&str]) {
        for name in names.iter().filter(|name| annotation(object, name).is_some()) {
            self.annotate(name, Value::Null);
        }
    }

    /// Takes labels off, those that are there.
    pub(super) fn forget_labels(&mut self, object: &Value, names: &[&str]) {
        for name in names.iter().filter(|name| label(object, name).is_some()) {
            self.label(name, Value::Null);
        }
    }

    /// Puts back what stood there and is gone.
    pub(super) fn restore_annotations(&mut self, old: &Value, new: &Value, names: &[&str]) {
        for name in names {
            if let (Some(value), None) = (annotation(old, name), annotation(new, name)) {
                self.annotate(name, value);
            }
        }
    }

    pub(super) fn restore_labels(&mut self, old: &Value, new: &Value, names: &[&str]) {
        for name in names {
            if let (Some(value), None) = (label(old, name), label(new, name)) {
                self.label(name, value);
            }
        }
    }

    /// The marks that all kinds have.
    pub(super) fn restore_marks(&mut self, old: &Value, new: &Value, keep: KeepHeld) {
        if keep.mark {
            self.restore_annotations(old, new, &[IN_PROGRESSING]);
        }
        if keep.control {
            self.restore_annotations(old, new, &[CONTROL_INFO]);
        }
        // The webhooks select by it.
        self.restore_labels(old, new, &[WORKLOAD_TYPE]);
    }

    pub(super) fn patch(self) -> Value {
        Value::Object(self.0)
    }
}
