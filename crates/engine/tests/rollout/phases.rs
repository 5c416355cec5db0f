//! The phases of a Rollout, from birth on.

use engine::front::rollout::{ConditionKind, Phase, Reason, Status, World};

use crate::fixture::{canary, changed, check, healthy, rolling, set, told, waiting};
use engine::front::rollout::StepState;

fn born() -> World {
    let mut world = healthy();
    world.status = Status::default();
    world.rollout.finalizer = false;
    world.rollout.marked_hash = None;
    set(&mut world, |workload| workload.labelled = false);
    world
}

#[test]
fn a_rollout_is_born_without_touching_its_workload() {
    let mut world = born();
    check(&world, "-: adopt");
    world.rollout.finalizer = true;
    world.rollout.marked_hash = Some("plan".to_owned());
    check(&world, "Initial: label");
    set(&mut world, |workload| workload.labelled = true);
    let decision = check(&world, "Healthy 3>-1 Completed: -");
    assert_eq!(decision.status.message, "workload deployment is completed");
    assert_eq!(decision.status.observed_generation, 2);
    let release = decision.status.canary.unwrap();
    assert_eq!((release.canary_revision.as_str(), release.stable_revision.as_str()), ("v1", ""));
    assert_eq!((release.observed_rollout_id.as_str(), release.last_update), ("v1", None));
}

#[test]
fn a_hash_of_the_plan_is_put_on_the_rollout_when_there_is_nothing_else_to_do() {
    let mut world = healthy();
    world.rollout.marked_hash = None;
    check(&world, "Healthy 3>-1 Completed: mark-hash");
    world.rollout.marked_hash = Some("of before".to_owned());
    check(&world, "Healthy 3>-1 Completed: mark-hash");
}

#[test]
fn a_rollout_before_its_workload_waits_for_it() {
    let mut world = born();
    world.rollout.finalizer = true;
    world.rollout.marked_hash = Some("plan".to_owned());
    world.workload = None;
    let decision = check(&world, "Initial: -");
    assert_eq!(decision.status.message, "Workload Not Found");
    assert_eq!(told(&decision), ["WorkloadNotFound"]);
}

#[test]
fn what_its_controller_has_not_seen_is_waited_for() {
    let mut world = changed();
    set(&mut world, |workload| workload.observed_generation = 1);
    check(&world, "Healthy 3>-1 Completed: -");
    let mut world = waiting(1);
    set(&mut world, |workload| workload.generation = 3);
    check(&world, "Progressing InRolling 1>2 StepPaused: -");
}

#[test]
fn a_mark_on_the_workload_begins_a_release() {
    let decision = check(&changed(), "Progressing Initializing 1>2 BeforeStepUpgrade: -");
    assert_eq!(decision.status.message, "Rollout is in Progressing");
    let release = decision.status.canary.unwrap();
    assert_eq!((release.stable_revision.as_str(), release.canary_revision.as_str()), ("v1", "v2"));
    assert_eq!(
        (release.observed_rollout_id.as_str(), release.rollout_hash.as_str()),
        ("v2", "plan")
    );
    assert_eq!(release.observed_workload_generation, 2);
    assert!(decision.wake.is_some(), "it looks again when the wait is over");
}

#[test]
fn succeeded_is_taken_back_when_the_next_release_begins() {
    let mut world = changed();
    let mut condition = crate::fixture::condition(Reason::None, "");
    condition.kind = ConditionKind::Succeeded;
    world.status.conditions = vec![condition];
    let decision = check(&world, "Progressing Initializing 1>2 BeforeStepUpgrade: -");
    assert_eq!(decision.status.condition(ConditionKind::Succeeded), None);
}

#[test]
fn a_workload_that_vanishes_keeps_its_release() {
    let mut world = waiting(2);
    world.workload = None;
    let decision = check(&world, "Progressing InRolling 2>3 StepPaused: -");
    assert_eq!(decision.status.message, "Workload Not Found");
    // Back again, it goes on where it was.
    let mut back = waiting(2);
    back.status = decision.status;
    let decision = check(&back, "Progressing InRolling 2>3 StepPaused: -");
    assert!(decision.status.message.starts_with("Rollout is in step(2/3)"));
    let mut world = healthy();
    world.workload = None;
    let decision = check(&world, "Initial 3>-1 Completed: -");
    let mut back = healthy();
    back.status = decision.status;
    let decision = check(&back, "Healthy 3>-1 Completed: -");
    assert_eq!(decision.status.message, "rollout is healthy");
}

