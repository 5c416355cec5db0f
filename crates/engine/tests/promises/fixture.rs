//! Worlds that read as sentences: `world().replicas(4).percent(50).budget(1).updated(3)`.
//!
//! Untouched, a world is in the middle of a rollout from v1 to v2: the StatefulSet `web` stands as asked,
//! its controller has seen it, every Pod is at v1 and has been ready for an hour.

use std::collections::BTreeSet;

use engine::decision::{Action, Decision};
use engine::quantity::Percent;
use engine::status::{Phase, PodRow, PodState, Reason, Status};
use engine::world::{
    Applied, ApplyRefused, Build, Claim, Discovery, Outcome, Pod, PodPhase, Refusal, Rollout,
    Settings, Strategy, UnhealthyPods, VersionLeak, Workload, World,
};
use jiff::SignedDuration;

use crate::kubernetes;
pub(crate) use crate::kubernetes::{
    ago, ahead, budget_over, noon, pod as ready_pod, seconds, trouble, uid,
};

pub(crate) fn rollout() -> Rollout {
    Rollout {
        namespace: "shop".into(),
        name: "web".into(),
        uid: "rollout-uid".into(),
        generation: 2,
        workload_name: "web".into(),
        percent: Percent::ALL,
        pause_requested: false,
        identity: "first".into(),
        min_eviction_interval: SignedDuration::ZERO,
        progress_deadline: seconds(600),
        unhealthy_pods: UnhealthyPods::Report,
        version_leak: VersionLeak::Report,
        desired_hash: "hash-v2".into(),
        replicas: None,
        channel: None,
        callback_stage: None,
        services: Vec::new(),
        build: Build::default(),
    }
}

/// A StatefulSet at v2 whose rolling history stands at v1.
pub(crate) fn workload(replicas: u32) -> Workload {
    let workload = kubernetes::workload(replicas, Strategy::OnDelete);
    Workload { claim: Claim::Ours, ..workload }
}

/// A world in the making.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    pub(crate) world: World,
    max_unavailable: Option<u32>,
}

pub(crate) fn world() -> Fixture {
    let world = World {
        rollout: rollout(),
        status: Status {
            phase: Some(Phase::InProgress),
            percent_requested: Some(100),
            workload_name: "web".into(),
            identity: "first".into(),
            observed_generation: 2,
            update_revision: "v2".into(),
            stable_revision: "v1".into(),
            desired_hash: "hash-v2".into(),
            applied: Some(Applied {
                uid: "workload-uid".into(),
                hash: "hash-v2".into(),
                generation: 2,
            }),
            last_progress: Some(ago(60)),
            spec_current: true,
            ..Status::default()
        },
        workload: None,
        pods: Vec::new(),
        rival: None,
        namesake: None,
        budgets: Vec::new(),
        discovery: Discovery::NotAsked,
        outcome: Outcome::default(),
        settings: Settings::default(),
    };
    Fixture { world, max_unavailable: None }.replicas(4)
}

impl Fixture {
    /// This many Pods, all ready at v1. Say it before anything about single Pods.
    pub(crate) fn replicas(mut self, replicas: u32) -> Self {
        let first = self.world.workload.as_ref().map_or(0, |set| set.first_ordinal);
        self.world.workload = Some(Workload { first_ordinal: first, ..workload(replicas) });
        self.world.pods = (first..first + replicas).map(|o| ready_pod(o, "v1")).collect();
        self.world.status.pods = self.world.pods.iter().map(row).collect();
        self
    }

    pub(crate) fn first_ordinal(mut self, first: u32) -> Self {
        let replicas = self.set().replicas;
        self.set().first_ordinal = first;
        self.replicas(replicas)
    }

