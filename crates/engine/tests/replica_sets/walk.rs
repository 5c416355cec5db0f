//! Walks with random events; each write is judged, and each walk has to come to its end.

use engine::mover::replica_sets::{Bounds, Deployment, Next, ReplicaSet, Wait, Write, next};
use proptest::prelude::*;

use crate::model::Model;

#[derive(Clone, Copy, Debug)]
enum Event {
    Percent(u32),
    Scale(u32),
    Template(bool),
    Pause(bool),
    Kill(usize, bool),
    Heal,
    Lag(u32),
}

fn sound(set: &ReplicaSet) -> u32 {
    set.available.min(set.size)
}

fn sum(sets: &[ReplicaSet], of: impl Fn(&ReplicaSet) -> u32) -> u32 {
    sets.iter().map(of).sum()
}

/// The promises, on one write.
pub(crate) fn judge(deployment: &Deployment, write: &Write) {
    let Deployment { replicas, target, bounds, .. } = deployment;
    let (least, most) = (replicas.saturating_sub(bounds.unavailable), replicas + bounds.surge);
    let sets: Vec<ReplicaSet> = deployment.new.iter().chain(&deployment.old).cloned().collect();
    let (pods, available) = (sum(&sets, |set| set.size), sum(&sets, sound));
    let goal = if deployment.old.is_empty() { *replicas } else { *target };
    let (name, to) = match write {
        Write::Create { size } => {
            assert!(*size <= goal, "{size} created, above the target: {deployment:#?}");
            assert!(pods + size <= most.max(pods + 1), "{size} created, above the surge");
            assert!(!deployment.paused, "created while paused");
            return;
        }
        Write::Size { name, size } => (name, *size),
    };
    let set = sets.iter().find(|set| set.name == *name).expect("a known one");
    let is_new = deployment.new.as_ref().is_some_and(|new| new.name == *name);
    let scaled = sets.iter().any(|set| set.size > 0 && set.sized_for != *replicas);
    if to == set.size {
        assert_ne!(set.sized_for, *replicas, "a write that says nothing: {deployment:#?}");
    } else if to > set.size {
        // The first new Pod may be one above it.
        let most = if is_new && set.size == 0 { most.max(replicas + 1) } else { most };
        assert!(pods - set.size + to <= most, "{name} to {to}, above the surge: {deployment:#?}");
        if is_new {
            assert!(to <= goal, "{name} to {to}, above the target: {deployment:#?}");
            assert!(!deployment.paused, "{name} to {to} while paused");
        } else {
            assert!(pods < *replicas, "{name} to {to}, none is missing: {deployment:#?}");
        }
    } else {
        let lost = set.size - to;
        let healthy = lost.saturating_sub(set.size - sound(set));
        assert!(healthy == 0 || available - healthy >= least, "{name} to {to}: {deployment:#?}");
        assert!(scaled || !deployment.paused, "{name} to {to} while paused: {deployment:#?}");
        assert!(sets.iter().all(|set| set.seen || set.size == 0), "{name} to {to} unseen");
        if is_new {
            let scaled_in = set.sized_for.max(set.size) > *replicas;
            assert!(scaled_in, "{name} turned back to {to}: {deployment:#?}");
        } else if healthy > 0 {
            let others = deployment.old.iter().filter(|other| other.name != *name);
            for other in others.filter(|other| other.size > 0) {
                assert_eq!(other.size, sound(other), "healthy before unhealthy: {deployment:#?}");
                let stable = deployment.stable.as_ref() == Some(&other.name);
                assert!(stable || other.revision < set.revision, "{name} before a newer one");
            }
        }
    }
}

/// Without further events, and with Pods that come up, the sizes are as wanted in the end.
fn ends(model: &mut Model) {
    model.heal();
    model.paused = false;
    for _ in 0..400 {
        model.tick();
    }
    let deployment = model.deployment();
    assert_eq!(next(&deployment), Next::Rest, "{deployment:#?}");
    let new = deployment.new.as_ref().map_or(0, |set| set.size);
    let old: u32 = deployment.old.iter().map(|set| set.size).sum();
    assert_eq!(new + old, deployment.replicas, "{deployment:#?}");
    assert!(new >= deployment.target, "{deployment:#?}");
    let mut sets = deployment.new.iter().chain(&deployment.old);
    assert!(sets.all(|set| set.size == 0 || set.sized_for == deployment.replicas));
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => prop::sample::select(vec![0u32, 1, 20, 50, 99, 100]).prop_map(Event::Percent),
        3 => (0..30u32).prop_map(Event::Scale),
        2 => prop::bool::weighted(0.2).prop_map(Event::Template),
        1 => any::<bool>().prop_map(Event::Pause),
        4 => (0..30usize, any::<bool>()).prop_map(|(nth, broken)| Event::Kill(nth, broken)),
        1 => Just(Event::Heal),
        1 => (0..5u32).prop_map(Event::Lag),
    ]
}

fn bounds() -> impl Strategy<Value = Bounds> {
    (0..6u32, 0..6u32).prop_map(|(surge, unavailable)| Bounds {
        surge,
        unavailable: if surge == 0 { unavailable.max(1) } else { unavailable },
    })
}

fn apply(model: &mut Model, event: Event) {
    match event {
        Event::Percent(percent) => model.percent = percent,
        Event::Scale(replicas) => model.replicas = replicas,
        Event::Template(broken) => {
            model.template();
            model.broken = broken;
        }
        Event::Pause(paused) => model.paused = paused,
        Event::Kill(nth, broken) => model.kill(nth, broken),
        Event::Heal => model.heal(),
        Event::Lag(ticks) => model.lag = ticks,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_write_keeps_the_promises_and_every_walk_ends(
        replicas in 0..20u32,
        bounds in bounds(),
        steps in prop::collection::vec((events(), 0..8u32), 1..20),
    ) {
        let mut model = Model::new(replicas, bounds);
        for (event, ticks) in steps {
            apply(&mut model, event);
            for _ in 0..ticks {
                model.tick();
            }
        }
        ends(&mut model);
    }

    /// From any numbers whatever: there is a write, or a reason that names what is waited for.
    #[test]
    fn no_state_is_without_an_answer(
        replicas in 0..30u32,
        target in 0..40u32,
        bounds in bounds(),
        paused in any::<bool>(),
        new in prop::option::of((0..30u32, 0..40u32, 0..30u32)),
        old in prop::collection::vec((0..30u32, 0..40u32, 0..30u32), 0..4),
    ) {
        let set = |(nth, (size, available, sized_for)): (u64, (u32, u32, u32))| ReplicaSet {
            name: format!("r{nth}"), revision: nth, size, available, sized_for, seen: true,
        };
        let deployment = Deployment {
            replicas, target, bounds, paused,
            new: new.map(|numbers| set((9, numbers))),
            old: (1..).zip(old).map(set).collect(),
            stable: None,
        };
        match next(&deployment) {
            Next::Write(write) => judge(&deployment, &write),
            Next::Wait(Wait::Available { available, least }) => prop_assert!(available <= least),
            Next::Wait(Wait::Surge { pods, most }) => prop_assert!(pods >= most),
            Next::Wait(Wait::Paused) => prop_assert!(paused),
            Next::Wait(Wait::Unseen(_)) => prop_assert!(false),
            Next::Rest => {
                let new = deployment.new.as_ref().map_or(0, |set| set.size);
                let old: u32 = deployment.old.iter().map(|set| set.size).sum();
                prop_assert_eq!(new + old, replicas);
            }
        }
    }
}
