//! What there is to say of any rollout in one row, whichever resource it is.

use api::bedrock::StatefulsetRollout;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::paint::{Tone, phase};
use super::view::Summary;

/// A rollout in a list, a log or at the end of a wait. As a document it is its whole summary.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Row {
    #[serde(skip)]
    pub(crate) brief: Brief,
    #[serde(flatten)]
    whole: Value,
}

impl Row {
    /// What is shown, and what stands for it in a document.
    pub(super) fn new(brief: Brief, whole: &impl Serialize) -> Self {
        Self { brief, whole: serde_json::to_value(whole).unwrap_or_default() }
    }

    /// Of a StatefulsetRollout.
    pub(crate) fn of(rollout: &StatefulsetRollout) -> Self {
        let all = Summary::of(rollout);
        let own = rollout.spec.statefulset.name().unwrap_or(&all.name);
        let reason = match &all.blocked {
            Some(blocked) if all.reason.is_empty() => &blocked.message,
            _ => &all.reason,
        };
        let brief = Brief {
            kind: "statefulsetrollout",
            namespace: all.namespace.clone(),
            name: all.name.clone(),
            workload: format!("statefulset/{own}"),
            mark: phase(&all.phase),
            phase: all.phase.clone(),
            progress: format!("{}%", all.percent),
            updated: format!("{}/{}/{}", all.updated_replicas, all.target_replicas, all.replicas),
            ready: all.ready_replicas.to_string(),
            counts: super::tree::counts(&all),
            version: all.version.clone(),
            reason: reason.clone(),
            blocked: all.blocked.as_ref().map(|blocked| blocked.message.clone()),
            unseen: (!all.current).then(|| generations(all.generation, all.observed_generation)),
            id: all.rollout_identity.clone(),
            leaked: all.leaked_replicas.to_string(),
            generation: all.generation,
            observed_generation: all.observed_generation,
            created: all.created,
        };
        Self::new(brief, &all)
    }
}

/// A generation that a status does not speak of.
pub(super) fn generations(generation: i64, observed: i64) -> String {
    format!("generation {generation} (its status speaks of {observed})")
}

/// The row itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Brief {
    /// As kubectl writes it before a name.
    pub(crate) kind: &'static str,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// `deployment/web`.
    pub(crate) workload: String,
    pub(crate) phase: String,
    pub(crate) mark: (&'static str, Tone),
    /// `50%`, or `step 2/3`.
    pub(crate) progress: String,
    /// Pods that are updated, ought to be by now, and there are in all.
    pub(crate) updated: String,
    pub(crate) ready: String,
    /// All counts in words.
    pub(crate) counts: String,
    pub(crate) version: String,
    /// A sentence.
    pub(crate) reason: String,
    /// Why it cannot go on by itself.
    pub(crate) blocked: Option<String>,
    /// What the operator has not looked at yet; `None` where the status speaks of what is asked for now.
    pub(crate) unseen: Option<String>,
    /// Identity of the rollout or id of the release.
    pub(crate) id: String,
    pub(crate) leaked: String,
    pub(crate) generation: i64,
    pub(crate) observed_generation: i64,
    pub(crate) created: Option<Timestamp>,
}

impl Brief {
    /// `rollout shop/web`.
    pub(crate) fn title(&self) -> String {
        format!("{} {}/{}", self.kind, self.namespace, self.name)
    }
}
