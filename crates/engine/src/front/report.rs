//! What a status says of Pods and conditions.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::account::{Account, Slot};
use crate::budget::Hold;
use crate::status::{Condition, ConditionKind, Phase, PodRow, PodState, Reason, Status};
use crate::world::{Discovery, Uid, World};

/// One Pod in a sentence: `Pod web-3 is not ready: ImagePullBackOff (node n1)`.
pub fn describe(slot: &Slot<'_>) -> String {
    let node = slot.pod.and_then(|pod| pod.node.as_deref());
    let place = node.map(|node| format!(" (node {node})")).unwrap_or_default();
    let name = &slot.name;
    match (slot.state, slot.pod) {
        (PodState::Missing | PodState::Recreating, _) | (_, None) => {
            format!("Pod {name} does not exist yet")
        }
        (PodState::Evicting | PodState::Terminating, Some(pod)) => {
            let until = pod.deletion.map(|at| at.to_string()).unwrap_or_default();
            match (slot.overdue, pod.finalizers.is_empty()) {
                (false, _) => format!("Pod {name} is terminating{place}"),
                (true, false) => format!(
                    "Pod {name} is still terminating{place}, its grace period was over at {until}: it \
                     waits for the controllers of its finalizers ({})",
                    pod.finalizers.join(", ")
                ),
                (true, true) => format!(
                    "Pod {name} is still terminating{place}, its grace period was over at {until}; it \
                     is never force-deleted: if its node is lost, delete the Node or the Pod by hand"
                ),
            }
        }
        (_, Some(pod)) => match &pod.trouble {
            Some(trouble) if trouble.message.is_empty() => {
                format!("Pod {name} is not ready: {}{place}", trouble.reason)
            }
            Some(trouble) => {
                format!("Pod {name} is not ready: {}: {}{place}", trouble.reason, trouble.message)
            }
            None if slot.available && slot.discovered == Some(false) => {
                format!("Pod {name} is not passing in service discovery{place}")
            }
            None if slot.ready() => {
                format!("Pod {name} is ready, but not for minReadySeconds{place}")
            }
            None => format!("Pod {name} is not ready yet{place}"),
        },
    }
}

/// `1 Pod`, `2 Pods`.
pub(crate) fn pods(number: u32) -> String {
    let word = if number == 1 { "Pod" } else { "Pods" };
    format!("{number} {word}")
}

/// The pronoun for that many Pods.
pub(crate) fn them(number: u32) -> &'static str {
    if number == 1 { "it" } else { "them" }
}

/// The rows of `status.Pods`, from the account and what the rows said before.
///
/// `current` says whether the template that is asked for is the one that the account speaks of; as
/// long as it is not, no Pod runs it.
pub(crate) fn rows(
    account: &Account<'_>,
    old: &[PodRow],
    current: bool,
    now: Timestamp,
) -> Vec<PodRow> {
    let old: BTreeMap<&str, &PodRow> = old.iter().map(|row| (row.name.as_str(), row)).collect();
    let row = |slot: &Slot<'_>| {
        let before = old.get(slot.name.as_str());
        let announced = slot.announced && slot.movable();
        let state = match slot.state {
            _ if announced => PodState::Evicting,
            PodState::Updated if !current => PodState::Old,
            PodState::Starting | PodState::Broken if !current => PodState::OldUnready,
            state => state,
        };
        let brief = matches!(state, PodState::Old | PodState::Updated);
        let since = before
            .filter(|row| row.state == state)
            .map_or(Some(now), |row| row.since)
            .filter(|_| !brief);
        match slot.pod {
            Some(pod) => PodRow {
                name: slot.name.clone(),
                uid: pod.uid.clone(),
                node: pod.node.clone().filter(|_| !brief).unwrap_or_default(),
                revision: pod.revision.clone(),
                version: pod.version.clone(),
                ready: slot.ready(),
                discovery_ready: slot.discovered,
                state,
                since,
                leaked: slot.leaked,
            },
            None => PodRow {
                name: slot.name.clone(),
                uid: before.map_or_else(|| Uid(String::new()), |row| row.uid.clone()),
                node: String::new(),
                revision: before.map(|row| row.revision.clone()).unwrap_or_default(),
                version: String::new(),
                ready: false,
                discovery_ready: None,
                state,
                since,
                leaked: false,
            },
        }
    };
    account.slots.iter().map(row).collect()
}

