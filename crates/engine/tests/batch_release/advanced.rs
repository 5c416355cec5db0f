//! Advanced StatefulSets: by ordinals, without an order, and `OnDelete`.

use engine::world::{Pod, PodManagement, Strategy};

use crate::fixture::{Fixture, advanced_set, partition, percent, pod, pods, trouble, unordered};
use crate::said::{check, names};

/// Ordinals 1 and 3 are passed over.
fn with_reserved(replicas: u32) -> Fixture {
    let set = advanced_set(replicas).workload(|workload| workload.reserved = [1, 3].into());
    set.with(|world| {
        let ordinals = (0..).filter(|ordinal| ![1, 3].contains(ordinal));
        world.pods = ordinals.take(replicas as usize).map(|it| pod(it, "v1")).collect();
    })
}

fn on_delete(fixture: Fixture) -> Fixture {
    fixture.strategy(Strategy::OnDelete).saved(Some(Strategy::OnDelete))
}

#[test]
fn its_own_controller_replaces_what_a_slice_opens() {
    check(&advanced_set(10).at(1), "2 Upgrading: open 4");
    let batch = advanced_set(10).at(1).budget(3);
    check(&batch, "2 Upgrading: open 7");
    check(&batch.clone().strategy(partition(7)), "2 Upgrading: -");
    check(
        &batch.clone().strategy(partition(7)).updated(&[9, 8]).starting(7),
        "2 Upgrading: open 5",
    );
    check(&batch.strategy(partition(7)).updated(&[9, 8, 7]), "2 Upgrading: open 4");
}

#[test]
fn unready_ones_cost_nothing_when_it_is_their_turn() {
    let next = advanced_set(10).at(1).budget(2).unready(9);
    check(&next, "2 Upgrading: open 8");
    let later = advanced_set(10).at(1).budget(1).unready(3);
    let decision = check(&later, "2 Upgrading: -");
    names(&decision.status.message, &["web-pdb", "web-3"]);
}

#[test]
fn a_partition_counts_what_there_is_and_passes_over_what_is_reserved() {
    // 0, 2, 4, 5, 6.
    check(&with_reserved(5), "1 Upgrading: open 4");
    check(&with_reserved(5).strategy(partition(4)).updated(&[6]), "1 Ready: -");
    check(&with_reserved(5).at(1), "2 Upgrading: open 2");
    let open = with_reserved(5).at(1).strategy(partition(2)).updated(&[6, 5]);
    check(&open.clone().updated(&[4]), "2 Ready: -");
    check(&open.release(|release| release.paused = true), "2 Upgrading: strategy partition 3");
}

#[test]
fn what_is_lost_comes_back_as_its_place_says() {
    check(&advanced_set(5).gone(1), "1 Upgrading: open 4");
    check(&advanced_set(5).strategy(partition(4)).gone(4), "1 Upgrading: -");
    check(&with_reserved(5).strategy(partition(4)).gone(6), "1 Upgrading: -");
}

#[test]
fn a_broken_pod_that_its_controller_waits_for_is_evicted() {
    let ill = |fixture: Fixture| {
        fixture.unready(2).change(2, |pod| pod.trouble = Some(trouble())).strategy(partition(2))
    };
    check(&ill(advanced_set(5).at(1)), "2 Upgrading: evict 2");
    let ordered = |set: Fixture| set.workload(|it| it.management = PodManagement::OrderedReady);
    check(&ordered(ill(advanced_set(5).at(1))), "2 Upgrading: evict 2");
    // Held, it would come back as it is.
    let held = advanced_set(5).unready(2).change(2, |pod| pod.trouble = Some(trouble()));
    check(&held, "1 Upgrading: open 4");
}

#[test]
fn broken_pods_of_a_template_that_was_superseded_come_back_as_they_were() {
    for set in [advanced_set(5), unordered(5)] {
        let stray = set.change(4, |it| {
            *it = Pod { ready_since: None, trouble: Some(trouble()), ..pod(4, "v3") };
        });
        check(&stray, "1 Upgrading: evict 4");
    }
}

