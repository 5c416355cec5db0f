//! What is said of writes that failed, and when they are tried again.

use std::time::Duration;

use cluster::{ActReport, Error, Subject};
use jiff::{SignedDuration, Timestamp};
use tracing::{debug, warn};

use crate::context::Shop;
use crate::memory::Memory;

/// A status was not written, and so nothing is done. When to look again; of what is gone, never.
pub(super) fn unwritten(
    shop: &Shop,
    subject: &Subject,
    error: &Error,
    memory: &mut Memory,
) -> Option<Timestamp> {
    say(shop, subject, error, "the status was not written, so nothing is done");
    if error.is_gone() { None } else { again(shop, error, memory) }
}

/// One request of an action failed. When to look again.
pub(super) fn undone(
    shop: &Shop,
    subject: &Subject,
    error: &Error,
    memory: &mut Memory,
) -> Option<Timestamp> {
    say(shop, subject, error, "the action was not carried out to its end");
    again(shop, error, memory)
}

/// Counts what came of an action on Pods and their workload, and says what failed.
pub(super) fn disrupted(shop: &Shop, subject: &Subject, report: &ActReport) {
    let metrics = &shop.context.metrics;
    metrics.disruptions("accepted", report.accepted.len());
    metrics.disruptions("refused", report.refused.len());
    if report.failed.is_some() || report.error.is_some() {
        metrics.error(report.error.unwrap_or("unknown"));
    }
    if let Some(message) = &report.failed {
        warn!(%subject, message, "the action was not carried out to its end");
    }
}

fn say(shop: &Shop, subject: &Subject, error: &Error, what: &str) {
    shop.context.metrics.error(error.name());
    if error.is_conflict() || error.is_gone() {
        debug!(%subject, %error, "{what}");
    } else {
        // Nobody can read it in the status.
        warn!(%subject, %error, "{what}");
    }
}

/// After a conflict the newer version is on its way and wakes the subject by itself; this is for the case
/// that its event is lost.
fn again(shop: &Shop, error: &Error, memory: &mut Memory) -> Option<Timestamp> {
    let asked = match error {
        Error::Unknown { retry_after: Some(seconds), .. } => u64::from(*seconds),
        _ => 0,
    };
    later(shop.context.clock.now(), memory.failed().max(Duration::from_secs(asked)))
}

pub(super) fn later(now: Timestamp, pause: Duration) -> Option<Timestamp> {
    now.checked_add(SignedDuration::try_from(pause).ok()?).ok()
}
