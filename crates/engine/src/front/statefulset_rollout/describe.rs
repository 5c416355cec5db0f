//! The part of the status that says what is, whatever is done about it.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::spec::applied;
use crate::account::{Account, may_take_effect};
use crate::decision::Action;
use crate::front::report::rows;
use crate::status::Status;
use crate::world::{Discovery, Pod, Uid, VersionLeak, World};

/// The part of the status that says what is.
pub(super) fn describe_world(
    status: &mut Status,
    world: &World,
    account: Option<&Account<'_>>,
    now: Timestamp,
) {
    let rollout = &world.rollout;
    status.observed_generation = rollout.generation;
    status.build.clone_from(&rollout.build);
    status.consul_services = match &world.discovery {
        // One that was seen in this rollout stays listed, so that it is missed when it vanishes.
        Discovery::Read { services, .. } => {
            let seen = &world.status.consul_services;
            let listed = |name: &&String| services.contains(name) || seen.contains(name);
            rollout.services.iter().filter(listed).cloned().collect()
        }
        Discovery::Unreachable { .. } => world.status.consul_services.clone(),
        Discovery::NotAsked | Discovery::NotConfigured => Vec::new(),
    };
    if let Some(applied) = &world.outcome.applied {
        status.applied = Some(applied.clone());
    }
    let (Some(workload), Some(account)) = (&world.workload, account) else {
        status.spec_current = false;
        status.pods.clear();
        status.evicting.clear();
        // Revisions are those of one StatefulSet: what is made in its place has its own.
        status.stable_revision.clear();
        status.update_revision.clear();
        (status.replicas, status.target_replicas, status.updated_replicas) = (0, 0, 0);
        (status.ready_replicas, status.available_replicas, status.leaked_replicas) = (0, 0, 0);
        status.discovery_ready = None;
        return;
    };
    status.workload_name.clone_from(&rollout.workload_name);
    let asked = applied(world).filter(|applied| applied.hash == rollout.desired_hash);
    // What the server made of our apply is what was asked for, whatever it dropped or put in its own
    // words: an unknown field, a default that a webhook insists on.
    let taken = asked.is_some_and(|applied| applied.generation == workload.generation);
    status.spec_current = asked.is_some() && (workload.matches || taken);
    if status.spec_current
        && let Some(applied) = &mut status.applied
    {
        applied.generation = applied.generation.max(workload.generation);
    }
    status.replicas = workload.replicas;
    status.target_replicas = account.target;
    status.ready_replicas = account.ready();
    status.available_replicas = account.available();
    status.discovery_ready = match &world.discovery {
        Discovery::Read { services, .. } if !services.is_empty() => Some(account.discovered()),
        _ => None,
    };
    if workload.observed_generation < workload.generation {
        return;
    }
    if status.stable_revision.is_empty() || status.update_revision != workload.update_revision {
        status.stable_revision = account
            .stable(&workload.update_revision, &status.update_revision)
            .unwrap_or(&workload.update_revision)
            .to_owned();
    }
    status.update_revision.clone_from(&workload.update_revision);
    // Until the template that is asked for stands, the revisions are those of the one before.
    let current = workload.template_matches || taken;
    status.updated_replicas = if current { account.updated() } else { 0 };
    status.leaked_replicas = match rollout.version_leak {
        VersionLeak::Ignore => 0,
        _ => account.leaked(),
    };
    status.pods = rows(account, &world.status.pods, current, now);
}

/// Writes the intent down: the UIDs that are about to go, beside those that have not been seen going.
pub(super) fn announce(
    status: &mut Status,
    world: &World,
    action: Option<&Action>,
    now: Timestamp,
) {
    let outcome = &world.outcome;
    let doubt = may_take_effect(status.last_eviction, outcome, &world.settings, now);
    let announced: BTreeSet<&Uid> =
        status.evicting.iter().filter(|uid| !outcome.refused.contains_key(*uid)).collect();
    let victims = action.map(Action::victims).unwrap_or_default();
    let evicting: BTreeSet<Uid> = world
        .workload
        .iter()
        .flat_map(|workload| {
            let going = |pod: &&Pod| {
                let old = pod.revision != workload.update_revision;
                let may_go = pod.deletion.is_some() || (doubt && old);
                outcome.accepted.contains(&pod.uid) || (may_go && announced.contains(&pod.uid))
            };
            world.pods.iter().filter(going).map(|pod| &pod.uid).collect::<Vec<_>>()
        })
        .chain(victims.iter().map(|victim| &victim.uid))
        .cloned()
        .collect();
    status.evicting = evicting.into_iter().collect();
    let ready =
        |uid: &Uid| world.pods.iter().any(|pod| pod.uid == *uid && pod.ready_since.is_some());
    // What is opened, the StatefulSet controller takes at once.
    let opens = matches!(action, Some(Action::Open { .. }));
    if opens || victims.iter().any(|victim| ready(&victim.uid)) {
        status.last_eviction = Some(now);
    }
}
