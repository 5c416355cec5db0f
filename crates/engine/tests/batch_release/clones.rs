//! CloneSets: a partition that counts, and a controller that goes by itself.

use engine::nature::First;
use engine::world::{Pod, PodPhase, Strategy};

use crate::fixture::{Fixture, ago, clones, noon, partition, percent, pod, pods, trouble, uid};
use crate::said::{check, names};

/// Its user gave priorities.
fn with_priorities(fixture: Fixture) -> Fixture {
    fixture.nature(|nature| nature.first = First::Unknown)
}

/// A Pod more: the successor of one that is still there.
fn surge(fixture: Fixture, number: u32) -> Fixture {
    let new = Pod { ready_since: None, created: ago(1), ..pod(number, "v2") };
    fixture.with(|world| world.pods.push(new))
}

#[test]
fn without_a_budget_the_batch_is_opened_at_once() {
    check(&clones(10), "1 Upgrading: open 8 as 80%");
    check(&clones(10).at(1), "2 Upgrading: open 4 as 40%");
    check(&clones(10).at(2), "3 Upgrading: open 0 as 0%");
    let waits = clones(10).at(1).strategy(partition(4)).updated(&[9, 8]).starting(7);
    let decision = check(&waits, "2 Upgrading: -");
    names(&decision.status.message, &["3 of 6 Pods", "web-7"]);
}

#[test]
fn a_batch_of_a_share_is_written_as_a_percentage_only_where_that_comes_to_the_same() {
    // 20 percent of 7 are 2, and 80 percent would leave 6.
    check(&clones(7), "1 Upgrading: open 5");
    // 80 percent of 3 leave one to move, as they do of 5: what the plan leaves is right for any number.
    check(&clones(3), "1 Upgrading: open 2 as 80%");
    check(&clones(5).batches(&[percent(1)]), "1 Upgrading: open 4 as 99%");
    // No percentage of 1000 comes to 999 but that which comes to 990 or to all.
    check(&clones(1000).batches(&[percent(1)]), "1 Upgrading: open 990 as 99%");
    check(&clones(1000).batches(&[pods(1)]), "1 Upgrading: open 999");
    check(&clones(150).batches(&[percent(1)]), "1 Upgrading: open 148");
    check(&clones(10).batches(&[pods(3), percent(100)]), "1 Upgrading: open 7");
    check(&clones(1), "1 Upgrading: open 0");
}

#[test]
fn inside_a_budget_it_is_opened_in_slices() {
    let batch = clones(10).at(1).budget(2);
    check(&batch, "2 Upgrading: open 8");
    // Open, and not begun: they are spent.
    check(&batch.clone().strategy(partition(8)), "2 Upgrading: -");
    let half = batch.clone().strategy(partition(8)).updated(&[0]);
    check(&half, "2 Upgrading: open 7");
    check(&half.clone().starting(1), "2 Upgrading: open 7");
    check(&half.clone().starting(1).strategy(partition(7)), "2 Upgrading: -");
    check(&half.updated(&[1]), "2 Upgrading: open 6");
    // The last slice is the share itself.
    let last = batch.strategy(partition(5)).updated(&[0, 1, 2, 3, 4]);
    check(&last, "2 Upgrading: open 4 as 40%");
}

#[test]
fn unready_ones_cost_the_budget_nothing_where_they_go_first() {
    let two = clones(10).at(1).budget(2).unready(3).unready(5);
    check(&two, "2 Upgrading: open 8");
    let none_left = clones(10).at(1).budget(1).unready(3);
    check(&none_left, "2 Upgrading: open 9");
    // The slice for the unready one is no slice for a ready one.
    check(&none_left.strategy(partition(9)), "2 Upgrading: -");
    let one_left = clones(10).at(1).budget(2).unready(3);
    check(&one_left, "2 Upgrading: open 8");
}

#[test]
fn where_priorities_decide_every_slice_may_take_a_ready_one() {
    let full = with_priorities(clones(10).at(1).budget(1).unready(3));
    let decision = check(&full, "2 Upgrading: -");
    names(&decision.status.message, &["web-pdb", "web-3"]);
    check(&with_priorities(clones(10).at(1).budget(2).unready(3)), "2 Upgrading: open 9");
    // Only unready ones are left.
    let left = with_priorities(clones(4).at(2).budget(1).updated(&[0, 1]).unready(2).unready(3));
    check(&left.strategy(partition(2)), "3 Upgrading: open 0 as 0%");
}

