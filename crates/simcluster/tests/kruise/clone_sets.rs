//! CloneSets: what was recorded.

use crate::replay::{check, check_on};

#[test]
fn a_count_keeps_so_many_pods_old() {
    check("cloneset-partition-int");
}

#[test]
fn a_percentage_keeps_so_many_pods_old_rounded_up() {
    check("cloneset-partition-percent");
}

#[test]
fn a_partition_that_is_raised_turns_no_pod_back() {
    check("cloneset-partition-raised");
}

#[test]
fn a_pod_that_is_updated_in_place_stays_itself() {
    check("cloneset-in-place");
}

#[test]
fn surge_makes_new_pods_first() {
    check("cloneset-max-surge");
}

#[test]
fn a_paused_set_updates_no_pod_but_scales() {
    check("cloneset-paused");
}

#[test]
fn scaling_keeps_the_share_of_old_pods() {
    // On which Node a Pod was has not been recorded, and it has a say in which go first. On one Node
    // the youngest go, as they did there.
    check_on(1, "cloneset-scale-in-partition");
}

#[test]
fn a_broken_pod_stays_when_the_template_goes_back_under_a_partition() {
    check("cloneset-broken-then-back");
}

#[test]
fn a_broken_pod_is_replaced_first_by_one_of_a_mended_template() {
    check("cloneset-broken-then-fixed");
}
