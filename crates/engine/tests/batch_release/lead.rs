//! A Rollout that leads the release of a cluster.

use engine::front::batch_release::{BatchState, ConditionKind, Control, Phase, is_held, original};
use engine::front::rollout::{
    self, Action, BatchRelease, Pause, Policy, ReleasePhase, ReleasePlan, Rollout, Step, StepState,
    Workload,
};
use engine::quantity::IntOrPercent;
use engine::world::PodManagement;
use jiff::Timestamp;

use crate::judge::judge;
use crate::kubernetes::Clones;
use crate::model::{Cluster, Kind, Make};
use crate::walk::{self, Event, given_back};

/// Whether a release of this kind can be turned back in batches.
pub(crate) fn back_in_batches(kind: Kind) -> bool {
    match kind {
        Kind::Set(_) | Kind::OnDelete | Kind::Clones(_) => true,
        Kind::AdvancedSet(_) | Kind::Unordered | Kind::AdvancedOnDelete => true,
        Kind::Daemons | Kind::Deployment => false,
        Kind::AdvancedDaemons | Kind::AdvancedDaemonsOnDelete => false,
    }
}

/// A Rollout over a cluster.
pub(crate) struct Led {
    pub(crate) cluster: Cluster,
    pub(crate) rollout: Rollout,
    pub(crate) status: rollout::Status,
    wake: Option<Timestamp>,
    labelled: bool,
    last: Option<rollout::World>,
}

pub(crate) const KINDS: [Kind; 14] = [
    Kind::Set(PodManagement::Parallel),
    Kind::Set(PodManagement::OrderedReady),
    Kind::OnDelete,
    Kind::Daemons,
    Kind::Deployment,
    Kind::Clones(Clones { in_place: false, surge: 0, priorities: false }),
    Kind::Clones(Clones { in_place: true, surge: 0, priorities: true }),
    Kind::Clones(Clones { in_place: false, surge: 2, priorities: false }),
    Kind::AdvancedSet(PodManagement::Parallel),
    Kind::AdvancedSet(PodManagement::OrderedReady),
    Kind::AdvancedOnDelete,
    Kind::Unordered,
    Kind::AdvancedDaemons,
    Kind::AdvancedDaemonsOnDelete,
];

pub(crate) fn led(kind: Kind, replicas: u32, sizes: &[IntOrPercent]) -> Led {
    let mut cluster = Cluster::new(Make {
        kind,
        replicas,
        min_ready: 0,
        start_up: 1,
        grace: 1,
        budget: Some(2),
        max_unavailable: 1,
        labels: true,
    });
    cluster.led = true;
    cluster.release.deleted = true;
    let steps = sizes.iter().map(|size| Step { replicas: *size, pause: Pause::Approval });
    let rollout = Rollout {
        namespace: "shop".into(),
        name: "web".into(),
        generation: 1,
        deleted: false,
        finalizer: false,
        workload: "shop/web".into(),
        disabled: false,
        paused: false,
        rollback_in_batch: false,
        steps: Ok(steps.collect()),
        failure_threshold: None,
        hash: "plan".into(),
        marked_hash: None,
        not_served: None,
        rival: None,
    };
    let status = rollout::Status::default();
    let mut led = Led { cluster, rollout, status, wake: None, labelled: false, last: None };
    led.run();
    led
}

impl Led {
    pub(crate) fn exists(&self) -> bool {
        self.cluster.release.finalizer || !self.cluster.release.deleted
    }

    fn world(&self) -> rollout::World {
        let body = &self.cluster.body;
        let (workload, template) = (&body.workload, &body.workload.update_revision);
        let updated = self.cluster.kubernetes.at(template);
        let old = self.cluster.count() - updated;
        let stable = body.stable_revision.clone().unwrap_or_default();
        let workload = Workload {
            unsupported: None,
            recreates: false,
            rolls_back_in_batches: back_in_batches(self.cluster.make.kind),
            generation: workload.generation,
            observed_generation: workload.observed_generation,
            replicas: workload.replicas,
            updated,
            old,
            in_rollback: body.in_progressing && stable == *template && old > 0,
            held: is_held(body) || body.control != Control::Free || !stable.is_empty(),
            stable_revision: stable,
            update_revision: template.clone(),
            pod_template_hash: template.clone(),
            marked: body.in_progressing,
            rollout_id: None,
            labelled: self.labelled,
        };
        rollout::World {
            rollout: self.rollout.clone(),
            status: self.status.clone(),
            workload: Some(workload),
            release: self.exists().then(|| self.release()),
            other_manager: None,
            settings: rollout::Settings::default(),
        }
    }

