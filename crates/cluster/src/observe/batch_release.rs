//! Puts the world of a `BatchRelease` together from the caches.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::batches::names::{CONTROL_INFO, IN_PROGRESSING};
use api::batches::{self, BatchRelease};
use api::bedrock::OWNER_ANNOTATION;
use engine::front::batch_release::{Body, Control, Marks, Target, World};
use engine::world::{Outcome, Settings, Uid};
use jiff::SignedDuration;
use serde_json::Value;

use crate::caches::{Caches, Held};
use crate::key::Key;
use crate::seen::meta::Meta;
use crate::seen::{PodSeen, ReplicaSetSeen, Resource};
use crate::subject::Workload;
use crate::unseen::Unseen;
use crate::workload::{Claimed, Sight, annotation, replica_sets};

/// How long a batch may take without progress where its workload does not say.
const DEADLINE: u32 = 600;
/// What stands for no deadline at all, by Kubernetes.
const NO_DEADLINE: u32 = i32::MAX as u32;

/// A release with everything that a decision looks at, and what it takes to carry one out.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The release.
    pub key: Key,
    /// Its UID.
    pub uid: Uid,
    /// The version that the status is written under: the last that the watch showed, or that of our own
    /// last write if that is newer.
    pub resource_version: String,
    /// The release, with the status that goes with `resource_version`.
    pub release: Arc<BatchRelease>,
    /// Its metadata as the watch showed it: whether it still asks for the same is told by it.
    pub meta: Meta,
    /// Whether the Rollout that wrote it is paused.
    pub paused_by_rollout: bool,
    /// What it names, if that is there.
    pub workload: Option<Live>,
    /// What a decision looks at.
    pub world: World,
}

/// A workload as it was looked at.
#[derive(Clone, Debug)]
pub struct Live {
    /// Which one.
    pub workload: Workload,
    /// Where it is written.
    pub path: String,
    /// Its resourceVersion.
    pub resource_version: String,
    /// Metadata and spec as far as they are held.
    pub object: Value,
    /// The ReplicaSets of a Deployment, by name.
    pub sets: BTreeMap<String, ReplicaSetSeen>,
}

/// How the operator is set, as far as a release is concerned.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// How the operator is set.
    pub settings: &'a Settings,
    /// The gate `KeepWorkloadPausedOnRolloutDeletion`.
    pub keep_paused: bool,
}

/// Looks at a release. `None` when there is none, when it cannot be read, and as long as the caches are not
/// ready.
///
/// `outcome` and `unseen` are what this process knows of its own actions; what the caches have shown since
/// is taken out of both.
pub fn observe(
    caches: &Caches,
    key: &Key,
    terms: Terms<'_>,
    mut outcome: Outcome,
    unseen: &mut Unseen,
) -> Option<Observed> {
    caches.forget_seen(unseen);
    let held = caches.lock();
    if !held.waiting_for().is_empty() {
        return None;
    }
    let seen = held.releases.get(key)?;
    let mut release = Arc::clone(seen.object.as_ref().ok()?);
    let mut resource_version = seen.meta.resource_version.clone();
    if let Some(written) = held.written.releases.over(&seen.meta) {
        resource_version.clone_from(&written.resource_version);
        Arc::make_mut(&mut release).status = Some(written.status.clone());
    }
    let found = seen.workload.as_ref().map(|workload| find(&held, seen, workload));
    let (target, live, pods) = match found {
        None => (Target::Unsupported, None, Vec::new()),
        Some(None) => (Target::Missing, None, Vec::new()),
        Some(Some(Found { live, body, pods })) => (Target::Found(Box::new(body)), Some(live), pods),
    };
    let labels = live.as_ref().map(|live| &live.object["spec"]["template"]["metadata"]["labels"]);
    let budgets = held.budgets.in_namespace(&key.namespace);
    let budgets = budgets.filter(|budget| labels.is_some_and(|labels| budget.selects(labels)));
    outcome
        .accepted
        .retain(|uid| pods.iter().any(|seen| seen.pod.uid == *uid && seen.pod.deletion.is_none()));
    let marked = pods.iter().filter(|seen| seen.marks != Marks::default());
    let deadline = deadline(live.as_ref().map(|live| &live.object["spec"]));
    let mut asked = batches::engine_release(&release, deadline);
    if let Some(workload) = &seen.workload {
        workload.kind.word().clone_into(&mut asked.kind);
    }
    // It will be told so; until then nothing may move either.
    let paused_by_rollout = held.is_paused_by_rollout(seen);
    asked.paused |= paused_by_rollout;
    let world = World {
        release: asked,
        status: release.status.as_ref().map(batches::engine_release_status).unwrap_or_default(),
        target,
        marks: marked.map(|seen| (seen.pod.uid.clone(), seen.marks.clone())).collect(),
        costs: pods.iter().filter_map(|seen| Some((seen.pod.uid.clone(), seen.cost?))).collect(),
        budgets: budgets.map(|seen| seen.budget.clone()).collect(),
        pods: pods.into_iter().map(|seen| seen.pod.clone()).collect(),
        outcome,
        unseen: !unseen.is_empty(),
        keep_paused: terms.keep_paused,
        settings: *terms.settings,
    };
    Some(Observed {
        key: key.clone(),
        uid: Uid(seen.meta.uid.clone()),
        resource_version,
        release,
        meta: seen.meta.clone(),
        paused_by_rollout,
        workload: live,
        world,
    })
}

