//! One look at one `StatefulsetRollout`.

use cluster::act::statefulset_rollout::act;
use cluster::observe::statefulset_rollout::{Observed, observe};
use cluster::{ActReport, Front, GoOn, Key, Subject, Told, status};
use engine::decision::{Action, Decision};
use engine::notice::{self, Notice, Topic};
use engine::status::{Phase, Status};
use jiff::Timestamp;
use tracing::{debug, info};

use super::failing::{disrupted, later, unwritten};
use super::{Done, wrote};
use crate::context::Shop;
use crate::memory::Memory;
use crate::metrics::Stand;

/// Looks at `subject` once.
pub(super) async fn pass(shop: &Shop, subject: Subject, mut memory: Memory) -> Done {
    let key = subject.key.clone();
    let context = &shop.context;
    let caches = &*context.attention.caches;
    let settings = &context.settings.engine;
    let Some(observed) = observe(caches, &key, settings, memory.outcome.clone()) else {
        debug!(rollout = %key, "gone, or not to be read");
        return Done::gone(subject);
    };
    let now = context.clock.now();
    let decision = engine::decide(&observed.world, now);
    memory.outcome = observed.world.outcome.clone();
    let stand = Some(Stand::of(&decision.status));
    if decision.status.says_more_than(&observed.world.status)
        && let Err(error) = write(shop, &observed, &decision, &mut memory, now).await
    {
        let wake = unwritten(shop, &subject, &error, &mut memory);
        return Done { subject, memory: Some(memory), wake, stand };
    }
    let mut wake = decision.wake;
    if let Some(action) = &decision.action {
        let report = carry_out(shop, &subject, &observed, action).await;
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
    Done { subject, memory: Some(memory), wake, stand }
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
    status::statefulset_rollout(&shop.hands, caches, observed, &decision.status).await?;
    wrote(shop, memory, now);
    log(&observed.key, &observed.world.status, &decision.status);
    let news = notice::news(&observed.world.status, &decision.status);
    let subject = Subject::new(Front::StatefulsetRollout, observed.key.clone());
    shop.outbox.put(&subject, &observed.uid, news.into_iter().map(told).collect());
    Ok(())
}

async fn carry_out(
    shop: &Shop,
    subject: &Subject,
    observed: &Observed,
    action: &Action,
) -> ActReport {
    let key = &subject.key;
    let context = &shop.context;
    let rollout = &observed.world.rollout;
    let go_on = || {
        if !context.leads() {
            GoOn::NotLeading
        } else if !context.attention.caches.still_asks(subject, &rollout.uid, rollout.generation) {
            GoOn::Changed
        } else {
            GoOn::Yes
        }
    };
    context.metrics.action(action.name());
    info!(rollout = %key, action = action.name(), pods = action.victims().len(), "acting");
    let report = act(&shop.hands, observed, action, &go_on).await;
    disrupted(shop, subject, &report);
    report
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

fn told(notice: Notice) -> Told {
    let action = match notice.topic {
        Topic::Phase => "Rollout",
        Topic::Group => "MovePods",
        Topic::Blocked => "Wait",
        Topic::Leaked => "CountLeaks",
        Topic::NotGated => "SkipGate",
    };
    Told {
        warning: notice.warning,
        reason: notice.reason,
        action: action.to_owned(),
        note: notice.text,
    }
}
