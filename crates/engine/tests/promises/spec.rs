//! Creating, applying, owning and losing the StatefulSet.

use engine::status::Phase;
use engine::world::{Applied, Claim, Outcome, VersionLeak};

use crate::fixture::{Fixture, ago, ahead, check, names, world};

fn absent() -> Fixture {
    world().with(|world| {
        world.workload = None;
        world.pods.clear();
    })
}

fn fresh() -> Fixture {
    absent().with(|world| {
        world.status = engine::status::Status::default();
        world.rollout.generation = 1;
    })
}

#[test]
fn a_set_that_was_never_there_is_created() {
    check(&fresh(), "InProgress Creating: apply OnDelete");
    check(&fresh().version_leak(VersionLeak::Prevent), "InProgress Creating: apply partition 0");
}

#[test]
fn a_set_that_was_just_created_is_waited_for_and_not_created_twice() {
    let fixture = fresh().again().with(|world| {
        world.outcome.applied =
            Some(Applied { uid: "workload-uid".into(), hash: "hash-v2".into(), generation: 1 });
        world.outcome.acted_at = Some(ago(3));
    });
    check(&fixture, "InProgress Creating: -");
}

#[test]
fn a_creation_lost_in_a_crash_is_repeated() {
    // The status was written, the create never came: nothing is known of a set.
    check(&fresh().again(), "InProgress Creating: apply OnDelete");
}

#[test]
fn a_set_that_somebody_deleted_is_not_brought_back() {
    let fixture = absent();
    let decision = check(&fixture, "Failed StatefulSetDeleted: -");
    names(&decision.status.reason, &["shop/web", "deleted", "rolloutIdentity"]);
    assert!(decision.status.deleted);
    assert_eq!(decision.wake, None);
    check(&fixture.again(), "Failed StatefulSetDeleted: -");
}

/// We applied a template three seconds ago, saw the set with it, and now it is gone.
fn deleted_after_our_apply() -> Fixture {
    absent().again().with(|world| {
        world.status.phase = Some(Phase::InProgress);
        world.status.deleted = false;
        world.status.workload_name = "web".into();
        world.outcome.applied =
            Some(Applied { uid: "workload-uid".into(), hash: "hash-v2".into(), generation: 2 });
        world.outcome.acted_at = Some(ago(3));
    })
}

#[test]
fn a_set_deleted_just_after_we_wrote_it_is_not_called_created() {
    check(&deleted_after_our_apply(), "Failed StatefulSetDeleted: -");
}

#[test]
fn a_set_deleted_just_after_we_wrote_it_is_created_again_at_once_when_asked() {
    let asked = deleted_after_our_apply().again().with(|world| {
        world.rollout.generation = 3;
        world.rollout.identity = "second".into();
    });
    check(&asked, "InProgress Creating: apply OnDelete");
}

#[test]
fn a_set_deleted_after_done_is_told_too() {
    let decision = check(&absent().phase(Phase::Done), "Failed StatefulSetDeleted: -");
    assert!(decision.status.deleted);
}

#[test]
fn a_deleted_set_is_recreated_on_a_new_generation_or_identity() {
    let generation = absent().again().with(|world| world.rollout.generation = 3);
    check(&generation, "InProgress Creating: apply OnDelete");
    let identity = absent().again().with(|world| {
        world.rollout.generation = 3;
        world.rollout.identity = "second".into();
    });
    let decision = check(&identity, "InProgress Creating: apply OnDelete");
    assert!(!decision.status.deleted);
}

#[test]
fn a_crash_between_the_status_and_the_recreation_loses_nothing() {
    let fixture = absent().again().with(|world| world.rollout.generation = 3).again();
    check(&fixture, "InProgress Creating: apply OnDelete");
}

#[test]
fn a_set_that_is_being_deleted_is_left_alone() {
    let fixture = world().budget(2).with_set(|set| set.terminating = true);
    check(&fixture, "InProgress StatefulSetDeleted: -");
}

