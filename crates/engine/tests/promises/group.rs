//! How many Pods go at once.

use engine::world::PodManagement;

use crate::fixture::{ago, check, names, ready_pod, seconds, uid, world};

#[test]
fn a_group_is_no_larger_than_what_the_budget_allows() {
    check(&world().replicas(10).budget(3), "InProgress Evicting: evict 9 8 7");
}

#[test]
fn a_group_is_no_larger_than_what_the_target_leaves() {
    check(&world().replicas(10).budget(5).percent(20), "InProgress Evicting: evict 9 8");
}

#[test]
fn pods_on_their_way_use_up_the_budget() {
    check(&world().replicas(10).budget(3).starting(9), "InProgress Evicting: evict 8 7");
    check(&world().replicas(10).budget(3).terminating(9), "InProgress Evicting: evict 8 7");
    check(&world().replicas(10).budget(2).starting(9).starting(8), "InProgress WaitingForPods: -");
}

#[test]
fn a_budget_status_older_than_our_evictions_is_not_believed() {
    // The budget still says 2, but two Pods are accepted and not seen going.
    let fixture = world().replicas(4).budget(2).accepted(3).accepted(2);
    check(&fixture, "InProgress WaitingForPods: -");
    check(&world().replicas(4).budget(2).accepted(3), "InProgress Evicting: evict 2");
}

#[test]
fn a_ready_pod_that_is_not_ready_for_min_ready_seconds_uses_up_the_budget() {
    let young = |ready_for| {
        world().budget(1).with_set(|set| set.min_ready = seconds(30)).known(3, move |pod| {
            *pod = ready_pod(3, "v2");
            pod.ready_since = Some(ago(ready_for));
        })
    };
    let decision = check(&young(29), "InProgress WaitingForPods: -");
    names(&decision.status.reason, &["web-3", "minReadySeconds"]);
    assert_eq!(decision.wake, Some(crate::fixture::ahead(1)));
    check(&young(30), "InProgress Evicting: evict 2");
}

#[test]
fn under_ordered_ready_one_pod_goes_at_a_time_and_the_reason_says_so() {
    let ordered = || world().budget(3).with_set(|set| set.management = PodManagement::OrderedReady);
    let decision = check(&ordered(), "InProgress Evicting: evict 3");
    names(&decision.status.reason, &["OrderedReady", "one"]);
    let decision = check(&ordered().starting(3), "InProgress WaitingForPods: -");
    names(&decision.status.reason, &["OrderedReady", "web-3"]);
}

#[test]
fn pods_of_the_new_revision_in_trouble_are_the_reason_to_stop_not_to_go_on() {
    let fixture = world().replicas(10).budget(3).broken(9, "CrashLoopBackOff");
    let decision = check(&fixture, "InProgress WaitingForPods: -");
    names(&decision.status.reason, &["web-9", "CrashLoopBackOff"]);
}

#[test]
fn an_announced_eviction_that_is_not_known_to_have_happened_is_tried_again() {
    // As after a crash between the write of the status and the eviction.
    let fixture = world().budget(2).with(|world| {
        world.status.evicting = vec![uid(2, "v1"), uid(3, "v1")];
    });
    check(&fixture, "InProgress Evicting: evict 3 2");
}
