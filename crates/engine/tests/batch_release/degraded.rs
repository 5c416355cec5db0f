use engine::front::batch_release::{ConditionKind, Control, Release, Target};

use crate::fixture::{Fixture, partition, set};
use crate::said::{check, names};

fn degraded(fixture: &Fixture, line: &str, words: &[&str]) {
    let decision = check(fixture, line);
    let condition = decision.status.condition(ConditionKind::Degraded).expect("degraded");
    names(&condition.message, words);
    assert!(decision.wake.is_some(), "it is looked at again");
}

#[test]
fn a_kind_that_cannot_be_released_is_a_condition() {
    let odd = set(5).preparing().with(|world| world.target = Target::Unsupported);
    let odd = odd.release(|release| release.kind = "ReplicaSet".into());
    degraded(&odd, "Preparing: -", &["ReplicaSet shop/web"]);
    check(&odd.release(|release| release.deleted = true), "Completed: -");
}

#[test]
fn a_style_that_is_not_served_is_a_condition() {
    let style = set(5).release(|release| release.other_style = Some("BlueGreen".into()));
    degraded(&style, "1 Upgrading: -", &["BlueGreen", "Partition"]);
}

#[test]
fn a_plan_without_batches_is_a_condition() {
    let empty = set(5).release(|release| release.batches.clear());
    degraded(&empty, "1 Upgrading: -", &["batches is empty"]);
}

#[test]
fn a_plan_that_cannot_be_followed_is_a_condition() {
    let bad = set(5).release(|release| {
        release.batches.clear();
        release.plan_error = Some("step 2 has no replicas".into());
    });
    degraded(&bad, "1 Upgrading: -", &["step 2 has no replicas"]);
}

#[test]
fn what_was_taken_is_given_back_however_wrong_the_plan_has_become() {
    let check = |change: fn(&mut Release)| {
        let taken = set(5).release(|release| release.deleted = true).release(change);
        let taken = taken.body(|body| body.in_progressing = false);
        crate::said::check(&taken, "Finalizing: release to partition 0");
        let never = taken.body(|body| body.control = Control::Free);
        crate::said::check(&never, "Completed: -");
    };
    check(|release| release.other_style = Some("Canary".into()));
    check(|release| release.batches.clear());
    check(|release| release.plan_error = Some("step 2 has no replicas".into()));
}

#[test]
fn a_workload_that_vanishes_keeps_its_batch() {
    let gone = set(5).at(1).strategy(partition(4)).updated(&[4]);
    let gone = gone.with(|world| world.target = Target::Missing);
    degraded(&gone, "2 Upgrading: -", &["StatefulSet shop/web", "does not exist"]);
    let dying = set(5).at(1).workload(|workload| workload.terminating = true);
    degraded(&dying, "2 Upgrading: -", &["being deleted"]);
    let back = set(5).at(1).strategy(partition(4)).updated(&[4]);
    let back = back.with(|world| world.status = gone.decide().status);
    check(&back, "2 Upgrading: open 2");
}

#[test]
fn a_workload_of_another_release_is_left_alone() {
    let theirs = Control::Other { owner: "BatchRelease/other".into() };
    let owned = set(5).body(|body| body.control = theirs);
    degraded(&owned, "1 Upgrading: -", &["BatchRelease/other"]);
    check(&owned.release(|release| release.batch_partition = None), "Completed: -");
}

#[test]
fn what_its_controller_has_not_seen_is_waited_for() {
    let unseen = set(5).workload(|workload| workload.generation = 3);
    let decision = check(&unseen, "1 Upgrading: -");
    names(&decision.status.message, &["generation 3"]);
    assert!(decision.status.condition(ConditionKind::Degraded).is_none());
}
