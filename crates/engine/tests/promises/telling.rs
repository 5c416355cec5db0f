//! What the status and the notices say.

use engine::notice::{Topic, levels, news};
use engine::status::{ConditionKind, PodState, Status};

use crate::fixture::{ago, check, names, uid, world};

fn holds(status: &Status, kind: ConditionKind) -> Option<bool> {
    status.conditions.iter().find(|c| c.kind == kind).map(|c| c.holds)
}

#[test]
fn the_uids_that_are_about_to_go_are_in_the_status_before_they_go() {
    let decision = world().budget(2).decide();
    assert_eq!(decision.status.evicting, [uid(2, "v1"), uid(3, "v1")]);
    let states: Vec<PodState> = decision.status.pods.iter().map(|row| row.state).collect();
    assert_eq!(states[..2], [PodState::Old, PodState::Old]);
}

#[test]
fn uids_that_were_refused_or_are_gone_leave_the_status() {
    use engine::world::Refusal;
    let fixture = world().budget(0).with(|world| {
        world.status.evicting = vec![uid(2, "v1"), uid(3, "v1"), "long-gone".into()];
        world.status.last_eviction = Some(ago(5));
        world.outcome.refused.insert(uid(3, "v1"), Refusal::Budget("no room".into()));
    });
    assert_eq!(fixture.decide().status.evicting, [uid(2, "v1")]);
}

#[test]
fn the_counts_are_those_of_the_pods() {
    let status = world().percent(75).budget(2).updated(3).starting(2).unready(0).decide().status;
    assert_eq!((status.replicas, status.target_replicas, status.updated_replicas), (4, 3, 2));
    assert_eq!((status.ready_replicas, status.available_replicas), (2, 2));
}

#[test]
fn a_blocked_rollout_has_the_condition_and_a_waiting_one_has_not() {
    let blocked = world().budget(0).decide().status;
    assert_eq!(holds(&blocked, ConditionKind::Blocked), Some(true));
    assert_eq!(holds(&blocked, ConditionKind::Progressing), Some(false));
    let waiting = world().budget(1).starting(3).decide().status;
    assert_eq!(holds(&waiting, ConditionKind::Blocked), Some(false));
    assert_eq!(holds(&waiting, ConditionKind::Progressing), Some(true));
    assert_eq!(holds(&waiting, ConditionKind::Available), Some(false));
}

#[test]
fn a_condition_keeps_its_time_while_it_holds() {
    let first = world().budget(0).again();
    let mut world = first.build();
    world.rollout.generation = 3;
    let second = engine::decide(&world, crate::fixture::ahead(60));
    let since = |status: &Status| status.conditions.iter().map(|c| c.since).collect::<Vec<_>>();
    assert_eq!(since(&second.status), since(&first.world.status));
}

#[test]
fn a_group_is_told_with_its_pods_counts_and_budget() {
    let decision = world().percent(75).budget(2).updated(3).decide();
    names(
        &decision.status.reason,
        &["moving web-2, web-1", "1 of 4", "3 wanted", "web-pdb (maxUnavailable: 2) allows 2"],
    );
    let told = levels(&decision.status);
    assert!(told.iter().any(|notice| notice.topic == Topic::Group));
}

#[test]
fn a_block_is_told_once_and_a_new_reason_again() {
    let blocked = world().budget(0).decide().status;
    let first = news(&Status::default(), &blocked);
    assert!(first.iter().any(|n| n.topic == Topic::Blocked && n.warning));
    assert_eq!(news(&blocked, &blocked), []);
}

#[test]
fn done_is_told_with_how_much_moved() {
    let decision = check(&world().percent(25).budget(1).updated(3), "Done Completed: -");
    names(&decision.status.reason, &["1 of 4", "25%"]);
    let told = levels(&decision.status);
    assert_eq!(told[0].reason, "RolloutDone");
}

#[test]
fn no_pod_is_called_updated_while_the_template_is_still_to_be_applied() {
    let fixture = world().percent(50).budget(1).with_set(|set| {
        (set.matches, set.template_matches) = (false, false);
        (set.generation, set.observed_generation) = (3, 3);
    });
    let fixture = fixture.updated(0).updated(1).updated(2).updated(3);
    let status = check(&fixture, "InProgress Applying: apply OnDelete").status;
    assert_eq!(status.updated_replicas, 0);
    assert!(status.pods.iter().all(|row| row.state == PodState::Old), "{:?}", status.pods);
}

#[test]
fn pods_of_a_template_that_the_server_took_in_its_own_words_are_called_updated() {
    // An unknown field that was dropped, a default that a webhook insists on: it never compares equal.
    let fixture = world().budget(1).with_set(|set| {
        (set.matches, set.template_matches) = (false, false);
    });
    let fixture = fixture.updated(0).updated(1).updated(2).updated(3);
    let status = check(&fixture, "Done Completed: -").status;
    assert_eq!(status.updated_replicas, 4);
    assert!(status.spec_current);
    assert!(status.pods.iter().all(|row| row.state == PodState::Updated), "{:?}", status.pods);
}