#[test]
fn a_workload_made_again_is_held_again_and_the_step_stays() {
    let mut world = waiting(2);
    set(&mut world, |workload| {
        (workload.generation, workload.observed_generation) = (1, 1);
        (workload.marked, workload.updated, workload.old) = (false, 5, 0);
    });
    check(&world, "Progressing InRolling 2>3 StepPaused: hold");
    // Its BatchRelease has let go of the one before: it is made again.
    set(&mut world, |workload| workload.marked = true);
    crate::fixture::on_release(&mut world, |it| {
        it.phase = Some(engine::front::rollout::ReleasePhase::Completed);
    });
    check(&world, "Progressing InRolling 2>3 StepPaused: delete-release");
    world.release = None;
    check(&world, "Progressing InRolling 2>3 StepPaused: create 20% 60% 100% to 1 of v2");
    // At rest it is what it is.
    let mut world = healthy();
    set(&mut world, |workload| workload.update_revision = "v9".to_owned());
    canary(&mut world, |it| it.observed_workload_generation = 40);
    let decision = check(&world, "Healthy 3>-1 Completed: -");
    assert_eq!(decision.status.canary.unwrap().canary_revision, "v9");
}

#[test]
fn a_change_that_no_webhook_held_is_held_late_and_told() {
    let mut world = changed();
    set(&mut world, |workload| {
        (workload.marked, workload.updated, workload.old) = (false, 2, 3);
    });
    let decision = check(&world, "Healthy 3>-1 Completed: hold");
    assert_eq!(told(&decision), ["ChangeNotHeld"]);
    assert!(decision.told[0].text.contains("2 of 5 Pods run it already"));
    // All is over already, or there was never anything: then it is what is released.
    for (replicas, updated) in [(5, 5), (0, 0)] {
        set(&mut world, |workload| {
            (workload.replicas, workload.updated, workload.old) = (replicas, updated, 0);
        });
        let decision = check(&world, "Healthy 3>-1 Completed: -");
        assert_eq!(decision.status.canary.unwrap().canary_revision, "v2");
    }
}

#[test]
fn a_mark_that_somebody_took_away_is_put_back() {
    for mut world in [waiting(1), rolling(2, StepState::StepUpgrade)] {
        set(&mut world, |workload| workload.marked = false);
        let decision = engine::front::rollout::decide(&world, crate::fixture::now());
        assert_eq!(crate::fixture::say_action(decision.action.as_ref()), "hold");
        assert_eq!(told(&decision), ["MarkRemoved"]);
    }
}

#[test]
fn disabled_at_rest_it_lets_changes_pass() {
    let mut world = healthy();
    world.rollout.disabled = true;
    let decision = check(&world, "Disabled 3>-1 Completed: -");
    assert_eq!(decision.status.message, "Rollout is disabled");
    world.status = decision.status;
    set(&mut world, |workload| {
        (workload.generation, workload.observed_generation) = (2, 2);
        (workload.update_revision, workload.updated, workload.old) = ("v2".to_owned(), 1, 4);
    });
    check(&world, "Disabled 3>-1 Completed: -");
    // What changed then was nobody's business, and is none afterwards.
    world.rollout.disabled = false;
    let decision = check(&world, "Healthy 3>-1 Completed: -");
    assert_eq!(decision.status.message, "rollout is healthy");
    assert_eq!(decision.status.phase, Some(Phase::Healthy));
    assert_eq!(decision.status.canary.unwrap().canary_revision, "v2");
    // Nor when it was away in between.
    let workload = world.workload.take();
    world.status = check(&world, "Initial 3>-1 Completed: -").status;
    world.workload = workload;
    check(&world, "Healthy 3>-1 Completed: -");
}
