//! Both fronts together: a Rollout leads, its BatchRelease follows, and the workload is of each kind.

use engine::front::batch_release::{Machinery, Rolling};
use engine::front::rollout::StepState;
use engine::world::PodManagement;
use proptest::prelude::*;

use crate::fixture::{percent, pods};
use crate::lead::{KINDS, back_in_batches, led};
use crate::model::Kind;
use crate::walk::{Event, events};

#[test]
fn step_after_step_is_approved_and_the_workload_is_given_back() {
    for kind in KINDS {
        let mut led = led(kind, 5, &[percent(20), percent(60), percent(100)]);
        led.cluster.template("b");
        led.run();
        led.waits(1, 1);
        led.approve();
        led.waits(2, 3);
        led.approve();
        led.is_over("b");
    }
}

#[test]
fn counts_and_percentages_are_mixed() {
    for kind in KINDS {
        let mut led = led(kind, 10, &[percent(20), pods(5), percent(100)]);
        led.cluster.template("b");
        led.run();
        led.waits(1, 2);
        led.approve();
        led.waits(2, 5);
        led.approve();
        led.is_over("b");
    }
}

#[test]
fn the_template_of_before_turns_a_release_back_at_once() {
    for kind in KINDS {
        for bad in [false, true] {
            let mut led = led(kind, 5, &[percent(60), percent(100)]);
            led.cluster.template(if bad { "bad" } else { "b" });
            led.run();
            led.cluster.template("a");
            led.run();
            led.is_over("a");
        }
    }
}

#[test]
fn a_set_is_turned_back_in_batches_where_that_is_asked() {
    for kind in KINDS.into_iter().filter(|kind| back_in_batches(*kind)) {
        let mut led = led(kind, 5, &[percent(60), percent(80), percent(100)]);
        led.rollout.rollback_in_batch = true;
        led.cluster.template("b");
        led.run();
        led.waits(1, 3);
        led.cluster.template("a");
        led.run();
        // Two need no update; of the other three 60 percent are two.
        led.waits(1, 4);
        led.approve();
        led.waits(2, 5);
        led.approve();
        led.is_over("a");
    }
}

#[test]
fn a_release_on_top_of_another_begins_at_its_first_step() {
    for kind in KINDS {
        let mut led = led(kind, 5, &[percent(20), percent(60), percent(100)]);
        led.cluster.template("b");
        led.run();
        led.approve();
        led.waits(2, 3);
        led.cluster.template("c");
        led.run();
        led.waits(1, 1);
        led.approve();
        led.waits(2, 3);
        led.approve();
        led.is_over("c");
    }
}

#[test]
fn a_pause_stops_the_batch_that_is_under_way() {
    for kind in KINDS {
        let mut led = led(kind, 10, &[percent(10), percent(100)]);
        led.cluster.template("b");
        led.run();
        led.waits(1, 1);
        led.status.canary.as_mut().expect("a release").state = StepState::StepReady;
        led.seconds(3);
        led.rollout.paused = true;
        led.run();
        let moved = led.cluster.kubernetes.at("b");
        assert!(moved < 10, "{kind:?}: {moved}");
        led.run();
        assert_eq!(led.cluster.kubernetes.at("b"), moved, "{kind:?}");
        led.rollout.paused = false;
        led.run();
        led.is_over("b");
    }
}

#[test]
fn a_workload_that_is_scaled_keeps_the_share_of_its_step() {
    for kind in KINDS {
        let mut led = led(kind, 5, &[percent(20), percent(60), percent(100)]);
        led.cluster.template("b");
        led.run();
        led.waits(1, 1);
        led.cluster.scale(10);
        led.run();
        // What comes up on new Nodes, or beside a partition that could not be seen in time, is not turned
        // back; it is part of the steps that follow.
        let updated = led.cluster.kubernetes.at("b");
        assert!(updated >= 2, "{kind:?}: {updated}");
        if kind == Kind::Deployment {
            led.waits(1, 2);
        }
        led.approve();
        led.waits(2, updated.max(6));
        led.approve();
        led.is_over("b");
    }
}

#[test]
fn a_release_of_a_hundred_pods_costs_few_requests_beside_the_labels() {
    // Status, workload with its ReplicaSets, evictions.
    for (kind, most) in [
        (KINDS[0], (20, 12, 100)),
        (KINDS[2], (16, 6, 100)),
        (KINDS[3], (16, 6, 100)),
        (KINDS[4], (20, 24, 0)),
        (KINDS[5], (16, 12, 0)),
        (KINDS[6], (16, 12, 0)),
        (KINDS[8], (16, 12, 0)),
        (KINDS[12], (16, 12, 0)),
    ] {
        let mut led = led(kind, 100, &[percent(20), percent(60), percent(100)]);
        led.cluster.kubernetes.budget_of = Some(25);
        led.cluster.kubernetes.max_unavailable = 25;
        led.cluster.body.max_unavailable = Some(pods(25));
        if let Machinery::Deployment(deployment) = &mut led.cluster.body.machinery {
            deployment.rolling = Some(Rolling::default());
        }
        led.cluster.template("b");
        led.run();
        led.approve();
        led.approve();
        led.is_over("b");
        let writes = led.cluster.writes;
        assert_eq!(writes.labels, 100, "{kind:?}");
        let found = (writes.status, writes.workload, writes.evictions);
        let few = found.0 <= most.0 && found.1 <= most.1 && found.2 <= most.2;
        assert!(few, "{kind:?}: {found:?}, at most {most:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_last_template_gets_there(
        kind in prop::sample::select(KINDS.to_vec()),
        replicas in 1..9u32,
        steps in prop::collection::vec((events(), 0..20u32), 1..14),
    ) {
        let mut led = led(kind, replicas, &[percent(20), pods(3), percent(100)]);
        led.cluster.template("b");
        for (event, pause) in steps {
            led.apply(event);
            led.seconds(pause);
        }
        led.rollout.paused = false;
        led.cluster.template("z");
        led.run();
        for _ in 0..2 {
            led.apply(Event::Approve);
            led.run();
        }
        led.is_over("z");
    }

    #[test]
    fn whatever_happens_a_roll_back_in_batches_gets_there(
        kind in prop::sample::select(
            KINDS.into_iter().filter(|kind| back_in_batches(*kind)).collect::<Vec<_>>()
        ),
        replicas in 1..9u32,
        steps in prop::collection::vec((events(), 0..20u32), 1..10),
    ) {
        let ordered = PodManagement::OrderedReady;
        let ordered = [Kind::Set(ordered), Kind::AdvancedSet(ordered)].contains(&kind);
        // New Pods wait for a lower one that is broken, and have its place in the batch.
        prop_assume!(!(ordered && steps.iter().any(|(event, _)| matches!(event, Event::Scale(_)))));
        let mut led = led(kind, replicas, &[percent(20), pods(3), percent(100)]);
        led.rollout.rollback_in_batch = true;
        led.cluster.template("b");
        for (event, pause) in steps {
            led.apply(event);
            led.seconds(pause);
        }
        led.rollout.paused = false;
        led.cluster.template("a");
        led.run();
        for _ in 0..2 {
            led.apply(Event::Approve);
            led.run();
        }
        led.is_over("a");
    }
}
