//! What is read of kinds that have a Pod for each Node and are told by their ControllerRevisions, since their
//! status does not say what they ran before; that of a native DaemonSet not even what its template is called.

use api::batches::names::{CONTROL_INFO, DAEMONSET_REVISION, IN_PROGRESSING};
use engine::front::batch_release::{Body, Machinery};
use engine::quantity::IntOrPercent;
use engine::world::Strategy;
use serde_json::Value;

use super::{Claimed, Counted, Sight, annotated, annotation, engine};
use crate::seen::RevisionSeen;
use crate::seen::replica_set::fingerprint;

/// What a decision about its release looks at.
pub(super) fn body(
    sight: &Sight<'_>,
    strategy: Strategy,
    max_unavailable: Option<IntOrPercent>,
    machinery: Machinery,
    claimed: Claimed,
    spoilt: Option<String>,
) -> Body {
    let update = update(sight);
    let hash = update.as_deref().unwrap_or_default();
    let named = sight.revisions.iter().filter(|it| !hash.is_empty() && it.hash() == hash);
    let replicas = sight.seen.status.desired_number_scheduled;
    let mut workload = engine(sight, replicas, strategy, hash);
    if update.is_none() {
        // Its status speaks of a revision that the watch has not brought yet.
        workload.observed_generation = -1;
    }
    Body {
        workload,
        also_called: named.map(|revision| revision.meta.name.clone()).collect(),
        stable_revision: stable(sight, hash),
        control: claimed.control,
        in_progressing: claimed.in_progressing,
        max_unavailable,
        stopped: false,
        spoilt,
        machinery,
    }
}

/// What a Rollout reads of it.
pub(super) fn read(sight: &Sight<'_>, before: Option<&str>, partition: u32) -> Counted {
    let status = &sight.seen.status;
    // Empty until the watch has brought it: nothing is decided until then.
    let update = update(sight).unwrap_or_default();
    let stable = before.map(str::to_owned).or_else(|| noted(&sight.object)).or_else(|| {
        let mut revisions = sight.revisions.clone();
        revisions.sort_by_key(|it| (it.revision, &it.meta.name));
        revisions.iter().find(|it| runs(sight, it)).map(|it| it.hash().to_owned())
    });
    Counted {
        replicas: status.desired_number_scheduled,
        updated: status.updated_number_scheduled,
        old: status.current_number_scheduled.saturating_sub(status.updated_number_scheduled),
        stable: stable.unwrap_or_else(|| update.clone()),
        hash: update.clone(),
        update,
        partition,
    }
}

/// The revision of the template, as the Pods are labelled with it: as the status says, else told by what is
/// in it and not by its number alone, since a workload and its revisions come by different watches.
pub(super) fn update(sight: &Sight<'_>) -> Option<String> {
    let said = &sight.seen.status.daemon_set_hash;
    if !said.is_empty() {
        return Some(said.clone());
    }
    let template = fingerprint(&sight.spec()["template"]);
    let of_it = sight.revisions.iter().filter(|revision| revision.template == template);
    let newest = of_it.max_by_key(|revision| (revision.revision, &revision.meta.name));
    newest.map(|revision| revision.hash().to_owned())
}

/// What it ran before: as a mark says, else the newest other revision that has Pods.
fn stable(sight: &Sight<'_>, update: &str) -> Option<String> {
    let marked = annotation(&sight.object, DAEMONSET_REVISION);
    let marked: Option<Value> = marked.and_then(|marked| serde_json::from_str(marked).ok());
    if let Some(marked) = marked.as_ref().and_then(|marked| marked["stable-revision"].as_str()) {
        let named = sight.revisions.iter().find(|revision| revision.meta.name == marked);
        return Some(named.map_or(marked, |revision| revision.hash()).to_owned());
    }
    let others = sight.revisions.iter().filter(|it| it.hash() != update && runs(sight, it));
    others.max_by_key(|revision| revision.revision).map(|revision| revision.hash().to_owned())
}

/// What another manager has written down; of a release before this one it says nothing.
fn noted(object: &Value) -> Option<String> {
    if !annotated(object, &[IN_PROGRESSING, CONTROL_INFO]) {
        return None;
    }
    let noted: Value = serde_json::from_str(annotation(object, DAEMONSET_REVISION)?).ok()?;
    noted["stable-revision"].as_str().filter(|it| !it.is_empty()).map(str::to_owned)
}

fn runs(sight: &Sight<'_>, revision: &RevisionSeen) -> bool {
    sight.ran().any(|it| it == revision.hash())
}
