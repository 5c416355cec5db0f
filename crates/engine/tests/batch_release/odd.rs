//! Whatever stands in spec, status and workload, there is an answer.

use engine::front::batch_release::{BatchState, Machinery, Marks, Phase, decide};
use engine::quantity::IntOrPercent;
use engine::world::Strategy as Update;
use proptest::prelude::*;

use crate::fixture::{Fixture, daemons, deployment, noon, on_delete, partition, pod, set, sized};

/// Small numbers and the ends.
fn numbers() -> impl Strategy<Value = u32> {
    prop_oneof![5 => 0..6u32, 1 => Just(32767), 1 => Just(u32::MAX)]
}

fn sizes() -> impl Strategy<Value = IntOrPercent> {
    prop_oneof![
        numbers().prop_map(IntOrPercent::Int),
        prop_oneof![0..101u32, numbers()].prop_map(IntOrPercent::Percent),
    ]
}

fn fixtures() -> impl Strategy<Value = Fixture> {
    (0..4u8, 0..5u32).prop_map(|(kind, replicas)| match kind {
        0 => set(replicas),
        1 => on_delete(replicas),
        2 => daemons(replicas),
        _ => deployment(replicas),
    })
}

fn strategies() -> impl Strategy<Value = Update> {
    prop_oneof![Just(Update::OnDelete), numbers().prop_map(partition)]
}

fn phases() -> impl Strategy<Value = Option<Phase>> {
    prop::option::of(prop::sample::select(vec![
        Phase::Preparing,
        Phase::Progressing,
        Phase::Finalizing,
        Phase::Completed,
    ]))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn there_is_always_an_answer(
        fixture in fixtures(),
        batches in prop::collection::vec(sizes(), 0..4),
        allowed in prop::option::of(numbers()),
        (phase, batch, done) in (phases(), numbers(), prop::option::of(numbers())),
        (first, strategy, max) in (0..3u32, strategies(), prop::option::of(sizes())),
        pods in prop::collection::vec((0..8u32, any::<bool>(), any::<bool>(), numbers()), 0..8),
        (deleted, back, paused) in (any::<bool>(), any::<bool>(), any::<bool>()),
        (size, budget) in (numbers(), prop::option::of(0..4u32)),
    ) {
        let mut fixture = fixture.release(|release| {
            release.batches = batches;
            release.batch_partition = allowed;
            release.rollout_id = "id".into();
            (release.deleted, release.rollback_in_batches, release.paused) = (deleted, back, paused);
        });
        fixture = fixture.status(|status| {
            (status.phase, status.current_batch, status.no_need_update) = (phase, batch, done);
            status.batch_state = Some(BatchState::Ready);
        });
        fixture = fixture.body(|body| {
            body.workload.first_ordinal = first;
            body.workload.strategy = strategy;
            body.max_unavailable = max;
            if back {
                body.stable_revision = Some("v2".into());
            }
            if let Machinery::Deployment(deployment) = &mut body.machinery {
                deployment.new = Some(sized("web-v2", 2, size.min(9), 3));
            }
        });
        let mut seen = std::collections::BTreeSet::new();
        fixture.world.pods.clear();
        for (number, updated, ready, batch) in pods {
            if !seen.insert(number) {
                continue;
            }
            let mut it = pod(number, if updated { "v2" } else { "v1" });
            if !ready {
                it.ready_since = None;
            }
            let marks = Marks { rollout_id: "id".into(), batch: Some(batch), ..Marks::default() };
            fixture.world.marks.insert(it.uid.clone(), marks);
            fixture.world.pods.push(it);
        }
        if let Some(budget) = budget {
            fixture = fixture.budget(budget);
        }
        let decision = decide(&fixture.build(), noon());
        prop_assert!(decision.wake.is_none_or(|at| at > noon()));
        prop_assert!(decision.action.is_none() || decision.wake.is_some());
        prop_assert!(decision.status.phase.is_some());
    }
}
