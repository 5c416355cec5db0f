//! One look at one `Rollout`.

use cluster::act::rollout::{Report, act};
use cluster::kind::Owns;
use cluster::observe::rollout::{Live, Observed, observe};
use cluster::original::Running;
use cluster::{GoOn, Key, Subject, status};
use engine::front::rollout::{Action, Phase, Settings, Status, decide};
use jiff::SignedDuration;
use tracing::{debug, info};

use super::failing::{later, undone, unwritten};
use super::{Done, NO_DEPLOYMENTS, Write, due, earlier, history, told, wrote};
use crate::context::Shop;
use crate::memory::Memory;
use crate::metrics::Stand;

/// How long a status that tells of nothing but numbers may wait for the next one.
const NUMBERS: SignedDuration = SignedDuration::from_secs(1);

/// When to look again after a write, or while one has not been shown, though no event comes of it.
const AGAIN: SignedDuration = SignedDuration::from_secs(2);

/// Looks at `subject` once.
pub(super) async fn pass(
    shop: &Shop,
    subject: Subject,
    mut memory: Memory,
    original: Option<&Running>,
) -> Done {
    let key = subject.key.clone();
    let context = &shop.context;
    let caches = &*context.attention.caches;
    caches.forget_seen(&mut memory.unseen);
    let gates = context.settings.gates;
    let settings = Settings {
        freeze_on_deletion: gates.keep_workload_paused_on_rollout_deletion,
        ..context.settings.rollout
    };
    let Some(mut observed) = observe(caches, &key, &settings) else {
        debug!(rollout = %key, "gone, or not to be read");
        return Done::gone(subject);
    };
    let now = context.clock.now();
    if !memory.unseen.is_empty() {
        // A decision on what was before would do it twice.
        let (wake, stand) =
            (now.checked_add(AGAIN).ok(), Some(Stand::of_rollout(&observed.world.status)));
        return Done { subject, memory: Some(memory), wake, stand };
    }
    if !gates.advanced_deployment {
        leave_deployments(&mut observed);
    }
    observed.world.other_manager = original.map(|running| running.holder.clone());
    let decision = decide(&observed.world, now);
    let stand = Some(Stand::of_rollout(&decision.status));
    let mut wake = earlier(decision.wake, original.map(|running| running.until));
    match due(decision.status.change(&observed.world.status), &memory, NUMBERS, now) {
        Write::No => {}
        Write::At(at) => wake = earlier(wake, Some(at)),
        Write::Now => match status::rollout(&shop.hands, caches, &observed, &decision.status).await
        {
            Ok(version) => {
                wrote(shop, &mut memory, now);
                log(&key, &observed.world.status, &decision.status);
                // What is written next is written over this.
                observed.resource_version = version;
            }
            Err(error) => {
                let wake = unwritten(shop, &subject, &error, &mut memory);
                return Done { subject, memory: Some(memory), wake, stand };
            }
        },
    }
    shop.outbox.put(&subject, &observed.uid, decision.told.into_iter().map(told).collect());
    let keeps = gates.rollout_history && original.is_none();
    if keeps && !history::keep(shop, &observed, &decision.status, &mut memory).await {
        wake = earlier(wake, context.clock.now().checked_add(AGAIN).ok());
    }
    let held_back = decision.action.as_ref().and_then(|it| memory.undone.until(it.name(), now));
    if let Some(until) = held_back {
        wake = earlier(wake, Some(until));
    } else if let Some(action) = &decision.action {
        let report = carry_out(shop, &subject, &observed, action).await;
        memory.unseen.add(&report.unseen);
        memory.outcome.acted_at = Some(context.clock.now());
        if matches!(action, Action::Hold | Action::Label | Action::MarkHash) {
            memory.undone.done(action.name().to_owned(), now);
        }
        wake = match report {
            Report { failed: Some(error), .. } => undone(shop, &subject, &error, &mut memory),
            Report { waits: Some(why), .. } => {
                info!(rollout = %key, why, "not done yet");
                later(context.clock.now(), memory.failed())
            }
            _ => {
                memory.succeeded();
                earlier(wake, context.clock.now().checked_add(AGAIN).ok())
            }
        };
    }
    Done { subject, memory: Some(memory), wake, stand }
}

/// Without the gate `AdvancedDeployment` nobody may hold a Deployment.
fn leave_deployments(observed: &mut Observed) {
    let of_kind = |live: &Live| live.workload.kind.facts().owns == Owns::ReplicaSets;
    if let Some(workload) = &mut observed.world.workload
        && observed.live.as_ref().is_some_and(of_kind)
    {
        workload.unsupported = Some(NO_DEPLOYMENTS.to_owned());
    }
}

async fn carry_out(shop: &Shop, subject: &Subject, observed: &Observed, action: &Action) -> Report {
    let context = &shop.context;
    let rollout = &observed.world.rollout;
    let go_on = || {
        if !context.leads() {
            return GoOn::NotLeading;
        }
        let caches = &context.attention.caches;
        // One that is being deleted asks for nothing else any more.
        if rollout.deleted || caches.still_asks(subject, &observed.uid, rollout.generation) {
            GoOn::Yes
        } else {
            GoOn::Changed
        }
    };
    context.metrics.action(action.name());
    info!(rollout = %subject.key, action = action.name(), "acting");
    act(&shop.hands, observed, action, &go_on).await
}

fn log(key: &Key, before: &Status, after: &Status) {
    let stands = |status: &Status| {
        let canary = status.canary.as_ref();
        canary.map(|canary| (canary.current_step, canary.state.name()))
    };
    let name = |phase: Option<Phase>| phase.map_or("none", Phase::name);
    let (from, to) = (name(before.phase), name(after.phase));
    if from == to && stands(before) == stands(after) {
        debug!(rollout = %key, message = after.message, "status written");
        return;
    }
    let (step, state) = stands(after).unwrap_or_default();
    info!(rollout = %key, from, to, step, state, message = after.message, "status written");
}