    pub(crate) fn set(&mut self) -> &mut Workload {
        self.world.workload.as_mut().expect("a fixture has a StatefulSet until it is taken away")
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut World)) -> Self {
        change(&mut self.world);
        self
    }

    pub(crate) fn with_set(mut self, change: impl FnOnce(&mut Workload)) -> Self {
        change(self.set());
        self
    }

    /// Asked for and begun.
    pub(crate) fn percent(mut self, percent: i64) -> Self {
        self.world.rollout.percent = Percent::new(percent).expect("a percentage");
        self.world.status.percent_requested = Some(self.world.rollout.percent.get());
        self
    }

    /// One budget over these Pods alone: `maxUnavailable: N`.
    pub(crate) fn budget(mut self, max_unavailable: u32) -> Self {
        self.max_unavailable = Some(max_unavailable);
        self
    }

    /// A change to one Pod; its row in the status still speaks of the Pod before.
    pub(crate) fn pod(mut self, ordinal: u32, change: impl FnOnce(&mut Pod)) -> Self {
        let pods = &mut self.world.pods;
        change(pods.iter_mut().find(|pod| pod.ordinal == ordinal).expect("a Pod of that ordinal"));
        self
    }

    /// A change to a Pod that the status knows of.
    pub(crate) fn known(mut self, ordinal: u32, change: impl FnOnce(&mut Pod)) -> Self {
        self = self.pod(ordinal, change);
        let pod = self.world.pods.iter().find(|pod| pod.ordinal == ordinal).expect("that Pod");
        let name = format!("web-{ordinal}");
        let fresh = row(pod);
        let rows = &mut self.world.status.pods;
        *rows.iter_mut().find(|row| row.name == name).expect("its row") = fresh;
        self
    }

    /// Moved by us, and good.
    pub(crate) fn updated(self, ordinal: u32) -> Self {
        self.known(ordinal, |pod| *pod = ready_pod(ordinal, "v2"))
    }

    /// Moved by us, and coming up for a minute.
    pub(crate) fn starting(self, ordinal: u32) -> Self {
        self.known(ordinal, |pod| {
            *pod = Pod {
                ready_since: None,
                phase: PodPhase::Pending,
                created: ago(60),
                ..ready_pod(ordinal, "v2")
            };
        })
    }

    /// Moved by us, and in trouble.
    pub(crate) fn broken(self, ordinal: u32, reason: &str) -> Self {
        self.starting(ordinal).known(ordinal, |pod| pod.trouble = Some(trouble(reason)))
    }

    /// At the old revision, running, not ready.
    pub(crate) fn unready(self, ordinal: u32) -> Self {
        self.known(ordinal, |pod| pod.ready_since = None)
    }

    /// At the old revision, and never started.
    pub(crate) fn pending(self, ordinal: u32) -> Self {
        self.unready(ordinal).known(ordinal, |pod| {
            pod.phase = PodPhase::Pending;
            pod.trouble = Some(trouble("ImagePullBackOff"));
        })
    }

    /// Going for a reason that is not ours.
    pub(crate) fn terminating(self, ordinal: u32) -> Self {
        self.pod(ordinal, |pod| pod.deletion = Some(ahead(30)))
    }

    /// Gone; its row still speaks of it.
    pub(crate) fn gone(mut self, ordinal: u32) -> Self {
        self.world.pods.retain(|pod| pod.ordinal != ordinal);
        self
    }

    /// Lost for a reason that is not ours, and back at v2.
    pub(crate) fn leaked(self, ordinal: u32) -> Self {
        self.pod(ordinal, |pod| *pod = ready_pod(ordinal, "v2"))
    }

    pub(crate) fn paused(self) -> Self {
        self.with(|world| world.rollout.pause_requested = true)
    }

    pub(crate) fn version_leak(self, leak: VersionLeak) -> Self {
        self.with(|world| world.rollout.version_leak = leak)
    }

    /// `versionLeak: Prevent`, held at this partition.
    pub(crate) fn held(self, partition: u32) -> Self {
        self.version_leak(VersionLeak::Prevent)
            .with_set(|set| set.strategy = Strategy::RollingUpdate { partition })
    }

    /// Evicted and not seen going.
    pub(crate) fn accepted(self, ordinal: u32) -> Self {
        self.with(|world| {
            world.outcome.accepted.insert(uid(ordinal, "v1"));
            world.status.evicting.push(uid(ordinal, "v1"));
        })
    }

    /// Refused in a batch one second ago.
    pub(crate) fn refused(self, ordinal: u32, refusal: Refusal) -> Self {
        self.with(|world| {
            world.outcome.refused.insert(uid(ordinal, "v1"), refusal);
            world.outcome.acted_at = Some(ago(5));
        })
    }

    pub(crate) fn apply_refused(self, invalid: bool, message: &str) -> Self {
        let refused = ApplyRefused { hash: "hash-v2".into(), invalid, message: message.into() };
        self.with(|world| world.outcome.apply_refused = Some(refused))
    }

    /// Service `web` exists and lists these.
    pub(crate) fn passing(self, ordinals: &[u32]) -> Self {
        let passing: BTreeSet<String> = ordinals.iter().map(|o| format!("web-{o}")).collect();
        self.with(|world| {
            world.rollout.services = vec!["web".into()];
            world.discovery = Discovery::Read { at: ago(1), services: vec!["web".into()], passing };
        })
    }

    pub(crate) fn phase(self, phase: Phase) -> Self {
        self.with(|world| world.status.phase = Some(phase))
    }

    /// The world, its budget computed from its Pods.
    pub(crate) fn build(&self) -> World {
        let mut world = self.world.clone();
        if let Some(max) = self.max_unavailable {
            let expected = world.workload.as_ref().map_or(0, |set| set.replicas);
            world.budgets.insert(0, budget_over(&world.pods, expected, max));
        }
        world
    }

    pub(crate) fn decide(&self) -> Decision {
        engine::decide(&self.build(), noon())
    }

    /// The world after the status was written and nothing else happened.
    pub(crate) fn again(mut self) -> Self {
        let decision = self.decide();
        self.world.status = decision.status;
        self
    }
}

