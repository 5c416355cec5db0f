//! Walks over the small cluster with random events, every decision judged.

use engine::status::{Phase, Reason};
use engine::world::{PodManagement, UnhealthyPods, VersionLeak};
use proptest::prelude::*;

use crate::fixture::seconds;
use crate::judge::judge;
use crate::kubernetes::Crash;
use crate::model::{Cluster, Make};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Drain(u32),
    Sicken(u32),
    Heal,
    Pause(bool),
    Percent(i64),
    Template(&'static str),
    Scale(u32),
    Identity,
    Restart,
    Leak(VersionLeak),
    DeleteSet,
    Crash(Crash),
    Lag(u32),
    BudgetLag(u32),
    ControllerLag(u32),
    Unreachable(bool),
    Refuse(u32),
    Forbid(u32),
    Budget(Option<u32>),
}

pub(crate) fn apply(cluster: &mut Cluster, event: Event) {
    match event {
        Event::Drain(nth) => cluster.lose(nth),
        Event::Sicken(nth) => cluster.sicken(nth),
        Event::Heal => cluster.kubernetes.sick.clear(),
        Event::Pause(paused) => cluster.change(|rollout| rollout.pause_requested = paused),
        Event::Percent(percent) => cluster.percent(percent),
        Event::Template(template) => cluster.template(template),
        Event::Scale(replicas) => cluster.scale(replicas),
        Event::Identity => cluster.change(|rollout| rollout.identity.push('+')),
        Event::Restart => cluster.restart(),
        Event::Leak(leak) => cluster.change(|rollout| rollout.version_leak = leak),
        Event::DeleteSet => cluster.delete_set(),
        Event::Crash(crash) => cluster.operator.crash = Some(crash),
        Event::Lag(seconds) => cluster.operator.lag = seconds,
        Event::BudgetLag(seconds) => cluster.kubernetes.budget_lag = seconds,
        Event::Forbid(writes) => cluster.forbidden = writes,
        Event::ControllerLag(seconds) => cluster.kubernetes.controller_lag = seconds,
        Event::Unreachable(gone) => cluster.unreachable = gone,
        Event::Refuse(evictions) => cluster.kubernetes.refusals = evictions,
        Event::Budget(max) => cluster.kubernetes.budget_of = max,
    }
}

fn crashes() -> impl Strategy<Value = Crash> {
    prop::sample::select(vec![
        Crash::BeforeStatus,
        Crash::BeforeAction,
        Crash::AfterPart,
        Crash::AfterAction,
    ])
}

fn leaks() -> impl Strategy<Value = VersionLeak> {
    prop::sample::select(vec![
        VersionLeak::Ignore,
        VersionLeak::Report,
        VersionLeak::Pause,
        VersionLeak::Prevent,
        VersionLeak::Prevent,
    ])
}

fn percents() -> impl Strategy<Value = i64> {
    prop::sample::select(vec![0i64, 1, 25, 50, 75, 99, 100, 100])
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (0..8u32).prop_map(Event::Drain),
        1 => (0..8u32).prop_map(Event::Sicken),
        1 => Just(Event::Heal),
        2 => any::<bool>().prop_map(Event::Pause),
        3 => percents().prop_map(Event::Percent),
        4 => prop::sample::select(vec!["a", "b", "c", "bad"]).prop_map(Event::Template),
        2 => (0..8u32).prop_map(Event::Scale),
        1 => Just(Event::Identity),
        1 => Just(Event::Restart),
        1 => leaks().prop_map(Event::Leak),
        1 => Just(Event::DeleteSet),
        4 => crashes().prop_map(Event::Crash),
        2 => (1..15u32).prop_map(Event::Lag),
        2 => (1..15u32).prop_map(Event::BudgetLag),
        2 => (1..15u32).prop_map(Event::ControllerLag),
        1 => (1..4u32).prop_map(Event::Refuse),
        1 => any::<bool>().prop_map(Event::Unreachable),
        1 => (1..4u32).prop_map(Event::Forbid),
        1 => prop::option::weighted(0.8, 0..4u32).prop_map(Event::Budget),
    ]
}

