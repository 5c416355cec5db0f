//! Native DaemonSets: held by OnDelete.

use api::batches::names::{
    CONTROL_INFO, DAEMONSET_ADVANCED_CONTROL, DAEMONSET_ORIGINAL_STRATEGY, DAEMONSET_REVISION,
    IN_PROGRESSING,
};
use engine::front::batch_release::{Body, Held, Machinery, Original};
use engine::nature::Nature;
use engine::world::{Claim, PodManagement, Strategy, Uid, Workload};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Claimed, Draft, Hold, KeepHeld, Take, annotation, count, mark, number};
use crate::seen::replica_set::fingerprint;
use crate::seen::{DaemonSetSeen, PodSeen, RevisionSeen};

/// The patch that holds a change. `rollingUpdate` stays beside OnDelete, which has no use for it: the user's
/// `maxUnavailable` is read there.
pub fn hold(object: &Value, hold: &Hold<'_>) -> Value {
    let mut draft = Draft::default();
    draft.annotate(IN_PROGRESSING, mark(hold.rollout));
    if annotation(object, DAEMONSET_ORIGINAL_STRATEGY).is_none() {
        draft.annotate(DAEMONSET_ORIGINAL_STRATEGY, kind(object));
    }
    draft.set(&["spec", "updateStrategy", "type"], json!("OnDelete"));
    draft.patch()
}

/// The patch that takes back what lets go of a DaemonSet that is held: `new` as somebody would have it instead
/// of `old`. A strategy that is asked for is kept, for when the DaemonSet is given back.
pub fn keep_held(old: &Value, new: &Value, keep: KeepHeld) -> Value {
    let mut draft = Draft::default();
    draft.restore_marks(old, new, keep);
    if keep.mark || keep.control {
        draft.restore_annotations(old, new, &[DAEMONSET_ORIGINAL_STRATEGY, DAEMONSET_REVISION]);
    }
    if keep.control {
        draft.restore_annotations(old, new, &[DAEMONSET_ADVANCED_CONTROL]);
    }
    let held = kind(old) == "OnDelete" && annotation(old, DAEMONSET_ORIGINAL_STRATEGY).is_some();
    if (held || keep.restart) && kind(new) != "OnDelete" {
        draft.set(&["spec", "updateStrategy", "type"], json!("OnDelete"));
        // Also where it was `OnDelete` before: somebody asks for something else now.
        draft.annotate(DAEMONSET_ORIGINAL_STRATEGY, kind(new));
    }
    draft.patch()
}

/// What a decision about its release looks at; `revisions` are those that it controls.
pub(crate) fn body(
    seen: &DaemonSetSeen,
    live: &Value,
    revisions: &[&RevisionSeen],
    pods: &[&PodSeen],
    claimed: Claimed,
) -> Body {
    let spec = &live["spec"];
    let update = newest(spec, revisions);
    let hash = update.map_or("", |revision| revision.hash());
    // Its status speaks of a revision that the watch has not brought yet.
    let observed = if update.is_some() { seen.status.observed_generation } else { -1 };
    let strategy = match kind(live) {
        "OnDelete" => Strategy::OnDelete,
        _ => Strategy::RollingUpdate { partition: 0 },
    };
    let workload = Workload {
        uid: Uid(seen.meta.uid.clone()),
        generation: seen.meta.generation,
        observed_generation: observed,
        replicas: seen.status.desired_number_scheduled,
        first_ordinal: 0,
        reserved: std::collections::BTreeSet::new(),
        management: PodManagement::Parallel,
        strategy,
        min_ready: SignedDuration::from_secs(number(&spec["minReadySeconds"], 0).into()),
        update_revision: hash.to_owned(),
        current_revision: String::new(),
        matches: true,
        template_matches: true,
        claim: Claim::Free,
        terminating: seen.meta.deletion_timestamp.is_some(),
    };
    let saved = annotation(live, DAEMONSET_ORIGINAL_STRATEGY).map(|saved| match saved {
        "OnDelete" => Strategy::OnDelete,
        _ => Strategy::RollingUpdate { partition: 0 },
    });
    Body {
        workload,
        also_called: update.map(|revision| revision.meta.name.clone()).into_iter().collect(),
        stable_revision: stable(live, revisions, pods, hash),
        control: claimed.control,
        in_progressing: claimed.in_progressing,
        max_unavailable: count(&spec["updateStrategy"]["rollingUpdate"]["maxUnavailable"]),
        machinery: Machinery::Pods { nature: Nature::DAEMON_SET, saved },
    }
}

