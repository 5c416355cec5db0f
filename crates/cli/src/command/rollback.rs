//! What `undo` and `abort` share: which revision is gone back to.

use serde_json::json;

use crate::facts::revision::Revision;
use crate::facts::workload::Workload;

/// Why there is nothing to go back to.
#[derive(Debug, PartialEq)]
pub(super) struct Nothing {
    /// Whether what was asked for is not there, as against not needed.
    pub(super) absent: bool,
    pub(super) words: String,
}

impl Nothing {
    fn because<T>(words: impl Into<String>) -> Result<T, Self> {
        Err(Self { absent: false, words: words.into() })
    }
}

/// The revision of this number; without one the stable revision, where that is not what runs, else the
/// one before.
pub(super) fn target<'a>(
    workload: &'a Workload,
    stable: &str,
    wanted: Option<i64>,
) -> Result<&'a Revision, Nothing> {
    if let Some(number) = wanted {
        let found = workload.revisions.iter().find(|one| one.number == number);
        return found.ok_or_else(|| Nothing {
            absent: true,
            words: format!("there is no revision {number}; there are {}", numbers(workload)),
        });
    }
    let before = |one: &&Revision| one.hash != workload.update;
    let stable = workload.revision(stable).filter(before);
    match stable.or_else(|| workload.revisions.iter().find(before)) {
        Some(found) => Ok(found),
        None => Nothing::because("it has had one revision only, so there is nothing to undo"),
    }
}

fn numbers(workload: &Workload) -> String {
    let numbers: Vec<String> =
        workload.revisions.iter().map(|one| one.number.to_string()).collect();
    numbers.join(", ")
}

/// Whether a template asks for what a revision has; the revision has the API server's defaults besides.
pub(super) fn asks_for(asked: &serde_json::Value, revision: &Revision) -> bool {
    let spec = |template: &serde_json::Value| json!({"spec": {"template": template}});
    api::bedrock::matches(&spec(&revision.template), &spec(asked))
}

/// `revision 1 (v1, web:v1)`.
pub(super) fn words(revision: &Revision) -> String {
    format!("revision {} ({}, {})", revision.number, revision.version, revision.image)
}

/// Pods that run another revision, and all of them; those that are going already are left out.
pub(super) fn moves(workload: &Workload, to: &Revision) -> (usize, usize) {
    let staying = workload.pods.iter().filter(|pod| pod.deletion.is_none());
    staying
        .fold((0, 0), |(moving, all), pod| (moving + usize::from(pod.revision != to.hash), all + 1))
}