fn makes() -> impl Strategy<Value = Make> {
    (
        (1..8u32, prop::sample::select(vec![0u32, 3]), any::<bool>(), any::<bool>()),
        (prop::sample::select(vec![0i64, 4]), 1..6i64, 1..4i64),
        (prop::option::weighted(0.8, 1..4u32), prop::bool::weighted(0.2)),
    )
        .prop_map(|((replicas, first_ordinal, owns, ordered), times, rest)| Make {
            replicas,
            first_ordinal,
            owns_replicas: owns,
            management: if ordered { PodManagement::OrderedReady } else { PodManagement::Parallel },
            min_ready: times.0,
            start_up: times.1,
            grace: times.2,
            max_unavailable: rest.0,
            discovery: rest.1,
        })
}

/// What else a rollout asks for: leak guard, replacement, interval.
type Asked = (VersionLeak, bool, i64);

fn asked() -> impl Strategy<Value = Asked> {
    (leaks(), any::<bool>(), prop::sample::select(vec![0i64, 0, 7]))
}

pub(crate) fn cluster(make: Make, (leak, replace, interval): Asked) -> Cluster {
    let mut cluster = Cluster::new(make, |rollout| {
        rollout.version_leak = leak;
        rollout.progress_deadline = seconds(60);
        rollout.min_eviction_interval = seconds(interval);
        if replace {
            rollout.unhealthy_pods = UnhealthyPods::Replace;
        }
    });
    cluster.run(120, &mut judge);
    assert_eq!(cluster.status.phase, Some(Phase::Done), "the first deploy");
    cluster
}

/// Long enough for anything that can still happen by itself.
const LONG: u32 = 400;

/// Without further events a rollout comes to rest: done, failed, paused, or blocked, and says why.
fn comes_to_rest(cluster: &mut Cluster) {
    cluster.run(LONG, &mut judge);
    let status = &cluster.status;
    let reason = status.reason_code.expect("a reason");
    let settled = match status.phase.expect("a phase") {
        Phase::Done | Phase::Failed => true,
        Phase::Paused => {
            cluster.rollout.pause_requested
                || matches!(reason, Reason::LeakFound | Reason::HoldLost)
        }
        Phase::InProgress | Phase::Pending => reason.blocks(),
    };
    assert!(settled, "{:?} {reason:?}: {}", status.phase, status.reason);
    // Scaled up by somebody else after it was done, Pods may be missing for reasons of their own.
    if status.phase == Some(Phase::Done) && cluster.complete() {
        let target = cluster.rollout.percent.of(status.replicas);
        assert!(cluster.kubernetes.at(&status.update_revision) >= target, "done, but not so");
    }
}

/// Whatever happened, a good template at 100 percent with a new identity and a budget gets there.
fn can_be_mended(cluster: &mut Cluster) {
    cluster.kubernetes.sick.clear();
    cluster.kubernetes.budget_of = Some(1);
    cluster.unreachable = false;
    (cluster.kubernetes.refusals, cluster.forbidden) = (0, 0);
    cluster.change(|rollout| {
        rollout.pause_requested = false;
        rollout.identity.push('!');
        rollout.percent = engine::quantity::Percent::ALL;
        rollout.unhealthy_pods = UnhealthyPods::Replace;
    });
    cluster.template("z");
    cluster.run(LONG, &mut judge);
    let status = &cluster.status;
    assert_eq!(status.phase, Some(Phase::Done), "{:?} {}", status.reason_code, status.reason);
    let revision = &status.update_revision;
    assert!(revision.starts_with('z'));
    assert_eq!(cluster.kubernetes.at(revision), status.replicas);
}

/// What happens in a healthy cluster and by sound orders; nothing of it may fail a rollout.
fn sound_events() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (0..8u32).prop_map(Event::Drain),
        2 => any::<bool>().prop_map(Event::Pause),
        3 => percents().prop_map(Event::Percent),
        4 => prop::sample::select(vec!["a", "b", "c"]).prop_map(Event::Template),
        2 => (0..8u32).prop_map(Event::Scale),
        1 => Just(Event::Identity),
        1 => Just(Event::Restart),
        1 => leaks().prop_map(Event::Leak),
        4 => crashes().prop_map(Event::Crash),
        2 => (1..15u32).prop_map(Event::Lag),
        2 => (1..15u32).prop_map(Event::BudgetLag),
        2 => (1..15u32).prop_map(Event::ControllerLag),
    ]
}

