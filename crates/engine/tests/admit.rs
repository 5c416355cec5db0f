//! What happens to the update of a workload on its way in.

#![expect(clippy::needless_pass_by_value, reason = "the cases read better")]

use engine::admit::workload::{Around, Leader, Marks, Release, Strategy, Update, Verdict, judge};

const NONE: Marks = Marks { in_progressing: false, control: false };
const MARK: Marks = Marks { in_progressing: true, control: false };
const CONTROL: Marks = Marks { in_progressing: false, control: true };
const BOTH: Marks = Marks { in_progressing: true, control: true };

const PASS: Verdict = Verdict::Pass;
/// Held with what stands on it.
const KEPT: Verdict = Verdict::KeepHeld { restart: false, mark: false, control: false };
/// Held anew.
const CLOSED: Verdict = Verdict::KeepHeld { restart: true, mark: false, control: false };

fn back(mark: bool, control: bool) -> Verdict {
    Verdict::KeepHeld { restart: false, mark, control }
}

fn hold() -> Verdict {
    Verdict::Hold { rollout: "web".to_owned() }
}

/// Something else is written: replicas, a label, the strategy.
fn other(before: Marks, after: Marks) -> Update {
    Update {
        name: "Deployment shop/web".to_owned(),
        replicas: 5,
        deleting: false,
        template: false,
        id: false,
        before,
        after,
        strategy: Strategy::Rolling,
        running: None,
    }
}

/// The template is written.
fn template(before: Marks, after: Marks) -> Update {
    Update { template: true, ..other(before, after) }
}

fn leader() -> Leader {
    Leader { name: "web".to_owned(), idle: false, ending: false, obstacle: None }
}

fn leads() -> Option<Leader> {
    Some(leader())
}

fn ends() -> Option<Leader> {
    Some(Leader { ending: true, ..leader() })
}

/// Disabled, or being deleted; and with a release of its own that is being ended.
fn idles() -> Option<Leader> {
    Some(Leader { idle: true, ..leader() })
}

#[track_caller]
fn check(update: Update, leader: Option<Leader>, release: Release, expect: Verdict) {
    let around = Around::Known { leader, release };
    assert_eq!(judge(&update, &around), expect, "{update:?} {around:?}");
}

#[test]
fn the_first_change_is_held_where_a_rollout_names_the_workload() {
    check(template(NONE, NONE), leads(), Release::None, hold());
    check(template(NONE, NONE), ends(), Release::None, hold());
    check(template(NONE, NONE), idles(), Release::None, PASS);
    check(template(NONE, NONE), None, Release::None, PASS);
    check(other(NONE, NONE), leads(), Release::None, PASS);
    let id = |of: Update| Update { id: true, ..of };
    check(id(other(NONE, NONE)), leads(), Release::None, hold());
    check(id(other(NONE, NONE)), None, Release::None, PASS);
    // Marked by hand.
    check(other(NONE, MARK), leads(), Release::None, PASS);
}

#[test]
fn where_nothing_runs_nothing_is_held() {
    let none = Update { replicas: 0, ..template(NONE, NONE) };
    check(none, leads(), Release::None, PASS);
    let running = |running| Update { running: Some(running), ..template(NONE, NONE) };
    check(running(false), leads(), Release::None, PASS);
    check(running(true), leads(), Release::None, hold());
}

#[test]
fn a_change_that_would_replace_all_pods_at_once_is_refused_and_the_remedy_named() {
    let recreate = |of: Update| Update { strategy: Strategy::Recreate, ..of };
    let around = Around::Known { leader: leads(), release: Release::None };
    let Verdict::Deny { later, message } = judge(&recreate(template(NONE, NONE)), &around) else {
        panic!("let in");
    };
    assert!(!later);
    for word in ["Deployment shop/web", "Rollout web", "Recreate", "RollingUpdate", "disable"] {
        assert!(message.contains(word), "{message}");
    }
    check(recreate(template(NONE, NONE)), None, Release::None, PASS);
    check(recreate(other(NONE, NONE)), leads(), Release::None, PASS);
    // Ours, of a release.
    check(recreate(template(BOTH, BOTH)), leads(), Release::GoesOn, CLOSED);
    let on_delete = Update { strategy: Strategy::OnDelete, ..template(NONE, NONE) };
    check(on_delete, leads(), Release::None, hold());
}

#[test]
fn a_change_that_its_rollout_cannot_release_is_refused_and_not_let_through() {
    let leader = Leader { obstacle: Some("no steps".to_owned()), ..leader() };
    let around = Around::Known { leader: Some(leader.clone()), release: Release::None };
    let Verdict::Deny { later, message } = judge(&template(NONE, NONE), &around) else {
        panic!("let in");
    };
    assert!(!later);
    for word in ["Deployment shop/web", "Rollout web", "no steps", "disable it"] {
        assert!(message.contains(word), "{message}");
    }
    check(other(NONE, NONE), Some(leader.clone()), Release::None, PASS);
    check(template(BOTH, BOTH), Some(leader.clone()), Release::GoesOn, CLOSED);
    check(template(NONE, NONE), Some(Leader { idle: true, ..leader }), Release::None, PASS);
}

