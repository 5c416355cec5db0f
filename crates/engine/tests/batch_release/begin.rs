use engine::front::batch_release::{Control, Machinery, Phase, Status};
use engine::nature::Nature;

use crate::fixture::{
    ABOVE_ALL, Fixture, daemons, deployment, on_delete, partition, percent, pod, rolling, set,
};
use crate::said::check;

fn unsaved(fixture: Fixture) -> Fixture {
    fixture.preparing().body(|body| match &mut body.machinery {
        Machinery::Pods { saved, .. } => *saved = None,
        Machinery::Deployment(deployment) => deployment.saved = None,
    })
}

#[test]
fn a_release_begins_with_its_finalizer() {
    check(
        &unsaved(set(5)).release(|release| release.finalizer = false),
        "Preparing: add finalizer",
    );
}

#[test]
fn a_workload_is_taken_over_and_held_in_one_write() {
    let held = unsaved(set(5)).strategy(partition(ABOVE_ALL));
    check(&held, "Preparing: take as it is, keep partition 0");
    let open = unsaved(set(5)).strategy(rolling());
    check(&open, "Preparing: take partition 32767, keep partition 0");
    let own = unsaved(set(5)).strategy(partition(5));
    check(&own, "Preparing: take as it is, keep partition 5");
    check(&unsaved(on_delete(5)), "Preparing: take as it is, keep OnDelete");
    let daemons = unsaved(daemons(3)).strategy(rolling());
    check(&daemons, "Preparing: take OnDelete, keep partition 0");
    let fresh = unsaved(deployment(5)).machinery(|deployment| deployment.recreate = false);
    check(&fresh, "Preparing: take paused, keep surge 25% unavailable 25%");
}

#[test]
fn a_workload_that_somebody_has_begun_to_roll_is_held_where_it_is() {
    let slipped = unsaved(set(5)).strategy(rolling()).updated(&[4, 3]);
    check(&slipped, "Preparing: take partition 3, keep partition 0");
    let whole = unsaved(set(3)).strategy(rolling()).updated(&[2, 1, 0]);
    check(&whole, "Preparing: take as it is, keep partition 0");
}

#[test]
fn a_release_that_is_half_way_is_taken_over_without_moving_a_pod() {
    // As the original leaves it: control-info and partition, and nothing kept.
    let half = set(5).strategy(partition(4)).updated(&[4]).body(|body| {
        body.machinery = Machinery::Pods { nature: Nature::STATEFUL_SET, saved: None };
    });
    check(&half, "1 Ready: -");
    let named = half.clone().status(|status| status.update_revision = "web-v2".into());
    assert_eq!(check(&named, "1 Ready: -").status.update_revision, "v2");
    // Its BatchRelease made again, with a status of its own.
    let again = half.status(|status| *status = Status::default());
    check(&again, "1 Ready: -");
}

#[test]
fn once_held_the_first_batch_begins_with_the_same_look() {
    let taken = set(5).status(|status| *status = Status::default());
    let decision = check(&taken, "1 Upgrading: open 4");
    assert_eq!(decision.status.update_revision, "v2");
    assert_eq!(decision.status.stable_revision, "v1");
    assert_eq!(decision.status.observed_replicas, Some(5));
}

#[test]
fn batches_follow_as_far_as_they_are_allowed() {
    let first = set(5).strategy(partition(4)).updated(&[4]);
    check(&first, "1 Ready: -");
    let allowed = first.release(|release| release.batch_partition = Some(2));
    let ready = allowed.again();
    assert!(ready.decide().wake.is_some());
    check(&ready, "2 Upgrading: -");
    check(&ready.again(), "2 Upgrading: open 2");
}

#[test]
fn a_changed_plan_goes_to_the_batch_that_is_allowed_at_once() {
    let plan = set(5).strategy(partition(4)).updated(&[4]).release(|release| {
        release.batch_partition = Some(1);
        release.plan_hash = "other".into();
    });
    let decision = check(&plan, "2 Upgrading: open 2");
    assert_eq!(decision.status.plan_hash, "other");
    let fewer = plan.release(|release| release.batches = vec![percent(20)]);
    check(&fewer, "1 Ready: -");
}

#[test]
fn another_id_goes_through_every_batch_again() {
    let plan = set(5).at(1).strategy(partition(2)).updated(&[4, 3, 2]).release(|release| {
        release.rollout_id = "other".into();
        release.plan_hash = "other".into();
    });
    check(&plan, "1 Upgrading: label 2=1");
}

#[test]
fn control_that_was_lost_is_taken_again_and_nothing_of_ours_is_kept_as_the_users() {
    let lost = set(5).strategy(partition(4)).updated(&[4]).body(|body| {
        body.control = Control::Free;
        body.machinery = Machinery::Pods { nature: Nature::STATEFUL_SET, saved: None };
    });
    check(&lost, "1 Upgrading: take as it is, keep partition 0");
    let daemons = daemons(3).strategy(rolling()).with(|world| world.pods[2] = pod(2, "v2"));
    check(&daemons, "1 Upgrading: take OnDelete");
    let deployment = deployment(5).machinery(|deployment| deployment.paused = false);
    check(&deployment, "1 Upgrading: take paused");
}

#[test]
fn a_release_that_is_over_does_nothing() {
    let over = set(5).status(|status| status.phase = Some(Phase::Completed));
    assert_eq!(check(&over, "Completed: -").wake, None);
    let deleted = over.release(|release| release.deleted = true);
    check(&deleted, "Completed: remove finalizer");
    let gone = deleted.release(|release| release.finalizer = false);
    check(&gone, "Completed: -");
}
