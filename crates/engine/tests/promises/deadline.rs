//! `progressDeadlineSeconds`, and when its clock stands still.

use engine::status::Phase;
use engine::world::VersionLeak;
use jiff::Timestamp;

use crate::fixture::{Fixture, ago, ahead, check, names, noon, seconds, world};

fn waiting(since: i64) -> Fixture {
    world().budget(1).broken(3, "ImagePullBackOff").with(|world| {
        world.status.last_progress = Some(ago(since));
        world.status.progressed = 1;
    })
}

/// The same world, looked at `later` seconds after a first look.
fn later(fixture: &Fixture, later: i64) -> engine::decision::Decision {
    let mut world = fixture.build();
    world.status = fixture.decide().status;
    engine::decide(&world, noon() + seconds(later))
}

#[test]
fn a_broken_image_ends_in_failed_naming_pod_cause_and_remedy() {
    let decision = check(&waiting(600), "Failed ProgressDeadlineExceeded: -");
    names(
        &decision.status.reason,
        &["600 s", "web-3", "ImagePullBackOff", "roll back", "rolloutIdentity"],
    );
    assert_eq!(decision.wake, None);
}

#[test]
fn a_broken_image_ends_in_failed_without_a_budget_too() {
    let fixture = world().broken(3, "ImagePullBackOff").with(|world| {
        world.status.last_progress = Some(ago(600));
        world.status.progressed = 1;
    });
    check(&fixture, "Failed ProgressDeadlineExceeded: -");
}

#[test]
fn until_then_it_waits_and_wakes_exactly_at_the_deadline() {
    let decision = check(&waiting(580), "InProgress WaitingForPods: -");
    assert_eq!(decision.wake, Some(ahead(20)));
}

#[test]
fn progress_starts_the_clock_again() {
    let fixture = waiting(599).updated(2);
    let decision = fixture.decide();
    assert_eq!(decision.status.last_progress, Some(noon()));
}

#[test]
fn a_pause_stops_the_clock_and_resuming_lets_it_go_on() {
    let paused = waiting(590).paused().again();
    let mut world = paused.build();
    world.rollout.pause_requested = false;
    let resumed = engine::decide(&world, ahead(3600));
    assert_eq!(resumed.status.phase, Some(Phase::InProgress), "{}", resumed.status.reason);
    assert_eq!(resumed.wake, Some(ahead(3610)), "ten seconds were left");
    world.status = resumed.status;
    assert_eq!(engine::decide(&world, ahead(3610)).status.phase, Some(Phase::Failed));
}

#[test]
fn the_clock_stands_still_while_a_budget_blocks_for_foreign_reasons() {
    let blocked = world().with(|world| {
        let mut budget = crate::fixture::budget_over(&world.pods, 9, 2);
        budget.allowed = 0;
        world.budgets = vec![budget];
        world.status.last_progress = Some(ago(599));
    });
    check(&blocked, "InProgress BudgetExhausted: -");
    assert_eq!(later(&blocked, 86_400).status.phase, Some(Phase::InProgress));
}

#[test]
fn the_clock_stands_still_while_the_interval_is_waited_for() {
    let spaced = world().budget(1).with(|world| {
        world.rollout.min_eviction_interval = seconds(3600);
        world.status.last_eviction = Some(ago(3000));
        world.status.last_progress = Some(ago(3000));
    });
    check(&spaced, "InProgress WaitingForInterval: -");
    assert_eq!(later(&spaced, 599).status.phase, Some(Phase::InProgress));
}

#[test]
fn a_leak_pause_stops_the_clock() {
    let fixture = waiting(599).percent(50).leaked(0).version_leak(VersionLeak::Pause);
    check(&fixture, "Paused LeakFound: -");
    assert_eq!(later(&fixture, 86_400).status.phase, Some(Phase::Paused));
}

#[test]
fn a_new_identity_starts_the_clock_again() {
    let fixture = waiting(86_400).phase(Phase::Failed).with(|world| {
        world.rollout.identity = "second".into();
        world.rollout.generation = 3;
    });
    let decision = check(&fixture, "InProgress WaitingForPods: -");
    assert_eq!(decision.status.last_progress, Some(noon()));
}

#[test]
fn a_pod_stuck_in_termination_is_named_with_its_node_and_never_forced() {
    let fixture = waiting(600).pod(3, |pod| pod.deletion = Some(ago(500)));
    let decision = check(&fixture, "Failed ProgressDeadlineExceeded: -");
    names(&decision.status.reason, &["web-3", "terminating", "node n3", "never force-deleted"]);
    let fixture = fixture.pod(3, |pod| pod.finalizers = vec!["example.com/drain".to_owned()]);
    let decision = check(&fixture, "Failed ProgressDeadlineExceeded: -");
    names(&decision.status.reason, &["web-3", "terminating", "node n3", "example.com/drain"]);
    // Within its grace period there is nothing to be done about it.
    let decision = check(&waiting(5).terminating(3), "InProgress WaitingForPods: -");
    assert!(!decision.status.reason.contains("force"), "{}", decision.status.reason);
}

#[test]
fn a_pod_lost_long_after_the_rollout_was_done_does_not_fail_it() {
    let fixture = world().budget(1).updated(0).updated(1).updated(2).updated(3);
    let fixture = fixture.phase(Phase::Done).terminating(1).with(|world| {
        world.status.last_progress = Some(ago(86_400));
        world.status.progressed = 8;
    });
    check(&fixture, "Done Completed: -");
}

#[test]
fn a_done_rollout_that_goes_on_gets_its_whole_deadline() {
    // Done at 25 % of 4 a day ago; scaled up to 8 by an autoscaler since, with new Pods held at v1.
    let fixture = world().replicas(8).percent(25).budget(1).held(7).starting(7);
    let fixture = fixture.with(|world| world.rollout.min_eviction_interval = seconds(600));
    let fixture = fixture.phase(Phase::Done).with(|world| {
        world.status.last_progress = Some(ago(86_400));
        world.status.last_eviction = Some(ago(10));
        world.status.progressed = 2;
    });
    let decision = check(&fixture, "InProgress WaitingForPods: -");
    assert_eq!(decision.status.last_progress, Some(noon()));
    check(&fixture.again(), "InProgress WaitingForPods: -");
}

#[test]
fn a_rollout_that_is_given_up_leaves_nothing_open() {
    let fixture = waiting(600).held(1).with(|world| world.status.progressed = 3);
    check(&fixture, "Failed ProgressDeadlineExceeded: strategy partition 3");
    check(&fixture.clone().again(), "Failed ProgressDeadlineExceeded: strategy partition 3");
    check(&fixture.again().held(3), "Failed ProgressDeadlineExceeded: -");
}

#[test]
fn deadlines_far_away_do_not_overflow() {
    let fixture = waiting(10).with(|world| {
        world.rollout.progress_deadline = jiff::SignedDuration::MAX;
        world.status.last_progress = Some(Timestamp::MAX);
    });
    check(&fixture, "InProgress WaitingForPods: -");
}
