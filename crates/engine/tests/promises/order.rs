//! Which Pods go first.

use engine::world::{PodManagement, VersionLeak};

use crate::fixture::{ago, check, uid, world};

#[test]
fn the_highest_ordinal_goes_first() {
    check(&world().budget(2), "InProgress Evicting: evict 3 2");
    check(&world().budget(4), "InProgress Evicting: evict 3 2 1 0");
}

#[test]
fn pods_that_are_not_ready_go_before_ready_ones_and_cost_no_room() {
    // Budget 2, one used up by the unready Pod itself: it goes, and one ready Pod beside it.
    check(&world().budget(2).unready(0), "InProgress Evicting: evict 0 3");
}

#[test]
fn several_pods_that_are_not_ready_go_highest_first() {
    check(&world().budget(1).pending(0).pending(1), "InProgress Evicting: evict 1 0");
}

#[test]
fn under_ordered_ready_the_lowest_broken_pod_goes_first_for_the_others_wait_for_it() {
    let fixture = world()
        .budget(2)
        .pending(0)
        .pending(1)
        .with_set(|set| set.management = PodManagement::OrderedReady);
    check(&fixture, "InProgress Evicting: evict 0");
}

#[test]
fn what_was_announced_before_a_crash_goes_before_other_ready_pods() {
    let announced = |since| {
        world().budget(1).with(|world| {
            world.status.evicting.push(uid(1, "v1"));
            world.status.last_eviction = Some(ago(since));
        })
    };
    check(&announced(5), "InProgress Evicting: evict 1");
    // By now it would have been seen going.
    check(&announced(60), "InProgress Evicting: evict 3");
}

#[test]
fn what_was_announced_keeps_its_place_in_the_target_but_not_the_first_place_in_the_line() {
    // A ready Pod without room in the budget must not keep the broken ones from being replaced.
    let stuck = |percent| {
        world().percent(percent).budget(0).pending(0).with(|world| {
            world.status.evicting.push(uid(1, "v1"));
            world.status.last_eviction = Some(ago(5));
        })
    };
    check(&stuck(100), "InProgress Evicting: evict 0");
    // One of four: it may be the announced one, that nobody has seen going yet.
    assert_eq!(stuck(25).decide().action, None);
}

#[test]
fn under_prevent_the_order_is_by_ordinal_alone() {
    // Pod 0 is not ready, but opening the partition down to it would release all others.
    check(&world().budget(2).pending(0).held(4), "InProgress Evicting: open 3");
    check(
        &world().budget(2).pending(0).version_leak(VersionLeak::Report),
        "InProgress Evicting: evict 0 3",
    );
}

#[test]
fn while_an_update_is_broken_only_pods_in_trouble_follow_it() {
    // 0 is merely not ready and may recover; 1 is in trouble as it is.
    let fixture = world().budget(3).broken(3, "CrashLoopBackOff").unready(0).pending(1);
    check(&fixture, "InProgress Evicting: evict 1");
    let fixture = world().budget(3).broken(3, "CrashLoopBackOff").unready(0);
    check(&fixture, "InProgress WaitingForPods: -");
}

#[test]
fn under_ordered_ready_no_ready_pod_goes_while_another_is_not_ready() {
    // The budget refuses the unready Pod and has room for a ready one, which would not come back.
    let fixture = world().with_set(|set| set.management = PodManagement::OrderedReady);
    let fixture = fixture.budget(2).unready(0).held(4);
    let decision = check(&fixture, "InProgress LowerPodNotReady: -");
    crate::fixture::names(&decision.status.reason, &["web-0", "OrderedReady"]);
}

#[test]
fn under_ordered_ready_a_pod_that_cannot_come_is_not_named_but_the_one_that_it_waits_for() {
    // Scaled from 4 to 6 at a half: 3 and 2 have moved, 5 and 4 are counted, and come when 1 is ready. It is at
    // an old revision, and moving it would be one more than is asked for.
    let scaled = || {
        let fixture = world().replicas(6).percent(50).budget(1).updated(3).updated(2);
        let fixture = fixture.gone(5).gone(4).pending(1);
        fixture.with_set(|set| set.management = PodManagement::OrderedReady)
    };
    let decision = check(&scaled(), "InProgress LowerPodNotReady: -");
    let words = ["waiting for 2 of 6", "Pod web-1 is not ready: ImagePullBackOff", "mend it"];
    crate::fixture::names(&decision.status.reason, &words);
    // Side by side they come without it, and of several that are missing one in trouble is the news.
    let parallel = scaled().with_set(|set| set.management = PodManagement::Parallel);
    check(&parallel, "InProgress WaitingForPods: -");
    check(&scaled().broken(2, "CrashLoopBackOff"), "InProgress WaitingForPods: -");
}
