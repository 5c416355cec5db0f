//! StatefulSets: by their status, and by ordinals.

use engine::world::Pod;

use super::{Counted, Reading, unclaimed};
use crate::caches::Held;
use crate::key::Key;
use crate::workload::{ABOVE_ALL, statefulset};

/// What a StatefulSet says of itself. `stable` is what the release that is under way began with: under
/// `OnDelete` the status never says so.
pub(super) fn read<'a>(held: &'a Held, key: &Key, stable: Option<&str>) -> Option<Reading<'a>> {
    let seen = held.sets.get(key)?;
    let object = seen.spec.live(&seen.meta);
    let spec = &object["spec"];
    let strategy = &spec["updateStrategy"];
    let number = |value: &serde_json::Value| value.as_u64().and_then(|it| u32::try_from(it).ok());
    let pods = held.pods_of(&seen.meta.uid);
    let update = seen.update_revision.clone();
    let ran = || pods.iter().map(|pod| pod.revision.as_str());
    let stable = if strategy["type"] == "OnDelete" {
        stable.map_or_else(|| statefulset::most(ran(), &update), str::to_owned)
    } else {
        seen.current_revision.clone()
    };
    let stands = number(&strategy["rollingUpdate"]["partition"]).unwrap_or(0);
    let first = number(&spec["ordinals"]["start"]).unwrap_or(0);
    let body = statefulset::body(seen, &object, ran(), unclaimed(&object));
    let counted = Counted {
        generation: seen.meta.generation,
        observed_generation: seen.observed_generation,
        replicas: number(&spec["replicas"]).unwrap_or(1),
        updated: seen.updated_replicas,
        old: seen.pods.saturating_sub(seen.updated_replicas),
        stable,
        hash: update.clone(),
        partition: above_unmoved(&pods, &update, first).max(stands),
        update,
    };
    Some(Reading { meta: &seen.meta, object, body, counted })
}

/// The partition that holds what has not moved, and nothing else; above all before anything has.
fn above_unmoved(pods: &[Pod], update: &str, first: u32) -> u32 {
    if pods.iter().all(|pod| pod.revision != update && pod.deletion.is_none()) {
        return ABOVE_ALL;
    }
    let unmoved = pods.iter().filter(|pod| pod.revision != update && pod.deletion.is_none());
    unmoved.map(|pod| pod.ordinal + 1).max().unwrap_or(first)
}