/// A workload with its Pods.
struct Found<'a> {
    live: Live,
    body: Body,
    pods: Vec<&'a PodSeen>,
}

fn find<'a>(
    held: &'a Held,
    seen: &Resource<BatchRelease>,
    workload: &Workload,
) -> Option<Found<'a>> {
    let sight = Sight::of(held, workload)?;
    let claimed = Claimed {
        control: control(held, seen, &sight.object),
        in_progressing: annotation(&sight.object, IN_PROGRESSING).is_some(),
    };
    let body = workload.kind.adapter().eye.body(&sight, claimed);
    let by_name = |set: &&ReplicaSetSeen| (set.meta.name.clone(), (*set).clone());
    let live = Live {
        workload: workload.clone(),
        path: held.path(workload),
        resource_version: sight.seen.meta.resource_version.clone(),
        sets: sight.sets.iter().map(by_name).collect(),
        object: sight.object,
    };
    Some(Found { live, body, pods: sight.pods })
}

/// Whose release the workload is; that of a release that is no more counts for nothing.
fn control(held: &Held, seen: &Resource<BatchRelease>, object: &Value) -> Control {
    let namespace = &seen.meta.namespace;
    let info = annotation(object, CONTROL_INFO).unwrap_or_default();
    let info: Value = serde_json::from_str(info).unwrap_or_default();
    let uid = info["uid"].as_str().unwrap_or_default();
    if uid == seen.meta.uid {
        return Control::Ours;
    }
    let others = held.releases.in_namespace(namespace).filter(|_| !uid.is_empty());
    // One of our own name is the one before us, whose end the watch has not told yet.
    let mut others = others.filter(|other| other.meta.name != seen.meta.name);
    if let Some(other) = others.find(|other| other.meta.uid == uid) {
        return Control::Other { owner: format!("BatchRelease/{}", other.meta.name) };
    }
    let owner = annotation(object, OWNER_ANNOTATION).unwrap_or_default();
    let mut rollouts = held.statefulset_rollouts.in_namespace(namespace);
    let rollout = rollouts.find(|rollout| !owner.is_empty() && rollout.meta.uid == owner);
    match rollout {
        Some(rollout) => {
            Control::Other { owner: format!("StatefulsetRollout/{}", rollout.meta.name) }
        }
        None => Control::Free,
    }
}

/// A Deployment's `progressDeadlineSeconds`, where it means something.
fn deadline(spec: Option<&Value>) -> SignedDuration {
    let own = spec.and_then(|spec| spec["progressDeadlineSeconds"].as_u64());
    let own = own.and_then(|seconds| u32::try_from(seconds).ok());
    let own = own.filter(|seconds| (1..NO_DEADLINE).contains(seconds));
    SignedDuration::from_secs(own.unwrap_or(DEADLINE).into())
}

impl Live {
    /// The new ReplicaSet at this size; the `nth` of the names that may be free.
    pub(crate) fn new_set(&self, size: u32, nth: u32) -> Value {
        let sets: Vec<&ReplicaSetSeen> = self.sets.values().collect();
        replica_sets::build(&self.object, &sets, size, nth)
    }
}
