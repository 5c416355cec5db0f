//! Walks over the small cluster with random events, every decision judged.

use engine::front::rollout::{Pause, Phase, Rollout, Step};
use engine::quantity::IntOrPercent::{Int, Percent};
use proptest::prelude::*;

use crate::model::{Cluster, Crash, is_bad};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Change(u32),
    Approve,
    RaceApprove,
    Jump(u32),
    Pause(bool),
    Disable(bool),
    Plan(usize),
    Scale(usize),
    MakeAgain(usize),
    Vanish(bool),
    TakeMark,
    DeleteRelease,
    WebhookDown(bool),
    Delete,
    Lag(usize),
    Crash(Crash),
    RollbackInBatch(bool),
}

/// Plans of three steps, and of two.
fn plan(which: usize) -> Vec<Step> {
    let step = |replicas, pause| Step { replicas, pause };
    let approval = Pause::Approval;
    match which {
        0 => vec![
            step(Percent(20), approval),
            step(Percent(60), Pause::Seconds(4)),
            step(Percent(100), approval),
        ],
        1 => vec![step(Percent(20), approval), step(Int(5), approval), step(Percent(80), approval)],
        2 => vec![step(Int(1), Pause::Seconds(0)), step(Percent(100), approval)],
        _ => vec![step(Int(2), approval), step(Int(2), approval), step(Int(50), Pause::Seconds(2))],
    }
}

fn rollout(which: usize) -> Rollout {
    Rollout {
        finalizer: false,
        marked_hash: None,
        steps: Ok(plan(which)),
        hash: format!("plan-{which}"),
        ..crate::fixture::rollout()
    }
}

pub(crate) fn apply(cluster: &mut Cluster, event: Event) {
    let rollout = |cluster: &mut Cluster, change: &dyn Fn(&mut Rollout)| {
        if let Some(rollout) = &mut cluster.rollout {
            change(rollout);
            rollout.generation += 1;
        }
    };
    match event {
        Event::Change(template) => cluster.change(template),
        Event::Approve => {
            cluster.approve();
        }
        Event::RaceApprove => cluster.race = true,
        Event::Jump(to) => cluster.jump(to),
        Event::Pause(paused) => rollout(cluster, &|it| it.paused = paused),
        Event::Disable(disabled) => rollout(cluster, &|it| it.disabled = disabled),
        Event::Plan(which) => {
            cluster.leapt = true;
            rollout(cluster, &|it| {
                (it.steps, it.hash) = (Ok(plan(which)), format!("plan-{which}"));
            });
        }
        Event::Scale(replicas) => cluster.scale(replicas),
        Event::MakeAgain(replicas) => cluster.make_again(replicas),
        Event::Vanish(gone) => cluster.vanish(gone),
        Event::TakeMark => cluster.write(|work| work.marked = false),
        Event::DeleteRelease => cluster.on_batches(|it| it.deleting = true),
        Event::WebhookDown(down) => cluster.webhook_down = down,
        Event::Delete => {
            cluster.vanish(false);
            rollout(cluster, &|it| it.deleted = true);
        }
        Event::Lag(ticks) => cluster.lag = ticks,
        Event::Crash(crash) => cluster.crashes.push_back(Some(crash)),
        Event::RollbackInBatch(on) => rollout(cluster, &|it| it.rollback_in_batch = on),
    }
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (1..8u32).prop_map(Event::Change),
        8 => Just(Event::Approve),
        2 => Just(Event::RaceApprove),
        2 => (0..5u32).prop_map(Event::Jump),
        3 => any::<bool>().prop_map(Event::Pause),
        2 => any::<bool>().prop_map(Event::Disable),
        2 => (0..4usize).prop_map(Event::Plan),
        2 => (0..12usize).prop_map(Event::Scale),
        1 => (1..8usize).prop_map(Event::MakeAgain),
        2 => any::<bool>().prop_map(Event::Vanish),
        1 => Just(Event::TakeMark),
        1 => Just(Event::DeleteRelease),
        1 => any::<bool>().prop_map(Event::WebhookDown),
        1 => Just(Event::Delete),
        2 => (0..4usize).prop_map(Event::Lag),
        4 => crashes().prop_map(Event::Crash),
        1 => any::<bool>().prop_map(Event::RollbackInBatch),
    ]
}

