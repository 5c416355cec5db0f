//! What begins a new rollout, and what does not.

use engine::status::Phase;
use engine::world::{Applied, Build};

use crate::fixture::{Fixture, ago, check, noon, world};

/// Failed an hour ago with one broken Pod.
fn failed() -> Fixture {
    let fixture = world().budget(1).broken(3, "ImagePullBackOff").with(|world| {
        world.status.last_progress = Some(ago(4200));
        world.status.progressed = 1;
    });
    let fixture = fixture.again();
    assert_eq!(fixture.world.status.phase, Some(Phase::Failed));
    fixture
}

#[test]
fn failed_is_final() {
    let decision = check(&failed(), "Failed ProgressDeadlineExceeded: -");
    assert_eq!(decision.wake, None);
    let decision = check(&failed().updated(3), "Failed ProgressDeadlineExceeded: -");
    assert!(decision.status.reason.contains("web-3"), "the verdict stays as it was");
}

#[test]
fn a_new_identity_retries_from_failed() {
    let fixture = failed().with(|world| {
        world.rollout.identity = "second".into();
        world.rollout.generation = 3;
    });
    check(&fixture, "InProgress WaitingForPods: -");
}

#[test]
fn a_new_percentage_or_template_takes_up_what_was_given_up() {
    let percent = failed().with(|world| {
        world.rollout.percent = engine::quantity::Percent::new(50).unwrap();
        world.rollout.generation = 3;
    });
    check(&percent, "InProgress WaitingForPods: -");
    let template = failed().with(|world| {
        world.rollout.desired_hash = "hash-v1".into();
        world.rollout.generation = 3;
    });
    check(&template.with_set(|set| set.matches = false), "InProgress Applying: apply OnDelete");
}

#[test]
fn a_change_of_channel_callback_or_build_begins_nothing() {
    for phase in [Phase::Done, Phase::Failed] {
        let done = if phase == Phase::Failed {
            failed()
        } else {
            world().updated(0).updated(1).updated(2).updated(3).again()
        };
        let before = done.world.status.last_progress;
        let changed = done.with(|world| {
            world.rollout.generation = 3;
            world.rollout.channel = Some("#releases".into());
            world.rollout.callback_stage = Some("stage-1".into());
            world.rollout.build = Build { branch: "main".into(), ..Build::default() };
        });
        let decision = changed.decide();
        assert_eq!(decision.status.phase, Some(phase));
        assert_eq!(decision.status.last_progress, before);
        assert_eq!(decision.status.observed_generation, 3);
        assert_eq!((decision.action, decision.wake), (None, None));
    }
}

#[test]
fn a_larger_percentage_goes_on_from_done() {
    let fixture = world().percent(50).budget(1).updated(3).updated(2).again();
    assert_eq!(fixture.world.status.phase, Some(Phase::Done));
    let fixture = fixture.with(|world| {
        world.rollout.percent = engine::quantity::Percent::ALL;
        world.rollout.generation = 3;
    });
    let decision = check(&fixture, "InProgress Evicting: evict 1");
    assert_eq!(decision.status.last_progress, Some(noon()));
    assert_eq!(decision.status.percent_requested, Some(100));
}

#[test]
fn a_third_template_supersedes_the_one_before() {
    // v3 was applied while 3 was at v2: every revision but the newest is old.
    let fixture = world()
        .budget(2)
        .percent(50)
        .updated(3)
        .with(|world| {
            world.rollout.desired_hash = "hash-v3".into();
            world.rollout.generation = 3;
            world.outcome.applied =
                Some(Applied { uid: "workload-uid".into(), hash: "hash-v3".into(), generation: 3 });
        })
        .with_set(|set| {
            set.update_revision = "v3".into();
            (set.generation, set.observed_generation) = (3, 3);
        });
    let decision = check(&fixture, "InProgress Evicting: evict 3 2");
    assert_eq!(decision.status.stable_revision, "v1");
    assert_eq!(decision.status.update_revision, "v3");
}

#[test]
fn a_foreign_restart_is_kept_and_rolls_under_the_same_percentage() {
    // Done at 50 %; `kubectl rollout restart` has made v2r beside our fields.
    let fixture = world().budget(2).percent(50).updated(3).updated(2).again();
    let fixture = fixture.with_set(|set| {
        set.update_revision = "v2r".into();
        (set.generation, set.observed_generation) = (3, 3);
    });
    let decision = check(&fixture, "InProgress Evicting: evict 3 2");
    assert_eq!(decision.status.leaked_replicas, 0);
    assert_eq!(decision.status.update_revision, "v2r");
}

#[test]
fn a_foreign_restart_does_not_take_up_what_was_given_up() {
    let fixture = failed().with_set(|set| {
        set.update_revision = "v2r".into();
        (set.generation, set.observed_generation) = (3, 3);
    });
    check(&fixture, "Failed ProgressDeadlineExceeded: -");
}

#[test]
fn scaling_in_mid_rollout_keeps_the_stable_revision() {
    let fixture = world().budget(1).percent(75).updated(3).updated(2).updated(1).again();
    let fixture = fixture.with(|world| {
        world.rollout.replicas = Some(6);
        world.rollout.desired_hash = "hash-v2-6".into();
        world.rollout.generation = 3;
    });
    let fixture = fixture.with_set(|set| set.matches = false);
    let decision = check(&fixture, "InProgress Applying: apply OnDelete");
    assert_eq!(decision.status.stable_revision, "v1");
}

#[test]
fn an_absent_replicas_follows_whoever_scales() {
    let fixture = world().replicas(8).budget(4).percent(50);
    let decision = check(&fixture, "InProgress Evicting: evict 7 6 5 4");
    assert_eq!((decision.status.replicas, decision.status.target_replicas), (8, 4));
}

#[test]
fn the_status_speaks_of_the_generation_that_was_looked_at() {
    let fixture = world().with(|world| world.rollout.generation = 9);
    assert_eq!(fixture.decide().status.observed_generation, 9);
}
