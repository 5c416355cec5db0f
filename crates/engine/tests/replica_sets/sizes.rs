//! Single looks at a Deployment whose replicas stay.

use engine::mover::replica_sets::Bounds;
use engine::quantity::IntOrPercent::{self, Int, Percent};

use crate::fixture::{Told, check, set};

#[test]
fn the_new_one_grows_first_inside_the_surge() {
    check(|d| d.target = 0, "rest");
    check(|d| d.target = 1, "create 1");
    check(|d| d.target = 10, "create 2");
    check(|d| d.bounds.surge = 7, "create 5");
    check(|d| (d.new, d.old) = (Some(set(2, 0)), vec![set(1, 8)]), "v2 4");
    check(|d| (d.new, d.old) = (Some(set(2, 4)), vec![set(1, 5)]), "v2 5");
}

#[test]
fn without_a_surge_the_new_one_is_created_with_a_pod() {
    // Alone with less than all Pods, an old one would be filled up again by its own controller.
    check(|d| d.bounds = Bounds { surge: 0, unavailable: 2 }, "create 1");
    check(|d| (d.bounds.surge, d.new) = (0, Some(set(2, 1))), "v1 7");
    // One that is there from before and has no Pods is as good as none.
    check(|d| (d.bounds.surge, d.new) = (0, Some(set(2, 0))), "v2 1");
}

#[test]
fn old_ones_shrink_as_far_as_enough_are_available() {
    check(|d| d.new = Some(set(2, 2).available(0)), "v1 8");
    check(|d| (d.new, d.old) = (Some(set(2, 2).available(0)), vec![set(1, 8)]), "v2 4");
    check(|d| (d.new, d.old) = (Some(set(2, 4).available(0)), vec![set(1, 8)]), "wait 8<=8");
    check(|d| (d.new, d.old) = (Some(set(2, 4).available(1)), vec![set(1, 8)]), "v1 7");
    check(|d| (d.new, d.old) = (Some(set(2, 5).available(0)), vec![set(1, 5)]), "rest");
}

#[test]
fn unhealthy_ones_go_first_and_of_several_the_earliest() {
    let old = || vec![set(1, 5).available(4), set(2, 5).available(3)];
    check(|d| (d.new, d.old) = (Some(set(3, 2)), old()), "v1 4");
    let old = || vec![set(1, 4), set(2, 5).available(3)];
    check(|d| (d.new, d.old) = (Some(set(3, 3)), old()), "v2 3");
    // As many stay as would be needed if all of them came back.
    let old = || vec![set(1, 10).available(0)];
    check(|d| (d.new, d.old, d.target) = (Some(set(2, 2).available(0)), old(), 10), "v1 8");
    check(
        |d| {
            (d.new, d.target) = (Some(set(2, 4).available(0)), 10);
            d.old = vec![set(1, 8).available(0)];
        },
        "wait 0<=8",
    );
}

#[test]
fn the_newest_of_the_healthy_goes_first_and_the_stable_one_last() {
    let old = || vec![set(1, 5), set(2, 5)];
    check(|d| (d.new, d.old) = (Some(set(3, 2)), old()), "v2 1");
    // A template that came back has the highest number and is stable all the same.
    let stable = || Some("v2".to_owned());
    check(|d| (d.new, d.old, d.stable) = (Some(set(3, 2)), old(), stable()), "v1 1");
}

#[test]
fn nothing_that_moved_is_turned_back() {
    check(|d| (d.target, d.new, d.old) = (2, Some(set(2, 5)), vec![set(1, 5)]), "rest");
    check(|d| (d.target, d.new, d.old) = (0, Some(set(2, 10)), vec![set(1, 0)]), "rest");
}

#[test]
fn missing_pods_come_back_as_the_stable_ones_they_were() {
    let half = |d: &mut engine::mover::replica_sets::Deployment| d.new = Some(set(2, 5));
    check(|d| (half(d), d.old = vec![set(1, 3)]).1, "v1 5");
    check(|d| (half(d), d.old = vec![set(1, 3), set(3, 1)]).1, "v1 4");
    check(
        |d| {
            (d.new, d.old, d.stable) =
                (Some(set(4, 5)), vec![set(1, 3), set(3, 1)], Some("v3".to_owned()));
        },
        "v3 2",
    );
    // None has Pods: what ran last.
    check(|d| (half(d), d.old = vec![set(1, 0), set(3, 0)]).1, "v3 5");
}

#[test]
fn where_no_other_template_ever_ran_the_new_one_gets_all() {
    check(|d| d.old.clear(), "create 10");
    check(|d| (d.old, d.new) = (Vec::new(), Some(set(2, 3))), "v2 10");
    check(|d| (d.old, d.paused) = (Vec::new(), true), "wait paused");
}

#[test]
fn a_paused_one_moves_nothing() {
    check(|d| d.paused = true, "wait paused");
    check(|d| (d.paused, d.new) = (true, Some(set(2, 2))), "wait paused");
    check(|d| (d.paused, d.new, d.old) = (true, Some(set(2, 5)), vec![set(1, 6)]), "wait paused");
    check(|d| (d.paused, d.new, d.old) = (true, Some(set(2, 5)), vec![set(1, 5)]), "rest");
    // What is missing is no move.
    check(|d| (d.paused, d.new, d.old) = (true, Some(set(2, 2)), vec![set(1, 7)]), "v1 8");
}

#[test]
fn counts_of_before_the_last_write_shrink_nothing() {
    check(|d| d.old = vec![set(1, 10).unseen()], "create 2");
    check(|d| (d.new, d.old) = (Some(set(2, 2)), vec![set(1, 10).unseen()]), "wait unseen v1");
    check(|d| (d.new, d.old) = (Some(set(2, 2).unseen()), vec![set(1, 10)]), "wait unseen v2");
    // What is on its way out already is not counted twice.
    check(
        |d| (d.new, d.old) = (Some(set(2, 4).available(2)), vec![set(1, 8).available(10)]),
        "v1 6",
    );
}

#[track_caller]
fn bounds(surge: IntOrPercent, unavailable: IntOrPercent, replicas: u32, expect: (u32, u32)) {
    let bounds = Bounds::of(surge, unavailable, replicas);
    assert_eq!((bounds.surge, bounds.unavailable), expect, "{surge} {unavailable} of {replicas}");
}

#[test]
fn surge_rounds_up_unavailable_down_and_both_are_never_none() {
    bounds(Percent(25), Percent(25), 10, (3, 2));
    bounds(Percent(25), Percent(25), 3, (1, 0));
    bounds(Int(0), Percent(25), 3, (0, 1));
    bounds(Int(0), Int(0), 3, (0, 1));
    bounds(Int(20), Int(20), 3, (20, 3));
    bounds(Percent(200), Int(0), 3, (6, 0));
}

/// Each step is resolved by itself, so that a count after a percentage
/// advances (the original compared them on a scale and stayed).
#[test]
fn no_batch_is_held_up_by_how_it_is_written() {
    for (step, at, replicas, expect) in [
        (Percent(20), 0, 10, "create 2"),
        (Int(5), 2, 10, "v2 4"),
        (Percent(100), 5, 10, "v2 7"),
        (Percent(99), 0, 10, "create 2"),
        (Percent(99), 9, 10, "rest"),
        (Int(10), 9, 10, "v2 10"),
        (Percent(1), 1, 10, "rest"),
    ] {
        check(
            |d| {
                d.target = step.of_deployment(replicas);
                d.new = (at > 0).then(|| set(2, at));
                d.old = vec![set(1, replicas - at)];
            },
            expect,
        );
    }
}
