//! Workloads in release, one file per kind: its adapter, which says what is read of one and what is written
//! on it, as plain functions from JSON to JSON merge patches (RFC 7386).
//!
//! An adapter is an [`Eye`] and a [`Hand`], each with the same functions in every file. What several kinds
//! have in common is shared: [`partition`] writes on all that are held by a partition, [`status`] reads those
//! whose status names their revisions, and [`revisions`] those that are told by their ControllerRevisions.
//! Nobody else matches on a kind: the webhook applies the patches to the object on its way in, the controller
//! to the live one.
//!
//! Who writes is told by what is written, so that nobody has to know anybody's name: a workload is given
//! back by the write that takes away its control-info or its mark, and a partition is lowered by a write
//! that changes [`HELD_PARTITION`](api::batches::names::HELD_PARTITION) with it.

mod advanced_daemonset;
mod advanced_statefulset;
mod around;
mod cloneset;
mod daemonset;
mod deployment;
mod draft;
mod partition;
pub(crate) mod replica_sets;
mod revisions;
mod sight;
mod statefulset;
mod status;
mod units;

pub(crate) use around::leader;
pub use around::{Surroundings, claims, surroundings};
use draft::Draft;
pub(crate) use sight::Sight;
pub(crate) use statefulset::rolled_out;

use std::collections::BTreeSet;

use api::batches::names::{CONTROL_INFO, IN_PROGRESSING};
use engine::admit::workload::Strategy as Carried;
use engine::front::batch_release::{Body, Control, Held, Original};
use engine::quantity::IntOrPercent;
use engine::world::{Claim, PodManagement, Strategy, Uid, Workload};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::kind::Kind;
use crate::seen::ReplicaSetSeen;

/// A partition above every ordinal that a set can be scaled to.
pub const ABOVE_ALL: u32 = 32767;

/// What a change is held with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold<'a> {
    /// Name of the Rollout that releases it.
    pub rollout: &'a str,
    /// Deployments: pod-template-hash of the ReplicaSet to go back to; `None` where it is not known, and
    /// where there is a label for it already.
    pub stable_revision: Option<&'a str>,
    /// Kinds that have one: the partition. [`ABOVE_ALL`] before anything has moved.
    pub partition: u32,
}

impl<'a> Hold<'a> {
    /// Before anything has moved.
    pub fn before(rollout: &'a str) -> Self {
        Self { rollout, stable_revision: None, partition: ABOVE_ALL }
    }
}

/// What is put back of a workload that is held, when somebody else has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeepHeld {
    /// The template has changed again: whatever was opened is closed.
    pub restart: bool,
    /// The in-progressing mark has to stay.
    pub mark: bool,
    /// Control-info, and what stands beside it, has to stay.
    pub control: bool,
}

/// What a BatchRelease writes on the workload that it takes over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Take<'a> {
    /// The value of control-info.
    pub(crate) control: &'a str,
    /// The user's own, to be kept beside it.
    pub(crate) keep: Option<Original>,
    /// What holds the Pods.
    pub(crate) held: Held,
    /// What the workload ran before, where that is known.
    pub(crate) stable: Option<&'a str>,
    /// The revision of its template.
    pub(crate) update: &'a str,
}

/// Whose a workload is, and whether a Rollout goes on with it.
#[derive(Clone, Debug)]
pub(crate) struct Claimed {
    pub(crate) control: Control,
    pub(crate) in_progressing: bool,
}

/// What a Rollout reads of its workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Pods that it ought to have.
    pub(crate) replicas: u32,
    /// Pods of the template.
    pub(crate) updated: u32,
    /// Pods that have yet to move.
    pub(crate) old: u32,
    /// What it ran before the release.
    pub(crate) stable: String,
    /// The revision of its template.
    pub(crate) update: String,
    /// What the Pods of the template are labelled with.
    pub(crate) hash: String,
    /// The partition above what has not moved; 0 where there is none.
    pub(crate) partition: u32,
}

