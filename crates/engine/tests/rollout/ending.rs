//! The end of a release: the workload is given back, and the mark is the last that goes.

use engine::front::rollout::{
    ConditionKind, Phase, Reason, ReleasePhase, Settings, StepState, World,
};

use crate::fixture::{
    canary, changed, check, condition, healthy, on_release, set, told, upgrading, waiting,
};

/// All steps are done.
fn done() -> World {
    let mut world = waiting(3);
    canary(&mut world, |it| it.state = StepState::Completed);
    let message = "Rollout has been completed and some closing work is being done";
    world.status.conditions = vec![condition(Reason::Finalising, message)];
    message.clone_into(&mut world.status.message);
    world
}

/// Looks again and again, each write taken over, until there is none more: the writes in order.
fn writes(world: &mut World, prefix: &str) -> Vec<String> {
    let mut writes = Vec::new();
    for _ in 0..10 {
        let decision = engine::front::rollout::decide(world, crate::fixture::now());
        let said = crate::fixture::say(&decision);
        world.status = decision.status;
        let Some(action) = decision.action else { break };
        assert!(said.starts_with(prefix), "{said}");
        match action.name() {
            "promote-release" => on_release(world, |release| {
                release.plan.partition = None;
                release.phase = Some(ReleasePhase::Completed);
            }),
            "delete-release" => world.release = None,
            "release" => set(world, |workload| {
                workload.marked = false;
                (workload.updated, workload.old) = (5, 0);
            }),
            "forget" => world.rollout.finalizer = false,
            _ => {}
        }
        writes.push(crate::fixture::say_action(Some(&action)));
    }
    writes
}

#[test]
fn the_mark_goes_last() {
    let mut world = done();
    let order = ["promote WaitResume", "delete-release", "release"];
    assert_eq!(writes(&mut world, "Progressing Finalising"), order);
    let decision = check(&world, "Healthy Completed 3>-1 Completed END: -");
    assert_eq!(decision.status.message, "Rollout progressing has been completed");
    let succeeded = decision.status.condition(ConditionKind::Succeeded).unwrap();
    assert_eq!(
        (succeeded.holds, succeeded.reason, succeeded.message.as_str()),
        (true, Reason::None, "")
    );
    let said = decision.status.condition(ConditionKind::Progressing).unwrap();
    assert_eq!((said.holds, said.reason), (false, Reason::Completed));
}

#[test]
fn each_write_is_waited_for() {
    let mut world = done();
    on_release(&mut world, |release| {
        release.plan.partition = None;
        release.phase = Some(ReleasePhase::Finalizing);
    });
    check(&world, "Progressing Finalising 3>-1 Completed ResumeWorkload: -");
    on_release(&mut world, |release| release.deleting = true);
    check(&world, "Progressing Finalising 3>-1 Completed ReleaseWorkloadControl: -");
}

#[test]
fn completed_is_said_when_every_pod_runs_what_was_released() {
    // A plan that ends with 60 % leaves the rest to the workload's own controller.
    let mut world = done();
    world.release = None;
    set(&mut world, |workload| {
        (workload.marked, workload.updated, workload.old) = (false, 4, 1);
    });
    check(&world, "Progressing Finalising 3>-1 Completed END: -");
    set(&mut world, |workload| (workload.updated, workload.old) = (5, 0));
    let decision = check(&world, "Healthy Completed 3>-1 Completed END: -");
    assert_eq!(told(&decision), ["Completed"]);
}

#[test]
fn a_canceled_release_has_not_succeeded() {
    let mut world = waiting(2);
    let message = "The workload has been rolled back and the rollout process will be canceled";
    world.status.conditions = vec![condition(Reason::Cancelling, message)];
    canary(&mut world, |it| it.canary_revision = "v1".to_owned());
    set(&mut world, |workload| {
        workload.update_revision = "v1".to_owned();
        workload.in_rollback = true;
    });
    let order = ["promote WaitResume", "delete-release", "release"];
    assert_eq!(writes(&mut world, "Progressing Cancelling"), order);
    set(&mut world, |workload| workload.in_rollback = false);
    let decision = check(&world, "Healthy Completed 2>3 StepPaused END: -");
    assert_eq!(decision.status.message, "Rollout progressing has been canceled");
    assert!(!decision.status.condition(ConditionKind::Succeeded).unwrap().holds);
    assert_eq!(decision.status.canary.unwrap().observed_rollout_id, "v1");
}

