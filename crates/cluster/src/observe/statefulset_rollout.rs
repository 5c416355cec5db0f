//! Puts a world together from the caches: nothing is fetched, nothing is decided.

use std::sync::Arc;

use api::batches;
use api::batches::names::{CONTROL_INFO, IN_PROGRESSING};
use api::bedrock::{self, Desired, OWNER_ANNOTATION, StatefulsetRollout};
use engine::world::{ApplyRefused, Claim, Discovery, Outcome, Pod, Rollout, Settings, Uid, World};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use tracing::warn;

use crate::caches::{Caches, Held};
use crate::key::Key;
use crate::kind::Kind;
use crate::seen::{Resource, WorkloadSeen};
use crate::subject::Workload;
use crate::workload::{Sight, rolled_out};

/// A rollout with everything that a decision looks at, and what it takes to carry one out.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The rollout.
    pub key: Key,
    /// Its UID.
    pub uid: Uid,
    /// The version that the status is written under: the last that the watch showed, or that of our
    /// own last write if that is newer.
    pub resource_version: String,
    /// The rollout, with the status that goes with `resource_version`.
    pub rollout: Arc<StatefulsetRollout>,
    /// What it asks for, or why that cannot be said.
    pub desired: Result<Desired, String>,
    /// resourceVersion of the StatefulSet; empty when there is none.
    pub workload_version: String,
    /// What a decision looks at.
    pub world: World,
}

/// Looks at a rollout. `None` when there is none, when it cannot be read, when it is being deleted
/// (which changes nothing about its StatefulSet), and as long as the caches are not ready.
///
/// `outcome` is what this process knows of its own actions; what the caches have shown since is
/// taken out of it, so that the one in the world is the one to be kept.
pub fn observe(
    caches: &Caches,
    key: &Key,
    settings: &Settings,
    outcome: Outcome,
) -> Option<Observed> {
    let held = caches.lock();
    if !held.waiting_for().is_empty() {
        return None;
    }
    let seen = held.statefulset_rollouts.get(key)?;
    let mut rollout = Arc::clone(seen.object.as_ref().ok()?);
    if seen.meta.deletion_timestamp.is_some() {
        return None;
    }
    let mut resource_version = seen.meta.resource_version.clone();
    if let Some(written) = held.written.statefulset_rollouts.over(&seen.meta) {
        resource_version.clone_from(&written.resource_version);
        Arc::make_mut(&mut rollout).status = Some(written.status.clone());
    }
    let scene = scene(&held, seen, &rollout)?;
    let set = scene.set.as_ref();
    let workload_version = set.map(|set| set.seen.meta.resource_version.clone());
    let desired = scene.desired.clone();
    let world = scene.world(rival(&held, seen), settings, outcome);
    Some(Observed {
        key: key.clone(),
        uid: Uid(seen.meta.uid.clone()),
        resource_version,
        desired,
        workload_version: workload_version.unwrap_or_default(),
        world,
        rollout,
    })
}

/// A rollout as it would be written, with what the caches hold around it: for admission.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What a verdict looks at. Its rival is any other living rollout that names the same set,
    /// older or not: who asks to be let in comes last.
    pub world: World,
    /// The StatefulSet as it stands.
    pub live: Option<Value>,
    /// The document to be applied, or why there can be none.
    pub desired: Result<Desired, String>,
}

/// Looks at `object`, a whole rollout that is not in the caches, or not like this.
///
/// # Errors
/// Why it cannot be read, or that the caches are not ready.
pub fn candidate(
    caches: &Caches,
    object: &Value,
    settings: &Settings,
) -> Result<Candidate, String> {
    let seen =
        Resource::<StatefulsetRollout>::deserialize(object).map_err(|error| error.to_string())?;
    let rollout = seen.object.clone()?;
    let held = caches.lock();
    let waiting = held.waiting_for();
    if !waiting.is_empty() {
        return Err(format!("not yet listed: {}", waiting.join(", ")));
    }
    let scene = scene(&held, &seen, &rollout).ok_or("it cannot be rolled out")?;
    let live = scene.set.as_ref().map(|set| set.object.clone());
    let desired = scene.desired.clone();
    let rival = others(&held, &seen).min_by_key(|other| age(other)).map(title);
    Ok(Candidate { live, desired, world: scene.world(rival, settings, Outcome::default()) })
}