#[test]
fn in_a_release_what_somebody_lets_go_of_is_taken_back() {
    for (before, leader, release) in [
        (MARK, leads(), Release::None),
        (BOTH, leads(), Release::GoesOn),
        (BOTH, leads(), Release::Ending),
        (CONTROL, None, Release::GoesOn),
        // Given back in a moment, and not before.
        (BOTH, ends(), Release::GoesOn),
        (BOTH, ends(), Release::Ending),
        (BOTH, idles(), Release::Ending),
        (MARK, ends(), Release::None),
        (MARK, idles(), Release::None),
        (CONTROL, None, Release::Ending),
    ] {
        check(other(before, before), leader, release, KEPT);
    }
}

#[test]
fn in_a_release_another_template_closes_what_was_open() {
    check(template(BOTH, BOTH), leads(), Release::GoesOn, CLOSED);
    check(template(MARK, MARK), leads(), Release::None, CLOSED);
    check(template(BOTH, BOTH), ends(), Release::Ending, CLOSED);
    check(template(CONTROL, CONTROL), None, Release::GoesOn, CLOSED);
    let all = Verdict::KeepHeld { restart: true, mark: true, control: true };
    check(template(BOTH, NONE), leads(), Release::GoesOn, all);
    // Disabled: it is given back with the template that it has then.
    check(template(BOTH, BOTH), idles(), Release::Ending, KEPT);
}

#[test]
fn a_write_of_the_whole_object_takes_no_mark_away() {
    check(other(BOTH, NONE), leads(), Release::GoesOn, back(true, true));
    check(other(BOTH, NONE), leads(), Release::Ending, back(true, false));
    check(other(BOTH, NONE), leads(), Release::None, back(true, false));
    check(other(MARK, NONE), leads(), Release::None, back(true, false));
    check(other(BOTH, MARK), leads(), Release::GoesOn, back(false, true));
    check(other(BOTH, CONTROL), leads(), Release::GoesOn, back(true, false));
    check(other(BOTH, CONTROL), ends(), Release::GoesOn, back(true, false));
    check(other(CONTROL, NONE), None, Release::GoesOn, back(false, true));
}

#[test]
fn what_gives_a_workload_back_passes() {
    // The BatchRelease takes its name off, and lets it go or hands it on.
    check(other(BOTH, MARK), ends(), Release::Ending, PASS);
    check(other(BOTH, MARK), leads(), Release::Ending, PASS);
    check(other(CONTROL, NONE), None, Release::Ending, PASS);
    // The Rollout takes the mark off, at last, and what a release that is gone has left.
    check(other(MARK, NONE), ends(), Release::None, PASS);
    check(other(MARK, NONE), idles(), Release::None, PASS);
    check(other(BOTH, NONE), ends(), Release::None, PASS);
    check(other(BOTH, NONE), idles(), Release::None, PASS);
}

#[test]
fn what_nobody_releases_any_more_is_its_owners() {
    for update in [other(BOTH, BOTH), other(MARK, NONE), template(BOTH, BOTH), other(BOTH, NONE)] {
        check(update, None, Release::None, PASS);
    }
}

#[test]
fn a_workload_that_is_being_deleted_is_let_be() {
    let deleting = Update { deleting: true, ..template(BOTH, NONE) };
    check(deleting, leads(), Release::GoesOn, PASS);
}

#[test]
fn before_anything_is_known_only_what_stands_on_the_workload_counts() {
    #[track_caller]
    fn check(update: Update, expect: Verdict) {
        let around = Around::Unknown("not yet listed: rollouts".to_owned());
        assert_eq!(judge(&update, &around), expect, "{update:?}");
    }
    check(other(NONE, NONE), PASS);
    check(other(BOTH, BOTH), KEPT);
    check(template(BOTH, BOTH), CLOSED);
    check(other(BOTH, NONE), back(true, true));
    check(other(BOTH, MARK), PASS);
    check(other(MARK, NONE), PASS);
    check(other(CONTROL, NONE), PASS);
    let around = Around::Unknown("not yet listed: rollouts".to_owned());
    for first in [template(NONE, NONE), Update { id: true, ..other(NONE, NONE) }] {
        let Verdict::Deny { later, message } = judge(&first, &around) else { panic!("let in") };
        assert!(later);
        for word in ["Deployment shop/web", "not yet listed: rollouts", "try again"] {
            assert!(message.contains(word), "{message}");
        }
    }
}
