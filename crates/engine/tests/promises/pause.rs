//! `pauseRequested`: nothing further is disturbed.

use engine::status::Phase;

use crate::fixture::{check, names, seconds, world};

#[test]
fn a_pause_moves_no_pod_and_says_how_far_it_is() {
    let decision = check(&world().budget(2).updated(3).paused(), "Paused PauseRequested: -");
    names(&decision.status.reason, &["pauseRequested", "1 of 4", "4 wanted"]);
    assert!(decision.status.paused);
    assert_eq!(decision.wake, None);
}

#[test]
fn a_pause_replaces_not_even_broken_pods() {
    check(&world().budget(2).pending(1).paused(), "Paused PauseRequested: -");
}

#[test]
fn resuming_goes_on_where_it_stood() {
    let fixture = world().budget(1).updated(3).phase(Phase::Paused);
    check(&fixture, "InProgress Evicting: evict 2");
}

#[test]
fn a_template_is_applied_in_a_pause_too() {
    let fixture = world().paused().with(|world| {
        world.rollout.desired_hash = "hash-v3".into();
        world.rollout.generation = 3;
    });
    check(&fixture.with_set(|set| set.matches = false), "InProgress Applying: apply OnDelete");
}

#[test]
fn replicas_are_applied_in_a_pause_too() {
    let fixture = world().paused().phase(Phase::Paused).with(|world| {
        world.rollout.replicas = Some(6);
        world.rollout.desired_hash = "hash-v2-6".into();
        world.rollout.generation = 3;
    });
    check(&fixture.with_set(|set| set.matches = false), "InProgress Applying: apply OnDelete");
}

#[test]
fn a_pause_after_the_last_pod_is_reached_ends_in_done() {
    let fixture = world().percent(50).budget(2).updated(3).updated(2).paused();
    check(&fixture, "Done Completed: -");
}

#[test]
fn a_pause_draws_an_open_partition_back_to_what_has_moved() {
    // Opened down to 1: 3 moved, 2 going, 1 still standing.
    let fixture = world().budget(2).held(1).updated(3).accepted(2).terminating(2).paused();
    check(&fixture, "Paused PauseRequested: strategy partition 2");
    let drawn = world().budget(2).held(2).updated(3).accepted(2).terminating(2).paused();
    check(&drawn, "Paused PauseRequested: -");
}

#[test]
fn a_pause_waits_for_no_interval() {
    let fixture = world().budget(2).paused().with(|world| {
        world.rollout.min_eviction_interval = seconds(30);
    });
    check(&fixture, "Paused PauseRequested: -");
}
