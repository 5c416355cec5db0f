//! Advanced DaemonSets: what was recorded.

use crate::replay::check;

#[test]
fn a_count_keeps_so_many_pods_old() {
    check("ads-partition");
}

#[test]
fn a_percentage_keeps_so_many_pods_old_rounded_down() {
    check("ads-partition-percent");
}

#[test]
fn a_pod_lost_under_a_partition_returns_at_the_new_revision() {
    check("ads-lost-pod-in-partition");
}

#[test]
fn a_paused_set_updates_no_pod() {
    check("ads-paused");
}

#[test]
fn under_on_delete_only_lost_pods_are_updated() {
    check("ads-on-delete");
}