#[test]
fn disabled_half_way_the_workload_goes_on_by_itself() {
    for mut world in [waiting(1), upgrading(2)] {
        world.rollout.disabled = true;
        let decision = engine::front::rollout::decide(&world, crate::fixture::now());
        assert_eq!(told(&decision), ["WorkloadReleased", "Disabling"]);
        assert!(decision.told[0].text.contains("its own controller updates them"));
        assert_eq!(decision.status.message, "Disabling rollout, release resources");
        let order = ["promote WaitResume", "delete-release", "release"];
        assert_eq!(writes(&mut world, "Disabling"), order);
        assert_eq!(world.status.phase, Some(Phase::Disabled));
        assert_eq!(world.status.message, "Rollout is disabled");
        let said = world.status.condition(ConditionKind::Progressing).unwrap();
        assert_eq!((said.holds, said.reason), (false, Reason::Disabled));
    }
}

#[test]
fn enabled_again_while_it_is_disabled_it_is_disabled_first() {
    let mut world = waiting(1);
    world.status.phase = Some(Phase::Disabling);
    check(&world, "Disabling InRolling 1>2 StepPaused ResumeWorkload: promote WaitResume");
}

#[test]
fn deleted_half_way_the_workload_is_given_back_before_the_finalizer_goes() {
    let mut world = waiting(1);
    world.rollout.deleted = true;
    let order = ["promote Immediate", "delete-release", "release", "forget"];
    assert_eq!(writes(&mut world, "Terminating"), order);
    let said = world.status.condition(ConditionKind::Terminating).unwrap();
    assert_eq!((said.holds, said.reason), (false, Reason::Completed));
    assert_eq!(said.message, "Rollout is in terminating");
}

#[test]
fn deleted_at_rest_it_just_goes() {
    let mut world = healthy();
    world.rollout.deleted = true;
    let decision = check(&world, "Terminating 3>-1 Completed END: forget");
    let said = decision.status.condition(ConditionKind::Terminating).unwrap();
    assert_eq!((said.holds, said.reason), (false, Reason::Completed));
    world.workload = None;
    check(&world, "Terminating 3>-1 Completed END: forget");
    world.rollout.finalizer = false;
    check(&world, "Healthy 3>-1 Completed: -");
}

#[test]
fn deleted_or_disabled_before_the_first_step_nothing_stays_held() {
    // The webhook held the change, no BatchRelease has come yet.
    let mut world = changed();
    world.rollout.deleted = true;
    let end = "ReleaseWorkloadControl: release";
    let decision = check(&world, &format!("Terminating 3>-1 Completed {end}"));
    assert_eq!(told(&decision), ["WorkloadReleased"]);
    world.status = decision.status;
    assert!(told(&check(&world, &format!("Terminating 3>-1 Completed {end}"))).is_empty());
    let mut world = changed();
    world.rollout.disabled = true;
    check(&world, &format!("Disabling 3>-1 Completed {end}"));
    // Nor when somebody took the mark away.
    set(&mut world, |workload| (workload.marked, workload.held) = (false, true));
    check(&world, &format!("Disabling 3>-1 Completed {end}"));
    // The same in a Rollout that has ended a release before.
    canary(&mut world, |it| it.finalising = Some(engine::front::rollout::Finalising::End));
    check(&world, &format!("Disabling 3>-1 Completed {end}"));
}

#[test]
fn deleted_together_with_its_workload_it_does_not_stay() {
    let mut world = waiting(1);
    (world.rollout.deleted, world.workload) = (true, None);
    let order = ["delete-release", "forget"];
    assert_eq!(writes(&mut world, "Terminating"), order);
}

#[test]
fn the_gate_freezes_what_a_deleted_rollout_leaves_and_nothing_else() {
    let gate = Settings { freeze_on_deletion: true, ..Settings::default() };
    let mut world = waiting(1);
    (world.settings, world.rollout.deleted) = (gate, true);
    let decision = engine::front::rollout::decide(&world, crate::fixture::now());
    assert!(decision.told[0].text.ends_with("it is left held"));
    let order = ["promote Immediate", "delete-release", "release frozen", "forget"];
    assert_eq!(writes(&mut world, "Terminating"), order);
    for mut world in [done(), {
        let mut world = waiting(1);
        world.rollout.disabled = true;
        world
    }] {
        world.settings = gate;
        let order = ["promote WaitResume", "delete-release", "release"];
        assert_eq!(writes(&mut world, ""), order);
    }
}