#[test]
fn a_pod_in_trouble_whose_turn_never_comes_is_evicted_into_an_open_place() {
    let ill = |fixture: Fixture| {
        fixture.unready(3).change(3, |pod| pod.trouble = Some(trouble())).strategy(partition(2))
    };
    check(&with_priorities(ill(clones(4).at(1))), "2 Upgrading: evict 3");
    // Where unready ones go first its turn comes by itself.
    check(&ill(clones(4).at(1)), "2 Upgrading: open 1");
}

#[test]
fn broken_pods_of_a_template_that_was_superseded_come_back_as_they_were() {
    let stray = clones(5).change(4, |it| {
        *it = Pod { ready_since: None, trouble: Some(trouble()), ..pod(4, "v3") };
    });
    check(&stray, "1 Upgrading: evict 4");
    // At the revision that is held it would come back as broken as it is.
    let held = clones(5).budget(1).unready(4).change(4, |it| it.trouble = Some(trouble()));
    check(&held, "1 Upgrading: open 4 as 80%");
}

#[test]
fn a_broken_batch_stops_the_rest() {
    let broken = clones(10).at(1).budget(3).strategy(partition(7)).updated(&[0, 1]).broken(2);
    let intolerant = broken.release(|release| release.failure_threshold = Some(pods(0)));
    let decision = check(&intolerant, "2 Upgrading: -");
    names(&decision.status.message, &["web-2", "ImagePullBackOff"]);
}

#[test]
fn a_successor_that_is_there_first_takes_the_place_of_its_predecessor() {
    // 5 old, 1 new: one is moved, and an old one is on its way out.
    let first = surge(clones(5).at(1).strategy(partition(4)), 5);
    check(&first, "2 Upgrading: open 2 as 40%");
    check(&first.clone().budget(1), "2 Upgrading: -");
    let going = first.change(0, |pod| pod.deletion = Some(noon()));
    check(&going, "2 Upgrading: open 2 as 40%");
    // At its end the batch is as large as it is asked for.
    let end = surge(clones(5).strategy(partition(4)), 5)
        .change(0, |pod| pod.deletion = Some(noon()))
        .change(5, |pod| pod.ready_since = Some(ago(1)));
    check(&end, "1 Ready: -");
}

#[test]
fn what_is_lost_comes_back_as_the_partition_says() {
    // Held: it comes back at the old revision, and nothing has moved by it.
    check(&clones(5).gone(4), "1 Upgrading: open 4 as 80%");
    let moved = clones(5).strategy(partition(4)).updated(&[0]);
    check(&moved.clone().gone(4), "1 Ready: -");
    // Rolled back there is but one revision.
    let back = moved.gone(4).workload(|workload| workload.current_revision = "v2".into());
    check(&back, "1 Ready: -");
}

#[test]
fn scaled_up_it_is_opened_further_and_scaled_down_drawn_back() {
    let up = clones(10).strategy(partition(8)).updated(&[0]);
    check(&up, "1 Upgrading: -");
    check(&up.updated(&[1]), "1 Ready: -");
    check(&clones(10).strategy(partition(9)).updated(&[0]), "1 Upgrading: open 8 as 80%");
    // Scaled from 10 to 5 in the second batch before it was worked off: 3 are wanted, 5 are open.
    let down = clones(5).at(1).strategy(partition(0)).updated(&[0, 1]);
    check(&down, "2 Upgrading: strategy partition 2");
    // More than that have moved: none is turned back, and none follows.
    let more = clones(5).at(1).strategy(partition(0)).updated(&[0, 1, 2, 3]);
    check(&more, "2 Upgrading: strategy partition 1");
    check(&more.strategy(partition(1)), "2 Ready: -");
}

#[test]
fn new_pods_of_a_set_that_was_scaled_are_held_before_they_come() {
    // From 5 to 10 at a partition of 4: five are to come, and would all be new.
    let scaled = clones(10).strategy(partition(4)).updated(&[0]);
    let coming = scaled.gone(5).gone(6).gone(7).gone(8).gone(9);
    check(&coming, "1 Upgrading: strategy partition 8");
}

#[test]
fn a_pause_closes_what_is_open() {
    let open = clones(10).at(1).strategy(partition(4)).updated(&[0, 1]);
    let paused = open.release(|release| release.paused = true);
    check(&paused, "2 Upgrading: strategy partition 8");
    check(&paused.strategy(partition(8)), "2 Upgrading: -");
}

