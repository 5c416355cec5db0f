//! The steps: update, wait, go on.

use engine::front::rollout::{BatchState, Change, ConditionKind, Pause, Reason, StepState, World};
use engine::quantity::IntOrPercent::{self, Int, Percent};
use jiff::SignedDuration;

use crate::fixture::{
    ago, canary, changed, check, condition, now, on_release, rolling, steps, told, upgrading,
    waiting,
};

fn beginning(since: i64) -> World {
    let mut world = changed();
    world.status = check(&world, "Progressing Initializing 1>2 BeforeStepUpgrade: -").status;
    world.status.conditions[0].updated = ago(since);
    world
}

#[test]
fn a_release_begins_three_seconds_later() {
    let decision = check(&beginning(1), "Progressing Initializing 1>2 BeforeStepUpgrade: -");
    assert_eq!(decision.wake, Some(now() + SignedDuration::from_secs(2)));
    let plan = "create 20% 60% 100% to 0 of v2";
    let decision = check(&beginning(3), &format!("Progressing InRolling 1>2 StepUpgrade: {plan}"));
    let message = "Rollout is in step(1/3), and upgrade workload to new version";
    assert_eq!(decision.status.message, message);
    let said = decision.status.condition(ConditionKind::Progressing).unwrap();
    assert_eq!(said.message, message, "the condition says it as well");
    // A plan that came with the change, but after it, counts from the first step on.
    let mut world = beginning(3);
    (world.rollout.steps, world.rollout.hash) = (Ok(steps(&[Int(1), Percent(100)])), "new".into());
    world.rollout.marked_hash = Some("new".to_owned());
    let decision = check(&world, "Progressing InRolling 1>2 StepUpgrade: create 1 100% to 0 of v2");
    assert_eq!(decision.status.canary.unwrap().rollout_hash, "new");
}

#[test]
fn a_batch_release_of_before_goes_before_a_release_begins() {
    let mut world = beginning(3);
    world.release = Some(crate::fixture::release(3, 5));
    check(&world, "Progressing Initializing 1>2 BeforeStepUpgrade: delete-release");
    on_release(&mut world, |release| release.deleting = true);
    check(&world, "Progressing Initializing 1>2 BeforeStepUpgrade: -");
}

#[test]
fn a_step_waits_until_its_batch_is_ready() {
    check(&upgrading(1), "Progressing InRolling 1>2 StepUpgrade: -");
    let stale = |change: fn(&mut engine::front::rollout::BatchRelease)| {
        let mut world = rolling(1, StepState::StepUpgrade);
        on_release(&mut world, change);
        check(&world, "Progressing InRolling 1>2 StepUpgrade: -");
    };
    stale(|release| release.plan_seen = false);
    stale(|release| release.generation = 2);
    stale(|release| release.batch_state = Some(BatchState::Upgrading));
    let mut world = rolling(2, StepState::StepUpgrade);
    on_release(&mut world, |release| release.current_batch = 0);
    check(&world, "Progressing InRolling 2>3 StepUpgrade: -");
    let decision =
        check(&rolling(1, StepState::StepUpgrade), "Progressing InRolling 1>2 StepPaused: -");
    assert_eq!(told(&decision), ["Progressing"]);
    assert_eq!(decision.told[0].text, "upgrade step(1) canary pods with new versions done");
    assert_eq!(decision.status.canary.unwrap().last_update, Some(now()));
}

#[test]
fn what_the_batch_release_says_is_taken_over() {
    let mut world = upgrading(2);
    on_release(&mut world, |release| {
        (release.updated, release.updated_ready) = (3, 2);
        release.message = "it is hard".to_owned();
    });
    let status = check(&world, "Progressing InRolling 2>3 StepUpgrade: -").status;
    let release = status.canary.unwrap();
    assert_eq!((release.canary_replicas, release.canary_ready_replicas), (3, 2));
    let message = "BatchRelease is at state Verifying, rollout-id v2, step 2, it is hard";
    assert_eq!(release.message, message);
    let mut world = waiting(2);
    on_release(&mut world, |release| release.message = "it is ready".to_owned());
    let status = check(&world, "Progressing InRolling 2>3 StepPaused: -").status;
    let message = "BatchRelease is at state Ready, rollout-id v2, step 2";
    assert_eq!(status.canary.unwrap().message, message);
}

#[test]
fn the_batch_release_is_kept_as_the_step_asks() {
    let changed = |change: fn(&mut World), expect: &str| {
        let mut world = rolling(2, StepState::StepUpgrade);
        change(&mut world);
        check(&world, &format!("Progressing InRolling 2>3 StepUpgrade: {expect}"));
    };
    let update = "update 20% 60% 100% to 1 of v2";
    changed(|world| world.release = None, "create 20% 60% 100% to 1 of v2");
    changed(|world| on_release(world, |it| it.plan.partition = Some(0)), update);
    changed(|world| on_release(world, |it| it.plan.partition = None), update);
    changed(|world| on_release(world, |it| it.as_written = false), update);
    changed(|world| on_release(world, |it| it.plan.paused = true), update);
    changed(
        |world| world.rollout.failure_threshold = Some(Percent(10)),
        "update 20% 60% 100% to 1 of v2 but 10%",
    );
    changed(|world| on_release(world, |it| it.deleting = true), "-");
}