/// A rollout and what stands around it.
struct Scene<'a> {
    held: &'a Held,
    seen: &'a Resource<StatefulsetRollout>,
    rollout: &'a StatefulsetRollout,
    asked: Rollout,
    desired: Result<Desired, String>,
    set: Option<Sight<'a>>,
}

fn scene<'a>(
    held: &'a Held,
    seen: &'a Resource<StatefulsetRollout>,
    rollout: &'a StatefulsetRollout,
) -> Option<Scene<'a>> {
    let (asked, desired) = asked(&seen.meta.key(), rollout)?;
    let set = Sight::of(held, seen.workload.as_ref()?);
    Some(Scene { held, seen, rollout, asked, desired, set })
}

impl Scene<'_> {
    fn world(self, rival: Option<String>, settings: &Settings, mut outcome: Outcome) -> World {
        let Self { held, seen, rollout, asked, desired, set } = self;
        let pods = set.iter().flat_map(|set| &set.pods).map(|seen| seen.pod.clone());
        let pods: Vec<Pod> = pods.collect();
        outcome
            .accepted
            .retain(|uid| pods.iter().any(|pod| pod.uid == *uid && pod.deletion.is_none()));
        if let Err(message) = &desired {
            // The webhook refuses such a rollout; one that came in without it says so here.
            outcome.apply_refused = Some(ApplyRefused {
                hash: asked.desired_hash.clone(),
                invalid: true,
                message: message.clone(),
            });
        }
        let set = set.as_ref();
        let labels =
            set.map_or_else(|| seen.template_labels(), |set| set.seen.spec.template_labels());
        let budgets = held.budgets.in_namespace(&seen.meta.namespace);
        let budgets = budgets.filter(|budget| budget.selects(labels));
        World {
            status: rollout.status.as_ref().map(bedrock::engine_status).unwrap_or_default(),
            workload: set.map(|set| {
                // What cannot be asked for is nowhere as asked for.
                let drift = match &desired {
                    Ok(all) => bedrock::drift(&set.object, all.document()),
                    Err(_) => vec!["spec.template".to_owned()],
                };
                rolled_out(set, &drift, claim(held, seen, set.seen))
            }),
            rival,
            namesake: namesake(held, seen),
            budgets: budgets.map(|seen| seen.budget.clone()).collect(),
            // Nothing is asked yet: a reading is not there, and the status says so.
            discovery: if asked.services.is_empty() {
                Discovery::NotAsked
            } else {
                Discovery::NotConfigured
            },
            outcome,
            settings: *settings,
            rollout: asked,
            pods,
        }
    }
}

/// What is asked for, and the document to be applied for it or why there can be none.
fn asked(key: &Key, rollout: &StatefulsetRollout) -> Option<(Rollout, Result<Desired, String>)> {
    let error = match bedrock::engine_rollout(rollout) {
        Ok((asked, desired)) => return Some((asked, Ok(desired))),
        Err(error) => error,
    };
    // A set in another namespace: nothing is done about it, but the status has to say why.
    let mut without = rollout.clone();
    let metadata = without.spec.statefulset.0.get_mut("metadata");
    if let Some(metadata) = metadata.and_then(|metadata| metadata.as_object_mut()) {
        metadata.remove("namespace");
    }
    match bedrock::engine_rollout(&without) {
        Ok((mut asked, _)) => {
            // Not the hash of what would be applied, or the refusal would outlive its correction.
            asked.desired_hash = format!("not-applied-{}", asked.desired_hash);
            Some((asked, Err(error.to_string())))
        }
        Err(_) => {
            warn!(rollout = %key, %error, "cannot roll this out");
            None
        }
    }
}

