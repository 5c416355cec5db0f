//! Workloads, of whichever kind: the change of one that a Rollout names is held before it is written, and
//! stays held.

use api::batches::names::{CONTROL_INFO, IN_PROGRESSING, ROLLOUT_ID};
use cluster::kind::Owns;
use cluster::workload::{Hold, KeepHeld, annotation, surroundings, template_differs};
use cluster::{Key, Kind, Workload};
use engine::admit::workload::{Marks, Update, Verdict, judge as decide};
use serde_json::Value;

use super::Admission;
use super::answer::{Judgement, is_subresource};

/// Judges the update of one.
pub(super) fn judge(admission: &Admission, request: &Value) -> Judgement {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = Kind::of(&text(&request["kind"]["group"]), &text(&request["kind"]["kind"]));
    let (old, new) = (&request["oldObject"], &request["object"]);
    let update = request["operation"] == "UPDATE" && old.is_object() && new.is_object();
    let Some(kind) = kind.filter(|_| update && !is_subresource(request)) else {
        return Judgement::default();
    };
    if admission.stands_aside() {
        // Its own webhook holds what it releases.
        return Judgement::default();
    }
    let key = Key::new(text(&request["namespace"]), text(&request["name"]));
    let workload = Workload::new(kind, key);
    let around = surroundings(&admission.attention.caches, &workload, old, new);
    let asked = asked(&workload, old, new, around.running);
    let sized = kind.facts().owns == Owns::ReplicaSets;
    let served = !sized || admission.gates.advanced_deployment;
    if !served && !marks(old).in_progressing && !marks(old).control {
        // Switched off, nobody would let it go again. One that is in release already is kept.
        return Judgement::default();
    }
    match decide(&asked, &around.around) {
        Verdict::Pass => Judgement::default(),
        Verdict::Hold { rollout } => {
            let stable_revision = around.stable_revision.as_deref();
            let by = Hold { stable_revision, ..Hold::before(&rollout) };
            changed(kind.hold(new, &by), "held")
        }
        Verdict::KeepHeld { restart, mark, control } => {
            let keep = KeepHeld { restart, mark, control };
            let change = kind.keep_held(old, new, keep);
            // Whoever lifts a pause or lowers a partition is told so, and would wait for Pods in vain.
            let taken_back = !restart && change["spec"].is_object();
            let warnings = taken_back.then(|| stays_held(&workload, old)).into_iter().collect();
            Judgement { warnings, ..changed(change, "kept-held") }
        }
        Verdict::Deny { later: true, message } => Judgement::unavailable(message),
        Verdict::Deny { later: false, message } => Judgement::invalid(message),
    }
}

fn changed(change: Value, word: &'static str) -> Judgement {
    let nothing = change.as_object().is_none_or(serde_json::Map::is_empty);
    let word = (!nothing).then_some(word);
    Judgement { change: Some(change), word, ..Judgement::default() }
}

fn stays_held(workload: &Workload, object: &Value) -> String {
    let mark = annotation(object, IN_PROGRESSING).unwrap_or_default();
    let mark: Value = serde_json::from_str(mark).unwrap_or_default();
    match mark["rolloutName"].as_str() {
        Some(rollout) => format!(
            "{workload} is released in batches and stays held; it goes on by an approval of Rollout \
             {rollout}, and is let go when that is disabled or deleted"
        ),
        None => format!("{workload} is released in batches by a BatchRelease and stays held"),
    }
}

fn asked(workload: &Workload, old: &Value, new: &Value, running: Option<bool>) -> Update {
    let id = |object| annotation(object, ROLLOUT_ID).unwrap_or_default();
    Update {
        name: workload.to_string(),
        replicas: workload.kind.replicas(old, new),
        deleting: new["metadata"]["deletionTimestamp"].is_string(),
        template: template_differs(old, new),
        id: !id(new).is_empty() && id(new) != id(old),
        before: marks(old),
        after: marks(new),
        strategy: workload.kind.carried(new),
        running,
    }
}

fn marks(object: &Value) -> Marks {
    let has = |name| annotation(object, name).is_some();
    Marks { in_progressing: has(IN_PROGRESSING), control: has(CONTROL_INFO) }
}
