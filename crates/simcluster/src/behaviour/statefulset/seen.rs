//! What the controller sees of a set's Pods, and what they come to.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::replica::REVISION_LABEL;
use crate::behaviour::pod;
use crate::json::Value;
use crate::object;

/// What the controller sees of one Pod.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The value of the revision label.
    pub revision: String,
    /// It has a phase.
    pub created: bool,
    /// Its phase is Failed or Succeeded.
    pub ended: bool,
    /// Running, and its Ready condition is True; terminating or not.
    pub ready: bool,
    /// Since when it has been ready for minReadySeconds, if it is ready.
    pub available_at: Option<Timestamp>,
    /// It has a deletion timestamp.
    pub terminating: bool,
    /// Its containers are being changed in place: it counts as neither healthy nor available. A
    /// native set changes none.
    pub changing: bool,
}

impl Seen {
    /// Of a Pod that is not being changed.
    pub fn of(pod: &Value, min_ready_seconds: i64) -> Self {
        let ready = pod::is_running_and_ready(pod);
        Self {
            revision: object::label(pod, REVISION_LABEL).unwrap_or_default().to_owned(),
            created: !pod::phase(pod).is_empty(),
            ended: pod::has_ended(pod),
            ready,
            available_at: ready.then(|| pod::available_at(pod, min_ready_seconds)).flatten(),
            terminating: object::is_terminating(pod),
            changing: false,
        }
    }

    /// Ready for long enough.
    pub fn available(&self, now: Timestamp) -> bool {
        self.ready && !self.changing && self.available_at.is_some_and(|at| at <= now)
    }

    /// Ready, and left alone.
    pub fn healthy(&self) -> bool {
        self.ready && !self.changing && !self.terminating
    }
}

/// When the next of these Pods will have been ready for long enough.
pub fn wake(pods: &BTreeMap<i64, Seen>, now: Timestamp) -> Option<Timestamp> {
    pods.values().filter_map(|pod| pod.available_at).filter(|at| *at > now).min()
}

/// The numbers of a StatefulSet's status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pods with a phase, terminating ones included.
    pub replicas: i64,
    /// Running and Ready ones, terminating ones included.
    pub ready: i64,
    /// Those ready for minReadySeconds, terminating ones included.
    pub available: i64,
    /// At the current revision, terminating ones not.
    pub current: i64,
    /// At the update revision, terminating ones not.
    pub updated: i64,
}

/// Counts the Pods as the real controller does.
pub fn count(pods: &BTreeMap<i64, Seen>, current: &str, update: &str, now: Timestamp) -> Counts {
    let mut counts = Counts::default();
    for pod in pods.values() {
        counts.replicas += i64::from(pod.created);
        counts.ready += i64::from(pod.ready);
        counts.available += i64::from(pod.available(now));
        if pod.created && !pod.terminating {
            counts.current += i64::from(pod.revision == current);
            counts.updated += i64::from(pod.revision == update);
        }
    }
    counts
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Pods from words: `r` ready, `u` unready, `t` terminating but ready, `f` failed, `c` ready and
    /// being changed in place, `-` absent; a capital letter is at the update revision.
    pub(crate) fn pods(words: &str) -> BTreeMap<i64, Seen> {
        let pod = |c: char| {
            let kind = c.to_ascii_lowercase();
            Seen {
                revision: if c.is_uppercase() { "new" } else { "old" }.to_owned(),
                created: true,
                ended: kind == 'f',
                ready: matches!(kind, 'r' | 't' | 'c'),
                available_at: Some(Timestamp::MIN),
                terminating: kind == 't',
                changing: kind == 'c',
            }
        };
        words.chars().zip(0..).filter(|(c, _)| *c != '-').map(|(c, i)| (i, pod(c))).collect()
    }
}
