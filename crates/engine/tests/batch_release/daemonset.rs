use engine::world::PodPhase;

use crate::fixture::{ago, daemons, percent, pods, uid};
use crate::said::check;

#[test]
fn as_many_go_as_may_be_unavailable() {
    check(&daemons(10).at(1), "2 Upgrading: evict 9");
    check(&daemons(10).at(1).max_unavailable(pods(3)), "2 Upgrading: evict 9 8 7");
    check(&daemons(10).at(1).max_unavailable(percent(25)), "2 Upgrading: evict 9 8");
    check(&daemons(10).at(1).max_unavailable(pods(3)).starting(9), "2 Upgrading: evict 8 7");
    check(&daemons(10).at(1).starting(9), "2 Upgrading: -");
}

#[test]
fn a_budget_counts_as_well() {
    let many = daemons(10).at(1).max_unavailable(pods(5));
    check(&many.clone().budget(2), "2 Upgrading: evict 9 8");
    check(&many.budget(7), "2 Upgrading: evict 9 8 7 6 5");
    check(&daemons(10).at(1).budget(7), "2 Upgrading: evict 9");
}

#[test]
fn no_more_go_than_the_batch_has() {
    check(&daemons(10).max_unavailable(pods(5)), "1 Upgrading: evict 9 8");
    check(&daemons(10).max_unavailable(pods(5)).updated(&[2, 3]), "1 Ready: -");
}

#[test]
fn those_that_never_started_go_first_then_unready_ones_then_cheap_ones_then_the_newest() {
    let order = daemons(10)
        .at(2)
        .max_unavailable(pods(10))
        .unready(2)
        .unready(5)
        .change(5, |pod| pod.phase = PodPhase::Pending)
        .change(0, |pod| pod.created = ago(10))
        .with(|world| {
            world.costs.insert(uid(7, "v1"), -5);
            world.costs.insert(uid(9, "v1"), 5);
        });
    check(&order, "3 Upgrading: evict 5 2 7 0 8 6 4 3 1 9");
}

#[test]
fn unready_ones_cost_nothing() {
    check(&daemons(10).at(1).unready(3).unready(4), "2 Upgrading: evict 4 3");
    let two = daemons(10).at(1).max_unavailable(pods(3)).unready(3);
    check(&two, "2 Upgrading: evict 3 9 8");
}

#[test]
fn a_node_that_waits_for_its_pod_counts_as_moved() {
    check(&daemons(10).gone(4), "1 Upgrading: -");
    check(&daemons(10).max_unavailable(pods(2)).gone(4), "1 Upgrading: evict 9");
}

#[test]
fn what_is_broken_stops_the_rest_unless_it_is_tolerated() {
    let broken = daemons(10).at(1).max_unavailable(pods(3)).broken(9);
    let none = broken.clone().release(|release| release.failure_threshold = Some(pods(0)));
    check(&none, "2 Upgrading: -");
    check(&broken, "2 Upgrading: evict 8 7");
}
