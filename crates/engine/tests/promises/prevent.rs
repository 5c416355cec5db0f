//! `versionLeak: Prevent`: a partition holds the old revision.

use engine::status::Phase;
use engine::world::{Applied, Claim, Strategy, VersionLeak};

use crate::fixture::{Fixture, ago, check, names, ready_pod, world};

/// v2 everywhere, ready, as after a first deploy; v3 has just been asked for.
fn next_template(strategy: Strategy, current: &str) -> Fixture {
    let current = current.to_owned();
    world()
        .budget(2)
        .percent(50)
        .version_leak(VersionLeak::Prevent)
        .updated(0)
        .updated(1)
        .updated(2)
        .updated(3)
        .with_set(|set| {
            set.strategy = strategy;
            set.current_revision = current;
            (set.matches, set.template_matches) = (false, false);
        })
        .with(|world| {
            world.rollout.desired_hash = "hash-v3".into();
            world.rollout.generation = 3;
        })
}

const OPEN: Strategy = Strategy::RollingUpdate { partition: 0 };

#[test]
fn a_set_that_was_on_delete_is_settled_before_the_template_changes() {
    let fixture = next_template(Strategy::OnDelete, "v1");
    check(&fixture, "InProgress Settling: strategy partition 0");
}

#[test]
fn the_template_waits_until_current_is_the_update_revision() {
    let decision = check(&next_template(OPEN, "v1"), "InProgress Settling: -");
    names(&decision.status.reason, &["web", "v2"]);
}

#[test]
fn the_template_and_the_hold_come_in_one_write() {
    check(&next_template(OPEN, "v2"), "InProgress Applying: apply partition 4");
}

#[test]
fn the_template_and_the_hold_come_in_one_write_in_a_pause_too() {
    check(&next_template(OPEN, "v2").paused(), "InProgress Applying: apply partition 4");
}

#[test]
fn a_hold_covers_the_replicas_that_the_same_write_asks_for() {
    let fixture = next_template(OPEN, "v2").with(|world| world.rollout.replicas = Some(6));
    check(&fixture, "InProgress Applying: apply partition 6");
}

#[test]
fn the_partition_is_lowered_by_what_the_budget_allows_and_just_those_pods_are_evicted() {
    check(&world().budget(2).held(4), "InProgress Evicting: open 2");
    check(&world().budget(2).held(2).updated(3).starting(2), "InProgress Evicting: open 1");
    check(&world().budget(2).held(2).starting(3).starting(2), "InProgress WaitingForPods: -");
}

#[test]
fn pods_that_are_opened_already_are_evicted_before_more_are_opened() {
    // A crash came between the partition and the evictions.
    check(&world().budget(2).held(2), "InProgress Evicting: evict 3 2");
}

#[test]
fn the_partition_is_lowered_no_further_than_the_target() {
    check(&world().budget(4).percent(25).held(4), "InProgress Evicting: open 3");
}

#[test]
fn a_lost_pod_below_the_partition_is_no_leak_and_not_moved() {
    let fixture = world().budget(2).percent(50).held(2).updated(3).updated(2);
    check(&fixture.pod(0, |pod| pod.uid = "another".into()), "Done Completed: -");
}

#[test]
fn at_100_percent_the_partition_ends_closed_so_that_nobodys_next_template_rolls_by_itself() {
    let all = world().budget(2).held(0).updated(0).updated(1).updated(2).updated(3);
    check(&all, "Done Completed: -");
    let caught_up = all.with_set(|set| set.current_revision = "v2".into());
    check(&caught_up, "InProgress Settling: strategy partition 4");
    check(&caught_up.clone().phase(Phase::Done), "Done Completed: strategy partition 4");
    check(&caught_up.held(4).phase(Phase::Done), "Done Completed: -");
}

#[test]
fn a_set_scaled_up_at_rest_is_closed_again() {
    let all = world().replicas(2).budget(1).held(1).updated(0).updated(1).phase(Phase::Done);
    let all = all.with_set(|set| set.current_revision = "v2".into());
    check(&all, "Done Completed: strategy partition 2");
}

#[test]
fn what_somebody_else_opened_beyond_the_target_is_drawn_back() {
    // `kubectl rollout restart` while the set was open, at percent 25.
    check(&world().budget(2).percent(25).held(0), "InProgress Applying: strategy partition 4");
    // Percent lowered while 1 and 2 were open and standing.
    let fixture = world().budget(2).percent(25).held(1).updated(3);
    check(&fixture, "InProgress Applying: strategy partition 3");
}

#[test]
fn scaling_to_zero_loses_the_hold_and_stops_it() {
    let fixture = world().replicas(0).percent(50).budget(1).held(4);
    let decision = check(&fixture, "Paused HoldLost: -");
    names(&decision.status.reason, &["shop/web", "scaled to 0", "v1", "rolloutIdentity"]);
    let back = fixture.again().with(|world| {
        let set = world.workload.as_mut().unwrap();
        (set.replicas, set.current_revision) = (4, "v2".into());
        world.pods = (0..4).map(|o| ready_pod(o, "v2")).collect();
    });
    // The scale-up is seen before the StatefulSet controller has taken it in.
    let unseen = back.again().with_set(|set| set.generation += 1);
    check(&unseen, "Paused HoldLost: -");
    let back = unseen.again().with_set(|set| set.observed_generation = set.generation);
    check(&back, "Paused HoldLost: -");
    let identity = back.again().with(|world| {
        world.rollout.identity = "second".into();
        world.rollout.generation = 3;
    });
    check(&identity, "Done Completed: -");
}

