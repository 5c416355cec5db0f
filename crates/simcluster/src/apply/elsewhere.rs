//! Owners that name their fields in another version than the one that is written.

use std::collections::BTreeMap;

use super::compare::{Changes, compare};
use super::entries::{Entry, Writer};
use super::strip;
use crate::json::Value;
use crate::kind::Kind;
use crate::server::convert;
use crate::types::Shape;

/// What a write changes in the other versions that owners name their fields in, where those have other
/// fields.
#[derive(Default)]
pub(super) struct Elsewhere(BTreeMap<String, Changes>);

impl Elsewhere {
    pub(super) fn look(
        kind: &Kind,
        owners: &[Entry],
        live: Option<&Value>,
        new: &Value,
        writer: &Writer<'_>,
    ) -> Self {
        let mut out = Self::default();
        let Some(live) = live else { return out };
        for version in owners.iter().map(|owner| owner.api_version.as_str()) {
            if version == writer.api_version || out.0.contains_key(version) {
                continue;
            }
            let there = |object: &Value| convert::in_version(kind, version, object);
            let (Some(live), Some(new)) = (there(live), there(new)) else { continue };
            let named = Kind { version: after_slash(version).to_owned(), ..kind.clone() };
            let mut changes = compare(Shape::of(&named), &live, &new);
            strip(&mut changes.set, kind, writer.subresource);
            strip(&mut changes.removed, kind, writer.subresource);
            out.0.insert(version.to_owned(), changes);
        }
        out
    }

    pub(super) fn of(&self, owner: &Entry) -> Option<&Changes> {
        self.0.get(&owner.api_version)
    }
}

fn after_slash(version: &str) -> &str {
    version.rsplit('/').next().unwrap_or(version)
}