/// Whose the set is by its annotation; that of a rollout that is no more counts for nothing.
fn claim(held: &Held, seen: &Resource<StatefulsetRollout>, set: &WorkloadSeen) -> Claim {
    let owner = set.meta.annotations.get(OWNER_ANNOTATION).map(String::as_str).unwrap_or_default();
    if owner.is_empty() {
        // What holds it in mid-release takes back whatever would be written.
        let holder = held_by(held, seen, set);
        return holder.map_or(Claim::Free, |owner| Claim::Other { owner });
    }
    if owner == seen.meta.uid {
        return Claim::Ours;
    }
    // A rollout rolls out sets of its own namespace only. One of our own name is the one before us,
    // whose end the watch has not told yet: a server keeps no two of one name.
    let living = held.statefulset_rollouts.in_namespace(&seen.meta.namespace);
    let mut others = living.into_iter().filter(|other| other.meta.name != seen.meta.name);
    match others.find(|other| other.meta.uid == owner) {
        // One that has turned to another set has given this one up.
        Some(other) if other.workload == seen.workload => Claim::Other { owner: title(other) },
        _ => Claim::Free,
    }
}

/// The Advanced StatefulSet of the same name, whose Pods are called as those of the set would be.
fn namesake(held: &Held, seen: &Resource<StatefulsetRollout>) -> Option<String> {
    let key = seen.workload.as_ref()?.key.clone();
    let other = Workload::new(Kind::AdvancedStatefulSet, key);
    held.workload(&other).map(|_| format!("{} {}", other.kind.word(), other.key.name))
}

/// Who releases the set in batches at this moment: the BatchRelease, or the Rollout that has yet to make
/// one. Between two releases it is free to be taken over.
fn held_by(held: &Held, seen: &Resource<StatefulsetRollout>, set: &WorkloadSeen) -> Option<String> {
    let bears = |mark: &str| set.meta.annotations.contains_key(mark);
    let workload = seen.workload.as_ref()?;
    let mut rollouts = held.named_by::<batches::Rollout>(workload);
    let rollout = rollouts.next().filter(|_| bears(IN_PROGRESSING) || bears(CONTROL_INFO));
    if let Some(rollout) = rollout {
        return Some(format!("Rollout/{}", rollout.meta.name));
    }
    let release =
        held.named_by::<batches::BatchRelease>(workload).next().filter(|_| bears(CONTROL_INFO))?;
    Some(format!("BatchRelease/{}", release.meta.name))
}

/// The oldest other living rollout that names the same set, if it came before this one.
fn rival(held: &Held, seen: &Resource<StatefulsetRollout>) -> Option<String> {
    let older = others(held, seen).filter(|other| age(other) < age(seen));
    older.min_by_key(|other| age(other)).map(title)
}

/// The other living rollouts that name the same set.
fn others<'a>(
    held: &'a Held,
    seen: &Resource<StatefulsetRollout>,
) -> impl Iterator<Item = &'a Resource<StatefulsetRollout>> {
    let (key, uid) = (seen.meta.key(), seen.meta.uid.clone());
    let named =
        seen.workload.iter().flat_map(|workload| held.named_by::<StatefulsetRollout>(workload));
    named.filter(move |other| {
        let same = other.meta.uid == uid || other.meta.key() == key;
        !same && other.meta.deletion_timestamp.is_none()
    })
}

fn age(rollout: &Resource<StatefulsetRollout>) -> (Option<Timestamp>, String, String) {
    (rollout.meta.creation_timestamp, rollout.meta.name.clone(), rollout.meta.uid.clone())
}

fn title(rollout: &Resource<StatefulsetRollout>) -> String {
    format!("StatefulsetRollout/{}", rollout.meta.name)
}