#[test]
fn an_existing_set_is_adopted_as_it_is_without_a_restart() {
    let fixture = world()
        .budget(1)
        .updated(0)
        .updated(1)
        .updated(2)
        .updated(3)
        .with(|world| {
            world.status = engine::status::Status::default();
            world.rollout.generation = 1;
        })
        .with_set(|set| set.claim = Claim::Free);
    let decision = check(&fixture, "InProgress Applying: apply OnDelete");
    assert_eq!(decision.status.stable_revision, "v2");
    let applied = fixture.again().with_set(|set| {
        set.claim = Claim::Ours;
        (set.generation, set.observed_generation) = (3, 3);
    });
    let applied = applied.with(|world| {
        world.outcome.applied =
            Some(Applied { uid: "workload-uid".into(), hash: "hash-v2".into(), generation: 3 });
    });
    check(&applied, "Done Completed: -");
}

#[test]
fn a_rollout_deleted_and_created_again_goes_on_from_the_pods_as_they_are() {
    let fixture = world().budget(2).percent(75).updated(3).with(|world| {
        world.status = engine::status::Status::default();
        world.status.applied =
            Some(Applied { uid: "workload-uid".into(), hash: "hash-v2".into(), generation: 2 });
        world.rollout.generation = 1;
    });
    let decision = check(&fixture, "InProgress Evicting: evict 2 1");
    assert_eq!(decision.status.stable_revision, "v1");
    assert_eq!(decision.status.leaked_replicas, 0, "nothing is known of what happened before");
}

#[test]
fn a_set_of_another_owner_is_refused_with_a_reason() {
    let fixture = world().budget(2).with_set(|set| {
        set.claim = Claim::Other { owner: "StatefulsetRollout/shop".into() };
    });
    let decision = check(&fixture.phase(Phase::Pending), "Pending OwnedByAnother: -");
    names(&decision.status.reason, &["shop/web", "StatefulsetRollout/shop", "delete that one"]);
    assert!(decision.wake.is_some(), "the other may go");
}

#[test]
fn of_two_rollouts_for_a_free_set_the_first_wins() {
    let fixture = world().budget(2).with_set(|set| set.claim = Claim::Free);
    let fixture = fixture.with(|world| world.rival = Some("Rollout/older".into()));
    let decision = check(&fixture, "Pending OwnedByAnother: -");
    names(&decision.status.reason, &["Rollout/older"]);
}

#[test]
fn a_rival_that_came_later_than_our_claim_means_nothing() {
    let fixture = world().budget(2).with(|world| world.rival = Some("Rollout/older".into()));
    check(&fixture, "InProgress Evicting: evict 3 2");
}

#[test]
fn a_set_whose_pods_have_the_names_of_anothers_says_whose_and_is_not_made() {
    let named = |fixture: crate::fixture::Fixture| {
        fixture.with(|world| world.namesake = Some("Advanced StatefulSet web".into()))
    };
    let bare = |fixture: crate::fixture::Fixture| fixture.with(|world| world.pods.clear());
    let made = bare(named(world().phase(Phase::Pending)));
    let absent = made.clone().with(|world| world.workload = None);
    for fixture in [made, absent] {
        let decision = check(&fixture, "Pending OwnedByAnother: -");
        let words = ["Advanced StatefulSet web", "namespace shop", "delete", "create a Rollout"];
        names(&decision.status.reason, &words);
    }
    // Where the Pods are ours, it is the other that has none.
    check(&named(world().budget(2)), "InProgress Evicting: evict 3 2");
}

#[test]
fn an_invalid_statefulset_fails_in_the_servers_words() {
    let fixture = world().apply_refused(true, "spec.serviceName: field is immutable");
    let decision = check(&fixture, "Failed InvalidStatefulSet: -");
    names(&decision.status.reason, &["shop/web", "immutable", "correct spec.statefulset"]);
    assert_eq!(decision.wake, None);
}

#[test]
fn an_invalid_statefulset_is_tried_again_once_it_is_corrected() {
    let fixture = world().apply_refused(true, "immutable").again().with(|world| {
        world.rollout.desired_hash = "hash-v3".into();
        world.rollout.generation = 3;
    });
    check(&fixture.with_set(|set| set.matches = false), "InProgress Applying: apply OnDelete");
}

#[test]
fn a_write_that_is_forbidden_blocks_and_is_tried_again() {
    let refused = |acted| {
        let fixture = world().apply_refused(false, "forbidden: quota");
        let fixture = fixture.with_set(|set| set.matches = false).with(|world| {
            world.status.applied = None;
        });
        fixture.with(move |world| world.outcome.acted_at = Some(ago(acted)))
    };
    let decision = check(&refused(3), "InProgress CannotWriteStatefulSet: -");
    names(&decision.status.reason, &["shop/web", "forbidden: quota"]);
    assert_eq!(decision.wake, Some(ahead(27)), "no faster than the slow look");
    check(&refused(30), "InProgress CannotWriteStatefulSet: apply OnDelete");
}

