//! What is let in, and what its author is told.

use engine::admit::{Admission, Verdict, admit};
use engine::status::Reason;
use engine::world::{Claim, PodManagement, VersionLeak};

use crate::fixture::{Fixture, names, noon, rollout, world};

fn judge(fixture: &Fixture) -> Verdict {
    admit(&Admission { before: None }, &fixture.build(), noon())
}

#[track_caller]
fn warned(verdict: &Verdict, words: &[&str]) {
    let Verdict::Allow { warnings } = verdict else { panic!("denied: {verdict:?}") };
    names(&warnings.join("\n"), words);
}

#[test]
fn a_good_rollout_is_let_in_without_a_word() {
    assert_eq!(judge(&world().budget(2)), Verdict::Allow { warnings: Vec::new() });
}

#[test]
fn a_second_owner_is_kept_out() {
    let fixture = world()
        .with_set(|set| set.claim = Claim::Other { owner: "StatefulsetRollout/first".into() });
    let Verdict::Deny { field, message } = judge(&fixture) else { panic!("let in") };
    assert_eq!(field, "spec.statefulset.metadata.name");
    names(&message, &["shop/web", "StatefulsetRollout/first", "delete that one"]);
}

#[test]
fn a_set_that_could_have_no_pods_is_kept_out() {
    let fixture = world().with(|world| {
        world.workload = None;
        world.pods.clear();
        world.namesake = Some("Advanced StatefulSet web".into());
    });
    let Verdict::Deny { field, message } = judge(&fixture) else { panic!("let in") };
    assert_eq!(field, "spec.statefulset.metadata.name");
    names(&message, &["Advanced StatefulSet web", "name another StatefulSet"]);
}

#[test]
fn another_statefulset_is_another_rollout() {
    let mut before = rollout();
    before.workload_name = "other".into();
    let verdict = admit(&Admission { before: Some(before) }, &world().build(), noon());
    let Verdict::Deny { message, .. } = verdict else { panic!("let in") };
    names(&message, &["shop/other", "shop/web"]);
}

#[test]
fn a_second_owner_that_is_in_already_may_be_changed_and_given_another_set() {
    let fixture = world()
        .with_set(|set| set.claim = Claim::Other { owner: "StatefulsetRollout/first".into() })
        .with(|world| world.status.reason_code = Some(Reason::OwnedByAnother));
    let verdict = admit(&Admission { before: Some(rollout()) }, &fixture.build(), noon());
    warned(&verdict, &["belongs to StatefulsetRollout/first"]);
    let mut before = rollout();
    before.workload_name = "other".into();
    let free = world().with(|world| world.status.reason_code = Some(Reason::OwnedByAnother));
    let verdict = admit(&Admission { before: Some(before) }, &free.build(), noon());
    assert!(matches!(verdict, Verdict::Allow { .. }), "{verdict:?}");
}

#[test]
fn what_will_block_is_said_beforehand() {
    warned(&judge(&world().budget(0)), &["will be blocked", "shop/web-pdb", "at least 1"]);
}

#[test]
fn what_will_be_slow_is_said_beforehand() {
    warned(&judge(&world()), &["no PodDisruptionBudget"]);
    let ordered = world().budget(2).with_set(|set| set.management = PodManagement::OrderedReady);
    warned(&judge(&ordered), &["OrderedReady"]);
}

#[test]
fn a_lower_percentage_and_a_late_prevent_are_remarked_on() {
    let mut before = rollout();
    before.percent = engine::quantity::Percent::ALL;
    let fixture = world().budget(2).percent(25).updated(3).updated(2);
    let fixture = fixture.version_leak(VersionLeak::Prevent);
    let verdict = admit(&Admission { before: Some(before) }, &fixture.build(), noon());
    warned(
        &verdict,
        &["2 of 4", "none is moved back", "Prevent takes hold from the next template"],
    );
}
