use engine::front::batch_release::{Control, Machinery, Phase};
use engine::nature::Nature;
use engine::world::{Refusal, Strategy};

use crate::fixture::{Fixture, ago, daemons, deployment, on_delete, partition, set, trouble};
use crate::said::{check, names};

fn ending(fixture: Fixture) -> Fixture {
    fixture.release(|release| release.batch_partition = None)
}

fn given_back(fixture: Fixture) -> Fixture {
    fixture.status(|status| status.phase = Some(Phase::Finalizing)).body(|body| {
        body.control = Control::Free;
        match &mut body.machinery {
            Machinery::Pods { saved, .. } => *saved = None,
            Machinery::Deployment(deployment) => {
                deployment.saved = None;
                deployment.paused = false;
                deployment.recreate = false;
            }
        }
    })
}

#[test]
fn the_users_own_fields_come_back_in_one_write() {
    check(&ending(set(5)), "Finalizing: release to partition 0");
    check(&ending(daemons(5)), "Finalizing: release to partition 0");
    check(&ending(deployment(5)), "Finalizing: release to surge 1 unavailable 1");
    let own = ending(set(5)).body(|body| {
        body.machinery =
            Machinery::Pods { nature: Nature::STATEFUL_SET, saved: Some(partition(3)) };
    });
    check(&own, "Finalizing: release to partition 3");
    check(&given_back(own.strategy(partition(3))), "Completed: -");
}

#[test]
fn once_given_back_it_is_over() {
    for fixture in [set(5).strategy(partition(0)), on_delete(5), daemons(5), deployment(5)] {
        check(&given_back(ending(fixture)), "Completed: -");
    }
}

#[test]
fn where_the_user_replaces_pods_by_hand_those_that_are_left_are_moved_first() {
    let rest = ending(on_delete(5).budget(2).updated(&[4, 3, 2]));
    check(&rest, "Finalizing: evict 1 0");
    check(&rest.clone().updated(&[1, 0]), "Finalizing: release to OnDelete");
    let deleted = rest.release(|release| release.deleted = true);
    check(&deleted, "Finalizing: release to OnDelete");
    let daemons = ending(daemons(5)).body(|body| {
        body.machinery =
            Machinery::Pods { nature: Nature::DAEMON_SET, saved: Some(Strategy::OnDelete) };
    });
    check(&daemons, "Finalizing: evict 4");
}

#[test]
fn broken_pods_go_before_a_set_is_left_to_its_own_controller() {
    let back = ending(set(5).updated(&[4]))
        .change(4, |pod| {
            pod.ready_since = None;
            pod.trouble = Some(trouble());
        })
        .workload(|workload| workload.update_revision = "v1".into());
    check(&back, "Finalizing: evict 4");
    let refused = |refusal| {
        back.clone().with(|world| {
            let pod = world.pods.iter().find(|pod| pod.ordinal == 4).expect("the broken one");
            world.outcome.refused.insert(pod.uid.clone(), refusal);
            world.outcome.acted_at = Some(ago(2));
        })
    };
    // A webhook is asked again; a budget may say no for good.
    check(&refused(Refusal::Policy("not now".into())), "Finalizing: -");
    let budget = refused(Refusal::Budget("no room".into()));
    check(&budget, "Finalizing: release to partition 0");
    check(&back.gone(4), "Finalizing: release to partition 0");
}

#[test]
fn a_release_that_a_rollout_replaces_leaves_its_workload_held() {
    let deleted = set(5).strategy(partition(4)).updated(&[4]).release(|it| it.deleted = true);
    check(&deleted, "Finalizing: release to what it is");
    check(&given_back(deleted.clone()), "Completed: -");
    let alone = deleted.body(|body| body.in_progressing = false);
    check(&alone, "Finalizing: release to partition 0");
}

#[test]
fn a_change_that_is_held_while_the_last_release_ends_stays_held() {
    let free = "Finalizing: release to partition 0";
    let sized = "Finalizing: release to surge 1 unavailable 1";
    let cases = [(set(5).strategy(partition(0)), free), (daemons(5), free), (deployment(5), sized)];
    for (fixture, unheld) in cases {
        let changed = ending(fixture).release(|release| release.immediate = false);
        let changed = changed.workload(|workload| workload.update_revision = "v3".into());
        check(&changed, "Finalizing: release to what it is");
        check(&given_back(changed.clone()), "Completed: -");
        check(&changed.clone().body(|body| body.in_progressing = false), unheld);
        // Once all have moved, what ran before is another release.
        let back = changed.workload(|workload| workload.update_revision = "v1".into());
        check(&back, unheld);
        check(&back.updated(&[4, 3, 2, 1, 0]), "Finalizing: release to what it is");
    }
}

#[test]
fn the_gate_keeps_a_workload_held_that_is_half_way_but_not_one_that_goes_back_or_is_through() {
    let kept = ending(set(5)).with(|world| world.keep_paused = true);
    check(&kept, "Finalizing: release to what it is");
    let through = kept.clone().release(|release| release.immediate = false);
    check(&through, "Finalizing: release to partition 0");
    let back = kept.workload(|workload| workload.update_revision = "v1".into());
    check(&back, "Finalizing: release to partition 0");
}

#[test]
fn what_the_webhook_held_is_given_back_though_the_release_never_began() {
    let never = ending(set(5).preparing()).body(|body| {
        body.machinery = Machinery::Pods { nature: Nature::STATEFUL_SET, saved: None };
    });
    // By the Rollout whose mark it bears: a write of ours would be taken for somebody who lets go of it.
    check(&never, "Completed: -");
    let alone = never.body(|body| {
        body.in_progressing = false;
        body.machinery =
            Machinery::Pods { nature: Nature::STATEFUL_SET, saved: Some(partition(0)) };
    });
    check(&alone, "Finalizing: release to partition 0");
}

#[test]
fn what_somebody_else_took_our_name_from_is_given_back_all_the_same() {
    let lost = ending(set(5).strategy(partition(4)).updated(&[4])).body(|body| {
        body.control = Control::Free;
        body.machinery = Machinery::Pods { nature: Nature::STATEFUL_SET, saved: None };
    });
    check(&lost, "Completed: -");
    let alone = lost.body(|body| body.in_progressing = false);
    check(&alone, "Finalizing: release to partition 0");
}

#[test]
fn what_is_broken_is_moved_back_before_a_set_that_nobody_else_moves_is_given_back() {
    let broken = |pod: &mut engine::world::Pod| {
        pod.ready_since = None;
        pod.trouble = Some(trouble());
    };
    let back = ending(on_delete(9).budget(4).updated(&[8, 7]))
        .change(8, broken)
        .change(7, broken)
        .workload(|workload| workload.update_revision = "v1".into());
    check(&back, "Finalizing: evict 8 7");
    // Its status never says what it ran before.
    let unsaid = back.body(|body| body.stable_revision = Some("v0".into()));
    check(&unsaid.release(|release| release.immediate = false), "Finalizing: evict 8 7");
}

#[test]
fn a_finished_release_says_so() {
    let decision = check(&given_back(ending(set(5).strategy(partition(0)))), "Completed: -");
    names(&decision.status.message, &["StatefulSet web"]);
    assert_eq!(decision.wake, None);
}
