//! Writes of ours that the watches have not shown yet: a decision on what was before would do them
//! twice.

use std::collections::BTreeMap;

/// The latest write to each kind, by plural, as the resourceVersion that the server answered with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unseen(BTreeMap<&'static str, String>);

impl Unseen {
    /// A write of ours: `plural` and `metadata.resourceVersion` of the answer.
    pub fn note(&mut self, plural: &'static str, resource_version: &str) {
        let later = |known: &String| {
            let number = |text: &str| text.parse::<u128>().unwrap_or(0);
            number(known) > number(resource_version)
        };
        if !self.0.get(plural).is_some_and(later) {
            self.0.insert(plural, resource_version.to_owned());
        }
    }

    /// Takes the writes of another over as well.
    pub fn add(&mut self, other: &Self) {
        for (plural, version) in &other.0 {
            self.note(plural, version);
        }
    }

    /// Whether nothing is outstanding.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets what `shown` says is shown: asked with plural and resourceVersion.
    pub(crate) fn forget(&mut self, mut shown: impl FnMut(&str, &str) -> bool) {
        self.0.retain(|plural, version| !shown(plural, version));
    }
}