/// The revision of the template. Told by what is in it and not by its number alone: a DaemonSet and its
/// revisions come by different watches.
pub(crate) fn newest<'a>(spec: &Value, revisions: &[&'a RevisionSeen]) -> Option<&'a RevisionSeen> {
    let template = fingerprint(&spec["template"]);
    let of_it = revisions.iter().filter(|revision| revision.template == template);
    of_it.copied().max_by_key(|revision| (revision.revision, &revision.meta.name))
}

/// What it ran before: as a mark says, else the newest other revision that has Pods.
fn stable(
    live: &Value,
    revisions: &[&RevisionSeen],
    pods: &[&PodSeen],
    update: &str,
) -> Option<String> {
    let marked = annotation(live, DAEMONSET_REVISION);
    let marked: Option<Value> = marked.and_then(|marked| serde_json::from_str(marked).ok());
    if let Some(marked) = marked.as_ref().and_then(|marked| marked["stable-revision"].as_str()) {
        let named = revisions.iter().find(|revision| revision.meta.name == marked);
        return Some(named.map_or(marked, |revision| revision.hash()).to_owned());
    }
    let runs = |revision: &&&RevisionSeen| {
        let hash = revision.hash();
        hash != update && pods.iter().any(|pod| pod.pod.revision == hash)
    };
    let others = revisions.iter().filter(runs);
    others.max_by_key(|revision| revision.revision).map(|revision| revision.hash().to_owned())
}

/// The patch that takes it over.
pub(crate) fn take(live: &Value, take: &Take<'_>) -> Value {
    let mut draft = Draft::default();
    draft.annotate(CONTROL_INFO, take.control);
    if let Some(Original::Strategy(own)) = take.keep {
        let own = if own == Strategy::OnDelete { "OnDelete" } else { "RollingUpdate" };
        draft.annotate(DAEMONSET_ORIGINAL_STRATEGY, own);
    }
    if let (Some(stable), None) = (take.stable, annotation(live, DAEMONSET_REVISION)) {
        let revisions = json!({"canary-revision": take.update, "stable-revision": stable});
        draft.annotate(DAEMONSET_REVISION, revisions.to_string());
    }
    if take.held == Held::Strategy(Strategy::OnDelete) {
        draft.set(&["spec", "updateStrategy", "type"], json!("OnDelete"));
    }
    draft.patch()
}

/// The patch that gives it back; without `restore` it stays as it is held, and nobody's.
pub(crate) fn release(live: &Value, restore: Option<Original>) -> Value {
    let mut draft = Draft::default();
    draft.annotate(CONTROL_INFO, Value::Null);
    let Some(Original::Strategy(own)) = restore else { return draft.patch() };
    let marks = [DAEMONSET_ORIGINAL_STRATEGY, DAEMONSET_ADVANCED_CONTROL, DAEMONSET_REVISION];
    draft.forget_annotations(live, &marks);
    let own = if own == Strategy::OnDelete { "OnDelete" } else { "RollingUpdate" };
    draft.set(&["spec", "updateStrategy", "type"], json!(own));
    draft.patch()
}

fn kind(object: &Value) -> &str {
    object["spec"]["updateStrategy"]["type"].as_str().unwrap_or("RollingUpdate")
}
