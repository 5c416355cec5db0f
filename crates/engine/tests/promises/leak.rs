//! Pods that came back at a revision that no step released.

use engine::status::{ConditionKind, Phase};
use engine::world::VersionLeak;

use crate::fixture::{Fixture, check, names, ready_pod, uid, world};

/// Half of four at v2, done; then Pod 0 was drained and came back at v2.
fn leak() -> Fixture {
    world().percent(50).budget(2).updated(3).updated(2).leaked(0)
}

fn leaked(fixture: &Fixture) -> u32 {
    fixture.decide().status.leaked_replicas
}

#[test]
fn a_pod_that_we_did_not_evict_and_that_is_back_updated_has_leaked() {
    let decision = check(&leak(), "Done Completed: -");
    assert_eq!(decision.status.leaked_replicas, 1);
    let condition =
        decision.status.conditions.iter().find(|c| c.kind == ConditionKind::Leaked).unwrap();
    assert!(condition.holds);
    names(&condition.message, &["1 Pod", "v2"]);
}

#[test]
fn a_pod_that_we_evicted_has_not_leaked() {
    let by_status = world().percent(50).budget(2).leaked(3).with(|world| {
        world.status.evicting = vec![uid(3, "v1")];
    });
    assert_eq!(leaked(&by_status), 0);
}

#[test]
fn a_pod_that_we_evicted_and_that_was_seen_missing_has_not_leaked() {
    let gone = world().percent(50).budget(2).accepted(3).gone(3).again();
    let back = gone.with(|world| {
        world.pods.push(ready_pod(3, "v2"));
        world.outcome.accepted.clear();
    });
    assert_eq!(leaked(&back), 0);
}

#[test]
fn a_pod_seen_missing_for_a_foreign_reason_has_leaked_when_it_is_back() {
    let gone = world().percent(50).budget(2).gone(0).again();
    let back = gone.with(|world| world.pods.push(ready_pod(0, "v2")));
    assert_eq!(leaked(&back), 1);
}

#[test]
fn what_leaked_stays_leaked_and_is_remembered_by_uid() {
    let fixture = leak().again();
    assert_eq!(leaked(&fixture), 1);
    assert_eq!(leaked(&fixture.again()), 1);
}

#[test]
fn a_moved_pod_that_is_lost_and_comes_back_moved_has_not_leaked() {
    let fixture = world().percent(50).budget(2).updated(3).updated(2);
    let fixture = fixture.pod(3, |pod| pod.uid = "another".into());
    assert_eq!(leaked(&fixture), 0);
}

#[test]
fn a_leak_exists_only_below_100_percent() {
    let fixture = world().budget(1).leaked(0);
    assert_eq!(leaked(&fixture), 0);
}

#[test]
fn a_scale_up_in_the_middle_of_a_rollout_leaks() {
    let fixture = world().percent(50).budget(2).updated(3).updated(2).with(|world| {
        world.pods.push(ready_pod(4, "v2"));
        world.workload.as_mut().unwrap().replicas = 5;
    });
    assert_eq!(leaked(&fixture), 1);
}

#[test]
fn a_scale_up_of_a_set_at_one_revision_leaks_nothing() {
    let fixture = world().percent(50).with(|world| {
        for o in 0..4 {
            world.pods[o as usize] = ready_pod(o, "v2");
        }
        world.status.pods = world.pods.iter().map(crate::fixture::row).collect();
        world.status.stable_revision = "v2".into();
        world.pods.push(ready_pod(4, "v2"));
        world.workload.as_mut().unwrap().replicas = 5;
    });
    assert_eq!(leaked(&fixture), 0);
}

#[test]
fn ignore_says_nothing() {
    let fixture = leak().version_leak(VersionLeak::Ignore);
    let decision = check(&fixture, "Done Completed: -");
    assert_eq!(decision.status.leaked_replicas, 0);
    assert!(decision.status.conditions.iter().all(|c| c.kind != ConditionKind::Leaked || !c.holds));
}

#[test]
fn pause_stops_names_the_pods_and_says_how_to_go_on() {
    let fixture = world().percent(75).budget(1).updated(3).leaked(0);
    let fixture = fixture.version_leak(VersionLeak::Pause);
    let decision = check(&fixture, "Paused LeakFound: -");
    names(&decision.status.reason, &["web-0", "rolloutIdentity", "versionLeak"]);
}

#[test]
fn a_leak_pause_ends_with_a_new_identity() {
    let fixture = world().percent(75).budget(1).updated(3).leaked(0);
    let fixture = fixture.version_leak(VersionLeak::Pause).again().with(|world| {
        world.rollout.identity = "second".into();
        world.rollout.generation = 3;
    });
    let decision = check(&fixture, "InProgress Evicting: evict 2");
    assert_eq!(decision.status.leaked_replicas, 0, "taken as released");
    assert_eq!(leaked(&fixture.again()), 0);
}

#[test]
fn a_leak_pause_ends_when_version_leak_is_changed() {
    let fixture = world().percent(75).budget(1).updated(3).leaked(0);
    let fixture = fixture.version_leak(VersionLeak::Pause).again();
    let fixture = fixture.version_leak(VersionLeak::Report);
    check(&fixture.with(|world| world.rollout.generation = 3), "InProgress Evicting: evict 2");
}

#[test]
fn a_leak_after_done_pauses_too() {
    let fixture = leak().phase(Phase::Done).version_leak(VersionLeak::Pause);
    check(&fixture, "Paused LeakFound: -");
}

#[test]
fn a_new_ordinal_that_was_seen_missing_first_leaks_only_where_there_are_two_revisions() {
    let scaled = |stable: &str| {
        let fixture = world().percent(50).budget(2).updated(0).updated(1).updated(2).updated(3);
        let fixture = fixture.with(|world| {
            world.status.stable_revision = stable.into();
            world.workload.as_mut().unwrap().replicas = 5;
        });
        fixture.again().with(|world| world.pods.push(ready_pod(4, "v2")))
    };
    assert_eq!(leaked(&scaled("v2")), 0);
    assert_eq!(leaked(&scaled("v1")), 1);
}
