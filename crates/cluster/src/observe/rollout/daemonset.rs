//! DaemonSets: by their ControllerRevisions, since their status names none.

use api::batches::names::{CONTROL_INFO, DAEMONSET_REVISION, IN_PROGRESSING};
use serde_json::Value;

use super::{Counted, Reading, unclaimed};
use crate::caches::Held;
use crate::key::Key;
use crate::seen::{DaemonSetSeen, PodSeen, RevisionSeen};
use crate::workload::daemonset;

/// What a DaemonSet says of itself. `stable` is what the release that is under way began with.
pub(super) fn read<'a>(held: &'a Held, key: &Key, stable: Option<&str>) -> Option<Reading<'a>> {
    let seen = held.daemon_sets.get(key)?;
    let object = seen.spec.live(&seen.meta);
    let mut revisions: Vec<&RevisionSeen> = held.revisions.owned_by(&seen.meta.uid).collect();
    revisions.sort_by_key(|it| (it.revision, &it.meta.name));
    let pods: Vec<&PodSeen> = held.pods.owned_by(&seen.meta.uid).collect();
    let newest = daemonset::newest(&object["spec"], &revisions);
    // Empty until the watch has brought it: nothing is decided until then.
    let update = newest.map(|it| it.hash().to_owned()).unwrap_or_default();
    let stable = stable.map(str::to_owned).or_else(|| noted(seen)).or_else(|| {
        let runs = |it: &&&RevisionSeen| pods.iter().any(|seen| seen.pod.revision == it.hash());
        revisions.iter().find(runs).map(|it| it.hash().to_owned())
    });
    let status = &seen.status;
    let counted = Counted {
        generation: seen.meta.generation,
        observed_generation: status.observed_generation,
        replicas: status.desired_number_scheduled,
        updated: status.updated_number_scheduled,
        old: status.current_number_scheduled.saturating_sub(status.updated_number_scheduled),
        stable: stable.unwrap_or_else(|| update.clone()),
        hash: update.clone(),
        update,
        partition: 0,
    };
    let body = daemonset::body(seen, &object, &revisions, &pods, unclaimed(&object));
    Some(Reading { meta: &seen.meta, object, body, counted })
}

/// What another manager has written down; of a release before this one it says nothing.
fn noted(seen: &DaemonSetSeen) -> Option<String> {
    let annotations = &seen.meta.annotations;
    let in_release = [IN_PROGRESSING, CONTROL_INFO].iter().any(|it| annotations.contains_key(*it));
    let noted = annotations.get(DAEMONSET_REVISION).filter(|_| in_release)?;
    let noted: Value = serde_json::from_str(noted).ok()?;
    noted["stable-revision"].as_str().filter(|it| !it.is_empty()).map(str::to_owned)
}
