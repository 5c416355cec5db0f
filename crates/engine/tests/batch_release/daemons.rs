//! Advanced DaemonSets: a partition that holds only what lives.

use engine::world::{PodPhase, Strategy};

use crate::fixture::{Fixture, advanced_daemons, ago, noon, partition, percent, pods, uid};
use crate::said::{check, names};

fn on_delete(nodes: u32) -> Fixture {
    let daemons = advanced_daemons(nodes).strategy(Strategy::OnDelete);
    daemons.saved(Some(Strategy::OnDelete))
}

#[test]
fn its_own_controller_replaces_what_a_slice_opens() {
    check(&advanced_daemons(10), "1 Upgrading: open 8");
    check(&advanced_daemons(10).at(1), "2 Upgrading: open 4");
    let batch = advanced_daemons(10).at(1).max_unavailable(pods(5)).budget(2);
    check(&batch, "2 Upgrading: open 8");
    check(&batch.clone().strategy(partition(8)), "2 Upgrading: -");
    check(&batch.strategy(partition(8)).updated(&[0, 1]), "2 Upgrading: open 6");
}

#[test]
fn a_slice_is_no_larger_than_what_may_be_unavailable() {
    let wide = advanced_daemons(10).at(1).budget(7);
    check(&wide, "2 Upgrading: open 9");
    check(&wide.clone().max_unavailable(percent(25)), "2 Upgrading: open 8");
    check(&wide.max_unavailable(pods(3)).starting(9), "2 Upgrading: open 7");
}

#[test]
fn what_is_lost_comes_back_updated_and_counts() {
    check(&advanced_daemons(5).gone(2), "1 Upgrading: -");
    check(&advanced_daemons(5).updated(&[2]), "1 Ready: -");
    check(&advanced_daemons(10).gone(2), "1 Upgrading: open 8");
    // Two were lost: more than the batch, told, and not turned back.
    let decision = check(&advanced_daemons(5).updated(&[0, 1]), "1 Ready: -");
    let surplus = decision.status.conditions.iter().find(|it| it.reason == "MoreThanTheBatch");
    names(&surplus.expect("a surplus").message, &["1 Pod more than the 1 of batch 1"]);
}

#[test]
fn unready_ones_are_evicted_for_their_turn_may_never_come() {
    let sick = advanced_daemons(10).at(1).budget(1).unready(3).change(3, |pod| {
        pod.phase = PodPhase::Pending;
    });
    check(&sick, "2 Upgrading: evict 3");
    // No more of them than the batch has.
    let three = advanced_daemons(10).unready(3).unready(4).unready(5);
    check(&three, "1 Upgrading: evict 5 4");
    // What the budget refuses is told.
    let refused = advanced_daemons(10).at(1).budget(1).unready(3).unready(4);
    let decision = check(&refused, "2 Upgrading: -");
    names(&decision.status.message, &["web-4", "web-pdb", "AlwaysAllow"]);
}

#[test]
fn what_was_announced_keeps_its_place_in_the_batch() {
    let announced = advanced_daemons(10).unready(2).unready(4).unready(6).status(|status| {
        status.evicting = vec![uid(2, "v1")];
        status.last_eviction = Some(ago(5));
    });
    check(&announced, "1 Upgrading: evict 2 6");
    // Ready by now, or gone and not seen going.
    let ready = advanced_daemons(10).status(|status| {
        status.evicting = vec![uid(2, "v1")];
        status.last_eviction = Some(ago(5));
    });
    check(&ready, "1 Upgrading: open 9");
}

#[test]
fn nodes_that_go_are_not_waited_for() {
    let mut fewer = advanced_daemons(7).strategy(partition(6)).updated(&[0]);
    for node in [5, 6] {
        fewer = fewer.change(node, |pod| pod.deletion = Some(noon()));
    }
    let fewer = fewer.workload(|workload| workload.replicas = 5).at(1).budget(1);
    check(&fewer, "2 Upgrading: open 3");
}

#[test]
fn a_pause_closes_what_is_open() {
    let open = advanced_daemons(10).at(1).strategy(partition(4)).updated(&[0, 1]);
    let paused = open.release(|release| release.paused = true);
    check(&paused, "2 Upgrading: strategy partition 8");
    // What is lost meanwhile moves, whatever is closed.
    check(&paused.strategy(partition(8)).gone(5), "2 Upgrading: -");
}

#[test]
fn on_delete_goes_by_eviction() {
    check(&on_delete(10).at(1), "2 Upgrading: evict 9");
    check(&on_delete(10).at(1).max_unavailable(pods(3)), "2 Upgrading: evict 9 8 7");
    check(&on_delete(10).at(1).max_unavailable(pods(5)).budget(2), "2 Upgrading: evict 9 8");
    check(&on_delete(10).max_unavailable(pods(5)).updated(&[2, 3]), "1 Ready: -");
    let ends = on_delete(10).updated(&[2, 3]).release(|release| release.batch_partition = None);
    check(&ends, "Finalizing: evict 9");
}

#[test]
fn taken_over_half_way_it_is_held_where_it_is() {
    let fresh = advanced_daemons(5).preparing().saved(None).strategy(partition(0));
    let fresh = fresh.body(|body| body.in_progressing = false);
    check(&fresh, "Preparing: take partition 32767, keep partition 0");
    check(&fresh.updated(&[2, 3]), "Preparing: take partition 3, keep partition 0");
}

#[test]
fn its_kind_is_named_where_no_pod_can_be() {
    let decision = check(&advanced_daemons(5).gone(2), "1 Upgrading: -");
    names(&decision.status.message, &["Pod of Advanced DaemonSet web does not exist yet"]);
}
