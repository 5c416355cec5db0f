//! An apply of what others own.

use super::elsewhere::Elsewhere;
use super::entries::Entry;
use super::set::FieldSet;
use crate::error::{ApiError, Cause};

/// Refuses an apply that sets fields of these owners.
pub(super) fn refuse_conflicts(
    owners: &mut [Entry],
    set: &FieldSet,
    elsewhere: &Elsewhere,
) -> Result<(), ApiError> {
    let mut causes = Vec::new();
    let mut lines = Vec::new();
    let mut losers: Vec<(String, String, Vec<String>)> = owners
        .iter_mut()
        .map(|owner| {
            let set = elsewhere.of(owner).map_or(set, |changes| &changes.set);
            let paths = owner.fields.set().intersection(set).paths();
            (owner.identifier(), owner.title(), paths)
        })
        .filter(|(_, _, paths)| !paths.is_empty())
        .collect();
    losers.sort();
    for (_, title, paths) in &losers {
        lines.push(format!("conflicts with {title}:"));
        for path in paths {
            lines.push(format!("- {path}"));
            causes.push(Cause::new("FieldManagerConflict", format!("conflict with {title}"), path));
        }
    }
    let message = match causes.as_slice() {
        [] => return Ok(()),
        [one] => format!("Apply failed with 1 conflict: {}: {}", one.message, one.field),
        many => format!("Apply failed with {} conflicts: {}", many.len(), lines.join("\n")),
    };
    Err(ApiError::new(409, "Conflict", message).with_causes(causes))
}