pub(crate) fn row(pod: &Pod) -> PodRow {
    let state = match (pod.revision.as_str(), pod.ready_since.is_some()) {
        ("v2", true) => PodState::Updated,
        ("v2", false) => PodState::Starting,
        (_, true) => PodState::Old,
        (_, false) => PodState::OldUnready,
    };
    PodRow {
        name: pod.name.clone(),
        uid: pod.uid.clone(),
        node: String::new(),
        revision: pod.revision.clone(),
        version: pod.version.clone(),
        ready: pod.ready_since.is_some(),
        discovery_ready: None,
        state,
        since: None,
        leaked: false,
    }
}

/// The ordinals that an action disturbs, in its order.
pub(crate) fn moved(decision: &Decision) -> Vec<u32> {
    let victims = decision.action.iter().flat_map(Action::victims);
    victims.map(|pod| pod.name[4..].parse().expect("web-ORDINAL")).collect()
}

/// What a decision does, in short: `evict 3 2`, `open 2`, `delete 1`, `apply OnDelete`,
/// `strategy partition 0`, or `-`.
pub(crate) fn deed(decision: &Decision) -> String {
    let pods = moved(decision).iter().map(|o| format!(" {o}")).collect::<String>();
    let strategy = |strategy: &Strategy| match strategy {
        Strategy::OnDelete => "OnDelete".to_owned(),
        Strategy::RollingUpdate { partition } => format!("partition {partition}"),
    };
    match &decision.action {
        None => "-".into(),
        Some(Action::Apply { strategy: s }) => format!("apply {}", strategy(s)),
        Some(Action::SetStrategy { strategy: s }) => format!("strategy {}", strategy(s)),
        Some(Action::Open { partition, .. }) => format!("open {partition}"),
        Some(Action::Evict { .. }) => format!("evict{pods}"),
        Some(Action::Delete { .. }) => format!("delete{pods}"),
    }
}

/// Phase, reason and deed, in one line.
pub(crate) fn line(decision: &Decision) -> String {
    let status = &decision.status;
    let phase = status.phase.expect("every decision has a phase").name();
    let reason = status.reason_code.map_or("", Reason::name);
    format!("{} {reason}: {}", phase.trim_start_matches("Rollout"), deed(decision))
}

/// The table helper: what one look comes to.
#[track_caller]
pub(crate) fn check(fixture: &Fixture, expect: &str) -> Decision {
    let decision = fixture.decide();
    assert_eq!(line(&decision), expect, "{}", decision.status.reason);
    decision
}

/// That a sentence names all of these.
#[track_caller]
pub(crate) fn names(sentence: &str, words: &[&str]) {
    for word in words {
        assert!(sentence.contains(word), "`{sentence}` does not name `{word}`");
    }
}
