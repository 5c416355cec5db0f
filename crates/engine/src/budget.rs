//! How many ready Pods may go at this moment, and who says no.

use jiff::Timestamp;

use crate::account::Account;
use crate::ground::{Facts, Ground};
use crate::nature::First;
use crate::status::{PodState, Reason};
use crate::world::{Budget, Discovery, Outcome, Pod, PodManagement, PodPhase};

/// Why nothing moves, or no more than moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The word for it.
    pub reason: Reason,
    /// A sentence that names the object and the remedy.
    pub message: String,
}

impl Hold {
    pub(crate) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}

/// Room for ready Pods to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// How many may go now.
    pub pods: u32,
    /// Why not more; `None` where the budget has room to spare.
    pub hold: Option<Hold>,
    /// Something to say about the pace even when Pods move.
    pub remark: Option<String>,
}

impl Room {
    fn none(hold: Hold) -> Self {
        Self { pods: 0, hold: Some(hold), remark: None }
    }
}

/// The room that budgets, Pods on their way and the set's own order leave.
pub fn room(ground: &Ground<'_>, account: &Account<'_>, now: Timestamp) -> Room {
    let (facts, terms) = (&ground.facts, &ground.terms);
    let busy = busy(facts.outcome, now).map(|(_, hold)| hold);
    if let Some(hold) = busy.or_else(|| unseen(ground)) {
        return Room::none(hold);
    }
    let mut room = match facts.budgets {
        [] => without_budget(terms.unbudgeted, account),
        [budget] => under_budget(facts, budget, account),
        several => Room::none(ambiguous(facts.namespace, several)),
    };
    if let Some(most) = terms.most {
        at_most(&mut room, most, account);
    }
    if room.pods > 0
        && let Some(hold) = broken_update(ground, account)
    {
        return Room { pods: 0, hold: Some(hold), remark: room.remark };
    }
    if facts.workload.management == PodManagement::OrderedReady {
        let blocked = if account.awaited() > 0 { Some(waiting(account)) } else { lower(account) };
        if room.pods > 0 && blocked.is_some() {
            room.hold = blocked;
            room.pods = 0;
        }
        room.pods = room.pods.min(1);
        room.remark = Some(
            "podManagementPolicy OrderedReady brings Pods back one at a time, so one moves at a time; \
             a set with podManagementPolicy Parallel moves as many as its budget allows"
                .to_owned(),
        );
    }
    room
}

/// Under OrderedReady a Pod comes back only when all lower ones are ready: a ready one had better stay.
fn lower(account: &Account<'_>) -> Option<Hold> {
    let slot = account.slots.iter().find(|slot| slot.state == PodState::OldUnready)?;
    let reason = if slot.ready() { Reason::WaitingForPods } else { Reason::LowerPodNotReady };
    Some(Hold::new(
        reason,
        format!(
            "{}, and podManagementPolicy OrderedReady brings no higher Pod back before it is",
            crate::front::describe(slot)
        ),
    ))
}

/// That the API server asked to be left alone: no write at all is made until then.
pub(crate) fn busy(outcome: &Outcome, now: Timestamp) -> Option<(Timestamp, Hold)> {
    let until = outcome.hold_until.filter(|until| *until > now)?;
    let message = format!("the API server is busy and asked to be left alone until {until}");
    Some((until, Hold::new(Reason::ApiServerBusy, message)))
}

/// Why service discovery does not say which Pods are good, where it is asked.
pub(crate) fn unseen(ground: &Ground<'_>) -> Option<Hold> {
    match ground.facts.discovery {
        Discovery::Unreachable { message, .. } => Some(Hold::new(
            Reason::DiscoveryUnreachable,
            format!("service discovery cannot be reached, so no further Pod is moved: {message}"),
        )),
        Discovery::Read { services, .. } => {
            let gone = |name: &&String| {
                !services.contains(name) && ground.memory.services_seen.contains(name)
            };
            let name = ground.terms.services.iter().find(gone)?;
            Some(Hold::new(
                Reason::ServiceVanished,
                format!(
                    "service {name} was there in this rollout and has vanished from service discovery, so \
                     no further Pod is moved; bring it back, or take it out of serviceDiscovery.serviceNames"
                ),
            ))
        }
        Discovery::NotAsked | Discovery::NotConfigured => None,
    }
}

