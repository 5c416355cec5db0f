//! The promises, asked of every single decision.

use engine::account::is_available;
use engine::decision::{Action, Decision};
use engine::status::{Phase, Status};
use engine::world::{Discovery, PodManagement, Strategy, Uid, Workload, World};
use jiff::Timestamp;

use crate::fixture::{line, names, seconds};

/// Panics where a decision breaks a promise, by what it could see.
pub(crate) fn judge(world: &World, decision: &Decision, now: Timestamp) {
    truth(world, decision, now);
    stillness(world, decision, now);
    if let (Some(set), Some(action)) = (&world.workload, &decision.action) {
        announced(decision, action);
        let on_delete = Action::Apply { strategy: Strategy::OnDelete };
        let refused = *action == on_delete && set.strategy != Strategy::OnDelete;
        assert!(!refused, "an apply cannot take away a partition that stands");
        pause(world, set, action);
        target(world, set, decision, action);
        budget(world, set, action, now);
    }
}

fn truth(world: &World, decision: &Decision, now: Timestamp) {
    let status = &decision.status;
    let told = line(decision);
    assert!(!status.reason.is_empty(), "{told} without a reason");
    assert_eq!(status.observed_generation, world.rollout.generation);
    if status.phase == Some(Phase::Failed) {
        names(&status.reason, &["web"]);
    }
    let newly = world.status.phase != Some(Phase::Done)
        || world.status.percent_requested != Some(world.rollout.percent.get())
        || world.status.identity != world.rollout.identity
        || world.status.desired_hash != world.rollout.desired_hash;
    if status.phase != Some(Phase::Done) || !newly {
        return;
    }
    let set = world.workload.as_ref().expect("done is said of a StatefulSet");
    assert!(set.matches && set.observed_generation == set.generation, "{told} before the spec");
    let good = world.pods.iter().filter(|pod| {
        (set.first_ordinal..set.first_ordinal + set.replicas).contains(&pod.ordinal)
            && pod.revision == set.update_revision
            && is_available(pod, set, now)
            && match &world.discovery {
                Discovery::Read { passing, .. } => passing.contains(&pod.name),
                Discovery::Unreachable { .. } => false,
                Discovery::NotAsked | Discovery::NotConfigured => true,
            }
    });
    let target = world.rollout.percent.of(set.replicas);
    assert!(good.count() >= target as usize, "{told} with fewer than {target} good Pods");
}

fn stillness(world: &World, decision: &Decision, now: Timestamp) {
    let told = line(decision);
    if let Some(wake) = decision.wake {
        assert!(wake > now, "{told} wakes in the past");
        assert!(wake <= now + world.settings.slow, "{told} wakes later than the slow look");
    }
    if decision.action.is_some() {
        assert!(decision.wake.is_some(), "{told} acts and does not look how far it got");
        return;
    }
    let ended = decision.status.phase.is_some_and(Phase::is_final);
    let waits_for_pace = world.outcome.acted_at.is_some_and(|at| at + seconds(30) > now);
    assert!(!ended || decision.wake.is_none() || waits_for_pace, "{told} is final and wakes");
    let again = World { status: decision.status.clone(), ..world.clone() };
    let second = engine::decide(&again, now);
    assert!(second.action.is_none() || waits_for_pace, "{told}, then {}", line(&second));
    if second.action.is_none() {
        assert!(
            !second.status.says_more_than(&decision.status),
            "{told} says more at once: {}",
            difference(&decision.status, &second.status)
        );
    }
}

/// The lines in which two statuses differ.
fn difference(one: &Status, other: &Status) -> String {
    let (one, other) = (format!("{one:#?}"), format!("{other:#?}"));
    let pairs = one.lines().zip(other.lines()).filter(|(a, b)| a != b);
    pairs.map(|(a, b)| format!("{} / {}; ", a.trim(), b.trim())).collect()
}

fn announced(decision: &Decision, action: &Action) {
    for victim in action.victims() {
        assert!(decision.status.evicting.contains(&victim.uid), "{} unannounced", victim.name);
    }
}

fn pause(world: &World, set: &Workload, action: &Action) {
    if world.rollout.pause_requested {
        assert!(action.victims().is_empty(), "{} in a pause", action.name());
        let opened = newly_open(world, set, action);
        assert!(opened.is_empty(), "opens {opened:?} in a pause");
    }
}

