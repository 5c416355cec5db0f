//! What a user has to mend first: nothing is half-run, and it is said.

use engine::front::rollout::{ConditionKind, Phase, Reason, Status, World, decide};

use crate::fixture::{changed, check, healthy, now, on_release, set, told, upgrading, waiting};

#[track_caller]
fn blocked(mut world: World, reason: Reason, words: &str) {
    let stands = world.status.phase;
    let decision = engine::front::rollout::decide(&world, crate::fixture::now());
    assert_eq!((decision.status.phase, decision.action), (stands, None));
    assert!(decision.status.message.contains(words), "{}", decision.status.message);
    let said = decision.status.condition(ConditionKind::Blocked).expect("it is said");
    assert_eq!((said.holds, said.reason), (true, reason));
    assert_eq!(decision.told.len(), 1);
    assert!(decision.told[0].warning);
    // Once.
    world.status = decision.status;
    let again = engine::front::rollout::decide(&world, crate::fixture::now());
    assert_eq!((again.status, again.told), (world.status, Vec::new()));
}

#[test]
fn what_is_not_served_is_refused_whole() {
    for mut world in [healthy(), changed(), waiting(1)] {
        world.rollout.not_served = Some("traffic routing is not served".to_owned());
        blocked(world, Reason::NotServed, "traffic routing");
    }
}

#[test]
fn a_plan_that_cannot_be_followed_says_why() {
    let mut world = healthy();
    world.rollout.steps = Err("step 2 has no replicas".to_owned());
    blocked(world, Reason::InvalidPlan, "step 2 has no replicas");
}

#[test]
fn a_kind_that_cannot_be_released_says_so() {
    let mut world = healthy();
    set(&mut world, |it| it.unsupported = Some("kind Job cannot be released".to_owned()));
    blocked(world, Reason::UnsupportedWorkload, "kind Job");
}

#[test]
fn what_replaces_all_pods_at_once_is_said_from_the_start_once_the_webhook_guards_it() {
    let mut world = healthy();
    set(&mut world, |it| (it.recreates, it.labelled) = (true, false));
    check(&world, "Healthy 3>-1 Completed: label");
    set(&mut world, |it| it.labelled = true);
    blocked(world, Reason::UnsupportedWorkload, "set spec.strategy.type to RollingUpdate");
}

#[test]
fn a_second_rollout_of_a_workload_waits_for_the_first() {
    let mut world = healthy();
    world.rollout.rival = Some("shop/older".to_owned());
    blocked(
        world,
        Reason::WorkloadTaken,
        "Rollout shop/older releases Deployment shop/web already",
    );
}

#[test]
fn a_second_rollout_that_goes_or_is_disabled_leaves_the_release_of_the_first_alone() {
    let mut world = changed();
    world.rollout.rival = Some("shop/older".to_owned());
    set(&mut world, |workload| workload.held = true);
    world.rollout.deleted = true;
    check(&world, "Terminating 3>-1 Completed END: forget");
    (world.rollout.deleted, world.rollout.disabled) = (false, true);
    check(&world, "Disabled 3>-1 Completed: -");
}

#[test]
fn a_batch_release_of_somebody_else_is_left_alone() {
    let mut world = waiting(1);
    on_release(&mut world, |release| release.ours = false);
    blocked(world, Reason::ReleaseTaken, "BatchRelease shop/web is not this Rollout's");
    // Nor does a deleted Rollout take it along.
    let mut world = waiting(1);
    on_release(&mut world, |release| release.ours = false);
    world.rollout.deleted = true;
    check(&world, "Terminating InRolling 1>2 StepPaused ReleaseWorkloadControl: release");
}

#[test]
fn a_rollout_that_is_born_blocked_stands_at_its_beginning_and_can_go() {
    let mut world = healthy();
    world.status = Status::default();
    world.rollout.not_served = Some("canary style is not served".to_owned());
    let decision = check(&world, "Initial: -");
    assert_eq!(told(&decision), ["NotServed"]);
    world.status = decision.status;
    world.rollout.deleted = true;
    check(&world, "Terminating: forget");
}

