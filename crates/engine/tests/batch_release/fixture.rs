//! Worlds that read as sentences: `set(5).batches(&[pods(1), percent(50)]).to(1).updated(&[4])`.
//!
//! Untouched, a world is at the first batch of a release from v1 to v2: the workload is taken over and held,
//! its controller has seen it, every Pod is at v1 and has been ready for an hour.

use std::collections::BTreeMap;

use engine::front::batch_release::{
    BatchState, Body, Control, Decision, Deployment, Machinery, Marks, Phase, Release, Rolling,
    Status, Target, World, decide,
};
use engine::nature::Nature;
use engine::quantity::IntOrPercent;
use engine::world::{Outcome, Pod, Settings, Strategy, Trouble, Workload};
use jiff::SignedDuration;

use crate::kubernetes::{self, workload};
pub(crate) use crate::kubernetes::{ago, ahead, budget_over, noon, pod, sized, uid};

pub(crate) fn pods(count: u32) -> IntOrPercent {
    IntOrPercent::Int(count)
}

pub(crate) fn percent(count: u32) -> IntOrPercent {
    IntOrPercent::Percent(count)
}

pub(crate) const ABOVE_ALL: u32 = 32767;

pub(crate) fn partition(partition: u32) -> Strategy {
    Strategy::RollingUpdate { partition }
}

pub(crate) fn rolling() -> Strategy {
    partition(0)
}

/// A world in the making.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    pub(crate) world: World,
    max_unavailable: Option<u32>,
}

fn release(kind: &str) -> Release {
    Release {
        namespace: "shop".into(),
        name: "web".into(),
        uid: "release-uid".into(),
        generation: 1,
        kind: kind.into(),
        workload_name: "web".into(),
        batches: vec![percent(20), percent(60), percent(100)],
        batch_partition: Some(0),
        rollout_id: String::new(),
        failure_threshold: None,
        immediate: true,
        plan_hash: "plan".into(),
        plan_error: None,
        other_style: None,
        rollback_in_batches: false,
        paused: false,
        deleted: false,
        finalizer: true,
        progress_deadline: SignedDuration::from_secs(600),
    }
}

fn world(kind: &str, workload: Workload, machinery: Machinery) -> Fixture {
    let replicas = workload.replicas;
    let body = Body {
        workload,
        also_called: vec!["web-v2".into()],
        stable_revision: Some("v1".into()),
        control: Control::Ours,
        in_progressing: true,
        max_unavailable: None,
        stopped: false,
        spoilt: None,
        machinery,
    };
    let world = World {
        release: release(kind),
        status: Status {
            phase: Some(Phase::Progressing),
            batch_state: Some(BatchState::Upgrading),
            update_revision: "v2".into(),
            stable_revision: "v1".into(),
            observed_replicas: Some(replicas),
            plan_hash: "plan".into(),
            ..Status::default()
        },
        target: Target::Found(Box::new(body)),
        pods: (0..replicas).map(|number| pod(number, "v1")).collect(),
        marks: BTreeMap::new(),
        costs: BTreeMap::new(),
        budgets: Vec::new(),
        outcome: Outcome::default(),
        unseen: false,
        keep_paused: false,
        settings: Settings::default(),
    };
    Fixture { world, max_unavailable: None }
}

/// A StatefulSet that is held by its partition.
pub(crate) fn set(replicas: u32) -> Fixture {
    let machinery = Machinery::Pods { nature: Nature::STATEFUL_SET, saved: Some(rolling()) };
    world("StatefulSet", workload(replicas, partition(ABOVE_ALL)), machinery)
}

fn advanced(nature: Nature, kind: &str, replicas: u32) -> Fixture {
    let machinery = Machinery::Pods { nature, saved: Some(rolling()) };
    world(kind, workload(replicas, partition(ABOVE_ALL)), machinery)
}

/// A CloneSet that is held by its partition; one Pod may be unavailable.
pub(crate) fn clones(replicas: u32) -> Fixture {
    advanced(Nature::CLONE_SET, "CloneSet", replicas).max_unavailable(pods(1))
}

/// An Advanced StatefulSet that is held by its partition; one Pod may be unavailable.
pub(crate) fn advanced_set(replicas: u32) -> Fixture {
    advanced(Nature::ADVANCED_STATEFUL_SET, "StatefulSet", replicas).max_unavailable(pods(1))
}

/// The same with `unorderedUpdate`.
pub(crate) fn unordered(replicas: u32) -> Fixture {
    advanced(Nature::UNORDERED_STATEFUL_SET, "StatefulSet", replicas).max_unavailable(pods(1))
}

/// An Advanced DaemonSet on so many Nodes that is held by its partition; one Pod may be unavailable.
pub(crate) fn advanced_daemons(nodes: u32) -> Fixture {
    advanced(Nature::ADVANCED_DAEMON_SET, "DaemonSet", nodes).max_unavailable(pods(1))
}

/// A StatefulSet whose user has it `OnDelete`.
pub(crate) fn on_delete(replicas: u32) -> Fixture {
    let machinery =
        Machinery::Pods { nature: Nature::STATEFUL_SET, saved: Some(Strategy::OnDelete) };
    world("StatefulSet", workload(replicas, Strategy::OnDelete), machinery)
}

/// A DaemonSet on so many Nodes that is held by `OnDelete`; one Pod may be unavailable.
pub(crate) fn daemons(nodes: u32) -> Fixture {
    let machinery = Machinery::Pods { nature: Nature::DAEMON_SET, saved: Some(rolling()) };
    let fixture = world("DaemonSet", workload(nodes, Strategy::OnDelete), machinery);
    fixture.max_unavailable(pods(1))
}

