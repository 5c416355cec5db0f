//! One look at one rollout: observe, decide, write the status, act.

use std::time::Duration;

use cluster::act::{ActReport, GoOn};
use cluster::{Key, Observed, act, observe, status};
use engine::decision::{Action, Decision};
use engine::notice;
use engine::status::{Phase, Status};
use jiff::{SignedDuration, Timestamp};
use tracing::{debug, info, warn};

use crate::context::Shop;
use crate::memory::Memory;
use crate::metrics::Stand;

/// What a look leaves behind.
pub(crate) struct Done {
    pub(crate) key: Key,
    /// `None` once the rollout is gone.
    pub(crate) memory: Option<Memory>,
    /// When to look again though nothing happens.
    pub(crate) wake: Option<Timestamp>,
    /// Where the rollout stands now.
    pub(crate) stand: Option<Stand>,
}

/// Looks at `key` once.
pub(crate) async fn pass(shop: &Shop, key: Key, mut memory: Memory) -> Done {
    let context = &shop.context;
    let caches = &*context.attention.caches;
    let settings = &context.settings.engine;
    context.metrics.pass();
    let Some(observed) = observe(caches, &key, settings, memory.outcome.clone()) else {
        debug!(rollout = %key, "gone, or not to be read");
        return Done { key, memory: None, wake: None, stand: None };
    };
    let now = context.clock.now();
    let decision = engine::decide(&observed.world, now);
    memory.outcome = observed.world.outcome.clone();
    let stand = Some(Stand::of(&decision.status));
    if decision.status.says_more_than(&observed.world.status)
        && let Err(error) = write(shop, &observed, &decision, &mut memory, now).await
    {
        context.metrics.error(error.name());
        if error.is_conflict() || error.is_gone() {
            debug!(rollout = %key, %error, "the status was not written, so nothing is done");
        } else {
            // Nobody can read it in the status.
            warn!(rollout = %key, %error, "the status was not written, so nothing is done");
        }
        let wake = (!error.is_gone()).then(|| after(&mut memory, &error, context.clock.now()));
        return Done { key, memory: Some(memory), wake: wake.flatten(), stand };
    }
    let mut wake = decision.wake;
    if let Some(action) = &decision.action {
        let report = carry_out(shop, &key, &observed, action).await;
        let failed = report.failed.is_some();
        memory.learn(report);
        let now = context.clock.now();
        if failed {
            wake = wake.max(later(now, memory.failed()));
        } else {
            memory.succeeded();
            // The interval counts from the action, which may have taken its time.
            wake = wake.max(now.checked_add(settings.interval).ok());
        }
    }
    Done { key, memory: Some(memory), wake, stand }
}

async fn write(
    shop: &Shop,
    observed: &Observed,
    decision: &Decision,
    memory: &mut Memory,
    now: Timestamp,
) -> Result<(), cluster::Error> {
    let context = &shop.context;
    let caches = &context.attention.caches;
    status::write(&shop.hands, caches, observed, &decision.status).await?;
    context.metrics.status_write();
    memory.wrote_at = Some(now);
    memory.succeeded();
    log(&observed.key, &observed.world.status, &decision.status);
    let news = notice::news(&observed.world.status, &decision.status);
    shop.outbox.put(&observed.key, &observed.uid, news);
    Ok(())
}

async fn carry_out(shop: &Shop, key: &Key, observed: &Observed, action: &Action) -> ActReport {
    let context = &shop.context;
    let rollout = &observed.world.rollout;
    let go_on = || {
        if !context.leads() {
            GoOn::NotLeading
        } else if !context.attention.caches.still_asks(key, &rollout.uid, rollout.generation) {
            GoOn::Changed
        } else {
            GoOn::Yes
        }
    };
    context.metrics.action(action.name());
    info!(rollout = %key, action = action.name(), pods = action.victims().len(), "acting");
    let report = act(&shop.hands, observed, action, &go_on).await;
    context.metrics.disruptions("accepted", report.accepted.len());
    context.metrics.disruptions("refused", report.refused.len());
    if let Some(message) = &report.failed {
        context.metrics.error("unknown");
        warn!(rollout = %key, message, "the action was not carried out to its end");
    }
    report
}

/// When to try again after a failed status write. After a conflict the newer version is on its way
/// and wakes the rollout by itself; this is for the case that its event is lost.
fn after(memory: &mut Memory, error: &cluster::Error, now: Timestamp) -> Option<Timestamp> {
    let asked = match error {
        cluster::Error::Unknown { retry_after: Some(seconds), .. } => u64::from(*seconds),
        _ => 0,
    };
    later(now, memory.failed().max(Duration::from_secs(asked)))
}

fn later(now: Timestamp, pause: Duration) -> Option<Timestamp> {
    now.checked_add(SignedDuration::try_from(pause).ok()?).ok()
}

fn log(key: &Key, before: &Status, after: &Status) {
    let reason = after.reason.as_str();
    if before.phase == after.phase {
        debug!(rollout = %key, reason, "status written");
        return;
    }
    let name = |phase: Option<Phase>| phase.map_or("none", Phase::name);
    info!(rollout = %key, from = name(before.phase), to = name(after.phase), reason, "phase changed");
}
