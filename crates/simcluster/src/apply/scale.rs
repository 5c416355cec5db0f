//! Who owns the number of replicas when it is written through a Scale.

use super::compare::Changes;
use super::entries::{Entry, Fields};
use super::set::FieldSet;
use crate::json::Value;
use crate::kind::Kind;

/// Quirks of the real server: a Scale of zero leaves the number out, so nobody owns it; and where
/// nobody does, nobody is noted.
pub(super) fn adjust(kind: &Kind, owners: &mut Vec<Entry>, new: &Value, changes: &mut Changes) {
    if let Some((replicas, pointer)) = replicas_of(kind) {
        let mut owned = owners.iter_mut().map(|owner| owner.fields.set().intersection(&replicas));
        if new.pointer(&pointer).is_some_and(|number| number == 0) {
            changes.removed.absorb(&std::mem::take(&mut changes.set));
        } else if owned.all(|owned| owned.is_empty()) {
            changes.set = FieldSet::default();
        }
    }
    if changes.set.is_empty() && changes.removed.is_empty() {
        split(kind, owners);
    }
}

/// A quirk of the real server: a scale that changes nothing moves the replicas of whoever owns them
/// to another entry of the same manager, without a time.
fn split(kind: &Kind, owners: &mut Vec<Entry>) {
    let Some((replicas, _)) = replicas_of(kind) else { return };
    let mut apart = Vec::new();
    for owner in owners.iter_mut().filter(|owner| !owner.applies) {
        let fields = owner.fields.set();
        if !fields.intersection(&replicas).is_empty() {
            *fields = fields.difference(&replicas);
            let fields = Fields::Read(replicas.clone());
            apart.push(Entry { time: None, fields, ..owner.clone() });
        }
    }
    owners.extend(apart);
}

/// The field that a Scale is about, and where it is.
fn replicas_of(kind: &Kind) -> Option<(FieldSet, String)> {
    let path = &kind.scale.as_ref()?.spec_replicas;
    let mut replicas = FieldSet::default();
    let parts = path.split('.').filter(|part| !part.is_empty());
    parts.fold(&mut replicas, |at, part| at.below(&format!("f:{part}"))).member = true;
    Some((replicas, path.replace('.', "/")))
}
