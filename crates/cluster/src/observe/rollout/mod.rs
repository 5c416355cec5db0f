//! Puts the world of a Rollout together from the caches: nothing is fetched, nothing is decided.

pub(crate) mod marks;

use std::sync::Arc;

use api::batches::engine::rollout as convert;
use api::batches::names::{IN_PROGRESSING, ROLLOUT_ID, WORKLOAD_TYPE};
use api::batches::{BatchRelease, BatchReleaseSpec, Rollout};
use api::bedrock::{OWNER_ANNOTATION, StatefulsetRollout};
use engine::admit::workload::Strategy as Carried;
use engine::front::batch_release::{Control, Original, is_held, original};
use engine::front::rollout as inner;
use engine::world::Uid;
use serde_json::Value;

use crate::caches::{Caches, Held};
use crate::key::Key;
use crate::seen::meta::Meta;
use crate::seen::{Resource, WorkloadSeen};
use crate::subject::Workload;
use crate::workload::{Claimed, Counted, Sight, annotation, held as is_still_held, leader, marked};

/// A Rollout with everything that a decision looks at, and what it takes to carry one out.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The Rollout.
    pub key: Key,
    /// Its UID.
    pub uid: Uid,
    /// The version that it is written under: the last that the watch showed, or that of our own last
    /// write if that is newer.
    pub resource_version: String,
    /// The Rollout, with the status that goes with `resource_version`.
    pub rollout: Arc<Rollout>,
    /// Its workload, if there is one of a kind that is served.
    pub live: Option<Live>,
    /// resourceVersion of the BatchRelease of its name; empty when there is none.
    pub release_version: String,
    /// What a decision looks at.
    pub world: inner::World,
}

/// A workload as it stands.
#[derive(Clone, Debug)]
pub struct Live {
    /// Kind and key.
    pub workload: Workload,
    /// Where it is written.
    pub path: String,
    /// UID.
    pub uid: String,
    /// The version that it is written under.
    pub resource_version: String,
    /// Metadata and spec, as far as they are held.
    pub object: Value,
    /// StatefulSets: the partition above what has not moved, which holds it.
    pub partition: u32,
    /// The user's own fields, where something holds it still.
    pub restore: Option<Original>,
}

/// Looks at a Rollout. `None` when there is none, when it cannot be read, and as long as the caches are not
/// ready.
pub fn observe(caches: &Caches, key: &Key, settings: &inner::Settings) -> Option<Observed> {
    let held = caches.lock();
    if !held.waiting_for().is_empty() {
        return None;
    }
    let seen = held.rollouts.get(key)?;
    let mut rollout = Arc::clone(seen.object.as_ref().ok()?);
    let mut resource_version = seen.meta.resource_version.clone();
    if let Some(written) = held.written.rollouts.over(&seen.meta) {
        resource_version.clone_from(&written.resource_version);
        Arc::make_mut(&mut rollout).status = Some(written.status.clone());
    }
    let status = rollout.status.as_ref().map(convert::engine_rollout_status).unwrap_or_default();
    let release = held.releases.get(key);
    let (workload, live) = workload(&held, seen, &rollout, &status);
    let mark = live.as_ref().and_then(|live| annotation(&live.object, IN_PROGRESSING));
    let mut asked = convert::engine_rollout(&rollout, rival(&held, seen, mark));
    if let Some(workload) = &seen.workload {
        asked.workload = format!("{} {}", workload.kind.word(), workload.key.name);
    }
    let world = inner::World {
        rollout: asked,
        status,
        workload,
        release: release.map(|release| read_release(&held, release, &rollout)),
        other_manager: None,
        settings: *settings,
    };
    Some(Observed {
        key: key.clone(),
        uid: Uid(seen.meta.uid.clone()),
        resource_version,
        rollout,
        live,
        release_version: release.map(|it| it.meta.resource_version.clone()).unwrap_or_default(),
        world,
    })
}

/// The Rollout that leads the workload, where that is another.
fn rival(held: &Held, seen: &Resource<Rollout>, mark: Option<&str>) -> Option<String> {
    let leader = leader(held, seen.workload.as_ref()?, mark)?;
    (leader.meta.uid != seen.meta.uid).then(|| leader.meta.key().to_string())
}

/// One that cannot be read is there all the same, and nobody's.
fn read_release(
    held: &Held,
    seen: &Resource<BatchRelease>,
    rollout: &Rollout,
) -> inner::BatchRelease {
    let mut release = seen.object.as_ref().map_or_else(
        |_| {
            let mut nobodys = BatchRelease::new(&seen.meta.name, BatchReleaseSpec::default());
            nobodys.metadata.uid = Some(seen.meta.uid.clone());
            Arc::new(nobodys)
        },
        Arc::clone,
    );
    if let Some(written) = held.written.releases.over(&seen.meta) {
        Arc::make_mut(&mut release).status = Some(written.status.clone());
    }
    convert::written_release(&release, rollout)
}