#[test]
fn a_set_that_cannot_be_held_says_so_below_100_percent() {
    let fixture = next_template(Strategy::OnDelete, "v1");
    let mixed = fixture.known(0, |pod| *pod = ready_pod(0, "v1"));
    let decision = check(&mixed, "InProgress CannotHold: -");
    names(&decision.status.reason, &["web", "versionLeak", "percent to 100"]);
}

#[test]
fn a_set_that_cannot_be_held_is_rolled_by_eviction_at_100_percent() {
    let fixture = next_template(Strategy::OnDelete, "v1").percent(100);
    let mixed = fixture.known(0, |pod| *pod = ready_pod(0, "v1"));
    check(&mixed, "InProgress Applying: apply OnDelete");
}

#[test]
fn a_rollback_in_the_middle_holds_by_the_partition_that_is_there() {
    // 3 is at v2, the rest held at v1; a third template comes.
    let fixture = world().budget(2).percent(50).held(3).updated(3).with(|world| {
        world.rollout.desired_hash = "hash-v3".into();
        world.rollout.generation = 3;
    });
    let fixture = fixture.with_set(|set| (set.matches, set.template_matches) = (false, false));
    check(&fixture, "InProgress Applying: apply partition 4");
}

#[test]
fn a_scale_up_raises_the_partition_so_that_new_pods_come_at_the_stable_revision() {
    let fixture = world().budget(2).percent(50).held(3).updated(3).with(|world| {
        world.rollout.replicas = Some(6);
        world.rollout.desired_hash = "hash-v2-6".into();
        world.rollout.generation = 3;
    });
    check(&fixture.with_set(|set| set.matches = false), "InProgress Applying: apply partition 6");
}

#[test]
fn a_scale_up_with_most_pods_moved_is_held_too() {
    let fixture = world().budget(2).percent(75).held(1).updated(3).updated(2).updated(1).again();
    let fixture = fixture.with(|world| {
        world.rollout.replicas = Some(6);
        world.rollout.desired_hash = "hash-v2-6".into();
        world.rollout.generation = 3;
    });
    check(&fixture.with_set(|set| set.matches = false), "InProgress Applying: apply partition 6");
}

#[test]
fn going_over_to_prevent_in_mid_rollout_finishes_by_eviction() {
    let fixture = world().budget(1).version_leak(VersionLeak::Prevent).updated(3);
    check(&fixture, "InProgress Evicting: evict 2");
}

#[test]
fn leaving_prevent_gives_the_strategy_back_to_on_delete() {
    let fixture = world().budget(1).held(3).updated(3).version_leak(VersionLeak::Report);
    check(&fixture, "InProgress Applying: strategy OnDelete");
}

#[test]
fn a_done_set_on_delete_is_settled_in_the_calm_before_the_next_template() {
    let fixture = world()
        .budget(1)
        .version_leak(VersionLeak::Prevent)
        .updated(0)
        .updated(1)
        .updated(2)
        .updated(3);
    check(&fixture, "InProgress Settling: strategy partition 0");
    check(&fixture.phase(Phase::Done), "Done Completed: strategy partition 0");
}

#[test]
fn broken_pods_of_a_superseded_template_come_back_at_what_is_held_before_others_move() {
    // 1 is at the broken v1b, 3 at the held v1 in the way of the partition; the budget is used up by 1.
    let fixture = world().budget(1).held(4).known(1, |pod| {
        *pod = ready_pod(1, "v1b");
        pod.ready_since = None;
        pod.trouble = Some(crate::fixture::trouble("CrashLoopBackOff"));
    });
    check(&fixture, "InProgress Evicting: evict 1");
    // What is broken at the held revision itself would come back as it is.
    check(&world().budget(1).held(4).unready(1), "InProgress BudgetExhausted: -");
}

#[test]
fn what_leaves_the_template_as_it_is_leaves_the_partition_too() {
    // A rollout deleted and created again in the middle, a label changed: 2 and 3 have moved.
    let fixture = world().percent(50).budget(1).held(2).updated(3).updated(2).with_set(|set| {
        set.claim = Claim::Free;
        set.matches = false;
    });
    check(&fixture, "InProgress Applying: apply partition 2");
    // What is open and has not moved is not left to the StatefulSet controller.
    let open = fixture.with_set(|set| set.strategy = OPEN);
    check(&open, "InProgress Applying: apply partition 2");
    // New ordinals come at whatever is held.
    let grown = open.with(|world| world.rollout.replicas = Some(6));
    check(&grown, "InProgress Applying: apply partition 6");
}

#[test]
fn an_apply_waits_for_the_partition_that_was_just_written() {
    // Drawn back to 3 a moment ago, in a pause; the caches still show 2, and a label is changed.
    let fixture = world().percent(50).budget(1).held(2).updated(3).paused().with(|world| {
        world.rollout.desired_hash = "hash-label".into();
        world.rollout.generation = 3;
        world.outcome.applied =
            Some(Applied { uid: "workload-uid".into(), hash: "hash-v2".into(), generation: 9 });
        world.outcome.acted_at = Some(ago(1));
    });
    let fixture = fixture.with_set(|set| set.matches = false);
    check(&fixture, "InProgress WaitingForController: -");
}