/// The old Pods that an action leaves to the StatefulSet controller and that it could not replace before.
fn newly_open(world: &World, set: &Workload, action: &Action) -> Vec<Uid> {
    let after = match action {
        Action::Apply { strategy } | Action::SetStrategy { strategy } => *strategy,
        Action::Open { partition, .. } => Strategy::RollingUpdate { partition: *partition },
        Action::Evict { .. } | Action::Delete { .. } => set.strategy,
    };
    let new_template = matches!(action, Action::Apply { .. }) && !set.template_matches;
    let open = |strategy: Strategy, ordinal: u32| match strategy {
        Strategy::OnDelete => false,
        Strategy::RollingUpdate { partition } => ordinal >= set.first_ordinal + partition,
    };
    let old = world.pods.iter().filter(|pod| {
        pod.deletion.is_none()
            && pod.ordinal < set.first_ordinal + set.replicas
            && !world.outcome.accepted.contains(&pod.uid)
            && (new_template || pod.revision != set.update_revision)
            && open(after, pod.ordinal)
            && (new_template || !open(set.strategy, pod.ordinal))
    });
    old.map(|pod| pod.uid.clone()).collect()
}

/// What an action takes away or leaves to be taken away: victims and newly opened Pods.
fn disturbed(world: &World, set: &Workload, action: &Action) -> Vec<Uid> {
    let mut all = newly_open(world, set, action);
    all.extend(action.victims().iter().map(|victim| victim.uid.clone()));
    all.sort();
    all.dedup();
    all
}

fn target(world: &World, set: &Workload, decision: &Decision, action: &Action) {
    if let Action::Apply { .. } | Action::SetStrategy { .. } = action {
        // A template and what holds it come in one write: nothing may be open to it.
        let opened = newly_open(world, set, action);
        assert!(opened.is_empty(), "{} opens {opened:?}", line(decision));
        return;
    }
    let disturbed = disturbed(world, set, action);
    let partition = match (action, set.strategy) {
        (Action::Open { partition, .. }, _) => Some(*partition),
        (_, Strategy::RollingUpdate { partition }) => Some(partition),
        _ => None,
    };
    let moved = (set.first_ordinal..set.first_ordinal + set.replicas).filter(|ordinal| {
        let returns_new = partition.is_none_or(|p| *ordinal >= set.first_ordinal + p)
            || set.current_revision == set.update_revision;
        match world.pods.iter().find(|pod| pod.ordinal == *ordinal) {
            None => returns_new,
            Some(pod) if disturbed.contains(&pod.uid) => returns_new,
            Some(pod) if pod.deletion.is_some() => returns_new,
            Some(pod) if world.outcome.accepted.contains(&pod.uid) => returns_new,
            Some(pod) => pod.revision == set.update_revision,
        }
    });
    let (moved, target) = (moved.count(), world.rollout.percent.of(set.replicas));
    assert!(
        disturbed.is_empty() || moved <= target as usize,
        "{} brings it to {moved} of {target}",
        line(decision)
    );
}

fn budget(world: &World, set: &Workload, action: &Action, now: Timestamp) {
    let disturbed = disturbed(world, set, action);
    let healthy = |uid: &Uid| {
        world
            .pods
            .iter()
            .any(|pod| pod.uid == *uid && pod.ready_since.is_some() && pod.deletion.is_none())
    };
    let taken = disturbed.iter().filter(|uid| healthy(uid)).count();
    if taken == 0 {
        return;
    }
    let accepted = &world.outcome.accepted;
    let standing = world.pods.iter().filter(|pod| {
        pod.ordinal < set.first_ordinal + set.replicas
            && healthy(&pod.uid)
            && !accepted.contains(&pod.uid)
    });
    let standing = standing.count();
    match world.budgets.first() {
        None => {
            assert_eq!(taken, 1, "without a budget");
            let rest_good = world.pods.iter().all(|pod| {
                disturbed.contains(&pod.uid)
                    || pod.ordinal >= set.first_ordinal + set.replicas
                    || pod.revision != set.update_revision
                    || is_available(pod, set, now)
            });
            assert!(rest_good, "moves on before what it moved is good");
        }
        Some(budget) => {
            assert!(taken <= budget.allowed as usize, "{taken} taken, {} allowed", budget.allowed);
            if budget.expected == set.replicas {
                let left = standing - taken;
                assert!(left >= budget.desired_healthy as usize, "leaves {left} healthy");
            }
        }
    }
    if set.management == PodManagement::OrderedReady {
        assert_eq!(taken, 1, "under OrderedReady");
    }
}