#[test]
fn mended_it_goes_on_and_says_no_more_of_it() {
    let mut world = waiting(1);
    world.rollout.not_served = Some("traffic routing is not served".to_owned());
    let decision = engine::front::rollout::decide(&world, crate::fixture::now());
    world.rollout.not_served = None;
    world.status = decision.status;
    let decision = check(&world, "Progressing InRolling 1>2 StepPaused: -");
    assert!(decision.status.message.starts_with("Rollout is in step(1/3)"));
    assert_eq!(decision.status.condition(ConditionKind::Blocked), None);
    let mut world = healthy();
    world.rollout.rival = Some("shop/older".to_owned());
    let decision = engine::front::rollout::decide(&world, crate::fixture::now());
    world.rollout.rival = None;
    world.status = decision.status;
    let decision = check(&world, "Healthy 3>-1 Completed: -");
    assert_eq!(decision.status.message, "rollout is healthy");
    assert_eq!(decision.status.phase, Some(Phase::Healthy));
}

#[test]
fn while_the_originals_manager_runs_nothing_is_done_and_it_is_said() {
    for mut world in [changed(), upgrading(1), waiting(1)] {
        world.other_manager = Some("pod-1".to_owned());
        let decision = decide(&world, now());
        assert_eq!(decision.action, None);
        let blocked = decision.status.condition(ConditionKind::Blocked).expect("said");
        assert_eq!((blocked.holds, blocked.reason), (true, Reason::OtherManager));
        let same =
            Status { conditions: world.status.conditions.clone(), ..decision.status.clone() };
        assert_eq!(same, world.status, "all else is the other's");
        assert_eq!(decision.told.len(), 1);
        world.status = decision.status;
        assert!(decide(&world, now()).told.is_empty(), "it is said once");
        world.other_manager = None;
        let after = decide(&world, now());
        assert_eq!(after.status.condition(ConditionKind::Blocked), None);
    }
}

/// The step waits for its Pods, and its BatchRelease says why.
fn held(reason: Reason, why: &str) -> World {
    let mut world = upgrading(1);
    on_release(&mut world, |release| release.held = Some((reason, why.to_owned())));
    world
}

#[test]
fn what_holds_the_pods_of_a_step_is_said_by_the_rollout_as_its_batch_release_says_it() {
    let mut world = held(Reason::BudgetNeverAllows, "PodDisruptionBudget shop/web never allows");
    let decision = check(&world, "Progressing InRolling 1>2 StepUpgrade: -");
    let said = decision.status.condition(ConditionKind::Blocked).expect("it is said");
    assert_eq!((said.holds, said.reason), (true, Reason::BudgetNeverAllows));
    assert_eq!(said.message, "PodDisruptionBudget shop/web never allows");
    let stands = "Rollout is in step(1/3), and upgrade workload to new version";
    let both = format!("{stands}; PodDisruptionBudget shop/web never allows");
    assert_eq!(decision.status.message, both);
    assert_eq!(told(&decision), ["BudgetNeverAllows"]);
    world.status = decision.status;
    let again = decide(&world, now());
    assert_eq!((again.status, again.told), (world.status.clone(), Vec::new()), "once");
    on_release(&mut world, |release| release.held = None);
    let mended = decide(&world, now());
    assert_eq!(mended.status.condition(ConditionKind::Blocked), None);
    assert_eq!(mended.status.message, stands);
}

#[test]
fn what_passes_by_itself_is_said_and_no_event_is_made_of_it() {
    let decision = decide(&held(Reason::BudgetExhausted, "no room"), now());
    let said = decision.status.condition(ConditionKind::Blocked).expect("it is said");
    assert_eq!((said.reason, told(&decision)), (Reason::BudgetExhausted, Vec::new()));
}

#[test]
fn what_a_batch_release_says_counts_for_the_step_that_waits_and_the_plan_that_is_asked_for() {
    let mut old = held(Reason::BudgetNeverAllows, "of the plan before");
    on_release(&mut old, |release| release.plan_seen = false);
    let mut ready = waiting(1);
    on_release(&mut ready, |it| it.held = Some((Reason::BudgetNeverAllows, String::new())));
    for world in [old, ready] {
        assert_eq!(decide(&world, now()).status.condition(ConditionKind::Blocked), None);
    }
    // What a user has to mend first goes before it.
    let mut world = held(Reason::BudgetNeverAllows, "words");
    world.rollout.not_served = Some("traffic routing is not served".to_owned());
    blocked(world, Reason::NotServed, "traffic routing");
}
