//! What both stories say in the same words.

use crate::show::fold::fold;
use crate::show::view::RevisionView;

/// A sentence on two lines at least, whether they are needed or not, so that what stands below does not jump.
pub(super) fn on_two_lines(sentence: &str, width: usize) -> String {
    let mut lines = fold(sentence, width);
    lines.resize(lines.len().max(2), String::new());
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// How many Pods of a revision are ready.
pub(super) fn ready(revision: &RevisionView) -> usize {
    revision.pods.iter().filter(|pod| pod.ready).count()
}

/// `ready 3 × v1, 1 × v2`.
pub(super) fn ready_by_version(revisions: &[RevisionView]) -> String {
    let words = revisions.iter().rev().map(|one| format!("{} × {}", ready(one), one.version));
    match words.collect::<Vec<_>>().as_slice() {
        [] => "no Pods yet".to_owned(),
        some => format!("ready {}", some.join(", ")),
    }
}
