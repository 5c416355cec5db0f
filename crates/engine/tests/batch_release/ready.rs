use engine::front::batch_release::{BatchState, Change, ConditionKind, Target};
use jiff::SignedDuration;

use crate::fixture::{
    Fixture, ago, ahead, daemons, noon, on_delete, partition, percent, pods, set,
};
use crate::said::{check, names};

/// The second batch of ten, six Pods, moved but for those that are said not to be ready.
fn moved() -> Fixture {
    set(10).at(1).strategy(partition(4)).updated(&[9, 8, 7, 6, 5, 4])
}

#[test]
fn a_batch_is_ready_when_all_its_pods_are() {
    let decision = check(&moved(), "2 Ready: -");
    assert_eq!(decision.status.batch_ready_time, Some(noon()));
    assert_eq!((decision.status.updated, decision.status.updated_ready), (6, 6));
    assert_eq!(decision.wake, None);
    check(&moved().starting(4), "2 Verifying: -");
}

#[test]
fn as_many_as_the_threshold_says_may_be_unready() {
    let one = moved().starting(4);
    check(&one.clone().release(|it| it.failure_threshold = Some(pods(1))), "2 Ready: -");
    check(&one.clone().release(|it| it.failure_threshold = Some(percent(1))), "2 Ready: -");
    check(&one.clone().release(|it| it.failure_threshold = Some(pods(0))), "2 Verifying: -");
    check(&one.starting(5).release(|it| it.failure_threshold = Some(pods(1))), "2 Verifying: -");
}

#[test]
fn without_a_threshold_it_is_the_workloads_max_unavailable() {
    check(&moved().starting(4).max_unavailable(pods(1)), "2 Ready: -");
    check(&moved().starting(4).max_unavailable(percent(20)), "2 Ready: -");
    check(&moved().starting(4).max_unavailable(percent(10)), "2 Verifying: -");
    let zero = moved().starting(4).max_unavailable(pods(1));
    check(&zero.release(|it| it.failure_threshold = Some(pods(0))), "2 Verifying: -");
}

#[test]
fn one_pod_has_to_be_ready_whatever_the_threshold() {
    let none = set(5).strategy(partition(4)).starting(4);
    check(&none.release(|it| it.failure_threshold = Some(pods(3))), "1 Verifying: -");
    let daemons = daemons(5).starting(2);
    check(&daemons.release(|it| it.failure_threshold = Some(pods(3))), "1 Verifying: -");
}

#[test]
fn an_empty_workload_is_ready_at_once() {
    check(&set(0), "1 Ready: -");
    check(&daemons(0), "1 Ready: -");
}

#[test]
fn ready_is_by_the_users_own_min_ready_seconds() {
    let young = moved().change(4, |pod| pod.ready_since = Some(ago(5)));
    check(&young, "2 Ready: -");
    let soaking = young.workload(|it| it.min_ready = SignedDuration::from_secs(8));
    let decision = check(&soaking, "2 Verifying: -");
    assert_eq!(decision.wake, Some(ahead(3)));
}

#[test]
fn a_batch_that_loses_a_pod_is_no_longer_ready() {
    let ready = moved().again();
    assert_eq!(ready.world.status.batch_state, Some(BatchState::Ready));
    let decision = check(&ready.clone().gone(4), "2 Upgrading: -");
    assert_eq!(decision.status.batch_ready_time, None);
    check(&ready.starting(4), "2 Verifying: -");
}

#[test]
fn a_batch_without_progress_is_called_stuck_and_goes_on() {
    let waits = moved().broken(4).again();
    assert_eq!(waits.world.status.last_progress, Some(noon()));
    assert!(waits.world.status.condition(ConditionKind::Stuck).is_none());
    let late = waits.status(|status| status.last_progress = Some(ago(600)));
    let decision = check(&late, "2 Verifying: -");
    let stuck = decision.status.condition(ConditionKind::Stuck).expect("stuck");
    names(&stuck.message, &["600 s", "web-4", "ImagePullBackOff"]);
    let on_delete = on_delete(10).at(1).budget(3).status(|it| it.last_progress = Some(ago(600)));
    check(&on_delete, "2 Upgrading: evict 9 8 7");
    assert!(on_delete.decide().status.condition(ConditionKind::Stuck).is_some());
    check(&late.change(4, |pod| pod.ready_since = Some(noon())), "2 Ready: -");
}

#[test]
fn counts_and_sentences_may_wait_to_be_written_and_nothing_else() {
    let waits = moved().starting(4).again();
    let old = waits.world.status.clone();
    let change = |fixture: &Fixture| fixture.decide().status.change(&old);
    assert_eq!(change(&waits), Change::None);
    assert_eq!(change(&waits.clone().starting(5)), Change::Numbers);
    assert_eq!(change(&waits.clone().gone(4)), Change::Numbers);
    let missing = waits.clone().with(|world| world.target = Target::Missing);
    assert_eq!(change(&missing), Change::Standing);
    assert_eq!(change(&waits.change(4, |pod| pod.ready_since = Some(ago(1)))), Change::Standing);
    let evicts = on_delete(10).budget(3);
    assert_eq!(evicts.decide().status.change(&evicts.world.status), Change::Standing);
}
