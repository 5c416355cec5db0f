//! The promises, asked of every single decision.

use engine::decision::Action as Motion;
use engine::front::batch_release::{
    Action, Body, Decision, Machinery, Phase, Target, World, decide,
};
use engine::mover::replica_sets::Write;
use engine::nature::Replaced;
use engine::world::{Pod, Uid};
use jiff::{SignedDuration, Timestamp};

use crate::held::{moved, open, strategy_after};
use crate::said::line;

/// Panics where a decision breaks a promise, by what it could see.
pub(crate) fn judge(world: &World, decision: &Decision, now: Timestamp) {
    stillness(world, decision, now);
    let progressing = |phase| phase == Some(Phase::Progressing);
    if progressing(world.status.phase) && progressing(decision.status.phase) {
        let same = world.status.update_revision == decision.status.update_revision;
        assert!(same || world.release.rollback_in_batches, "{}: another release", line(decision));
    }
    let (Target::Found(body), Some(action)) = (&world.target, &decision.action) else { return };
    let told = line(decision);
    if let Action::Move(motion) = action {
        for victim in motion.victims() {
            assert!(decision.status.evicting.contains(&victim.uid), "{told}: unannounced");
        }
    }
    let disturbed = disturbed(world, body, action);
    if world.release.paused && decision.status.phase == Some(Phase::Progressing) {
        assert!(disturbed.is_empty(), "{told} in a pause");
    }
    if decision.status.phase == Some(Phase::Progressing) {
        let seen = body.workload.observed_generation >= body.workload.generation;
        let same = decision.status.update_revision == body.workload.update_revision;
        assert!(disturbed.is_empty() || (seen && same), "{told} of another revision");
    }
    target(world, body, decision, action, &disturbed);
    budget(world, body, action, &disturbed, &told);
}

fn stillness(world: &World, decision: &Decision, now: Timestamp) {
    let told = line(decision);
    if let Some(wake) = decision.wake {
        assert!(wake > now, "{told} wakes in the past");
        assert!(
            wake <= now + SignedDuration::from_secs(30),
            "{told} wakes later than the slow look"
        );
    }
    assert!(!decision.status.message.is_empty(), "{told} without a message");
    if decision.action.is_some() {
        assert!(decision.wake.is_some(), "{told} acts and does not look how far it got");
        return;
    }
    let again = World { status: decision.status.clone(), ..world.clone() };
    let second = decide(&again, now);
    // Ready has been said, and the next batch begins.
    let goes_on = decision.status.current_batch < second.status.current_batch
        || decision.status.phase != world.status.phase
        || world.status.current_batch < decision.status.current_batch;
    if !goes_on {
        assert!(second.action.is_none(), "{told}, then {}", line(&second));
        assert_eq!(second.status, decision.status, "{told} says more at once");
    }
}

/// The old Pods that an action takes away, or leaves to the workload's own controller.
fn disturbed(world: &World, body: &Body, action: &Action) -> Vec<Uid> {
    match action {
        Action::Move(Motion::Evict { pods } | Motion::Delete { pods }) => {
            pods.iter().map(|victim| victim.uid.clone()).collect()
        }
        action => {
            let before = open(world, body, body.workload.strategy);
            let mut after = open(world, body, strategy_after(body, action));
            after.retain(|uid| !before.contains(uid));
            after
        }
    }
}

/// What the batch that is allowed comes to.
fn allowed(world: &World, decision: &Decision, body: &Body) -> u32 {
    let done = decision.status.no_need_update.unwrap_or(0).min(body.workload.replicas);
    let replicas = body.workload.replicas - done;
    let batch = world.release.batch_partition.map_or(0, |batch| batch as usize);
    let step = world.release.batches[batch.min(world.release.batches.len() - 1)];
    match body.machinery {
        Machinery::Deployment(_) => done + step.of_deployment(replicas),
        _ => done + step.of(replicas),
    }
}