/// The conditions that follow from where the rollout stands.
pub(crate) fn conditions(
    world: &World,
    status: &Status,
    hold: &Hold,
    now: Timestamp,
) -> Vec<Condition> {
    let mut conditions = Vec::new();
    let mut push = |kind: ConditionKind, holds: bool, reason: &str, message: String| {
        let before = world.status.conditions.iter().find(|condition| condition.kind == kind);
        let since = before.filter(|c| c.holds == holds).map_or(now, |c| c.since);
        let (reason, observed_generation) = (reason.to_owned(), world.rollout.generation);
        conditions.push(Condition { kind, holds, reason, message, since, observed_generation });
    };
    let phase = status.phase.unwrap_or(Phase::Pending);
    let goes_on = !hold.reason.blocks() && !matches!(phase, Phase::Failed | Phase::Paused);
    push(ConditionKind::Progressing, goes_on, hold.reason.name(), hold.message.clone());
    let (available, replicas) = (status.available_replicas, status.replicas);
    let all = available == replicas && !status.workload_name.is_empty();
    let word = if all { "AllPodsAvailable" } else { "PodsNotAvailable" };
    push(
        ConditionKind::Available,
        all,
        word,
        format!("{available} of {replicas} Pods are available"),
    );
    let blocked = hold.reason.blocks();
    let (word, message) = if blocked {
        (hold.reason.name(), hold.message.clone())
    } else {
        ("NotBlocked", String::new())
    };
    push(ConditionKind::Blocked, blocked, word, message);
    let leaked = status.leaked_replicas;
    let word = if leaked > 0 { "PodsLeaked" } else { "NoLeak" };
    let message = match leaked {
        0 => String::new(),
        n => format!(
            "{} came back at revision {} though no step released {}",
            pods(n),
            status.update_revision,
            them(n)
        ),
    };
    push(ConditionKind::Leaked, leaked > 0, word, message);
    let ungated = ungated(world);
    if !ungated.is_empty() {
        push(ConditionKind::NotGated, true, "NotConfigured", ungated.join("; "));
    }
    conditions
}

/// What the rollout names and this operator cannot serve: it gates nothing, but is said.
fn ungated(world: &World) -> Vec<String> {
    let mut said = Vec::new();
    if world.discovery == Discovery::NotConfigured {
        said.push(format!(
            "service discovery is not configured in this operator, so services {} gate nothing",
            world.rollout.services.join(", ")
        ));
    }
    if let (Some(channel), false) = (&world.rollout.channel, world.settings.channel_configured) {
        said.push(format!(
            "Slack is not configured in this operator, so {channel} is told nothing"
        ));
    }
    if let (Some(stage), false) =
        (&world.rollout.callback_stage, world.settings.callback_configured)
    {
        said.push(format!(
            "callbacks are not configured in this operator, so stage {stage} is not called back"
        ));
    }
    said
}

/// That a rollout has come to its end, in a sentence.
pub(crate) fn completed(account: &Account<'_>, percent: crate::quantity::Percent) -> Hold {
    let (moved, target, replicas) = (account.moved(), account.target, account.replicas());
    let message = if replicas == 0 {
        "the StatefulSet is scaled to 0, nothing to move".to_owned()
    } else if moved > target {
        format!(
            "{moved} of {replicas} Pods run the update revision, more than the {target} of {percent}; \
             nothing is moved back"
        )
    } else {
        format!("{moved} of {replicas} Pods run the update revision ({percent})")
    };
    Hold::new(Reason::Completed, message)
}