/// Pods of the new revision that are in trouble are the reason to stop, not to go on: a Pod that is not
/// ready at the old revision may recover, at the new one it would not.
pub(crate) fn broken_update(ground: &Ground<'_>, account: &Account<'_>) -> Option<Hold> {
    let broken = account.slots.iter().filter(|slot| slot.state == PodState::Broken);
    let tolerated = usize::try_from(ground.terms.tolerated).unwrap_or(usize::MAX);
    (broken.count() > tolerated).then(|| waiting(account))
}

/// As many as may be on their way, less those that are.
fn without_budget(unbudgeted: u32, account: &Account<'_>) -> Room {
    let remark = (unbudgeted == 1).then(|| {
        "no PodDisruptionBudget selects the Pods, so one moves at a time; create one to move more"
            .to_owned()
    });
    match unbudgeted.saturating_sub(account.awaited()) {
        0 => Room { pods: 0, hold: Some(waiting(account)), remark },
        pods => Room { pods, hold: None, remark },
    }
}

/// The workload's own limit, beside what a disruption budget says.
fn at_most(room: &mut Room, most: u32, account: &Account<'_>) {
    let most = most.saturating_sub(account.awaited());
    if room.pods > 0 && most == 0 {
        room.hold = Some(waiting(account));
    }
    room.pods = room.pods.min(most);
}

fn under_budget(facts: &Facts<'_>, budget: &Budget, account: &Account<'_>) -> Room {
    let place = format!("{}/{}", facts.namespace, budget.name);
    if let Some(message) = &budget.sync_failed {
        // Of a DaemonSet, which has no scale, nothing else can be computed.
        let remedy = match message.contains("scale subresource") {
            true => "; give it minAvailable as a number",
            false => "",
        };
        return Room::none(Hold::new(
            Reason::BudgetNotReady,
            format!(
                "PodDisruptionBudget {place} cannot be computed by its controller: {message}{remedy}"
            ),
        ));
    }
    if !budget.observed {
        return Room::none(Hold::new(
            Reason::BudgetNotReady,
            format!("PodDisruptionBudget {place} has changed and its controller has not seen it"),
        ));
    }
    if budget.limit == Budget::NO_LIMIT {
        // The controller counts its Pods and no more: none is expected, and so none may go.
        return Room::none(Hold::new(
            Reason::BudgetNeverAllows,
            format!(
                "PodDisruptionBudget {place} has {}, so it never allows a disruption; {}",
                budget.limit,
                widen(budget)
            ),
        ));
    }
    if budget.expected > 0 && budget.desired_healthy >= budget.expected {
        return Room::none(Hold::new(
            Reason::BudgetNeverAllows,
            format!(
                "PodDisruptionBudget {place} ({}) wants {} of {} Pods healthy, so it never allows a \
                 disruption; {}",
                budget.limit,
                budget.desired_healthy,
                budget.expected,
                widen(budget)
            ),
        ));
    }
    let own = by_our_own_count(budget, facts.workload.replicas, account);
    let pods = budget.allowed.min(own).saturating_sub(soaking(account));
    let hold = (pods == 0).then(|| {
        if account.awaited() > 0 {
            waiting(account)
        } else {
            exhausted(facts.nature.name, budget, &place, account)
        }
    });
    Room { pods, hold, remark: None }
}

/// Pods that the budget counts as healthy and we do not yet: ready, but not for minReadySeconds or
/// not in service discovery. They use up room of their own.
fn soaking(account: &Account<'_>) -> u32 {
    let soaking = account
        .slots
        .iter()
        .filter(|slot| slot.ready() && matches!(slot.state, PodState::Starting | PodState::Broken));
    u32::try_from(soaking.count()).unwrap_or(u32::MAX)
}

/// The budget's status may be older than our own evictions; the Pods and what was accepted are not.
/// Only usable where the budget covers this set's Pods and no others.
fn by_our_own_count(budget: &Budget, replicas: u32, account: &Account<'_>) -> u32 {
    if budget.expected != replicas {
        return u32::MAX;
    }
    let healthy =
        account.slots.iter().filter(|slot| slot.ready() && slot.state != PodState::Evicting);
    u32::try_from(healthy.count()).unwrap_or(u32::MAX).saturating_sub(budget.desired_healthy)
}

/// The remedy in the budget's own terms: it takes maxUnavailable or minAvailable, never both.
fn widen(budget: &Budget) -> &'static str {
    if budget.limit.starts_with("minAvailable") {
        return "lower minAvailable, or put maxUnavailable of at least 1 in its place";
    }
    "set maxUnavailable to at least 1"
}

