//! Short walks: what was found by long ones, and what the promises are best told by.

use engine::front::rollout::{ConditionKind, Phase, StepState};

use crate::model::{Cluster, Crash};
use crate::walk::{Event, apply, begin};

/// A cluster whose plan of 20 %, 60 % (4 s), 100 % stands at its first approval.
fn at_step_1() -> Cluster {
    let mut cluster = begin(5, 0, false);
    apply(&mut cluster, Event::Change(2));
    cluster.run(15);
    stands(&cluster, 1, StepState::StepPaused, 1);
    cluster
}

#[track_caller]
fn stands(cluster: &Cluster, step: u32, state: StepState, updated: usize) {
    let canary = cluster.status.canary.as_ref().expect("a release");
    assert_eq!((canary.current_step, canary.state), (step, state));
    let work = cluster.work.as_ref().expect("there");
    assert_eq!(work.pods.iter().filter(|pod| **pod == work.template).count(), updated);
}

#[track_caller]
fn released(cluster: &Cluster, template: u32, succeeded: bool) {
    let work = cluster.work.as_ref().expect("there");
    assert!(!work.marked && !work.held && !work.controlled, "{work:?}");
    assert!(work.pods.iter().all(|pod| *pod == template), "{work:?}");
    assert_eq!(cluster.status.phase, Some(Phase::Healthy));
    let said = cluster.status.condition(ConditionKind::Succeeded).expect("said");
    assert_eq!(said.holds, succeeded);
}

#[test]
fn a_release_goes_through_its_steps_and_leaves_nothing_behind() {
    let mut cluster = at_step_1();
    cluster.run(100);
    stands(&cluster, 1, StepState::StepPaused, 1);
    cluster.approve();
    cluster.run(40);
    released(&cluster, 2, true);
}

#[test]
fn an_approval_that_races_a_status_write_is_not_lost() {
    let mut cluster = begin(5, 0, false);
    apply(&mut cluster, Event::Change(2));
    // It comes between a read and a write while the first step is under way.
    cluster.run(5);
    cluster.race = true;
    cluster.run(60);
    assert!(!cluster.race, "it came");
    released(&cluster, 2, true);
}

#[test]
fn a_roll_back_while_paused_is_done_at_once() {
    let mut cluster = at_step_1();
    apply(&mut cluster, Event::Pause(true));
    cluster.run(5);
    apply(&mut cluster, Event::Change(1));
    cluster.run(30);
    released(&cluster, 1, false);
}

#[test]
fn a_workload_that_is_made_again_keeps_its_release() {
    let mut cluster = at_step_1();
    apply(&mut cluster, Event::MakeAgain(5));
    cluster.run(20);
    stands(&cluster, 1, StepState::StepPaused, 5);
    cluster.approve();
    cluster.run(40);
    released(&cluster, 2, true);
}

#[test]
fn a_workload_that_vanishes_for_a_moment_keeps_its_step() {
    let mut cluster = at_step_1();
    apply(&mut cluster, Event::Vanish(true));
    cluster.run(10);
    assert_eq!(cluster.status.message, "Workload Not Found");
    apply(&mut cluster, Event::Vanish(false));
    cluster.run(10);
    stands(&cluster, 1, StepState::StepPaused, 1);
}

#[test]
fn another_change_on_top_is_never_let_go_in_between() {
    let mut cluster = at_step_1();
    apply(&mut cluster, Event::Change(3));
    for _ in 0..30 {
        cluster.run(1);
        assert!(cluster.work.as_ref().is_some_and(|work| work.held));
    }
    stands(&cluster, 1, StepState::StepPaused, 1);
}

#[test]
fn a_change_that_passed_a_webhook_that_was_down_is_held_where_it_got_to() {
    let mut cluster = begin(5, 0, false);
    cluster.lag = 1;
    apply(&mut cluster, Event::WebhookDown(true));
    apply(&mut cluster, Event::Change(2));
    cluster.run(30);
    let work = cluster.work.as_ref().expect("there");
    let updated = work.pods.iter().filter(|pod| **pod == 2).count();
    assert!(work.held && work.marked && updated < 5, "{work:?}");
    stands(&cluster, 1, StepState::StepPaused, updated);
}

#[test]
fn deleted_a_moment_after_a_change_was_held_it_leaves_nothing_held() {
    let mut cluster = begin(1, 0, false);
    cluster.lag = 3;
    apply(&mut cluster, Event::Change(2));
    apply(&mut cluster, Event::Delete);
    cluster.run(30);
    assert_eq!(cluster.rollout, None);
    let work = cluster.work.as_ref().expect("there");
    assert!(!work.held && !work.marked && work.pods == [2], "{work:?}");
}

#[test]
fn a_crash_at_any_look_of_a_release_changes_nothing() {
    let run = |crash: Crash, nth: usize| {
        let mut cluster = begin(5, 2, false);
        cluster.crashes.extend(std::iter::repeat_n(None, nth));
        cluster.crashes.push_back(Some(crash));
        apply(&mut cluster, Event::Change(2));
        cluster.run(60);
        released(&cluster, 2, true);
        cluster.crashes.is_empty()
    };
    for crash in [Crash::BeforeStatus, Crash::BeforeAction] {
        let crashed = (0..200).take_while(|nth| run(crash, *nth)).count();
        assert!((10..200).contains(&crashed), "{crashed} looks");
    }
}
