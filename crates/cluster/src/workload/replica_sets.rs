//! ReplicaSets of a Deployment that is released: which is the new one, how it is made, how all are sized.

use api::batches::names::POD_TEMPLATE_HASH;
use engine::front::batch_release::Rolling;
use engine::mover::replica_sets::{Bounds, ReplicaSet};
use serde_json::{Map, Value, json};

use super::deployment::own_bounds;
use super::number;
use crate::seen::ReplicaSetSeen;
use crate::seen::replica_set::fingerprint;

/// Sixteen of those that Kubernetes writes hashes in.
const LETTERS: &[u8; 16] = b"bcdfghjklmnpqrst";
/// Longest name of anything.
const NAME_LIMIT: usize = 253;
const REVISION: &str = "deployment.kubernetes.io/revision";
/// `spec.replicas` of the Deployment when the ReplicaSet got its size.
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
/// That and the surge.
const MOST: &str = "deployment.kubernetes.io/max-replicas";
/// Annotations of a Deployment that are its own business.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    REVISION,
    "deployment.kubernetes.io/revision-history",
    DESIRED,
    MOST,
];

/// The ReplicaSet of a template, and the others by age. Of several of one template its own controller
/// takes the oldest.
pub(crate) fn sort<'a>(
    sets: &[&'a ReplicaSetSeen],
    template: &str,
) -> (Option<&'a ReplicaSetSeen>, Vec<&'a ReplicaSetSeen>) {
    let mut sets = sets.to_vec();
    sets.sort_by_key(|set| (set.meta.creation_timestamp, set.meta.name.as_str()));
    let new = sets.iter().position(|set| set.template == template).map(|at| sets.remove(at));
    (new, sets)
}

/// What its size is decided by; `replicas` are those of the Deployment.
pub(crate) fn facts(set: &ReplicaSetSeen, replicas: u32) -> ReplicaSet {
    ReplicaSet {
        name: set.meta.name.clone(),
        revision: revision(set),
        size: set.size,
        available: set.available,
        sized_for: noted(set, DESIRED).unwrap_or(replicas),
        seen: set.observed_generation >= set.meta.generation,
    }
}

/// The annotation `deployment.kubernetes.io/revision`, 0 where there is none.
pub(crate) fn revision(set: &ReplicaSetSeen) -> u64 {
    set.meta.annotations.get(REVISION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn noted(set: &ReplicaSetSeen, name: &str) -> Option<u32> {
    set.meta.annotations.get(name)?.parse().ok()
}

/// A value for `pod-template-hash`. Kubernetes' own depends on how Go lays a template out; its controller
/// adopts a ReplicaSet by what is in it and not by its name.
pub(crate) fn hash(template: &str, nth: u32) -> String {
    let digits = api::canonical::fingerprint(&json!([template, nth]));
    let letter = |digit: char| {
        let digit = usize::try_from(digit.to_digit(16).unwrap_or(0)).unwrap_or(0);
        char::from(LETTERS[digit])
    };
    digits.chars().take(10).map(letter).collect()
}

/// The new ReplicaSet, as its own controller would make it but for the hash; the `nth` of its names that
/// may be free.
pub(crate) fn build(live: &Value, sets: &[&ReplicaSetSeen], size: u32, nth: u32) -> Value {
    let (spec, metadata) = (&live["spec"], &live["metadata"]);
    let hash = hash(&fingerprint(&spec["template"]), nth);
    let text = |field: &str| metadata[field].as_str().unwrap_or_default();
    // Names are ASCII.
    let name = &text("name")[..text("name").len().min(NAME_LIMIT - 1 - hash.len())];
    let mut template = spec["template"].clone();
    template["metadata"]["labels"][POD_TEMPLATE_HASH] = json!(hash);
    let mut selector = spec["selector"].clone();
    selector["matchLabels"][POD_TEMPLATE_HASH] = json!(hash);
    let own = metadata["annotations"].as_object().into_iter().flatten();
    let own = own.filter(|(name, _)| !NOT_COPIED.contains(&name.as_str()));
    let mut annotations: Map<String, Value> =
        own.map(|(name, value)| (name.clone(), value.clone())).collect();
    let latest = sets.iter().map(|set| revision(set)).max().unwrap_or(0);
    annotations.insert(REVISION.to_owned(), json!((latest + 1).to_string()));
    annotations.extend(sized(live));
    let mut set = json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{name}-{hash}"),
            "namespace": text("namespace"),
            "labels": template["metadata"]["labels"],
            "annotations": annotations,
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "Deployment", "name": text("name"),
                "uid": text("uid"), "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {"replicas": size, "selector": selector, "template": template},
    });
    if let Some(seconds) = spec["minReadySeconds"].as_u64().filter(|seconds| *seconds > 0) {
        set["spec"]["minReadySeconds"] = json!(seconds);
    }
    set
}

/// How many names there are for the ReplicaSet of one template.
pub(crate) const NAMES: u32 = 5;

/// The patch that gives a ReplicaSet a size, and what it was sized for beside it.
pub(crate) fn size(live: &Value, size: u32) -> Value {
    let annotations: Map<String, Value> = sized(live).into_iter().collect();
    json!({"metadata": {"annotations": annotations}, "spec": {"replicas": size}})
}

/// What a ReplicaSet is sized for, in the words of the Deployment's own controller.
fn sized(live: &Value) -> [(String, Value); 2] {
    let replicas = number(&live["spec"]["replicas"], 1);
    let Rolling { max_surge, max_unavailable } = own_bounds(live);
    let most = replicas.saturating_add(Bounds::of(max_surge, max_unavailable, replicas).surge);
    [(DESIRED.to_owned(), replicas), (MOST.to_owned(), most)]
        .map(|(name, pods)| (name, json!(pods.to_string())))
}
