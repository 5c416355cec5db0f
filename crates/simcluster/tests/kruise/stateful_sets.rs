//! Advanced StatefulSets: what was recorded.

use crate::replay::check;

#[test]
fn a_partition_keeps_the_lowest_ordinals_old() {
    check("asts-partition");
}

#[test]
fn as_many_go_at_once_as_may_be_unavailable() {
    check("asts-max-unavailable-2");
}

#[test]
fn without_order_any_ordinal_fills_the_partition() {
    check("asts-unordered");
}

#[test]
fn reserved_ordinals_are_left_out_and_counted_past() {
    check("asts-reserve-ordinals");
}

#[test]
fn scaling_under_a_partition_makes_new_ordinals_at_the_update_revision() {
    check("asts-scale-in-partition");
}

#[test]
fn a_pod_lost_below_the_partition_returns_at_the_old_revision() {
    check("asts-lost-pod-in-partition");
}

#[test]
fn a_broken_pod_is_mended_when_the_template_goes_back() {
    check("asts-broken-then-back");
}
