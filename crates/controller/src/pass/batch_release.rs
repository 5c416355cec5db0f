//! One look at one `BatchRelease`.

use cluster::act::batch_release::act;
use cluster::observe::batch_release::{Observed, Terms, observe};
use cluster::{ActReport, GoOn, Key, Subject, status};
use engine::decision::Action as Motion;
use engine::front::batch_release::{Action, Decision, Phase, Status, decide, news};
use jiff::{SignedDuration, Timestamp};
use tracing::{debug, info};

use super::failing::{disrupted, later, unwritten};
use super::{Done, NO_DEPLOYMENTS, Write, due, earlier, told, wrote};
use crate::context::Shop;
use crate::memory::Memory;
use crate::metrics::Stand;

/// How long a status that tells of nothing but numbers may wait for the next one: people look at them, and
/// nothing waits for them.
const NUMBERS: SignedDuration = SignedDuration::from_secs(5);

/// Looks at `subject` once.
pub(super) async fn pass(shop: &Shop, subject: Subject, mut memory: Memory) -> Done {
    let key = subject.key.clone();
    let context = &shop.context;
    let caches = &*context.attention.caches;
    let terms = Terms {
        settings: &context.settings.engine,
        keep_paused: context.settings.gates.keep_workload_paused_on_rollout_deletion,
    };
    let outcome = memory.outcome.clone();
    let Some(mut observed) = observe(caches, &key, terms, outcome, &mut memory.unseen) else {
        debug!(release = %key, "gone, or not to be read");
        return Done::gone(subject);
    };
    if !context.settings.gates.advanced_deployment {
        leave_deployments(&mut observed);
    }
    let now = context.clock.now();
    let decision = decide(&observed.world, now);
    memory.outcome = observed.world.outcome.clone();
    let stand = Some(Stand::of_release(&decision.status));
    let mut wake = decision.wake;
    // What failed, or had to be done again, is left alone for a while; that it is to be done stays unsaid
    // until it is.
    let action = decision.action.as_ref();
    let held = action.and_then(|action| memory.held_back(action, now));
    if let Some(at) = held {
        return Done { subject, memory: Some(memory), wake: Some(at), stand };
    }
    match due(decision.status.change(&observed.world.status), &memory, NUMBERS, now) {
        Write::No => {}
        Write::At(at) => wake = earlier(wake, Some(at)),
        Write::Now => match write(shop, &subject, &observed, &decision, &mut memory, now).await {
            // What is written next is written over this.
            Ok(version) => observed.resource_version = version,
            Err(error) => {
                let wake = unwritten(shop, &subject, &error, &mut memory);
                return Done { subject, memory: Some(memory), wake, stand };
            }
        },
    }
    if let Some(action) = action {
        let report = carry_out(shop, &subject, &observed, action).await;
        let now = context.clock.now();
        if report.failed.is_some() {
            let pause = memory.failed();
            memory.hold_back(later(now, pause));
            wake = wake.max(later(now, pause));
        } else if report.requests > 0 {
            memory.done(action, now);
        }
        memory.unseen.add(&report.unseen);
        memory.learn(report);
    }
    Done { subject, memory: Some(memory), wake, stand }
}

/// Without the gate `AdvancedDeployment` no Deployment is taken over; one that was is given back when its
/// release ends.
fn leave_deployments(observed: &mut Observed) {
    let release = &mut observed.world.release;
    if release.kind == "Deployment" {
        release.plan_error = Some(NO_DEPLOYMENTS.to_owned());
    }
}

async fn write(
    shop: &Shop,
    subject: &Subject,
    observed: &Observed,
    decision: &Decision,
    memory: &mut Memory,
    now: Timestamp,
) -> Result<String, cluster::Error> {
    let context = &shop.context;
    let caches = &context.attention.caches;
    let version = status::batch_release(&shop.hands, caches, observed, &decision.status).await?;
    wrote(shop, memory, now);
    let (before, after) = (&observed.world.status, &decision.status);
    log(&observed.key, before, after);
    let news = news(before, after).into_iter().map(told).collect();
    shop.outbox.put(subject, &observed.uid, news);
    Ok(version)
}

async fn carry_out(
    shop: &Shop,
    subject: &Subject,
    observed: &Observed,
    action: &Action,
) -> ActReport {
    let context = &shop.context;
    let go_on = || {
        if !context.leads() {
            GoOn::NotLeading
        } else if !context.attention.caches.still_asks_as(subject, &observed.meta)
            || context.attention.caches.is_paused_by_rollout(&subject.key)
                != observed.paused_by_rollout
        {
            GoOn::Changed
        } else {
            GoOn::Yes
        }
    };
    let pods = match action {
        Action::Move(motion) => Motion::victims(motion).len(),
        Action::Label { pods } => pods.len(),
        _ => 0,
    };
    context.metrics.action(action.name());
    info!(release = %subject.key, action = action.name(), pods, "acting");
    let report = act(&shop.hands, observed, action, &go_on).await;
    disrupted(shop, subject, &report);
    report
}

fn log(key: &Key, before: &Status, after: &Status) {
    let stands = |status: &Status| (status.phase, status.current_batch, status.batch_state);
    let message = after.message.as_str();
    if stands(before) == stands(after) {
        debug!(release = %key, message, "status written");
        return;
    }
    let phase = after.phase.map(Phase::name).unwrap_or_default();
    let state = after.batch_state.map(|state| state.name()).unwrap_or_default();
    info!(release = %key, phase, batch = after.current_batch, state, message, "status written");
}