#[test]
fn the_id_of_the_release_is_the_users_label_or_the_revision() {
    let mut world = waiting(1);
    crate::fixture::set(&mut world, |workload| workload.rollout_id = Some("42".to_owned()));
    let update = "update 20% 60% 100% to 0 of 42";
    check(&world, &format!("Progressing InRolling 1>2 StepPaused: {update}"));
    crate::fixture::set(&mut world, |workload| workload.rollout_id = Some(String::new()));
    check(&world, "Progressing InRolling 1>2 StepPaused: -");
}

/// A world whose step 2 is done since a minute, with this pause.
fn pausing(pause: Pause) -> World {
    let mut world = waiting(2);
    let mut plan = steps(&[Percent(20), Percent(60), Percent(100)]);
    plan[1].pause = pause;
    world.rollout.steps = Ok(plan);
    world
}

#[test]
fn a_pause_ends_by_approval_or_by_the_clock() {
    let decision = check(&pausing(Pause::Approval), "Progressing InRolling 2>3 StepPaused: -");
    let message = "Rollout is in step(2/3), and you need manually confirm to enter the next step";
    assert_eq!((decision.status.message.as_str(), decision.wake), (message, None));
    let decision = check(&pausing(Pause::Seconds(90)), "Progressing InRolling 2>3 StepPaused: -");
    let message = "Rollout is in step(2/3), and wait duration(90 seconds) to enter the next step";
    assert_eq!(decision.status.message, message);
    assert_eq!(decision.wake, Some(now() + SignedDuration::from_secs(30)));
    let next = "Progressing InRolling 3>-1 StepUpgrade: update 20% 60% 100% to 2 of v2";
    check(&pausing(Pause::Seconds(60)), next);
    check(&pausing(Pause::Seconds(0)), next);
    let mut world = pausing(Pause::Approval);
    canary(&mut world, |it| it.state = StepState::StepReady);
    let decision = check(&world, next);
    assert_eq!(told(&decision), ["Approved"]);
}

/// The last of these steps is done: is it waited at?
#[track_caller]
fn last(size: IntOrPercent, waits: bool) {
    let mut world = waiting(3);
    let sizes = [Percent(20), Percent(60), size];
    world.rollout.steps = Ok(steps(&sizes));
    on_release(&mut world, |release| release.plan.batches = sizes.to_vec());
    if waits {
        check(&world, "Progressing InRolling 3>-1 StepPaused: -");
        canary(&mut world, |it| it.state = StepState::StepReady);
    }
    let promote = "Completed ResumeWorkload: promote WaitResume";
    let decision = check(&world, &format!("Progressing Finalising 3>-1 {promote}"));
    let message = "Rollout has been completed and some closing work is being done";
    assert_eq!(decision.status.message, message);
}

#[test]
fn only_a_last_step_of_100_percent_is_not_waited_at() {
    last(Percent(100), false);
    last(Percent(80), true);
    last(Int(5), true);
    last(Int(500), true);
}

#[test]
fn conditions_that_say_nothing_new_keep_their_times() {
    let world = waiting(1);
    let decision = check(&world, "Progressing InRolling 1>2 StepPaused: -");
    assert_eq!(decision.status, world.status);
    let mut world = waiting(1);
    world.status.conditions = vec![condition(Reason::InRolling, "Rollout is in Progressing")];
    let decision = check(&world, "Progressing InRolling 1>2 StepPaused: -");
    let said = decision.status.condition(ConditionKind::Progressing).unwrap();
    assert_eq!((said.since, said.updated), (ago(60), now()));
}

#[test]
fn only_where_a_release_stands_has_to_be_written_at_once() {
    let mut world = upgrading(2);
    let first = check(&world, "Progressing InRolling 2>3 StepUpgrade: -").status;
    // That something is waited for follows from the step.
    assert_eq!(first.change(&world.status), Change::Numbers);
    assert_eq!(first.change(&first), Change::None);
    world.status = first.clone();
    on_release(&mut world, |release| {
        (release.updated_ready, release.message) = (2, "one more".to_owned());
    });
    crate::fixture::set(&mut world, |workload| {
        (workload.generation, workload.observed_generation) = (7, 7);
    });
    let second = check(&world, "Progressing InRolling 2>3 StepUpgrade: -").status;
    assert_eq!(second.change(&first), Change::Numbers);
    world.status = second.clone();
    on_release(&mut world, |release| release.batch_state = Some(BatchState::Ready));
    let third = check(&world, "Progressing InRolling 2>3 StepPaused: -").status;
    assert_eq!(third.change(&second), Change::Standing);
    let mut world = upgrading(2);
    world.rollout.paused = true;
    on_release(&mut world, |release| release.plan.paused = true);
    let paused = check(&world, "Progressing Paused 2>3 StepUpgrade: -").status;
    assert_eq!(paused.change(&first), Change::Standing);
}
