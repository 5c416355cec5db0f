//! `minPodEvictionIntervalSeconds`, and the operator's own pace.

use crate::fixture::{Fixture, ago, ahead, check, names, seconds, world};

fn spaced(last: i64) -> Fixture {
    world().budget(3).with(|world| {
        world.rollout.min_eviction_interval = seconds(30);
        world.status.last_eviction = Some(ago(last));
    })
}

#[test]
fn an_interval_spaces_out_pod_by_pod() {
    check(&spaced(30), "InProgress Evicting: evict 3");
    let decision = check(&spaced(29), "InProgress WaitingForInterval: -");
    names(&decision.status.reason, &["minPodEvictionIntervalSeconds is 30"]);
    assert_eq!(decision.wake, Some(ahead(1)));
}

#[test]
fn an_interval_does_not_hold_back_pods_that_are_not_ready() {
    let decision = check(&spaced(1).pending(0).pending(1), "InProgress Evicting: evict 1 0");
    assert_eq!(decision.status.last_eviction, Some(ago(1)), "and they do not count for it");
}

#[test]
fn an_eviction_of_a_ready_pod_starts_the_interval() {
    let decision = spaced(60).decide();
    assert_eq!(decision.status.last_eviction, Some(ahead(0)));
}

#[test]
fn the_interval_survives_in_the_status_alone() {
    // Nothing of this process is left, as after a crash.
    let fixture = spaced(10).with(|world| world.outcome = engine::world::Outcome::default());
    check(&fixture, "InProgress WaitingForInterval: -");
}

#[test]
fn the_next_action_comes_no_earlier_than_one_interval_of_the_operator_after_the_last() {
    let acted =
        |seconds| world().budget(4).with(move |world| world.outcome.acted_at = Some(ago(seconds)));
    let decision = acted(1).decide();
    assert_eq!((decision.action, decision.wake), (None, Some(ahead(1))));
    check(&acted(2), "InProgress Evicting: evict 3 2 1 0");
}

#[test]
fn a_change_of_the_rollout_is_acted_on_at_once() {
    let fixture = world().budget(4).with(|world| {
        world.outcome.acted_at = Some(ago(1));
        world.rollout.generation = 3;
    });
    check(&fixture, "InProgress Evicting: evict 3 2 1 0");
}

#[test]
fn an_eviction_that_was_refused_does_not_start_the_interval() {
    use engine::world::Refusal;
    let refused = |seconds, refusal| {
        let fixture = spaced(seconds).refused(3, refusal);
        fixture.with(|world| world.outcome.acted_at = Some(ago(seconds)))
    };
    let budget = || Refusal::Budget("no room".into());
    check(&refused(9, budget()), "InProgress BudgetExhausted: -");
    check(&refused(10, budget()), "InProgress Evicting: evict 3");
    check(&refused(3, Refusal::NotTried), "InProgress Evicting: evict 3");
}