/// What the webhook has to know of what the workload owns: Deployments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    /// Whether a ReplicaSet of it has Pods.
    pub(crate) running: Option<bool>,
    /// pod-template-hash of the ReplicaSet to go back to.
    pub(crate) stable: Option<String>,
}

/// What a release leaves on a workload besides the marks that all kinds have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Annotations.
    pub annotations: &'static [&'static str],
    /// Labels.
    pub labels: &'static [&'static str],
}

/// What is read of a kind.
pub(crate) trait Eye: Sync {
    /// What a decision about its release looks at.
    fn body(&self, sight: &Sight<'_>, claimed: Claimed) -> Body;

    /// What a Rollout reads of it. `stable` is what the release that is under way began with.
    fn read(&self, sight: &Sight<'_>, stable: Option<&str>) -> Counted;

    /// Pods that are asked for, by an object on its way in.
    fn replicas(&self, _old: &Value, new: &Value) -> u32 {
        number(&new["spec"]["replicas"], 1)
    }

    /// How its own controller carries a change out.
    fn carried(&self, object: &Value) -> Carried {
        match object["spec"]["updateStrategy"]["type"].as_str() {
            Some("OnDelete") => Carried::OnDelete,
            _ => Carried::Rolling,
        }
    }

    /// What it owns before it becomes `new`.
    fn before(&self, _sets: &[&ReplicaSetSeen], _new: &Value) -> Before {
        Before::default()
    }
}

/// What is written on a kind.
pub(crate) trait Hand: Sync {
    /// The patch that holds a change: the mark is set, and nothing moves.
    fn hold(&self, object: &Value, hold: &Hold<'_>) -> Value;

    /// The patch that takes back what lets go of a workload that is held: `new` as somebody would have it
    /// instead of `old`. A strategy that is asked for is kept, for when the workload is given back.
    fn keep_held(&self, old: &Value, new: &Value, keep: KeepHeld) -> Value;

    /// The patch that takes it over: a BatchRelease's name on it, and its Pods held.
    fn take(&self, live: &Value, take: &Take<'_>) -> Value;

    /// The patch that gives it back; without `restore` it stays as it is held, and nobody's.
    fn release(&self, live: &Value, restore: Option<Original>) -> Value;

    /// The patch that changes the strategy alone; `None` where that moves nothing. `percent` is the
    /// partition where it is to stay a part of however many Pods there will be.
    fn set_strategy(
        &self,
        _live: &Value,
        _strategy: Strategy,
        _percent: Option<u32>,
    ) -> Option<Value> {
        None
    }

    /// Whether anything holds it still, or stands beside what holds it, control-info apart.
    fn holds(&self, object: &Value) -> bool;

    /// The annotation that the user's own strategy was put aside in, where it cannot be read any more.
    fn spoilt(&self, object: &Value) -> Option<String>;

    /// The spec that lets its Pods go, for whom nobody gives it back: as a merge patch, without what only the
    /// object itself knows.
    fn let_go(&self) -> Value;

    /// What else it leaves there.
    fn beside(&self) -> Beside;

    /// What lets go of one that is held, as CEL on `object` and `oldObject`.
    fn lets_go(&self) -> String {
        let strategy = |object: &str| {
            format!("(has({object}.spec.updateStrategy) ? {object}.spec.updateStrategy : {{}})")
        };
        format!("{} != {}", strategy("object"), strategy("oldObject"))
    }
}

/// How a kind is read, and how it is written on.
#[derive(Clone, Copy)]
pub(crate) struct Adapter {
    pub(crate) eye: &'static dyn Eye,
    pub(crate) hand: &'static dyn Hand,
}

impl Kind {
    pub(crate) fn adapter(self) -> Adapter {
        match self {
            Self::Deployment => deployment::ADAPTER,
            Self::StatefulSet => statefulset::ADAPTER,
            Self::DaemonSet => daemonset::ADAPTER,
            Self::CloneSet => cloneset::ADAPTER,
            Self::AdvancedStatefulSet => advanced_statefulset::ADAPTER,
            Self::AdvancedDaemonSet => advanced_daemonset::ADAPTER,
        }
    }

    /// The patch that holds a change of one.
    pub fn hold(self, object: &Value, by: &Hold<'_>) -> Value {
        self.adapter().hand.hold(object, by)
    }

    /// The patch that takes back what lets go of one that is held: `new` as somebody would have it instead
    /// of `old`.
    pub fn keep_held(self, old: &Value, new: &Value, keep: KeepHeld) -> Value {
        self.adapter().hand.keep_held(old, new, keep)
    }

    /// Pods that are asked for, by an object on its way in.
    pub fn replicas(self, old: &Value, new: &Value) -> u32 {
        self.adapter().eye.replicas(old, new)
    }

    /// How its own controller carries a change out.
    pub fn carried(self, object: &Value) -> Carried {
        self.adapter().eye.carried(object)
    }

    /// What a release leaves on one besides the marks that all kinds have.
    pub fn beside(self) -> Beside {
        self.adapter().hand.beside()
    }

    /// The spec that lets the Pods of one go that nobody gives back, as a merge patch.
    pub fn let_go(self) -> Value {
        self.adapter().hand.let_go()
    }

    /// What lets go of one that is held, as CEL on `object` and `oldObject`.
    pub fn lets_go(self) -> String {
        self.adapter().hand.lets_go()
    }
}

/// The engine's notion of a workload, as far as all kinds have the same.
fn engine(sight: &Sight<'_>, replicas: u32, strategy: Strategy, update: &str) -> Workload {
    let meta = &sight.seen.meta;
    let min_ready = number(&sight.spec()["minReadySeconds"], 0);
    Workload {
        uid: Uid(meta.uid.clone()),
        generation: meta.generation,
        observed_generation: sight.seen.status.observed_generation,
        replicas,
        first_ordinal: 0,
        reserved: BTreeSet::new(),
        management: PodManagement::Parallel,
        strategy,
        min_ready: SignedDuration::from_secs(min_ready.into()),
        update_revision: update.to_owned(),
        current_revision: String::new(),
        matches: true,
        template_matches: true,
        claim: Claim::Free,
        terminating: meta.deletion_timestamp.is_some(),
    }
}

/// Whether a change is held, or was.
pub(crate) fn marked(object: &Value) -> bool {
    annotation(object, IN_PROGRESSING).is_some()
}

/// Whether anything holds the workload still, or stands beside what holds it.
pub(crate) fn held(kind: Kind, object: &Value) -> bool {
    annotation(object, CONTROL_INFO).is_some() || kind.adapter().hand.holds(object)
}

fn annotated(object: &Value, names: &[&str]) -> bool {
    names.iter().any(|name| annotation(object, name).is_some())
}

/// A count or a percentage, where there is one that can be read.
fn count(value: &Value) -> Option<IntOrPercent> {
    api::batches::count(value).ok()
}

/// A number of Pods, of seconds or of a generation; `absent` where there is none.
fn number(value: &Value, absent: u32) -> u32 {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(absent)
}

/// The value of the in-progressing mark.
pub fn mark(rollout: &str) -> String {
    json!({"rolloutName": rollout}).to_string()
}

/// An annotation of a raw object.
pub fn annotation<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get("metadata")?.get("annotations")?.get(name)?.as_str()
}

/// A label of a raw object.
pub fn label<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get("metadata")?.get("labels")?.get(name)?.as_str()
}

/// Whether the template differs in anything but the label `pod-template-hash`, which is its ReplicaSet's.
pub fn template_differs(old: &Value, new: &Value) -> bool {
    let template = |object: &Value| {
        let mut template = object["spec"]["template"].clone();
        if let Some(labels) =
            template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut)
        {
            labels.remove(api::batches::names::POD_TEMPLATE_HASH);
        }
        template
    };
    template(old) != template(new)
}

#[cfg(test)]
mod tests;