pub(crate) fn walk(make: Make, asked: Asked, steps: &[(Event, u32)]) {
    let mut cluster = cluster(make, asked);
    for (event, pause) in steps {
        apply(&mut cluster, *event);
        cluster.run(*pause, &mut judge);
    }
    comes_to_rest(&mut cluster);
    can_be_mended(&mut cluster);
}

/// Phase, leaked Pods, revisions by ordinal, strategy.
type End = (Option<Phase>, u32, Vec<(u32, String)>, Option<engine::world::Strategy>);

/// Each event comes when the one before has come to rest, with a crash in each look of `crashes` or none.
pub(crate) fn ends_in(
    make: Make,
    asked: Asked,
    events: &[Event],
    crashes: Option<(&[Crash], u32)>,
) -> End {
    let mut cluster = cluster(make, asked);
    for event in events {
        apply(&mut cluster, *event);
        if let Some((crashes, apart)) = crashes {
            for crash in crashes {
                cluster.operator.crash = Some(*crash);
                cluster.run(apart, &mut judge);
            }
        }
        cluster.run(LONG, &mut judge);
    }
    let strategy = cluster.strategy();
    (cluster.status.phase, cluster.status.leaked_replicas, cluster.revisions(), strategy)
}

/// Where a template never comes up, how many Pods it met depends on when each was seen in trouble.
fn user_events(templates: &'static [&'static str]) -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => (0..8u32).prop_map(Event::Drain),
        1 => any::<bool>().prop_map(Event::Pause),
        3 => percents().prop_map(Event::Percent),
        4 => prop::sample::select(templates).prop_map(Event::Template),
        1 => (1..8u32).prop_map(Event::Scale),
        1 => Just(Event::Identity),
        1 => Just(Event::Restart),
        1 => Just(Event::DeleteSet),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_promise_holds_whatever_happens(
        make in makes(),
        asked in asked(),
        steps in prop::collection::vec((events(), 0..20u32), 1..14),
    ) {
        walk(make, asked, &steps);
    }

    #[test]
    fn nothing_sound_fails_or_blocks_a_rollout(
        make in makes(),
        asked in asked(),
        steps in prop::collection::vec((sound_events(), prop_oneof![0..20u32, Just(100)]), 1..14),
    ) {
        let mut cluster = cluster(make, asked);
        for (event, pause) in &steps {
            apply(&mut cluster, *event);
            cluster.run(*pause, &mut judge);
        }
        comes_to_rest(&mut cluster);
        let status = &cluster.status;
        let held = status.reason_code == Some(Reason::CannotHold);
        prop_assert!(
            held || matches!(status.phase, Some(Phase::Done | Phase::Paused)),
            "{:?}: {}", status.reason_code, status.reason
        );
    }

    #[test]
    fn a_rollout_with_crashes_ends_like_one_without(
        make in makes(),
        asked in asked(),
        events in prop::collection::vec(user_events(&["a", "b", "c"]), 1..6),
        crashes in prop::collection::vec(crashes(), 1..8),
        apart in 1..6u32,
    ) {
        let calm = ends_in(make, asked, &events, None);
        let rough = ends_in(make, asked, &events, Some((&crashes, apart)));
        prop_assert_eq!(calm, rough);
    }

    #[test]
    fn a_broken_rollout_with_crashes_fails_like_one_without(
        make in makes(),
        asked in asked(),
        events in prop::collection::vec(user_events(&["a", "b", "bad"]), 1..6),
        crashes in prop::collection::vec(crashes(), 1..8),
        apart in 1..6u32,
    ) {
        let calm = ends_in(make, asked, &events, None);
        let rough = ends_in(make, asked, &events, Some((&crashes, apart)));
        prop_assert_eq!(calm.0, rough.0);
    }
}