    fn release(&self) -> BatchRelease {
        let (release, status) = (&self.cluster.release, &self.cluster.status);
        BatchRelease {
            uid: release.uid.clone(),
            ours: true,
            deleting: release.deleted,
            generation: release.generation,
            observed_generation: status.observed_generation,
            plan: ReleasePlan {
                batches: release.batches.clone(),
                partition: release.batch_partition,
                rollout_id: release.rollout_id.clone(),
                failure_threshold: release.failure_threshold,
                policy: match (release.batch_partition, release.immediate) {
                    (Some(_), _) => None,
                    (None, true) => Some(Policy::Immediate),
                    (None, false) => Some(Policy::WaitResume),
                },
                rollback_in_batch: release.rollback_in_batches,
                paused: release.paused,
            },
            as_written: true,
            surplus: None,
            held: status.condition(ConditionKind::Progressing).and_then(|it| {
                let reason = rollout::Reason::of_release(&it.reason).filter(|_| !it.holds)?;
                Some((reason, it.message.clone()))
            }),
            plan_seen: status.plan_hash == release.plan_hash,
            phase: status.phase.map(|phase| match phase {
                Phase::Preparing => ReleasePhase::Preparing,
                Phase::Progressing => ReleasePhase::Progressing,
                Phase::Finalizing => ReleasePhase::Finalizing,
                Phase::Completed => ReleasePhase::Completed,
            }),
            batch_state: status.batch_state.map(|state| match state {
                BatchState::Upgrading => rollout::BatchState::Upgrading,
                BatchState::Verifying => rollout::BatchState::Verifying,
                BatchState::Ready => rollout::BatchState::Ready,
            }),
            current_batch: status.current_batch,
            updated: status.updated,
            updated_ready: status.updated_ready,
            observed_rollout_id: status.observed_rollout_id.clone(),
            message: status.message.clone(),
        }
    }

    fn write(&mut self, plan: ReleasePlan) {
        let release = &mut self.cluster.release;
        release.batches = plan.batches;
        release.batch_partition = plan.partition;
        release.rollout_id = plan.rollout_id;
        release.failure_threshold = plan.failure_threshold;
        release.rollback_in_batches = plan.rollback_in_batch;
        release.paused = plan.paused;
        self.cluster.plan();
    }

    fn look(&mut self) {
        let world = self.world();
        let due = self.wake.is_some_and(|at| at <= self.cluster.kubernetes.now);
        if self.last.as_ref() == Some(&world) && !due {
            return;
        }
        let decision = rollout::decide(&world, self.cluster.kubernetes.now);
        self.last = Some(world);
        self.status = decision.status;
        self.wake = decision.wake;
        match decision.action {
            None => {}
            Some(Action::Adopt) => {
                self.rollout.finalizer = true;
                self.rollout.marked_hash = Some(self.rollout.hash.clone());
            }
            Some(Action::MarkHash) => self.rollout.marked_hash = Some(self.rollout.hash.clone()),
            Some(Action::Label) => self.labelled = true,
            Some(Action::Create(plan)) => {
                self.cluster.begin();
                self.write(plan);
            }
            Some(Action::Update(plan)) => self.write(plan),
            Some(Action::Promote(policy)) => {
                self.cluster.release.immediate = policy == Policy::Immediate;
                self.cluster.promote();
            }
            Some(Action::Delete(uid)) => {
                assert_eq!(uid, self.cluster.release.uid);
                self.cluster.release.deleted = true;
            }
            Some(Action::Release { freeze }) => {
                assert!(!freeze, "no gate asks for it");
                if is_held(&self.cluster.body) {
                    let own = original(&self.cluster.body);
                    self.cluster.give_back(Some(own));
                }
                given_back(&self.cluster);
                self.cluster.write(|body| {
                    body.in_progressing = false;
                    body.stable_revision = None;
                });
            }
            Some(other) => panic!("{other:?} is not expected"),
        }
    }

    /// Until everything has come to rest.
    pub(crate) fn run(&mut self) {
        let mut still = 0;
        for _ in 0..400 {
            let before = self.world();
            self.seconds(1);
            still = if before == self.world() { still + 1 } else { 0 };
            if still > 35 {
                return;
            }
        }
    }

    pub(crate) fn seconds(&mut self, seconds: u32) {
        for _ in 0..seconds {
            self.cluster.tick(&mut judge);
            for _ in 0..3 {
                self.look();
            }
        }
    }

    /// What a user, or chance, does.
    pub(crate) fn apply(&mut self, event: Event) {
        match event {
            Event::Approve => {
                let canary = self.status.canary.as_mut();
                if let Some(it) = canary.filter(|it| it.state == StepState::StepPaused) {
                    it.state = StepState::StepReady;
                }
            }
            Event::Pause(paused) => self.rollout.paused = paused,
            other => walk::apply(&mut self.cluster, other),
        }
    }

    pub(crate) fn step(&self) -> (u32, StepState) {
        let canary = self.status.canary.as_ref().expect("a release");
        (canary.current_step, canary.state)
    }

    pub(crate) fn approve(&mut self) {
        let canary = self.status.canary.as_mut().expect("a release");
        assert_eq!(canary.state, StepState::StepPaused, "{}", self.status.message);
        canary.state = StepState::StepReady;
        self.run();
    }

    /// At this step, waiting for approval, with this many Pods of the template.
    #[track_caller]
    pub(crate) fn waits(&self, step: u32, updated: u32) {
        let kind = self.cluster.make.kind;
        let message = &self.cluster.status.message;
        assert_eq!(self.step(), (step, StepState::StepPaused), "{kind:?}: {message}");
        let template = &self.cluster.body.workload.update_revision;
        assert_eq!(self.cluster.kubernetes.at(template), updated, "{kind:?}: {message}");
    }

    /// Healthy, the workload as its user had it, and every Pod at this template.
    #[track_caller]
    pub(crate) fn is_over(&self, template: &str) {
        let kind = self.cluster.make.kind;
        assert_eq!(self.status.phase, Some(rollout::Phase::Healthy), "{kind:?}");
        assert!(!self.exists() && !self.cluster.body.in_progressing, "{kind:?}");
        given_back(&self.cluster);
        assert_eq!(self.cluster.kubernetes.at(template), self.cluster.count(), "{kind:?}");
    }
}