fn workload(
    held: &Held,
    seen: &Resource<Rollout>,
    rollout: &Rollout,
    status: &inner::Status,
) -> (Option<inner::Workload>, Option<Live>) {
    let named = &rollout.spec.workload_ref;
    let Some(workload) = &seen.workload else {
        let text = format!(
            "{} of {} is not released by this version: Deployments, StatefulSets and DaemonSets of apps, and \
             CloneSets, StatefulSets and DaemonSets of apps.kruise.io are",
            named.kind, named.api_version
        );
        return (Some(nothing(text)), None);
    };
    let Some(sight) = Sight::of(held, workload) else {
        let facts = workload.kind.facts();
        let served = held.workloads.of(workload.kind).served().is_some();
        let text = format!(
            "{} of {} is not served by this cluster: the Rollout goes on when that is installed",
            facts.name, facts.group
        );
        return ((!served && facts.source.definition.is_some()).then(|| nothing(text)), None);
    };
    let eye = workload.kind.adapter().eye;
    let body = eye.body(&sight, unclaimed(&sight.object));
    let counted = eye.read(&sight, remembered(status));
    let Sight { seen: stands, object, .. } = sight;
    let live = Live {
        workload: workload.clone(),
        path: held.path(workload),
        uid: stands.meta.uid.clone(),
        resource_version: stands.meta.resource_version.clone(),
        partition: counted.partition,
        restore: is_held(&body).then(|| original(&body)),
        object,
    };
    (Some(made(held, seen, status, stands, &live, counted)), Some(live))
}

fn made(
    held: &Held,
    seen: &Resource<Rollout>,
    status: &inner::Status,
    stands: &WorkloadSeen,
    live: &Live,
    counted: Counted,
) -> inner::Workload {
    let meta = &stands.meta;
    let Counted { replicas, updated, old, .. } = counted;
    let kind = live.workload.kind;
    let marked = meta.annotations.contains_key(IN_PROGRESSING);
    let is_at = |revision: &str| {
        revision == counted.update || (!revision.is_empty() && revision == counted.hash)
    };
    // Where nothing has moved, only the revision that was to be released tells a change that is taken back
    // from one that is none.
    let released = status.canary.as_ref().map(|canary| canary.canary_revision.as_str());
    let back = old > 0 || released.is_some_and(|revision| !is_at(revision));
    let id = |all: &std::collections::BTreeMap<String, String>| {
        all.get(ROLLOUT_ID).filter(|id| !id.is_empty()).cloned()
    };
    let stands_held = is_still_held(kind, &live.object);
    let recreates = kind.carried(&live.object) == Carried::Recreate && !marked && !stands_held;
    inner::Workload {
        unsupported: claimed(held, seen, meta),
        recreates,
        rolls_back_in_batches: kind.facts().rolls_back_in_batches,
        generation: meta.generation,
        observed_generation: stands.status.observed_generation,
        replicas,
        updated,
        old,
        in_rollback: marked && back && !counted.stable.is_empty() && is_at(&counted.stable),
        stable_revision: counted.stable,
        update_revision: counted.update,
        pod_template_hash: counted.hash,
        marked,
        held: stands_held && !marks::of_another(held, seen, &live.object),
        rollout_id: id(&meta.labels).or_else(|| id(&meta.annotations)),
        labelled: meta.labels.contains_key(WORKLOAD_TYPE),
    }
}

/// One that is there, and of which nothing is known but why.
fn nothing(unsupported: String) -> inner::Workload {
    inner::Workload {
        unsupported: Some(unsupported),
        recreates: false,
        rolls_back_in_batches: false,
        generation: 0,
        observed_generation: 0,
        replicas: 0,
        updated: 0,
        old: 0,
        stable_revision: String::new(),
        update_revision: String::new(),
        pod_template_hash: String::new(),
        in_rollback: false,
        marked: false,
        held: false,
        rollout_id: None,
        labelled: false,
    }
}

/// Whose release it is says nothing about how it is given back.
fn unclaimed(object: &Value) -> Claimed {
    Claimed { control: Control::Free, in_progressing: marked(object) }
}

/// The stable revision of the release that is under way: of some kinds nothing else remembers it.
fn remembered(status: &inner::Status) -> Option<&str> {
    let canary = status.canary.as_ref()?;
    let under_way = status.phase == Some(inner::Phase::Progressing)
        && canary.finalising.is_none()
        && canary.state != inner::StepState::Completed;
    Some(canary.stable_revision.as_str()).filter(|stable| under_way && !stable.is_empty())
}

/// Why this set is no Rollout's: a StatefulsetRollout has claimed it.
fn claimed(held: &Held, seen: &Resource<Rollout>, meta: &Meta) -> Option<String> {
    let owner = meta.annotations.get(OWNER_ANNOTATION)?;
    let mut living = held.named_by::<StatefulsetRollout>(seen.workload.as_ref()?);
    let claimer = living.find(|it| it.meta.uid == *owner)?;
    let (set, name) = (&meta.name, &claimer.meta.name);
    Some(format!(
        "StatefulSet {set} is rolled out by StatefulsetRollout {name}: delete one of the two"
    ))
}
