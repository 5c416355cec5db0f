//! Deployments: by their ReplicaSets.

use api::batches::names::STABLE_REVISION;

use super::{Counted, Reading, unclaimed};
use crate::caches::Held;
use crate::key::Key;
use crate::seen::replica_set::fingerprint;
use crate::seen::{PodSeen, ReplicaSetSeen};
use crate::workload::deployment;

/// Counts by Kubernetes' own controller.
const REVISION: &str = "deployment.kubernetes.io/revision";

/// What a Deployment says of itself.
///
/// The update revision is our own hash of the template, which is there as soon as the template is; the
/// stable one is the label `pod-template-hash` of its Pods.
pub(super) fn read<'a>(held: &'a Held, key: &Key) -> Option<Reading<'a>> {
    let seen = held.deployments.get(key)?;
    let object = seen.spec.live(&seen.meta);
    let spec = &object["spec"];
    let update = fingerprint(&spec["template"]);
    let sets: Vec<&ReplicaSetSeen> = held.replica_sets.owned_by(&seen.meta.uid).collect();
    let new = sets.iter().find(|set| set.template == update);
    let hash = new.map(|set| set.hash().to_owned()).unwrap_or_default();
    let others = || sets.iter().copied().filter(|set| set.template != update);
    let labelled = seen.meta.labels.get(STABLE_REVISION).filter(|hash| !hash.is_empty());
    let stable = labelled.cloned().or_else(|| {
        let running = others().filter(|set| set.size > 0 || set.pods > 0);
        running.min_by_key(|set| (number(set), &set.meta.name)).map(|set| set.hash().to_owned())
    });
    let replicas = spec["replicas"].as_u64().and_then(|it| u32::try_from(it).ok()).unwrap_or(1);
    let pods: Vec<&PodSeen> =
        sets.iter().flat_map(|set| held.pods.owned_by(&set.meta.uid)).collect();
    let body = deployment::body(seen, &object, &sets, &pods, unclaimed(&object));
    let counted = Counted {
        generation: seen.meta.generation,
        observed_generation: seen.status.observed_generation,
        replicas,
        updated: new.map_or(0, |set| set.pods),
        // One that is to have Pods is no less in the way than one that has.
        old: others().map(|set| set.size.max(set.pods)).sum(),
        stable: stable.unwrap_or_else(|| hash.clone()),
        update,
        hash,
        partition: 0,
    };
    Some(Reading { meta: &seen.meta, object, body, counted })
}

fn number(set: &ReplicaSetSeen) -> u64 {
    let number = set.meta.annotations.get(REVISION).and_then(|text| text.parse().ok());
    number.unwrap_or(u64::MAX)
}
