//! What changes under a release: its template, forth or back, and its plan.

use engine::front::rollout::{ConditionKind, Reason, StepState, World};
use engine::quantity::IntOrPercent::{self, Int, Percent};

use crate::fixture::{
    ago, canary, check, condition, on_release, set, steps, told, upgrading, waiting,
};

/// The template is back at v1.
fn rolled_back(world: &mut World) {
    set(world, |workload| {
        (workload.generation, workload.observed_generation) = (9, 9);
        workload.update_revision = "v1".to_owned();
        workload.in_rollback = true;
        workload.updated = 5 - workload.updated;
        workload.old = 5 - workload.updated;
    });
}

/// The template is another one.
fn v3(world: &mut World) {
    set(world, |workload| {
        (workload.generation, workload.observed_generation) = (9, 9);
        workload.update_revision = "v3".to_owned();
        (workload.updated, workload.old) = (0, 5);
    });
}

fn paused(world: &mut World) {
    world.rollout.paused = true;
    on_release(world, |release| release.plan.paused = true);
    let message = "Rollout has been paused, you can resume it by kube-cli";
    world.status.conditions = vec![condition(Reason::Paused, message)];
    world.status.message = message.to_owned();
}

#[test]
fn a_roll_back_cancels_at_once_in_every_state() {
    for (world, stands) in [
        (waiting(1), "1>2 StepPaused"),
        (waiting(2), "2>3 StepPaused"),
        (upgrading(2), "2>3 StepUpgrade"),
    ] {
        let mut world = world;
        rolled_back(&mut world);
        let promote = "ResumeWorkload: promote WaitResume";
        let expect = format!("Progressing Cancelling {stands} {promote}");
        let decision = check(&world, &expect);
        let message = "The workload has been rolled back and the rollout process will be canceled";
        assert_eq!(decision.status.message, message);
        assert_eq!(told(&decision), ["Progressing"]);
        let release = decision.status.canary.unwrap();
        assert_eq!(release.canary_revision, "v1");
        assert_eq!(release.observed_rollout_id, "rollback-v1");
        // Paused or not.
        paused(&mut world);
        check(&world, &expect);
    }
}

#[test]
fn a_change_that_is_taken_back_before_its_first_step_is_canceled() {
    let mut world = crate::fixture::changed();
    world.status = check(&world, "Progressing Initializing 1>2 BeforeStepUpgrade: -").status;
    set(&mut world, |workload| {
        (workload.update_revision, workload.in_rollback) = ("v1".to_owned(), true);
        (workload.updated, workload.old) = (5, 0);
    });
    let end = "ReleaseWorkloadControl: release";
    check(&world, &format!("Progressing Cancelling 1>2 BeforeStepUpgrade {end}"));
}

#[test]
fn kinds_that_can_roll_back_in_batches_do_where_it_is_asked_for() {
    let mut world = waiting(2);
    rolled_back(&mut world);
    world.rollout.rollback_in_batch = true;
    // A Deployment cannot.
    let cancel = "Progressing Cancelling 2>3 StepPaused ResumeWorkload: promote WaitResume";
    check(&world, cancel);
    set(&mut world, |workload| workload.rolls_back_in_batches = true);
    let update = "update 20% 60% 100% to 0 of rollback-v1 back";
    let step = format!("Progressing InRolling 1>2 StepUpgrade: {update}");
    let decision = check(&world, &step);
    assert_eq!(decision.status.canary.as_ref().unwrap().canary_revision, "v1");
    // On its way it is a release like any other.
    world.status = decision.status;
    on_release(&mut world, |release| {
        release.plan.rollout_id = "rollback-v1".to_owned();
        (release.plan.partition, release.plan.rollback_in_batch) = (Some(0), true);
        release.current_batch = 0;
    });
    check(&world, "Progressing InRolling 1>2 StepPaused: -");
    // Nothing is left to roll back: under another id its batches would be gone through again.
    set(&mut world, |workload| workload.in_rollback = false);
    check(&world, "Progressing InRolling 1>2 StepPaused: -");
    set(&mut world, |workload| workload.in_rollback = true);
    world.rollout.rollback_in_batch = false;
    check(&world, &step.replace("of rollback-v1 back", "of rollback-v1"));
}

#[test]
fn a_roll_back_in_batches_is_seen_while_paused_and_waits() {
    let mut world = waiting(2);
    rolled_back(&mut world);
    world.rollout.rollback_in_batch = true;
    set(&mut world, |workload| workload.rolls_back_in_batches = true);
    paused(&mut world);
    let decision = check(&world, "Progressing Paused 1>2 BeforeStepUpgrade: -");
    // Resumed when nothing is left to roll back, it is one all the same.
    (world.status, world.rollout.paused) = (decision.status, false);
    set(&mut world, |workload| workload.in_rollback = false);
    let update = "update 20% 60% 100% to 0 of rollback-v1 back";
    check(&world, &format!("Progressing InRolling 1>2 StepUpgrade: {update}"));
}

#[test]
fn another_change_begins_again_on_top() {
    let mut world = waiting(2);
    v3(&mut world);
    let decision = check(&world, "Progressing InRolling 2>3 StepPaused: delete-release");
    assert_eq!(decision.status.message, "Workload is continuous release");
    on_release(&mut world, |release| release.deleting = true);
    check(&world, "Progressing InRolling 2>3 StepPaused: -");
    world.release = None;
    let decision = check(&world, "Progressing Initializing 1>2 BeforeStepUpgrade: -");
    assert_eq!(told(&decision), ["Progressing"]);
    let release = decision.status.canary.as_ref().unwrap();
    assert_eq!((release.stable_revision.as_str(), release.canary_revision.as_str()), ("v1", "v3"));
    assert_eq!((release.canary_replicas, release.message.as_str()), (0, ""));
    let said = decision.status.condition(ConditionKind::Progressing).unwrap();
    assert_eq!(said.message, "Workload is continuous release");
    world.status = decision.status;
    world.status.conditions[0].updated = ago(3);
    check(&world, "Progressing InRolling 1>2 StepUpgrade: create 20% 60% 100% to 0 of v3");
}