#[test]
fn a_revision_is_trusted_only_when_the_controller_has_seen_the_spec() {
    let fixture = world().budget(2).with_set(|set| set.generation = 3);
    let decision = check(&fixture, "InProgress WaitingForController: -");
    names(&decision.status.reason, &["generation 3", "shop/web"]);
}

#[test]
fn a_cache_older_than_our_own_apply_is_waited_for() {
    let fixture = world().budget(2).with(|world| {
        world.outcome.applied =
            Some(Applied { uid: "workload-uid".into(), hash: "hash-v2".into(), generation: 3 });
        world.outcome.acted_at = Some(ago(10));
    });
    check(&fixture, "InProgress WaitingForController: -");
}

#[test]
fn a_drifted_field_of_ours_is_applied_again() {
    let fixture = world().budget(2).with_set(|set| {
        set.matches = false;
        (set.generation, set.observed_generation) = (3, 3);
    });
    check(&fixture, "InProgress Applying: apply OnDelete");
}

#[test]
fn a_drifted_strategy_is_applied_again() {
    let fixture = world().budget(2).with_set(|set| {
        set.strategy = engine::world::Strategy::RollingUpdate { partition: 0 };
    });
    check(&fixture, "InProgress Applying: strategy OnDelete");
}

#[test]
fn an_unclaimed_set_is_claimed() {
    let fixture = world().budget(2).with_set(|set| set.claim = Claim::Free);
    check(&fixture, "InProgress Applying: apply OnDelete");
}

#[test]
fn an_apply_lost_in_a_crash_is_repeated() {
    let fixture = world().with(|world| {
        world.rollout.desired_hash = "hash-v3".into();
        world.rollout.generation = 3;
    });
    let fixture = fixture.with_set(|set| set.matches = false).again();
    let fixture = fixture.with(|world| world.outcome = Outcome::default());
    check(&fixture, "InProgress Applying: apply OnDelete");
}

#[test]
fn a_forbidden_write_is_repeated_with_its_hold() {
    let fixture = world().held(0).percent(50).apply_refused(false, "forbidden");
    let fixture = fixture.updated(0).updated(1).updated(2).updated(3).with_set(|set| {
        (set.matches, set.template_matches) = (false, false);
        set.current_revision = "v2".into();
    });
    let fixture = fixture.with(|world| {
        world.status.applied = None;
        world.outcome.acted_at = Some(ago(30));
    });
    check(&fixture, "InProgress CannotWriteStatefulSet: apply partition 4");
}

#[test]
fn a_partition_that_may_not_be_lowered_blocks_and_is_tried_again() {
    let fixture = world().held(4).budget(1).apply_refused(false, "forbidden");
    let fixture = fixture.with(|world| world.outcome.acted_at = Some(ago(30)));
    check(&fixture, "InProgress CannotWriteStatefulSet: open 3");
}

#[test]
fn an_invalid_statefulset_is_tried_again_with_a_new_identity() {
    let fixture = world().apply_refused(true, "denied by a webhook").again();
    let fixture = fixture.with_set(|set| set.matches = false).with(|world| {
        world.status.applied = None;
        world.rollout.identity = "second".into();
        world.rollout.generation = 3;
    });
    check(&fixture, "InProgress Applying: apply OnDelete");
}

#[test]
fn a_verdict_outlives_another_owner() {
    let failed = world().apply_refused(true, "immutable").again();
    let fixture = failed.with_set(|set| {
        set.claim = Claim::Other { owner: "StatefulsetRollout/shop".into() };
    });
    check(&fixture, "Failed InvalidStatefulSet: -");
}

#[test]
fn what_was_applied_to_another_set_of_the_same_name_counts_for_nothing() {
    // Made again by somebody at the very generation that was ours: nothing may be Done on it unseen.
    let fixture = world().updated(0).updated(1).updated(2).updated(3).with(|world| {
        for applied in [&mut world.outcome.applied, &mut world.status.applied] {
            *applied =
                Some(Applied { uid: "set-before".into(), hash: "hash-v2".into(), generation: 2 });
        }
    });
    check(&fixture, "InProgress Applying: apply OnDelete");
}
