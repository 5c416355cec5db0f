//! Walks: whatever happens, in whatever order, every promise holds at every look, and each release ends.

use engine::front::batch_release::{BatchState, Machinery, Phase};
use engine::quantity::IntOrPercent;
use engine::world::PodManagement;
use proptest::prelude::*;

use crate::fixture::{percent, pods, trouble};
use crate::judge::judge;
use crate::kubernetes::Crash;
use crate::lead::KINDS;
use crate::model::{Cluster, Kind, Make, own};

/// Long enough for anything to come to rest.
const LONG: u32 = 400;

/// What happens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Approve,
    Pause(bool),
    Scale(u32),
    Lose(usize),
    Sicken(usize),
    Template(&'static str),
    Crash(Crash),
    Lag(u32),
    ControllerLag(u32),
    RolloutLag(u32),
    BudgetLag(u32),
    Refuse(u32),
}

pub(crate) fn apply(cluster: &mut Cluster, event: Event) {
    match event {
        Event::Approve => cluster.approve(),
        Event::Pause(paused) => cluster.release.paused = paused,
        Event::Scale(replicas) => cluster.scale(replicas),
        Event::Lose(nth) => cluster.kubernetes.lose(nth),
        Event::Sicken(nth) => cluster.kubernetes.sicken(nth, Some(trouble())),
        Event::Template(template) => cluster.template(template),
        Event::Crash(crash) => cluster.operator.crash = Some(crash),
        Event::Lag(seconds) => cluster.operator.lag = seconds,
        Event::ControllerLag(seconds) => cluster.kubernetes.controller_lag = seconds,
        Event::RolloutLag(seconds) => cluster.rollout_lag = seconds,
        Event::BudgetLag(seconds) => cluster.kubernetes.budget_lag = seconds,
        Event::Refuse(evictions) => cluster.kubernetes.refusals = evictions,
    }
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(KINDS.to_vec())
}

fn makes() -> impl Strategy<Value = Make> {
    (
        kinds(),
        1..9u32,
        prop::sample::select(vec![0, 0, 3]),
        (1..4i64, 1..4i64),
        prop::sample::select(vec![None, Some(1), Some(2), Some(9)]),
        1..4u32,
        any::<bool>(),
    )
        .prop_map(
            |(kind, replicas, min_ready, (start_up, grace), budget, max_unavailable, labels)| {
                Make { kind, replicas, min_ready, start_up, grace, budget, max_unavailable, labels }
            },
        )
}

fn plans() -> impl Strategy<Value = Vec<IntOrPercent>> {
    prop::sample::select(vec![
        vec![percent(20), percent(60), percent(100)],
        vec![pods(1), percent(50), percent(100)],
        vec![percent(20), pods(5), percent(100)],
        vec![pods(2), pods(3), pods(20)],
    ])
}

fn crashes() -> impl Strategy<Value = Crash> {
    prop::sample::select(vec![
        Crash::BeforeStatus,
        Crash::BeforeAction,
        Crash::AfterPart,
        Crash::AfterAction,
    ])
}

pub(crate) fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => Just(Event::Approve),
        2 => any::<bool>().prop_map(Event::Pause),
        2 => (1..9u32).prop_map(Event::Scale),
        2 => (0..8usize).prop_map(Event::Lose),
        2 => prop::sample::select(vec!["a", "b", "c", "bad"]).prop_map(Event::Template),
        3 => crashes().prop_map(Event::Crash),
        2 => (1..8u32).prop_map(Event::Lag),
        2 => (1..8u32).prop_map(Event::ControllerLag),
        2 => (1..8u32).prop_map(Event::RolloutLag),
        2 => (1..8u32).prop_map(Event::BudgetLag),
        1 => (1..4u32).prop_map(Event::Refuse),
    ]
}

/// What does not take Pods away, nor makes it unknown how many there are.
fn quiet_events() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => Just(Event::Approve),
        2 => any::<bool>().prop_map(Event::Pause),
        2 => prop::sample::select(vec!["a", "b", "c", "bad"]).prop_map(Event::Template),
        3 => crashes().prop_map(Event::Crash),
        2 => (1..8u32).prop_map(Event::RolloutLag),
        2 => (1..8u32).prop_map(Event::BudgetLag),
        1 => (1..4u32).prop_map(Event::Refuse),
    ]
}

/// A good template, every batch allowed, nothing paused: the last batch gets ready, and given back the
/// workload stands as its user had it, every Pod at the template.
fn comes_to_its_end(cluster: &mut Cluster) {
    cluster.release.paused = false;
    cluster.template("z");
    cluster.rest(LONG, &mut judge);
    cluster.approve();
    cluster.approve();
    cluster.rest(LONG, &mut judge);
    let status = &cluster.status;
    let end = (status.phase, status.batch_state, status.current_batch);
    let ready = (Some(Phase::Progressing), Some(BatchState::Ready), 2);
    assert_eq!(end, ready, "{}", status.message);
    cluster.release.immediate = false;
    cluster.promote();
    cluster.rest(LONG, &mut judge);
    assert_eq!(cluster.status.phase, Some(Phase::Completed), "{}", cluster.status.message);
    assert_eq!(cluster.kubernetes.at("z"), cluster.count(), "{:?}", cluster.revisions());
    given_back(cluster);
}