#[test]
fn another_change_is_seen_while_paused_and_waits() {
    let mut world = waiting(2);
    v3(&mut world);
    paused(&mut world);
    check(&world, "Progressing Paused 2>3 StepPaused: delete-release");
    world.release = None;
    let decision = check(&world, "Progressing Initializing 1>2 BeforeStepUpgrade: -");
    world.status = decision.status;
    world.status.conditions[0].updated = ago(3);
    check(&world, "Progressing Paused 1>2 BeforeStepUpgrade: -");
}

#[test]
fn a_change_that_is_taken_back_before_it_began_changes_nothing() {
    let mut world = waiting(2);
    on_release(&mut world, |release| release.deleting = true);
    check(&world, "Progressing InRolling 2>3 StepPaused: -");
    world.release = None;
    let create = "create 20% 60% 100% to 1 of v2";
    check(&world, &format!("Progressing InRolling 2>3 StepPaused: {create}"));
}

#[test]
fn a_change_in_the_last_moment_is_not_let_go_with_the_release_before() {
    let mut world = waiting(3);
    world.status.conditions = vec![condition(Reason::Finalising, "")];
    canary(&mut world, |it| it.state = StepState::Completed);
    v3(&mut world);
    check(&world, "Progressing InRolling 3>-1 Completed: delete-release");
    // Let go already: then the release is over, and the mark of the next one stays.
    on_release(&mut world, |release| release.plan.partition = None);
    check(&world, "Progressing Finalising 3>-1 Completed ResumeWorkload: -");
    world.release = None;
    let decision = check_unsettled(&world, "Healthy Completed 3>-1 Completed END: -");
    assert!(decision.wake.is_some());
    world.status = decision.status;
    check(&world, "Progressing Initializing 1>2 BeforeStepUpgrade: -");
}

/// As `check`, where the next look is to come at once and goes on.
#[track_caller]
fn check_unsettled(world: &World, expect: &str) -> engine::front::rollout::Decision {
    let decision = engine::front::rollout::decide(world, crate::fixture::now());
    assert_eq!(crate::fixture::say(&decision), expect);
    decision
}

/// Step `at` of 20 %, 60 %, 100 % is done, and the plan becomes another.
#[track_caller]
fn planned(at: u32, sizes: &[IntOrPercent], expect: &str) {
    let mut world = waiting(at);
    (world.rollout.steps, world.rollout.hash) = (Ok(steps(sizes)), "new".to_owned());
    world.rollout.marked_hash = Some("new".to_owned());
    let decision = check(&world, &format!("Progressing InRolling {expect}"));
    assert_eq!(decision.status.canary.expect("a release").rollout_hash, "new");
    // Seen while paused as well, and then waits.
    paused(&mut world);
    let (step, _) = expect.split_once(' ').expect("a step and a state");
    let decision = engine::front::rollout::decide(&world, crate::fixture::now());
    assert!(crate::fixture::say(&decision).starts_with(&format!("Progressing Paused {step} ")));
}

#[test]
fn a_changed_plan_goes_on_with_the_first_step_that_is_not_behind() {
    planned(
        1,
        &[Percent(40), Percent(80), Percent(100)],
        "1>2 StepUpgrade: update 40% 80% 100% to 0 of v2",
    );
    planned(2, &[Int(1), Int(2), Int(3)], "3>-1 StepPaused: update 1 2 3 to 2 of v2");
    planned(2, &[Int(3), Int(3), Int(5)], "2>3 StepPaused: update 3 3 5 to 1 of v2");
    // Fewer or more steps than before, whatever the validation of this version lets pass.
    planned(3, &[Int(2), Percent(100)], "2>-1 StepReady: update 2 100% to 1 of v2");
    planned(2, &[Int(1), Int(2)], "2>-1 StepUpgrade: update 1 2 to 1 of v2");
    planned(1, &[Int(2), Int(3), Int(4), Int(5)], "1>2 StepUpgrade: update 2 3 4 5 to 0 of v2");
}

#[test]
fn a_release_that_the_original_began_goes_on_at_its_step() {
    // It calls the revision of a Deployment by the hash of its ReplicaSet, and hashes the plan otherwise.
    let mut world = waiting(2);
    canary(&mut world, |it| {
        it.canary_revision = "hash-v2".to_owned();
        it.observed_rollout_id = "hash-v2".to_owned();
        it.rollout_hash = "theirs".to_owned();
    });
    world.rollout.marked_hash = Some("theirs".to_owned());
    on_release(&mut world, |release| release.plan.rollout_id = "hash-v2".to_owned());
    let decision = check(&world, "Progressing InRolling 2>3 StepPaused: mark-hash");
    let release = decision.status.canary.unwrap();
    assert_eq!(
        (release.rollout_hash.as_str(), release.canary_revision.as_str()),
        ("plan", "hash-v2")
    );
    assert_eq!(release.observed_rollout_id, "hash-v2");
}

#[test]
fn pauses_and_thresholds_are_no_other_plan() {
    let mut world = waiting(2);
    let mut plan = steps(&[Percent(20), Percent(60), Percent(100)]);
    plan[1].pause = engine::front::rollout::Pause::Seconds(0);
    world.rollout.steps = Ok(plan);
    check(&world, "Progressing InRolling 3>-1 StepUpgrade: update 20% 60% 100% to 2 of v2");
}