/// A Deployment that is paused and of type Recreate, with its old ReplicaSet and surge and unavailable 1.
pub(crate) fn deployment(replicas: u32) -> Fixture {
    let machinery = Machinery::Deployment(Deployment {
        paused: true,
        recreate: true,
        rolling: None,
        saved: Some(Rolling { max_surge: pods(1), max_unavailable: pods(1) }),
        new: None,
        old: vec![sized("web-v1", 1, replicas, replicas)],
        stable: Some("web-v1".into()),
    });
    world("Deployment", workload(replicas, Strategy::OnDelete), machinery)
}

impl Fixture {
    pub(crate) fn with(mut self, change: impl FnOnce(&mut World)) -> Self {
        change(&mut self.world);
        self
    }

    pub(crate) fn release(mut self, change: impl FnOnce(&mut Release)) -> Self {
        change(&mut self.world.release);
        self
    }

    pub(crate) fn status(mut self, change: impl FnOnce(&mut Status)) -> Self {
        change(&mut self.world.status);
        self
    }

    pub(crate) fn body(mut self, change: impl FnOnce(&mut Body)) -> Self {
        let Target::Found(body) = &mut self.world.target else { panic!("no workload") };
        change(body);
        self
    }

    pub(crate) fn workload(self, change: impl FnOnce(&mut Workload)) -> Self {
        self.body(|body| change(&mut body.workload))
    }

    pub(crate) fn machinery(self, change: impl FnOnce(&mut Deployment)) -> Self {
        self.body(|body| {
            let Machinery::Deployment(deployment) = &mut body.machinery else {
                panic!("no Deployment")
            };
            change(deployment);
        })
    }

    pub(crate) fn nature(self, change: impl FnOnce(&mut Nature)) -> Self {
        self.body(|body| {
            let Machinery::Pods { nature, .. } = &mut body.machinery else { panic!("no Pods") };
            change(nature);
        })
    }

    /// The user's own strategy that is kept beside it.
    pub(crate) fn saved(self, own: Option<Strategy>) -> Self {
        self.body(|body| {
            let Machinery::Pods { saved, .. } = &mut body.machinery else { panic!("no Pods") };
            *saved = own;
        })
    }

    pub(crate) fn batches(self, batches: &[IntOrPercent]) -> Self {
        self.release(|release| release.batches = batches.to_vec())
    }

    /// The batch that is worked on, from 0; no later one is allowed.
    pub(crate) fn at(self, batch: u32) -> Self {
        self.release(|release| release.batch_partition = Some(batch))
            .status(|status| status.current_batch = batch)
    }

    pub(crate) fn strategy(self, strategy: Strategy) -> Self {
        self.workload(|workload| workload.strategy = strategy)
    }

    pub(crate) fn max_unavailable(self, max: IntOrPercent) -> Self {
        self.body(|body| body.max_unavailable = Some(max))
    }

    /// One budget over these Pods alone: `maxUnavailable: N`.
    pub(crate) fn budget(mut self, max_unavailable: u32) -> Self {
        self.max_unavailable = Some(max_unavailable);
        self
    }

    pub(crate) fn change(mut self, number: u32, change: impl FnOnce(&mut Pod)) -> Self {
        let mut pods = self.world.pods.iter_mut();
        change(pods.find(|pod| pod.ordinal == number).expect("a Pod of that number"));
        self
    }

    pub(crate) fn updated(mut self, numbers: &[u32]) -> Self {
        for number in numbers {
            self = self.change(*number, |it| *it = pod(*number, "v2"));
        }
        self
    }

    pub(crate) fn starting(self, number: u32) -> Self {
        self.updated(&[number]).change(number, |pod| pod.ready_since = None)
    }

    pub(crate) fn broken(self, number: u32) -> Self {
        self.starting(number).change(number, |pod| pod.trouble = Some(trouble()))
    }

    pub(crate) fn unready(self, number: u32) -> Self {
        self.change(number, |pod| pod.ready_since = None)
    }

    pub(crate) fn gone(mut self, number: u32) -> Self {
        self.world.pods.retain(|pod| pod.ordinal != number);
        self
    }

    /// Pods carry the id and these batches.
    pub(crate) fn labelled(mut self, id: &str, batches: &[(u32, u32)]) -> Self {
        for (number, batch) in batches {
            let mut pods = self.world.pods.iter();
            let pod = pods.find(|pod| pod.ordinal == *number).expect("a Pod of that number");
            let marks = self.world.marks.entry(pod.uid.clone()).or_default();
            *marks = Marks { rollout_id: id.into(), batch: Some(*batch), ..marks.clone() };
        }
        self
    }

    pub(crate) fn preparing(self) -> Self {
        self.status(|status| *status = Status::default()).body(|body| body.control = Control::Free)
    }

    /// The world, its budget computed from its Pods.
    pub(crate) fn build(&self) -> World {
        let mut world = self.world.clone();
        if let (Some(max), Target::Found(body)) = (self.max_unavailable, &world.target) {
            world.budgets.push(budget_over(&world.pods, body.workload.replicas, max));
        }
        world
    }

    pub(crate) fn decide(&self) -> Decision {
        decide(&self.build(), noon())
    }

    /// The world after the status was written and nothing else happened.
    pub(crate) fn again(mut self) -> Self {
        self.world.status = self.decide().status;
        self
    }
}

pub(crate) fn trouble() -> Trouble {
    kubernetes::trouble("ImagePullBackOff")
}