fn exhausted(kind: &str, budget: &Budget, place: &str, account: &Account<'_>) -> Hold {
    let unready: Vec<&str> = account
        .slots
        .iter()
        .filter(|slot| !slot.ready())
        .map(|slot| slot.name.as_str())
        .take(3)
        .collect();
    if unready.is_empty() && budget.expected <= account.replicas() {
        // Nobody else's Pods are in it: what its status says was true a moment ago.
        return Hold::new(
            Reason::WaitingForPods,
            format!(
                "waiting for the controller of PodDisruptionBudget {place} ({}) to see that all {} Pods are \
                 ready; it counts {} healthy, {} needed",
                budget.limit,
                account.replicas(),
                budget.current_healthy,
                budget.desired_healthy
            ),
        );
    }
    let because = if unready.is_empty() {
        format!("Pods that do not belong to this {kind} use it up")
    } else {
        format!("not ready: {}", unready.join(", "))
    };
    Hold::new(
        Reason::BudgetExhausted,
        format!(
            "PodDisruptionBudget {place} ({}) allows no disruption now: {} healthy, {} needed; {because}",
            budget.limit, budget.current_healthy, budget.desired_healthy
        ),
    )
}

pub(crate) fn ambiguous(namespace: &str, several: &[Budget]) -> Hold {
    let names: Vec<&str> = several.iter().map(|budget| budget.name.as_str()).collect();
    Hold::new(
        Reason::AmbiguousBudget,
        format!(
            "PodDisruptionBudgets {} in namespace {namespace} select the same Pods, and the Eviction API \
             refuses such Pods; delete one or narrow its selector",
            names.join(", ")
        ),
    )
}

/// That the rollout waits for Pods, and for which.
pub(crate) fn waiting(account: &Account<'_>) -> Hold {
    if let Some(lower) = account.locked_out_by() {
        let message = format!(
            "waiting for {} of {} Pods; {}, and podManagementPolicy OrderedReady makes no higher Pod before it \
             is: mend it",
            account.awaited(),
            account.replicas(),
            crate::front::describe(lower)
        );
        return Hold::new(Reason::LowerPodNotReady, message);
    }
    let message = match account.worst() {
        Some(slot) => format!(
            "waiting for {} of {} Pods; {}",
            account.awaited(),
            account.replicas(),
            crate::front::describe(slot)
        ),
        None => "waiting for Pods".to_owned(),
    };
    Hold::new(Reason::WaitingForPods, message)
}

/// That the workload's own controller has yet to come to Pods that it may replace. One that goes by ordinals
/// counts whatever is not ready as unavailable, and comes to none while that uses up its `maxUnavailable`.
pub(crate) fn its_turn(ground: &Ground<'_>, account: &Account<'_>, opened: usize) -> Hold {
    if account.worst().is_some() {
        return waiting(account);
    }
    let name = ground.facts.nature.name;
    let opened = crate::front::pods(u32::try_from(opened).unwrap_or(u32::MAX));
    let message = format!("waiting for the controller of the {name} to replace {opened}");
    let unready = account.slots.iter().find(|slot| slot.movable() && !slot.open && !slot.ready());
    let unready = unready.filter(|_| ground.facts.nature.first != First::Unready);
    let remedy = unready.map(|slot| {
        format!(
            "; {}, and counts as unavailable there: mend it, or raise maxUnavailable of the {name}",
            crate::front::describe(slot)
        )
    });
    Hold::new(Reason::WaitingForPods, message + &remedy.unwrap_or_default())
}

/// Whether evicting an unready Pod would be allowed, by the rules of the Eviction API.
pub fn unready_may_go(ground: &Ground<'_>, pod: &Pod) -> Result<(), Hold> {
    if pod.phase != PodPhase::Running {
        return Ok(());
    }
    match ground.facts.budgets {
        [] => Ok(()),
        [budget] => {
            let met =
                budget.desired_healthy > 0 && budget.current_healthy >= budget.desired_healthy;
            if budget.observed && (budget.always_allow_unhealthy || met || budget.allowed > 0) {
                return Ok(());
            }
            Err(Hold::new(
                Reason::UnhealthyPodsHoldBudget,
                format!(
                    "Pod {} is at an old revision and not ready, but PodDisruptionBudget {}/{} refuses \
                     its eviction: {} healthy, {} needed, unhealthyPodEvictionPolicy is not AlwaysAllow; \
                     set that policy{}",
                    pod.name,
                    ground.facts.namespace,
                    budget.name,
                    budget.current_healthy,
                    budget.desired_healthy,
                    ground.terms.remedies.unready
                ),
            ))
        }
        several => Err(ambiguous(ground.facts.namespace, several)),
    }
}