#[test]
fn taken_over_half_way_it_is_held_where_it_is() {
    let fresh = clones(5).preparing().body(|body| body.in_progressing = false);
    let fresh = fresh.saved(None);
    check(&fresh, "Preparing: take as it is, keep partition 0");
    let open = fresh.strategy(partition(0));
    check(&open, "Preparing: take partition 32767, keep partition 0");
    let half = open.updated(&[0, 1]);
    check(&half, "Preparing: take partition 3, keep partition 0");
}

#[test]
fn rolled_back_in_batches_those_that_need_no_update_are_not_counted() {
    let back = clones(5)
        .batches(&[percent(60), percent(100)])
        .release(|release| release.rollback_in_batches = true)
        .workload(|workload| workload.current_revision = "v2".into())
        .status(|status| status.no_need_update = Some(2))
        .updated(&[0, 1]);
    // Of three that are to turn back two.
    check(&back.clone().strategy(partition(3)), "1 Upgrading: open 1");
    check(&back.strategy(partition(1)).updated(&[2, 3]), "1 Ready: -");
}

#[test]
fn turning_back_what_is_broken_goes_first_though_its_turn_is_unknown() {
    let back = with_priorities(clones(6).budget(2))
        .workload(|workload| workload.current_revision = "v2".into())
        .status(|status| status.no_need_update = Some(3))
        .updated(&[0, 1, 2])
        .unready(4)
        .unready(5)
        .change(5, |pod| pod.phase = PodPhase::Pending);
    // Of three that are to turn back one; the two that are not ready use the budget up.
    check(&back, "1 Upgrading: evict 5");
}

#[test]
fn updated_in_place_a_pod_gets_the_labels_of_this_release() {
    let same = |number: u32| {
        move |it: &mut Pod| {
            *it = Pod { uid: uid(number, "v1"), ..pod(number, "v2") };
        }
    };
    let set = clones(5)
        .release(|release| release.rollout_id = "id-2".into())
        .strategy(partition(4))
        .labelled("id-1", &[(0, 1), (1, 2), (2, 2)])
        .change(1, same(1));
    check(&set, "1 Upgrading: label 1=1");
    check(&set.labelled("id-2", &[(1, 1)]), "1 Ready: -");
}

#[test]
fn a_pod_that_needed_no_update_once_is_labelled_when_it_is_turned_back_in_place() {
    // Pod 1 moved away and back since it was said of it, under the same id.
    let mut set = clones(2)
        .batches(&[percent(20), percent(100)])
        .release(|release| {
            release.rollback_in_batches = true;
            release.rollout_id = "rollback-v2".into();
        })
        .workload(|workload| workload.current_revision = "v2".into())
        .status(|status| status.no_need_update = Some(1))
        .strategy(partition(0))
        .updated(&[0, 1]);
    for number in [0, 1] {
        let marks = set.world.marks.entry(uid(number, "v2")).or_default();
        marks.no_need_update = "rollback-v2".into();
    }
    set = set.change(1, |pod| pod.created = ago(1));
    check(&set, "1 Upgrading: label 1=1");
    check(&set.labelled("rollback-v2", &[(1, 1)]), "1 Ready: -");
}

#[test]
fn given_back_what_was_broken_is_cleared_first() {
    let ends = |fixture: Fixture| fixture.release(|release| release.batch_partition = None);
    // The template went back: the CloneSet's own controller keeps what is broken under a partition.
    let broken = |it: &mut Pod| {
        *it = Pod { ready_since: None, trouble: Some(trouble()), ..pod(4, "v3") };
    };
    let back = clones(5)
        .updated(&[0, 1, 2, 3])
        .change(4, broken)
        .workload(|workload| workload.current_revision = "v2".into());
    check(&ends(back.clone().strategy(partition(3))), "Finalizing: evict 4");
    let cleared = back.change(4, |it| *it = pod(4, "v2"));
    check(&ends(cleared), "Finalizing: release to partition 0");
    // What would come back as broken as it is, its own controller replaces then.
    let old = clones(5).at(1).strategy(partition(3)).updated(&[0, 1]).unready(4);
    let old = old.change(4, |it| it.trouble = Some(trouble()));
    check(&ends(old), "Finalizing: release to partition 0");
    check(&ends(clones(5).strategy(Strategy::OnDelete)), "Finalizing: release to partition 0");
}