fn target(world: &World, body: &Body, decision: &Decision, action: &Action, disturbed: &[Uid]) {
    let told = line(decision);
    if decision.status.phase != Some(Phase::Progressing) {
        return;
    }
    let most = allowed(world, decision, body);
    if let Action::Size(write) = action {
        let new = match (&body.machinery, write) {
            (_, Write::Create { size }) => *size,
            (Machinery::Deployment(it), Write::Size { name, size }) => {
                let grows =
                    it.new.as_ref().is_some_and(|new| new.name == *name && new.size < *size);
                if grows { *size } else { 0 }
            }
            _ => 0,
        };
        // With no other ReplicaSet there is nothing that could hold the rest.
        let alone = matches!(&body.machinery, Machinery::Deployment(it) if it.old.is_empty());
        assert!(new <= most || alone, "{told} sizes the new ReplicaSet to {new} of {most}");
        return;
    }
    let stands = strategy_after(body, action);
    let moved = moved(world, body, disturbed, stands);
    if !disturbed.is_empty() {
        // Broken Pods that come back as they were bring it no further.
        let before = self::moved(world, body, &[], stands);
        let no_further = moved == before && matches!(action, Action::Move(Motion::Evict { .. }));
        assert!(no_further || moved <= most, "{told} brings it to {moved} of {most}");
    } else if matches!(action, Action::Move(_)) {
        let before = self::moved(world, body, &[], body.workload.strategy);
        assert!(moved <= before.max(most), "{told} brings it from {before} to {moved} of {most}");
    }
}

fn budget(world: &World, body: &Body, action: &Action, disturbed: &[Uid], told: &str) {
    let ready = |uid: &Uid| {
        world
            .pods
            .iter()
            .any(|it| it.uid == *uid && it.ready_since.is_some() && it.deletion.is_none())
    };
    let opens = matches!(action, Action::Move(Motion::Open { .. }));
    let together = matches!(body.machinery, Machinery::Pods { nature, .. } if nature.replaced == Replaced::Together);
    // Whoever asks no budget may take all that is open at once, if only what was open before.
    let (before, all) = (
        open(world, body, body.workload.strategy),
        open(world, body, strategy_after(body, action)),
    );
    let disturbed = if opens && together { &all } else { disturbed };
    let taken = u32::try_from(disturbed.iter().filter(|uid| ready(uid)).count()).unwrap_or(0);
    let adds_none = opens && together && all.iter().all(|it| !ready(it) || before.contains(it));
    if taken == 0 || adds_none {
        return;
    }
    if let Some(budget) = world.budgets.first() {
        assert!(taken <= budget.allowed, "{told}: {taken} taken, {} allowed", budget.allowed);
    } else if !opens {
        let own = body.max_unavailable.map_or(1, |max| max.of_rounded_down(body.workload.replicas));
        assert!(taken <= own.max(1), "{told}: {taken} taken, {own} may be unavailable");
    }
    let evicts = matches!(action, Action::Move(Motion::Evict { .. } | Motion::Delete { .. }));
    if evicts && matches!(body.machinery, Machinery::Pods { nature, .. } if nature.loses()) {
        let own = body.max_unavailable.map_or(1, |max| max.of_rounded_down(body.workload.replicas));
        let goes = |pod: &&Pod| pod.deletion.is_some() || world.outcome.accepted.contains(&pod.uid);
        let count = |pods: usize| u32::try_from(pods).unwrap_or(0);
        let going = count(world.pods.iter().filter(goes).count());
        let stay = count(world.pods.len()) - going;
        let coming_up =
            |pod: &&Pod| pod.revision == body.workload.update_revision && pod.ready_since.is_none();
        let coming_up = world.pods.iter().filter(|pod| !goes(pod)).filter(coming_up).count();
        // What goes because fewer are wanted is not missed.
        let away = going.min(body.workload.replicas.saturating_sub(stay)) + count(coming_up);
        assert!(away + taken <= own.max(1), "{told}: {away} away, {taken} taken, {own} may be");
    }
}
