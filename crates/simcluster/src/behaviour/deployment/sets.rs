//! The ReplicaSets of a Deployment: which one is the new one, how one is made, what is noted on it.

use super::KIND;
use super::bounds::Bounds;
use super::sizes::Size;
use crate::behaviour::own;
use crate::behaviour::statefulset::revision;
use crate::json::{Value, json};
use crate::object::{self, Object};

/// The label that tells the Pods of one template from those of another.
pub const HASH: &str = "pod-template-hash";
/// Which rollout of its Deployment a ReplicaSet was made by, or brought back by.
pub const REVISION: &str = "deployment.kubernetes.io/revision";
/// The rollouts that it belonged to before.
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The Deployment's `spec.replicas` when the ReplicaSet got its size.
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
/// That and the surge.
const MOST: &str = "deployment.kubernetes.io/max-replicas";
/// How long a history may get.
const HISTORY_LIMIT: usize = 2000;
/// Longest name of anything.
const NAME_LIMIT: usize = 253;
/// Annotations of a Deployment that are its own business.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    REVISION,
    HISTORY,
    DESIRED,
    MOST,
];

/// Sorts from the oldest to the newest.
pub fn sort(sets: &mut [Object]) {
    sets.sort_by(|a, b| age(a).cmp(&age(b)));
}

fn age(set: &Value) -> (&str, &str) {
    let created = set["metadata"]["creationTimestamp"].as_str().unwrap_or_default();
    (created, object::name(set))
}

/// By revision, then age: the order in which a history is cut.
pub fn sort_by_revision(sets: &mut [Object]) {
    sets.sort_by(|a, b| (number(a), age(a)).cmp(&(number(b), age(b))));
}

/// Where among the sets, sorted by age, the one with the Deployment's template is.
pub fn position(deployment: &Value, sets: &[Object]) -> Option<usize> {
    let wanted = &deployment["spec"]["template"];
    sets.iter().position(|set| same_template(wanted, &set["spec"]["template"]))
}

/// Whether two templates are the same but for the hash.
pub fn same_template(a: &Value, b: &Value) -> bool {
    let bare = |template: &Value| {
        let mut template = template.clone();
        if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
            labels.remove(HASH);
        }
        template
    };
    a["spec"] == b["spec"] && bare(a) == bare(b)
}

/// The revision of a set, 0 when it has none.
pub fn number(set: &Value) -> i64 {
    object::annotation(set, REVISION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// What counts of a set for its size.
pub fn size(set: &Value) -> Size {
    let annotated = |key| object::annotation(set, key).and_then(|text| text.parse().ok());
    Size {
        name: object::name(set).to_owned(),
        created: age(set).0.to_owned(),
        replicas: set["spec"]["replicas"].as_i64().unwrap_or(0),
        available: set["status"]["availableReplicas"].as_i64().unwrap_or(0),
        desired: annotated(DESIRED),
        most: annotated(MOST),
    }
}

/// A new set with the Deployment's template, of no size yet.
pub fn build(deployment: &Value) -> Value {
    let collisions = deployment["status"]["collisionCount"].as_i64().unwrap_or(0);
    let spec = &deployment["spec"];
    let hash = revision::hash(&spec["template"], collisions);
    // Names are ASCII: validated as DNS names.
    let name = object::name(deployment);
    let name = &name[..name.len().min(NAME_LIMIT - 1 - hash.len())];
    let mut template = spec["template"].clone();
    template["metadata"]["labels"][HASH] = hash.clone().into();
    let mut selector = spec["selector"].clone();
    selector["matchLabels"][HASH] = hash.clone().into();
    let mut set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{name}-{hash}"), "namespace": object::namespace(deployment),
            "labels": template["metadata"]["labels"],
            "ownerReferences": [own::reference(deployment, KIND)],
        },
        "spec": {"replicas": 0, "selector": selector, "template": template},
    });
    if let Some(seconds) = spec["minReadySeconds"].as_i64().filter(|seconds| *seconds != 0) {
        set["spec"]["minReadySeconds"] = seconds.into();
    }
    set
}

/// Copies the Deployment's annotations to its new set, and gives it this revision unless it has a
/// higher one.
pub fn annotate(deployment: &Value, set: &mut Value, revision: i64) {
    for (key, value) in deployment["metadata"]["annotations"].as_object().into_iter().flatten() {
        if !NOT_COPIED.contains(&key.as_str()) {
            note(set, key, value.clone());
        }
    }
    let before = object::annotation(set, REVISION).map(str::to_owned);
    let before_number = match &before {
        None => 0,
        Some(text) if text.is_empty() => 0,
        Some(text) => match text.parse::<i64>() {
            Ok(number) => number,
            Err(_) => return,
        },
    };
    if before_number >= revision {
        return;
    }
    note(set, REVISION, revision.to_string().into());
    let Some(before) = before else { return };
    let mut history: Vec<String> = object::annotation(set, HISTORY)
        .map(|text| text.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect())
        .unwrap_or_default();
    history.push(before);
    while history.len() > 1 && history.join(",").len() > HISTORY_LIMIT {
        history.remove(0);
    }
    note(set, HISTORY, history.join(",").into());
}

/// Notes what the Deployment wanted when the set got its size.
pub fn note_size(set: &mut Value, bounds: Bounds) {
    note(set, DESIRED, bounds.replicas.to_string().into());
    note(set, MOST, bounds.most().to_string().into());
}

/// Writes an annotation.
pub fn note(object: &mut Value, key: &str, value: Value) {
    if !object["metadata"]["annotations"].is_object() {
        object["metadata"]["annotations"] = json!({});
    }
    object["metadata"]["annotations"][key] = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment() -> Value {
        json!({
            "metadata": {
                "name": "web", "namespace": "ns", "uid": "u",
                "annotations": {"team": "a", REVISION: "7"},
            },
            "spec": {
                "replicas": 3, "minReadySeconds": 5,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}},
            },
        })
    }

    #[test]
    fn a_set_is_told_by_a_hash_in_name_labels_and_selector() {
        let set = build(&deployment());
        let hash = object::label(&set, HASH).unwrap();
        assert_eq!(object::name(&set), format!("web-{hash}"));
        assert_eq!(set["spec"]["selector"]["matchLabels"], json!({"app": "web", HASH: hash}));
        assert_eq!(
            set["spec"]["template"]["metadata"]["labels"],
            json!({"app": "web", HASH: hash})
        );
        assert_eq!(set["spec"]["minReadySeconds"], 5);
        assert_eq!(position(&deployment(), &[Object::new(set)]), Some(0));
    }

    #[test]
    fn a_collision_gives_another_hash() {
        let mut again = deployment();
        again["status"]["collisionCount"] = 1.into();
        assert_ne!(object::name(&build(&again)), object::name(&build(&deployment())));
    }

    #[test]
    fn annotations_are_copied_but_for_the_deployments_own() {
        let mut set = build(&deployment());
        annotate(&deployment(), &mut set, 1);
        assert_eq!(set["metadata"]["annotations"], json!({"team": "a", REVISION: "1"}));
    }

    #[test]
    fn a_set_that_comes_back_keeps_its_earlier_revisions() {
        let mut set = build(&deployment());
        for revision in [1, 3, 3, 2, 6] {
            annotate(&deployment(), &mut set, revision);
        }
        assert_eq!(object::annotation(&set, REVISION), Some("6"));
        assert_eq!(object::annotation(&set, HISTORY), Some("1,3"));
    }
}
