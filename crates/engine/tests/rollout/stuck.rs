//! What ought to come by itself and does not is said after a while.

use engine::front::rollout::{
    BatchState, Change, ConditionKind, Decision, Reason, ReleasePhase, StepState, World, decide,
};
use jiff::SignedDuration;

use crate::fixture::{now, on_release, told, upgrading, waiting};

/// Looks at it this many seconds from now.
fn after(world: &mut World, seconds: i64) -> Decision {
    let decision = decide(world, now() + SignedDuration::from_secs(seconds));
    world.status = decision.status.clone();
    decision
}

#[test]
fn a_step_without_progress_is_stuck_after_the_deadline_and_told_once() {
    let mut world = upgrading(1);
    on_release(&mut world, |release| release.message = "Pod web-1 is not ready".to_owned());
    let decision = after(&mut world, 0);
    assert_eq!(decision.wake, Some(now() + SignedDuration::from_secs(600)));
    let said = decision.status.condition(ConditionKind::Stuck).unwrap();
    assert_eq!((said.holds, said.reason), (false, Reason::Waiting));
    assert_eq!(said.message, "step 1/3: 1 Pod updated, 0 of them ready");
    assert_eq!(told(&after(&mut world, 599)), Vec::<&str>::new());
    let waits = world.status.clone();
    let decision = after(&mut world, 600);
    let said = decision.status.condition(ConditionKind::Stuck).unwrap();
    assert_eq!((said.holds, said.reason), (true, Reason::ProgressDeadlineExceeded));
    assert_eq!(told(&decision), ["Stuck"]);
    assert_eq!(decision.status.change(&waits), Change::Standing);
    assert!(decision.told[0].warning);
    let text = "no progress for 10 minutes: step 1/3: 1 Pod updated, 0 of them ready; \
                BatchRelease shop/web says: Pod web-1 is not ready";
    assert_eq!(decision.told[0].text, text);
    // It is told once, in whatever words it goes on.
    on_release(&mut world, |release| release.message = "other words".to_owned());
    let before = world.status.conditions.clone();
    assert_eq!(told(&after(&mut world, 900)), Vec::<&str>::new());
    assert_eq!(world.status.conditions, before);
}

#[test]
fn progress_begins_the_time_again() {
    let mut world = upgrading(2);
    after(&mut world, 0);
    on_release(&mut world, |release| release.updated_ready = 2);
    after(&mut world, 500);
    on_release(&mut world, |release| release.batch_state = Some(BatchState::Upgrading));
    assert_eq!(told(&after(&mut world, 1099)), Vec::<&str>::new());
    assert_eq!(told(&after(&mut world, 1100)), ["Stuck"]);
    on_release(&mut world, |release| release.updated_ready = 1);
    after(&mut world, 1200);
    assert!(!world.status.condition(ConditionKind::Stuck).unwrap().holds);
}

#[test]
fn a_step_that_waits_for_a_user_is_not_stuck() {
    let mut world = upgrading(1);
    after(&mut world, 0);
    after(&mut world, 700);
    on_release(&mut world, |release| {
        (release.batch_state, release.updated_ready) = (Some(BatchState::Ready), 1);
    });
    after(&mut world, 800);
    assert_eq!(world.status.condition(ConditionKind::Stuck), None);
    let mut world = waiting(1);
    assert_eq!(after(&mut world, 5000).status.condition(ConditionKind::Stuck), None);
    let mut world = upgrading(1);
    world.rollout.paused = true;
    on_release(&mut world, |release| release.plan.paused = true);
    assert_eq!(after(&mut world, 5000).status.condition(ConditionKind::Stuck), None);
}

#[test]
fn the_end_of_a_release_can_be_stuck_too() {
    let mut world = waiting(3);
    crate::fixture::canary(&mut world, |it| it.state = StepState::Completed);
    world.status.conditions = vec![crate::fixture::condition(Reason::Finalising, "")];
    on_release(&mut world, |release| {
        (release.plan.partition, release.phase) = (None, Some(ReleasePhase::Finalizing));
    });
    after(&mut world, 0);
    assert_eq!(told(&after(&mut world, 600)), ["Stuck"]);
    on_release(&mut world, |release| release.deleting = true);
    after(&mut world, 700);
    assert_eq!(told(&after(&mut world, 1300)), ["Stuck"]);
}
