//! Revisions of a workload: ControllerRevisions, and the ReplicaSets of a Deployment.

use api::batches::names::{CONTROLLER_REVISION_HASH, POD_TEMPLATE_HASH};
use api::bedrock::pod_version;
use cluster::Kind;
use cluster::kind::Owns;
use jiff::Timestamp;
use serde_json::Value;

/// Annotation of a ReplicaSet: the number of its revision.
const REVISION: &str = "deployment.kubernetes.io/revision";

/// A revision of a workload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Revision {
    /// Name of the ControllerRevision or ReplicaSet.
    pub(crate) name: String,
    /// What its Pods carry in their label: where the status names revisions the name, else a hash.
    pub(crate) hash: String,
    /// Its number; the highest is the newest.
    pub(crate) number: i64,
    /// Image of the first container.
    pub(crate) image: String,
    /// Version label, else image tag.
    pub(crate) version: String,
    /// When it was made.
    pub(crate) created: Option<Timestamp>,
    /// The Pod template, as it would stand in the workload.
    pub(crate) template: Value,
}

impl Revision {
    /// Reads what keeps the revisions of this kind.
    pub(super) fn read(kind: Kind, object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &object["metadata"];
        let name = text(&metadata["name"]);
        let (mut template, number, hash) = match kind.facts().owns {
            Owns::ReplicaSets => (
                object["spec"]["template"].clone(),
                metadata["annotations"][REVISION].as_str().and_then(|number| number.parse().ok()),
                text(&metadata["labels"][POD_TEMPLATE_HASH]),
            ),
            Owns::Pods => (
                object["data"]["spec"]["template"].clone(),
                object["revision"].as_i64(),
                name.clone(),
            ),
            Owns::Revisions => (
                object["data"]["spec"]["template"].clone(),
                object["revision"].as_i64(),
                text(&metadata["labels"][CONTROLLER_REVISION_HASH]),
            ),
        };
        clean(&mut template);
        let of = pod_version(&template);
        Self {
            name,
            hash,
            number: number.unwrap_or(0),
            image: of.image,
            version: of.version,
            created: metadata["creationTimestamp"].as_str().and_then(|at| at.parse().ok()),
            template,
        }
    }

    /// Whether a word of a status means this one: its name, its hash, or the end of its name.
    pub(crate) fn is_called(&self, word: &str) -> bool {
        !word.is_empty()
            && (self.hash == word
                || self.name == word
                || self.name.strip_suffix(word).is_some_and(|rest| rest.ends_with('-')))
    }
}

/// Takes away what is no part of a workload's template.
pub(super) fn clean(template: &mut Value) {
    if let Some(map) = template.as_object_mut() {
        // A mark for the controller's own patch, and no field of a template.
        map.remove("$patch");
    }
    if let Some(metadata) = template["metadata"].as_object_mut() {
        metadata.retain(|key, value| key != "creationTimestamp" || !value.is_null());
        if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
            // The Deployment's own controller puts it on its ReplicaSets.
            labels.remove(POD_TEMPLATE_HASH);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_revision_is_known_by_name_hash_and_the_end_of_its_name() {
        let revision = Revision::read(
            Kind::DaemonSet,
            &json!({"metadata": {"name": "agent-5c8f", "labels": {"controller-revision-hash": "5c8f"}},
                "revision": 2, "data": {"spec": {"template": {"$patch": "replace", "metadata":
                {"creationTimestamp": null}, "spec": {"containers": [{"image": "agent:v2"}]}}}}}),
        );
        for (word, expect) in [("agent-5c8f", true), ("5c8f", true), ("8f", false), ("", false)] {
            assert_eq!(revision.is_called(word), expect, "{word}");
        }
        assert_eq!((revision.number, revision.version.as_str()), (2, "v2"));
        assert_eq!(
            revision.template,
            json!({"metadata": {}, "spec": {"containers": [{"image": "agent:v2"}]}})
        );
    }

    #[test]
    fn a_revision_of_a_deployment_is_its_replica_set_without_the_hash() {
        let revision = Revision::read(
            Kind::Deployment,
            &json!({"metadata": {"name": "web-77f", "labels": {"pod-template-hash": "77f"},
                "annotations": {"deployment.kubernetes.io/revision": "3"}},
                "spec": {"template": {"metadata": {"labels": {"app": "web", "pod-template-hash": "77f"}}}}}),
        );
        assert_eq!((revision.number, revision.hash.as_str()), (3, "77f"));
        assert_eq!(revision.template, json!({"metadata": {"labels": {"app": "web"}}}));
    }
}