fn crashes() -> impl Strategy<Value = Crash> {
    prop::sample::select(vec![Crash::BeforeStatus, Crash::BeforeAction])
}

/// Whatever happened: enabled, resumed, with a good template and its approvals, it gets there.
fn mend(cluster: &mut Cluster) {
    apply(cluster, Event::Vanish(false));
    apply(cluster, Event::Pause(false));
    apply(cluster, Event::Disable(false));
    (cluster.webhook_down, cluster.lag, cluster.race) = (false, 0, false);
    cluster.run(30);
    if cluster.work.as_ref().is_some_and(|work| is_bad(work.template)) {
        apply(cluster, Event::Change(11));
    }
    for _ in 0..8 {
        cluster.run(30);
        cluster.approve();
    }
    cluster.run(60);
}

/// At rest: all Pods run the template, nothing is held, nobody looks.
fn rests(cluster: &mut Cluster) {
    let work = cluster.work.clone().expect("there");
    assert!(!work.marked && !work.held && !work.controlled, "something is held: {work:?}");
    assert_eq!(cluster.batches, None);
    assert!(work.pods.iter().all(|pod| *pod == work.template), "not all got there: {work:?}");
    if cluster.rollout.is_some() {
        assert_eq!(cluster.status.phase, Some(Phase::Healthy), "{:#?}", cluster.status);
    }
    let looks = cluster.looks;
    cluster.run(50);
    assert_eq!(cluster.looks, looks, "it looks at what is at rest");
}

pub(crate) fn begin(replicas: usize, which: usize, back_in_batches: bool) -> Cluster {
    let mut cluster = Cluster::new(replicas, rollout(which));
    cluster.back_in_batches = back_in_batches;
    cluster.run(5);
    assert_eq!(cluster.status.phase, Some(Phase::Healthy));
    cluster
}

/// What users do that leaves no doubt about how it ends.
fn orders() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => prop::sample::select(vec![1u32, 2, 3, 5]).prop_map(Event::Change),
        8 => Just(Event::Approve),
        2 => (1..4u32).prop_map(Event::Jump),
        2 => any::<bool>().prop_map(Event::Pause),
        1 => any::<bool>().prop_map(Event::Disable),
        1 => (0..4usize).prop_map(Event::Plan),
        1 => (1..12usize).prop_map(Event::Scale),
        1 => Just(Event::Delete),
    ]
}

/// Each order when the one before has come to rest, with a crash in each of the first looks or none.
fn ends_in(cluster: &mut Cluster, orders: &[Event], crashes: &[Crash]) -> Vec<String> {
    let mut ends = Vec::new();
    for order in orders {
        apply(cluster, *order);
        cluster.crashes.extend(crashes.iter().copied().map(Some));
        cluster.run(80);
        cluster.crashes.clear();
        let (work, canary) = (cluster.work.as_ref().expect("there"), &cluster.status.canary);
        let step =
            canary.as_ref().map(|it| (it.current_step, it.next_step, it.state, it.finalising));
        ends.push(format!(
            "{:?} {:?} {step:?} {:?} {} {} {}",
            order,
            cluster.status.phase,
            work.pods,
            work.held,
            work.marked,
            cluster.rollout.is_some()
        ));
    }
    ends
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_promise_holds_and_every_walk_ends(
        replicas in 0..8usize,
        which in 0..4usize,
        back_in_batches in any::<bool>(),
        steps in prop::collection::vec((events(), 0..15u32), 1..16),
    ) {
        let mut cluster = begin(replicas, which, back_in_batches);
        for (event, ticks) in steps {
            apply(&mut cluster, event);
            cluster.run(ticks);
        }
        mend(&mut cluster);
        rests(&mut cluster);
    }

    #[test]
    fn a_release_with_crashes_ends_like_one_without(
        which in 0..4usize,
        orders in prop::collection::vec(orders(), 1..8),
        crashes in prop::collection::vec(crashes(), 1..6),
    ) {
        let calm = ends_in(&mut begin(5, which, false), &orders, &[]);
        let rough = ends_in(&mut begin(5, which, false), &orders, &crashes);
        prop_assert_eq!(calm, rough);
    }
}
