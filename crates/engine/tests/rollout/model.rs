//! A small cluster: a workload, whoever moves its Pods, a BatchRelease with its controller, a webhook, and
//! this front, which looks when something changed or when it said that it would.
//!
//! One tick a second. The front may see workload and BatchRelease late, and may crash at each write.

use std::collections::{BTreeSet, VecDeque};

use engine::front::rollout::{
    Action, BatchRelease, Decision, Phase, ReleasePlan, Rollout, Settings, Status, StepState,
    Workload, World, decide,
};
use engine::world::Uid;
use jiff::{SignedDuration, Timestamp};

/// Where the operator crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    BeforeStatus,
    BeforeAction,
}

/// A template; every fifth never gets ready.
pub(crate) type Template = u32;

pub(crate) fn is_bad(template: Template) -> bool {
    template % 5 == 4
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Work {
    pub(crate) template: Template,
    pub(crate) pods: Vec<Template>,
    pub(crate) stable: Option<Template>,
    pub(crate) marked: bool,
    /// Its own controller moves nothing.
    pub(crate) held: bool,
    /// A BatchRelease has it.
    pub(crate) controlled: bool,
    pub(crate) labelled: bool,
    pub(crate) generation: i64,
    pub(crate) observed: i64,
    pub(crate) version: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Batches {
    pub(crate) seen: BatchRelease,
    pub(crate) of: Template,
    pub(crate) observed: Option<ReleasePlan>,
    pub(crate) version: u64,
}

type Seen = (Option<Work>, Option<Batches>);

#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) now: Timestamp,
    pub(crate) rollout: Option<Rollout>,
    pub(crate) status: Status,
    pub(crate) work: Option<Work>,
    pub(crate) batches: Option<Batches>,
    pub(crate) settings: Settings,
    pub(crate) webhook_down: bool,
    pub(crate) lag: usize,
    /// In the next looks, one after the other.
    pub(crate) crashes: VecDeque<Option<Crash>>,
    /// Somebody approves between a read of the status and its write.
    pub(crate) race: bool,
    /// Steps that a user let pass, from 1.
    pub(crate) approved: BTreeSet<u32>,
    /// Jumps and other plans may leave a step that is not ready.
    pub(crate) leapt: bool,
    pub(crate) looks: u32,
    /// The kind can roll back in batches.
    pub(crate) back_in_batches: bool,
    hidden: Option<Work>,
    seen: VecDeque<Seen>,
    last: Option<World>,
    wake: Option<Timestamp>,
    versions: u64,
}

impl Cluster {
    pub(crate) fn new(replicas: usize, rollout: Rollout) -> Self {
        let work = Work {
            template: 1,
            pods: vec![1; replicas],
            stable: None,
            marked: false,
            held: false,
            controlled: false,
            labelled: false,
            generation: 1,
            observed: 1,
            version: 0,
        };
        Self {
            now: crate::fixture::now(),
            rollout: Some(rollout),
            status: Status::default(),
            work: Some(work),
            batches: None,
            settings: Settings::default(),
            webhook_down: false,
            lag: 0,
            crashes: VecDeque::new(),
            race: false,
            approved: BTreeSet::new(),
            leapt: false,
            looks: 0,
            back_in_batches: false,
            hidden: None,
            seen: VecDeque::new(),
            last: None,
            wake: None,
            versions: 0,
        }
    }

    pub(crate) fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.tick();
        }
    }

    fn tick(&mut self) {
        self.now += SignedDuration::from_secs(1);
        self.own_controller();
        self.release_controller();
        self.seen.push_back((self.work.clone(), self.batches.clone()));
        while self.seen.len() > self.lag + 1 {
            self.seen.pop_front();
        }
        for _ in 0..3 {
            self.look();
        }
    }

    pub(crate) fn version(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }

    /// Changes the workload, as a write of anybody does.
    pub(crate) fn write(&mut self, change: impl FnOnce(&mut Work)) {
        let version = self.version();
        if let Some(work) = &mut self.work {
            change(work);
            work.generation += 1;
            work.version = version;
        }
    }

    fn observe(&self) -> Option<World> {
        let (work, batches) = self.seen.front()?;
        Some(World {
            rollout: self.rollout.clone()?,
            status: self.status.clone(),
            workload: work.as_ref().map(|work| project(work, self.back_in_batches)),
            release: batches.as_ref().map(|batches| {
                let plan_seen = batches.observed.as_ref() == Some(&batches.seen.plan);
                BatchRelease { plan_seen, ..batches.seen.clone() }
            }),
            other_manager: None,
            settings: self.settings,
        })
    }

    fn look(&mut self) {
        let Some(world) = self.observe() else { return };
        let due = self.wake.is_some_and(|wake| wake <= self.now);
        if self.last.as_ref() == Some(&world) && !due {
            return;
        }
        self.looks += 1;
        let decision = decide(&world, self.now);
        crate::judge::judge(self, &world, &decision);
        self.wake = decision.wake;
        self.last = Some(world);
        let crash = self.crashes.pop_front().flatten();
        if crash.is_some() {
            // Who starts again looks at everything.
            self.last = None;
        }
        if crash == Some(Crash::BeforeStatus) {
            return;
        }
        if self.race && self.approve() {
            self.race = false;
            return;
        }
        let revision =
            |status: &Status| status.canary.as_ref().map(|it| it.canary_revision.clone());
        if revision(&self.status) != revision(&decision.status) {
            self.approved.clear();
            self.leapt = false;
        }
        self.status = decision.status.clone();
        if crash != Some(Crash::BeforeAction) {
            self.act(&decision);
        }
    }

    /// Whether what was read is what is there: else a write is refused.
    fn is_fresh(&self) -> bool {
        let versions = |(work, batches): &Seen| {
            (work.as_ref().map(|it| it.version), batches.as_ref().map(|it| it.version))
        };
        let now = (self.work.clone(), self.batches.clone());
        self.seen.front().is_some_and(|seen| versions(seen) == versions(&now))
    }

    fn act(&mut self, decision: &Decision) {
        let Some(action) = decision.action.clone() else { return };
        let fresh = self.is_fresh();
        let version = self.version();
        let rollout = self.rollout.as_mut().expect("it is looked at");
        match action {
            Action::Adopt => {
                rollout.finalizer = true;
                rollout.marked_hash = Some(rollout.hash.clone());
            }
            Action::MarkHash => rollout.marked_hash = Some(rollout.hash.clone()),
            // Asked of the server itself, not of what may be late.
            Action::Forget => {
                let freeze = self.settings.freeze_on_deletion;
                let held = |work: &Work| work.marked || (work.held && !freeze);
                if !self.work.as_ref().is_some_and(held) && self.batches.is_none() {
                    self.rollout = None;
                }
                self.last = None;
            }
            Action::Label => self.write(|work| work.labelled = true),
            // A conflict: the next look sees why.
            _ if !fresh => self.last = None,
            Action::Hold => self.write(|work| {
                (work.marked, work.held) = (true, true);
                let template = work.template;
                let old = work.pods.iter().copied().find(|pod| *pod != template);
                work.stable = work.stable.or(old);
            }),
            Action::Release { freeze } => self.write(|work| {
                (work.marked, work.controlled) = (false, false);
                if !freeze {
                    (work.held, work.stable) = (false, None);
                }
            }),
            Action::Create(plan) => {
                let mut seen = crate::fixture::release(1, 0);
                seen.uid = Uid(format!("release-{version}"));
                (seen.plan, seen.phase, seen.batch_state) = (plan, None, None);
                (seen.observed_generation, seen.current_batch) = (0, 0);
                seen.observed_rollout_id.clear();
                self.batches.get_or_insert(Batches { seen, of: 0, observed: None, version });
            }
            Action::Update(plan) => self.on_batches(|it| it.plan = plan),
            Action::Promote(policy) => self.on_batches(|it| {
                (it.plan.partition, it.plan.policy) = (None, Some(policy));
            }),
            Action::Delete(_) => self.on_batches(|it| it.deleting = true),
        }
        if self.lag == 0 {
            self.seen.clear();
            self.seen.push_back((self.work.clone(), self.batches.clone()));
        }
    }

    pub(crate) fn on_batches(&mut self, change: impl FnOnce(&mut BatchRelease)) {
        let version = self.version();
        if let Some(batches) = &mut self.batches {
            change(&mut batches.seen);
            batches.seen.generation += 1;
            batches.version = version;
        }
    }

    /// A user's change of the template, as the webhook lets it pass.
    pub(crate) fn change(&mut self, template: Template) {
        let serves = self.rollout.as_ref().is_some_and(|rollout| !rollout.deleted)
            && self.status.phase != Some(Phase::Disabled)
            && !self.webhook_down;
        let changes = self.work.as_ref().is_some_and(|work| work.template != template);
        if !changes {
            return;
        }
        self.write(|work| {
            if serves && work.labelled && !work.pods.is_empty() {
                work.stable = work.stable.or(Some(work.template));
                (work.marked, work.held) = (true, true);
            }
            work.template = template;
        });
    }

    /// A user's approval; whether there was anything to approve.
    pub(crate) fn approve(&mut self) -> bool {
        let Some(canary) = &mut self.status.canary else { return false };
        self.approved.insert(canary.current_step);
        canary.state = StepState::StepReady;
        true
    }

    /// A user's jump.
    pub(crate) fn jump(&mut self, to: u32) {
        if let Some(canary) = &mut self.status.canary {
            canary.next_step = i64::from(to);
            self.approved.extend(1..=to);
            self.leapt = true;
        }
    }

    pub(crate) fn scale(&mut self, replicas: usize) {
        self.write(|work| {
            let fresh =
                if work.held { work.stable.unwrap_or(work.template) } else { work.template };
            work.pods.resize(replicas, fresh);
        });
    }

    /// Away for a moment, and back.
    pub(crate) fn vanish(&mut self, gone: bool) {
        // What is gone when nobody is left to give it back is gone for good.
        let served = self.rollout.as_ref().is_some_and(|rollout| !rollout.deleted);
        if gone && served && self.hidden.is_none() {
            self.hidden = self.work.take();
        } else if !gone && self.work.is_none() {
            self.work = self.hidden.take();
        }
    }

    /// Deleted, and made again from its manifest.
    pub(crate) fn make_again(&mut self, replicas: usize) {
        let version = self.version();
        let Some(work) = &self.work else { return };
        self.work = Some(Work {
            template: work.template,
            pods: vec![work.template; replicas],
            stable: None,
            marked: false,
            held: false,
            controlled: false,
            labelled: false,
            generation: 1,
            observed: 0,
            version,
        });
    }
}

pub(crate) fn count(pods: &[Template], is: impl Fn(Template) -> bool) -> u32 {
    u32::try_from(pods.iter().filter(|pod| is(**pod)).count()).expect("few")
}

fn project(work: &Work, rolls_back_in_batches: bool) -> Workload {
    let old = count(&work.pods, |pod| pod != work.template);
    let name = |template: Template| format!("r{template}");
    Workload {
        generation: work.generation,
        observed_generation: work.observed,
        replicas: u32::try_from(work.pods.len()).expect("few"),
        updated: count(&work.pods, |pod| pod == work.template),
        old,
        stable_revision: work.stable.map(name).unwrap_or_default(),
        update_revision: name(work.template),
        pod_template_hash: name(work.template),
        in_rollback: work.marked && work.stable == Some(work.template),
        marked: work.marked,
        held: work.held || work.controlled || work.stable.is_some(),
        labelled: work.labelled,
        rolls_back_in_batches,
        ..crate::fixture::workload()
    }
}
