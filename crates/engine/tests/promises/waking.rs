//! When the next look is due, and when there is none.

use engine::status::Phase;

use crate::fixture::{ago, ahead, check, ready_pod, seconds, world};

#[test]
fn a_final_rollout_asks_for_no_look() {
    let done = world().percent(50).budget(2).updated(3).updated(2);
    assert_eq!(check(&done, "Done Completed: -").wake, None);
}

#[test]
fn a_done_rollout_says_nothing_new_when_looked_at_again() {
    let done = world().percent(50).budget(2).updated(3).updated(2).again();
    let decision = done.decide();
    assert!(!decision.status.says_more_than(&done.world.status));
}

#[test]
fn a_standing_rollout_is_looked_at_no_later_than_the_slow_look() {
    let blocked = world().budget(0);
    assert_eq!(blocked.decide().wake, Some(ahead(30)));
}

#[test]
fn an_action_is_followed_by_a_look_one_interval_later() {
    assert_eq!(world().budget(2).decide().wake, Some(ahead(2)));
}

#[test]
fn a_pod_that_is_ripe_for_min_ready_seconds_is_looked_at_in_that_second() {
    let fixture = world().budget(1).with_set(|set| set.min_ready = seconds(10));
    let fixture = fixture.known(3, |pod| {
        *pod = ready_pod(3, "v2");
        pod.ready_since = Some(ago(4));
    });
    assert_eq!(fixture.decide().wake, Some(ahead(6)));
}

#[test]
fn a_pause_with_pods_on_their_way_is_looked_at_and_a_calm_one_is_not() {
    let calm = world().budget(2).updated(3).paused();
    assert_eq!(check(&calm, "Paused PauseRequested: -").wake, None);
    let busy = world().budget(2).starting(3).paused();
    assert!(check(&busy, "Paused PauseRequested: -").wake.is_some());
}

#[test]
fn stamps_alone_are_nothing_to_write() {
    let fixture = world().budget(0).again();
    let mut world = fixture.build();
    world.status.last_updated = Some(ago(500));
    world.status.reconcile_after = None;
    let decision = engine::decide(&world, ahead(10));
    assert!(!decision.status.says_more_than(&world.status));
}

#[test]
fn a_failed_rollout_says_nothing_new_when_looked_at_again() {
    let fixture = world().budget(1).broken(3, "CrashLoopBackOff").with(|world| {
        world.status.last_progress = Some(ago(900));
        world.status.progressed = 1;
    });
    let failed = fixture.again();
    assert_eq!(failed.world.status.phase, Some(Phase::Failed));
    let decision = engine::decide(&failed.build(), ahead(100));
    assert!(!decision.status.says_more_than(&failed.world.status));
    assert_eq!(decision.wake, None);
}

#[test]
fn a_pod_that_was_announced_and_may_not_go_says_nothing_new_when_looked_at_again() {
    let fixture = world().budget(0);
    let fixture = fixture.with(|world| world.status.evicting.push(crate::fixture::uid(3, "v1")));
    let first = fixture.again();
    let second = engine::decide(&first.build(), ahead(10));
    assert!(!second.status.says_more_than(&first.world.status));
}
