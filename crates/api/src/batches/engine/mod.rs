//! Between the resources of this group and the engine: what is asked for goes in, the status goes both
//! ways. One file per front.
//!
//! A status that goes out and is read again is the same value, or every look would find something new to
//! write.

pub mod batch_release;
pub mod rollout;

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::rollout_status::Condition;

/// Numbers of Pods are never negative and far below the limit; what is not is held to the range.
fn narrow(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

/// Whether an annotation says `true`.
fn says_true(annotations: Option<&BTreeMap<String, String>>, name: &str) -> bool {
    annotations.and_then(|all| all.get(name)).is_some_and(|value| value == "true")
}

/// When a condition last changed in anything, and when its status did. One that says neither is as old as
/// can be.
fn times(condition: &Condition) -> (Timestamp, Timestamp) {
    let Condition { last_update_time: updated, last_transition_time: since, .. } = condition;
    (updated.or(*since).unwrap_or_default(), since.or(*updated).unwrap_or_default())
}
