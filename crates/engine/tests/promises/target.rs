//! How far a rollout may be: the target and what counts towards it.

use engine::status::Phase;

use crate::fixture::{check, moved, names, ready_pod, world};

/// With a budget that allows everything, a first look moves exactly the target.
#[track_caller]
fn first_look_moves(percent: i64, replicas: u32, pods: usize) {
    let decision = world().replicas(replicas).budget(replicas.max(1)).percent(percent).decide();
    assert_eq!(moved(&decision).len(), pods, "{percent}% of {replicas}");
}

#[test]
fn a_first_look_moves_the_percentage_rounded_up_but_between_one_and_all_but_one() {
    first_look_moves(50, 4, 2);
    first_look_moves(0, 4, 0);
    first_look_moves(1, 4, 1);
    first_look_moves(99, 4, 3);
    first_look_moves(26, 4, 2);
    first_look_moves(100, 4, 4);
    first_look_moves(50, 1, 1);
    first_look_moves(33, 10, 4);
}

#[test]
fn at_percent_0_the_template_stands_and_no_pod_moves() {
    let decision = check(&world().percent(0).budget(4), "Done Completed: -");
    assert_eq!((decision.status.target_replicas, decision.status.updated_replicas), (0, 0));
}

#[test]
fn a_rollout_is_done_when_its_target_is_reached_and_good() {
    check(&world().percent(50).budget(2).updated(3).updated(2), "Done Completed: -");
    check(&world().percent(50).budget(2).updated(3).starting(2), "InProgress WaitingForPods: -");
    check(&world().percent(50).budget(2).updated(3), "InProgress Evicting: evict 2");
}

#[test]
fn a_set_of_no_replicas_is_done_and_says_why() {
    let decision = check(&world().replicas(0).budget(1), "Done Completed: -");
    names(&decision.status.reason, &["scaled to 0"]);
}

#[test]
fn a_leaked_pod_counts_as_moved() {
    let fixture = world().percent(50).budget(2).leaked(0);
    check(&fixture, "InProgress Evicting: evict 3");
}

#[test]
fn whatever_is_going_or_missing_counts_as_moved_for_it_returns_updated() {
    check(&world().percent(25).budget(2).terminating(0), "InProgress WaitingForPods: -");
    check(&world().percent(25).budget(2).gone(0), "InProgress WaitingForPods: -");
}

#[test]
fn a_pod_that_we_evicted_and_still_see_counts_as_moved() {
    check(&world().percent(25).budget(2).accepted(3), "InProgress WaitingForPods: -");
}

#[test]
fn lowering_the_percentage_moves_nothing_back_and_is_reported() {
    let fixture = world().percent(25).budget(2).updated(3).updated(2).with(|world| {
        world.status.percent_requested = Some(50);
        world.status.phase = Some(Phase::Done);
    });
    let decision = check(&fixture, "Done Completed: -");
    names(&decision.status.reason, &["2 of 4", "more than the 1 of 25%", "nothing is moved back"]);
}

#[test]
fn the_start_of_the_ordinals_is_respected() {
    let fixture = world().first_ordinal(5).percent(50).budget(2);
    check(&fixture, "InProgress Evicting: evict 8 7");
}

#[test]
fn pods_beyond_the_replicas_are_none_of_the_rollouts_business() {
    // Scaled down from 5 to 4, the fifth is on its way out.
    let fixture = world().budget(2).percent(50).with(|world| world.pods.push(ready_pod(4, "v1")));
    check(&fixture, "InProgress Evicting: evict 3 2");
    assert_eq!(fixture.decide().status.pods.len(), 4);
}

#[test]
fn a_rollback_moves_only_the_pods_that_moved() {
    // Back at v1: what never moved matches already.
    let fixture = world()
        .updated(3)
        .broken(2, "ImagePullBackOff")
        .budget(2)
        .with_set(|set| set.update_revision = "v1".into())
        .with(|world| world.status.update_revision = "v1".into());
    // The broken one is Pending, so evicting it costs nothing; the good one takes the room left.
    check(&fixture, "InProgress Evicting: evict 2 3");
}
