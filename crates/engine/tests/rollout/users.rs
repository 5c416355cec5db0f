//! What a user writes into the status, and `paused`.

use engine::front::rollout::{BatchState, ConditionKind, Reason, StepState};

use crate::fixture::{
    canary, check, condition, healthy, now, on_release, rolling, set, told, upgrading, waiting,
};

#[test]
fn an_approval_before_the_pods_are_ready_skips_the_pause_and_not_the_pods() {
    let mut world = upgrading(1);
    canary(&mut world, |it| it.state = StepState::StepReady);
    let decision = check(&world, "Progressing InRolling 1>2 StepReady: -");
    let message = "Rollout is in step(1/3), and goes on when its Pods are ready";
    assert_eq!(decision.status.message, message);
    on_release(&mut world, |release| {
        (release.batch_state, release.updated_ready) = (Some(BatchState::Ready), 1);
    });
    let next = "Progressing InRolling 2>3 StepUpgrade: update 20% 60% 100% to 1 of v2";
    assert_eq!(told(&check(&world, next)), ["Approved"]);
    // Nor does one before the batch was even asked for.
    world.release = None;
    check(&world, "Progressing InRolling 1>2 StepReady: create 20% 60% 100% to 0 of v2");
}

#[test]
fn an_approval_of_a_release_that_is_over_stays_and_does_nothing() {
    let mut world = healthy();
    canary(&mut world, |it| it.state = StepState::StepReady);
    check(&world, "Healthy 3>-1 StepReady: -");
}

#[track_caller]
fn jump(step: u32, to: i64, expect: &str) {
    let mut world = waiting(step);
    canary(&mut world, |it| it.next_step = to);
    check(&world, &format!("Progressing InRolling {expect}"));
}

#[test]
fn a_jump_goes_to_any_step() {
    jump(1, 3, "3>-1 StepUpgrade: update 20% 60% 100% to 2 of v2");
    jump(3, 1, "1>2 StepUpgrade: update 20% 60% 100% to 0 of v2");
    // As many Pods as there are already: nothing to update, and the pause begins again.
    jump(2, 2, "2>3 StepPaused: -");
    // It is one out of a step that never gets ready, too.
    let mut world = upgrading(1);
    canary(&mut world, |it| it.next_step = 3);
    let decision =
        check(&world, "Progressing InRolling 3>-1 StepUpgrade: update 20% 60% 100% to 2 of v2");
    assert_eq!(told(&decision), ["Jumped"]);
}

#[test]
fn a_jump_to_nowhere_is_put_right() {
    jump(1, 2, "1>2 StepPaused: -");
    jump(1, 0, "1>2 StepPaused: -");
    jump(1, 4, "1>2 StepPaused: -");
    jump(1, -7, "1>2 StepPaused: -");
    jump(2, 9, "2>3 StepPaused: -");
}

#[test]
fn paused_stands_still_with_the_batch_that_is_under_way() {
    for mut world in [upgrading(2), waiting(2), rolling(2, StepState::BeforeStepUpgrade)] {
        world.rollout.paused = true;
        let state = world.status.canary.as_ref().unwrap().state.name();
        let pause = "update 20% 60% 100% to 1 of v2 paused";
        let decision = check(&world, &format!("Progressing Paused 2>3 {state}: {pause}"));
        let message = "Rollout has been paused, you can resume it by kube-cli";
        assert_eq!(decision.status.message, message);
        let said = decision.status.condition(ConditionKind::Progressing).unwrap();
        assert_eq!((said.holds, said.message.as_str()), (true, message));
        assert_eq!(told(&decision), ["Paused"]);
        on_release(&mut world, |release| release.plan.paused = true);
        check(&world, &format!("Progressing Paused 2>3 {state}: -"));
    }
    let mut world = rolling(1, StepState::BeforeStepUpgrade);
    (world.rollout.paused, world.release) = (true, None);
    check(&world, "Progressing Paused 1>2 BeforeStepUpgrade: -");
}

#[test]
fn a_workload_that_is_written_too_fast_to_be_seen_is_paused_all_the_same() {
    let mut world = upgrading(2);
    set(&mut world, |workload| workload.generation += 1);
    check(&world, "Progressing InRolling 2>3 StepUpgrade: -");
    world.rollout.paused = true;
    let pause = "update 20% 60% 100% to 1 of v2 paused";
    check(&world, &format!("Progressing InRolling 2>3 StepUpgrade: {pause}"));
}

#[test]
fn resumed_it_goes_on_where_it_stood() {
    let message = "Rollout has been paused, you can resume it by kube-cli";
    let mut world = waiting(2);
    world.status.conditions = vec![condition(Reason::Paused, message)];
    on_release(&mut world, |release| release.plan.paused = true);
    let update = "update 20% 60% 100% to 1 of v2";
    let decision = check(&world, &format!("Progressing InRolling 2>3 StepPaused: {update}"));
    assert_eq!(told(&decision), ["Resumed"]);
    let said = decision.status.condition(ConditionKind::Progressing).unwrap();
    assert!(said.message.starts_with("Rollout is in step(2/3)"), "no word of a pause is left");
    // What was approved meanwhile is taken up.
    canary(&mut world, |it| it.state = StepState::StepReady);
    world.rollout.paused = true;
    check(&world, "Progressing Paused 2>3 StepReady: -");
    world.rollout.paused = false;
    on_release(&mut world, |release| release.plan.paused = false);
    check(&world, "Progressing InRolling 3>-1 StepUpgrade: update 20% 60% 100% to 2 of v2");
}

#[test]
fn a_release_that_is_paused_before_it_begins_begins_nothing() {
    let mut world = crate::fixture::changed();
    world.rollout.paused = true;
    world.status = check(&world, "Progressing Initializing 1>2 BeforeStepUpgrade: -").status;
    world.status.conditions[0].updated = crate::fixture::ago(10);
    check(&world, "Progressing Paused 1>2 BeforeStepUpgrade: -");
}

#[test]
fn steps_that_nobody_could_have_written_are_read_as_the_nearest() {
    for (at, nearest) in [(9, 3), (0, 1)] {
        let mut world = upgrading(nearest);
        canary(&mut world, |it| it.current_step = at);
        let decision = engine::front::rollout::decide(&world, now());
        assert_eq!(decision.status.canary.unwrap().current_step, nearest);
    }
}