/// The user's own fields stand, and nothing of ours beside them.
pub(crate) fn given_back(cluster: &Cluster) {
    match &cluster.body.machinery {
        Machinery::Pods { saved, .. } => {
            assert_eq!(*saved, None);
            assert_eq!(cluster.body.workload.strategy, own(cluster.make.kind));
        }
        Machinery::Deployment(deployment) => {
            assert!(!deployment.paused && !deployment.recreate && deployment.saved.is_none());
            assert!(deployment.rolling.is_some());
        }
    }
}

fn walk(make: Make, plan: &[IntOrPercent], steps: &[(Event, u32)]) -> Cluster {
    let mut cluster = Cluster::new(make);
    cluster.release.batches = plan.to_vec();
    cluster.template("b");
    for (event, pause) in steps {
        apply(&mut cluster, *event);
        cluster.run(*pause, &mut judge);
    }
    cluster
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_promise_holds_whatever_happens(
        make in makes(),
        plan in plans(),
        steps in prop::collection::vec((events(), 0..20u32), 1..14),
    ) {
        let mut cluster = walk(make, &plan, &steps);
        comes_to_its_end(&mut cluster);
    }

    #[test]
    fn every_promise_holds_while_pods_fall_sick(
        make in makes(),
        plan in plans(),
        steps in prop::collection::vec(
            (prop_oneof![6 => events(), 2 => (0..8usize).prop_map(Event::Sicken)], 0..20u32),
            1..14,
        ),
    ) {
        walk(make, &plan, &steps).rest(LONG, &mut judge);
    }

    #[test]
    fn where_no_budget_says_no_sick_pods_hold_up_no_release(
        make in makes(),
        plan in plans(),
        steps in prop::collection::vec(
            (prop_oneof![4 => events(), 2 => (0..8usize).prop_map(Event::Sicken)], 0..20u32),
            1..8,
        ),
    ) {
        let ordered = PodManagement::OrderedReady;
        // Its own controller brings no Pod up beside a lower one that is not ready.
        let waits = [Kind::Set(ordered), Kind::AdvancedSet(ordered)].contains(&make.kind);
        prop_assume!(!waits);
        let mut cluster = walk(Make { budget: None, ..make }, &plan, &steps);
        comes_to_its_end(&mut cluster);
    }

    #[test]
    fn no_slice_takes_more_than_the_budget_allows(
        make in makes(),
        max_unavailable in 1..4u32,
        plan in plans(),
        steps in prop::collection::vec((quiet_events(), 0..20u32), 1..14),
    ) {
        let mut cluster = Cluster::new(Make { budget: Some(max_unavailable), ..make });
        cluster.release.batches = plan;
        cluster.template("b");
        for (event, pause) in steps {
            apply(&mut cluster, event);
            for _ in 0..pause {
                cluster.tick(&mut judge);
                let least = make.replicas.saturating_sub(max_unavailable);
                prop_assert!(cluster.healthy() >= least, "{}", cluster.status.message);
            }
        }
    }

    #[test]
    fn a_pause_that_was_seen_leaves_every_pod_where_it_is(
        make in makes(),
        plan in plans(),
        steps in prop::collection::vec((quiet_events(), 0..20u32), 1..14),
        moment in prop::option::weighted(0.7, 0..12u32),
    ) {
        let mut cluster = walk(make, &plan, &steps);
        cluster.rollout_lag = 0;
        if let Some(moment) = moment {
            // In the middle of batches that are under way.
            cluster.release.paused = false;
            cluster.template("z");
            cluster.rest(LONG, &mut judge);
            cluster.approve();
            cluster.approve();
            cluster.run(moment, &mut judge);
        }
        cluster.release.paused = true;
        cluster.operator.crash = None;
        cluster.run(1, &mut judge);
        let (old, spare) = (cluster.old(), cluster.spare());
        cluster.rest(LONG, &mut judge);
        let (stay, message) = (cluster.old(), &cluster.status.message);
        prop_assert!(stay.is_subset(&old), "{}", message);
        // Those that have their successors already are no longer wanted.
        prop_assert!(stay.len() + spare >= old.len(), "{stay:?} of {old:?}, {message}");
    }

    #[test]
    fn a_release_that_is_turned_back_ends_where_it_began(
        make in makes(),
        plan in plans(),
        steps in prop::collection::vec((events(), 0..20u32), 1..8),
    ) {
        let mut cluster = walk(make, &plan, &steps);
        // At once: the template of before, and nothing held any more.
        cluster.rest(LONG, &mut judge);
        cluster.release.paused = false;
        cluster.template("a");
        cluster.rest(LONG, &mut judge);
        cluster.promote();
        cluster.rest(LONG, &mut judge);
        prop_assert_eq!(cluster.status.phase, Some(Phase::Completed));
        prop_assert_eq!(cluster.kubernetes.at("a"), cluster.count());
        given_back(&cluster);
    }

    #[test]
    fn a_release_with_crashes_ends_like_one_without(
        make in makes(),
        plan in plans(),
        approvals in 0..3u32,
        crashes in prop::collection::vec(crashes(), 1..12),
        apart in 1..6u32,
    ) {
        let end = |crashes: &[Crash]| {
            let mut cluster = walk(make, &plan, &[]);
            for _ in 0..=approvals {
                for crash in crashes {
                    cluster.operator.crash = Some(*crash);
                    cluster.run(apart, &mut judge);
                }
                cluster.rest(LONG, &mut judge);
                cluster.approve();
            }
            let state = cluster.status.batch_state;
            (state, cluster.status.current_batch, cluster.revisions(), cluster.body.workload.strategy)
        };
        prop_assert_eq!(end(&[]), end(&crashes));
    }
}
