//! A Deployment that is scaled in the middle of a batch.

use engine::mover::replica_sets::{Deployment, Next, Write, next};
use engine::quantity::IntOrPercent::{self, Int, Percent};

use crate::fixture::{Told, check, deployment, set};

/// Carries out write after write at once, each Pod available at once, until nothing is left to do.
fn settle(deployment: &mut Deployment) -> Vec<(String, u32)> {
    for _ in 0..100 {
        let Next::Write(write) = next(deployment) else { break };
        let replicas = deployment.replicas;
        let (name, size) = match write {
            Write::Create { size } => {
                deployment.new = Some(set(9, 0));
                ("v9".to_owned(), size)
            }
            Write::Size { name, size } => (name, size),
        };
        let mut sets = deployment.new.iter_mut().chain(&mut deployment.old);
        let set = sets.find(|set| set.name == name).expect("a known one");
        (set.size, set.available, set.sized_for) = (size, size, replicas);
    }
    assert_eq!(next(deployment), Next::Rest);
    let sets = deployment.new.iter().chain(&deployment.old);
    sets.map(|set| (set.name.clone(), set.size)).collect()
}

/// A batch at rest, then scaled: new and old Pods in the end.
#[track_caller]
fn scaled(step: IntOrPercent, from: u32, to: u32, expect: (u32, u32)) {
    let moved = step.of_deployment(from);
    let mut deployment = deployment();
    deployment.replicas = to;
    deployment.target = step.of_deployment(to);
    deployment.new = (moved > 0).then(|| set(9, moved).sized_for(from));
    deployment.old = vec![set(1, from - moved).sized_for(from)];
    let sizes = settle(&mut deployment);
    let of = |name: &str| sizes.iter().find(|(n, _)| n == name).map_or(0, |(_, size)| *size);
    assert_eq!((of("v9"), of("v1")), expect, "{step} from {from} to {to}");
}

#[test]
fn a_batch_keeps_its_share_when_scaled() {
    scaled(Percent(50), 10, 20, (10, 10));
    scaled(Percent(50), 10, 5, (3, 2));
    scaled(Percent(20), 5, 10, (2, 8));
    scaled(Percent(99), 10, 3, (2, 1));
    scaled(Percent(100), 10, 3, (3, 0));
    scaled(Int(5), 10, 20, (5, 15));
    scaled(Int(5), 10, 4, (4, 0));
    scaled(Percent(50), 10, 0, (0, 0));
    scaled(Percent(50), 0, 10, (5, 5));
}

#[test]
fn one_percent_of_five_is_one_percent_of_twenty_eight() {
    // openkruise/rollouts issue 321: five new Pods came up.
    scaled(Percent(1), 5, 28, (1, 27));
    scaled(Percent(1), 28, 5, (1, 4));
}

#[test]
fn what_moved_beyond_the_batch_keeps_its_share_too() {
    let mut deployment = deployment();
    (deployment.replicas, deployment.target) = (5, 1);
    (deployment.new, deployment.old) = (Some(set(9, 8)), vec![set(1, 2)]);
    assert_eq!(settle(&mut deployment), [("v9".to_owned(), 4), ("v1".to_owned(), 1)]);
}

#[test]
fn scaling_in_takes_no_available_pod_that_is_needed() {
    // None of the new ones is ready: they go, the old ones stay.
    check(
        |d| {
            (d.replicas, d.target) = (5, 3);
            (d.new, d.old) = (Some(set(2, 5).available(0)), vec![set(1, 5)]);
        },
        "v2 3",
    );
    check(
        |d| {
            (d.replicas, d.target) = (5, 3);
            d.new = Some(set(2, 3).available(0).sized_for(5));
            d.old = vec![set(1, 5)];
        },
        "v1 3",
    );
}

#[test]
fn a_paused_one_follows_a_scaling_and_nothing_else() {
    let paused = |d: &mut Deployment, replicas: u32| (d.paused, d.replicas) = (true, replicas);
    let half = |d: &mut Deployment| (d.new, d.old) = (Some(set(2, 2)), vec![set(1, 8)]);
    check(|d| (paused(d, 20), half(d)).1, "v1 18");
    check(|d| (paused(d, 8), half(d)).1, "v1 6");
    // No new one yet: a change that came on top of an unfinished release is held.
    check(|d| (paused(d, 12), d.old = vec![set(1, 8), set(2, 2)]).1, "v1 10");
}

#[test]
fn what_a_set_was_sized_for_is_kept_current() {
    // Two of ten are two of nine as well, yet the set has to say so.
    check(
        |d| {
            (d.replicas, d.target) = (9, 2);
            (d.new, d.old) = (Some(set(2, 2)), vec![set(1, 7).sized_for(9)]);
        },
        "v2 2",
    );
    check(
        |d| {
            (d.replicas, d.target) = (9, 2);
            d.new = Some(set(2, 2).sized_for(9));
            d.old = vec![set(1, 7).sized_for(9)];
        },
        "rest",
    );
}