#[test]
fn without_an_order_a_partition_counts_alone() {
    check(&unordered(10), "1 Upgrading: open 8");
    let one = unordered(10).at(1).budget(2).strategy(partition(9)).updated(&[4]);
    check(&one, "2 Upgrading: open 7");
    // Nobody knows whose turn it is.
    check(&unordered(10).at(1).budget(2).unready(9), "2 Upgrading: open 9");
    check(&unordered(5).strategy(partition(4)).updated(&[2]), "1 Ready: -");
    check(&unordered(5).strategy(partition(4)).updated(&[2]).gone(4), "1 Ready: -");
}

#[test]
fn on_delete_goes_by_eviction() {
    for set in [on_delete(advanced_set(10)), on_delete(unordered(10))] {
        check(&set.clone().budget(3), "1 Upgrading: evict 9 8");
        check(&set.clone().at(1).budget(3), "2 Upgrading: evict 9 8 7");
        check(&set.clone().max_unavailable(pods(2)).at(1), "2 Upgrading: evict 9 8");
        check(&set.clone().unready(3).budget(3), "1 Upgrading: evict 3 9");
        check(&set.clone().budget(3).updated(&[9, 8]), "1 Ready: -");
        let ends = set.updated(&[9, 8]).budget(3).release(|release| release.batch_partition = None);
        check(&ends, "Finalizing: evict 7 6 5");
    }
}

#[test]
fn rolled_back_in_batches_the_partition_stands_above_those_that_need_no_update() {
    // 0 and 1 never moved; of the three others 60 percent are two: one stays, above two that need none.
    let back = |set: Fixture| {
        set.batches(&[percent(60), percent(100)])
            .release(|release| release.rollback_in_batches = true)
            .workload(|workload| workload.current_revision = "v2".into())
            .status(|status| status.no_need_update = Some(2))
            .updated(&[0, 1])
    };
    check(&back(advanced_set(5)), "1 Upgrading: open 3");
    check(
        &back(advanced_set(5)).at(1).strategy(partition(3)).updated(&[4, 3]),
        "2 Upgrading: open 2",
    );
    // Without an order it counts those that are held alone.
    check(&back(unordered(5)), "1 Upgrading: open 1");
    check(&back(unordered(5)).at(1).strategy(partition(1)).updated(&[4, 3]), "2 Upgrading: open 0");
}

#[test]
fn scaled_up_its_new_ordinals_are_held_before_they_come() {
    // From 5 to 10 at a partition of 4: 5 to 9 are to come, and would all be new.
    let set = advanced_set(10).strategy(partition(4)).updated(&[4]);
    let coming = set.gone(5).gone(6).gone(7).gone(8).gone(9);
    check(&coming, "1 Upgrading: strategy partition 9");
}

#[test]
fn taken_over_half_way_it_is_held_where_it_is() {
    let fresh = |set: Fixture| {
        set.preparing().saved(None).body(|body| body.in_progressing = false).strategy(partition(0))
    };
    let untouched = "Preparing: take partition 32767, keep partition 0";
    check(&fresh(advanced_set(5)), untouched);
    check(&fresh(unordered(5)), untouched);
    check(&fresh(advanced_set(5)).updated(&[4]), "Preparing: take partition 4, keep partition 0");
    check(
        &fresh(with_reserved(5)).updated(&[6, 5]),
        "Preparing: take partition 3, keep partition 0",
    );
    check(&fresh(unordered(5)).updated(&[2]), "Preparing: take partition 4, keep partition 0");
}

#[test]
fn a_pod_that_is_held_and_keeps_all_others_waiting_is_named() {
    let open = advanced_set(5).strategy(partition(4)).unready(1);
    let message = check(&open, "1 Upgrading: -").status.message;
    let kind = "controller of the Advanced StatefulSet to replace 1 Pod;";
    names(
        &message,
        &[kind, "Pod web-1 is not ready", "counts as unavailable", "raise maxUnavailable"],
    );
    // Where all are ready nobody is to blame.
    let message = check(&advanced_set(5).strategy(partition(4)), "1 Upgrading: -").status.message;
    assert!(message.ends_with("Advanced StatefulSet to replace 1 Pod"), "{message}");
}
