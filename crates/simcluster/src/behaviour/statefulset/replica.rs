//! The Pods and claims that a StatefulSet makes: identity, storage, and which revision they get.

use super::revision;
use super::want::Want;
use crate::behaviour::pod;
use crate::json::{Value, json};
use crate::object;

/// The label that says which revision a Pod was made from: the revision's whole name.
pub const REVISION_LABEL: &str = "controller-revision-hash";

/// The ordinal of a Pod of a set, `None` when the name is not `SET-NUMBER`.
pub fn ordinal(set_name: &str, pod_name: &str) -> Option<i64> {
    let digits = pod_name.strip_prefix(set_name)?.strip_prefix('-')?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// What decides which revision a recreated Pod gets.
#[derive(Clone, Copy, Debug)]
pub struct Hold {
    /// `spec.updateStrategy.type` is RollingUpdate.
    pub rolling: bool,
    /// `spec.updateStrategy.rollingUpdate.partition`; `None` when there is no `rollingUpdate`.
    pub partition: Option<i64>,
    /// `status.currentReplicas`, as stored.
    pub current_replicas: i64,
}

impl Hold {
    /// Of a set that wants this.
    pub fn of(set: &Value, want: &Want) -> Self {
        let partitioned =
            !want.on_delete && set["spec"]["updateStrategy"]["rollingUpdate"].is_object();
        Self {
            rolling: !want.on_delete,
            partition: partitioned.then_some(want.partition),
            current_replicas: set["status"]["currentReplicas"].as_i64().unwrap_or(0),
        }
    }

    /// Whether a Pod made now, with so many ordinals of the set below it, comes from the current
    /// revision; else from the update revision. Under OnDelete nothing is held: every ordinal
    /// leaks to the update revision.
    pub fn keeps_current(self, below: i64) -> bool {
        match self.partition {
            Some(partition) => below < partition,
            None => self.rolling && below < self.current_replicas,
        }
    }
}

/// A Pod of a set at an ordinal, made from a revision.
pub fn pod(set: &Value, from: &Value, ordinal: i64) -> Value {
    let set_name = object::name(set);
    let name = format!("{set_name}-{ordinal}");
    let template = revision::template(from);
    let mut pod = pod::of_template(template, set, &revision::owner(set));
    pod["metadata"]["name"] = name.clone().into();
    let labels = &mut pod["metadata"]["labels"];
    labels["statefulset.kubernetes.io/pod-name"] = name.clone().into();
    labels["apps.kubernetes.io/pod-index"] = ordinal.to_string().into();
    labels[REVISION_LABEL] = object::name(from).into();
    let spec = &mut pod["spec"];
    spec["hostname"] = name.clone().into();
    if let Some(subdomain) = set["spec"]["serviceName"].as_str().filter(|name| !name.is_empty()) {
        spec["subdomain"] = subdomain.into();
    }
    if let Some(volumes) = volumes(set, &name, &spec["volumes"]) {
        spec["volumes"] = volumes;
    }
    pod
}

/// The claims of the set's templates first; they hide volumes of the same name.
fn volumes(set: &Value, pod: &str, own: &Value) -> Option<Value> {
    let templates = set["spec"]["volumeClaimTemplates"].as_array()?;
    let mut volumes: Vec<Value> = templates
        .iter()
        .map(|template| {
            let claim = claim_name(template, pod);
            json!({"name": object::name(template), "persistentVolumeClaim": {"claimName": claim}})
        })
        .collect();
    let hidden = |volume: &Value| templates.iter().any(|t| t["metadata"]["name"] == volume["name"]);
    volumes.extend(own.as_array().into_iter().flatten().filter(|v| !hidden(v)).cloned());
    Some(volumes.into())
}

fn claim_name(template: &Value, pod: &str) -> String {
    format!("{}-{pod}", object::name(template))
}

/// The claims that a Pod of the set needs. They carry the selector's labels and no owner, so they
/// outlive the Pod and the set; unless the set asks for their deletion with it.
pub fn claims(set: &Value, pod: &str) -> Vec<Value> {
    let templates = set["spec"]["volumeClaimTemplates"].as_array();
    let claim = |template: &Value| {
        let mut labels = template["metadata"]["labels"].as_object().cloned().unwrap_or_default();
        let selector = set["spec"]["selector"]["matchLabels"].as_object();
        labels.extend(selector.cloned().unwrap_or_default());
        let mut metadata = json!({
            "name": claim_name(template, pod), "namespace": object::namespace(set),
            "labels": labels,
        });
        if let Some(annotations) = template["metadata"].get("annotations") {
            metadata["annotations"] = annotations.clone();
        }
        if retention(set, "whenDeleted") == "Delete" {
            metadata["ownerReferences"] = json!([revision::owner(set)]);
        }
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata,
            "spec": template["spec"],
        })
    };
    templates.into_iter().flatten().map(claim).collect()
}

/// A field of `spec.persistentVolumeClaimRetentionPolicy`: `Retain` or `Delete`.
pub fn retention<'a>(set: &'a Value, when: &str) -> &'a str {
    set["spec"]["persistentVolumeClaimRetentionPolicy"][when].as_str().unwrap_or("Retain")
}

/// A claim owned by the Pod that is scaled away, so that it goes with it.
pub fn owned_by_pod(claim: &Value, pod: &Value) -> Value {
    let mut owned = claim.clone();
    let owner = json!({
        "apiVersion": "v1", "kind": "Pod", "name": object::name(pod), "uid": object::uid(pod),
    });
    // In place of the set, which would keep it.
    owned["metadata"]["ownerReferences"] = json!([owner]);
    owned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_are_read_from_names() {
        let check =
            |pod: &str, expect: Option<i64>| assert_eq!(ordinal("web", pod), expect, "{pod}");
        check("web-0", Some(0));
        check("web-12", Some(12));
        check("web", None);
        check("web-", None);
        check("web-a", None);
        check("web-db-1", None);
        check("other-1", None);
    }

    #[test]
    fn the_partition_alone_decides_the_revision_of_a_recreated_pod() {
        let hold = Hold { rolling: true, partition: Some(2), current_replicas: 0 };
        assert!(hold.keeps_current(1));
        assert!(!hold.keeps_current(2));
    }

    #[test]
    fn under_on_delete_every_recreated_pod_gets_the_update_revision() {
        let hold = Hold { rolling: false, partition: None, current_replicas: 9 };
        assert!((0..9).all(|ordinal| !hold.keeps_current(ordinal)));
    }

    #[test]
    fn without_rolling_update_parameters_the_stored_current_replicas_decide() {
        let hold = Hold { rolling: true, partition: None, current_replicas: 2 };
        assert!(hold.keeps_current(1));
        assert!(!hold.keeps_current(2));
    }

    #[test]
    fn claim_volumes_hide_template_volumes_of_the_same_name() {
        let set = json!({
            "metadata": {"name": "web", "namespace": "ns", "uid": "u"},
            "spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "volumeClaimTemplates": [{
                    "metadata": {"name": "data", "labels": {"tier": "db"}},
                    "spec": {"accessModes": ["ReadWriteOnce"]},
                }],
            },
        });
        let revision = json!({
            "metadata": {"name": "web-1"},
            "data": {"spec": {"template": {"metadata": {}, "spec": {"volumes": [
                {"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}},
            ]}}}},
        });
        assert_eq!(
            pod(&set, &revision, 3)["spec"]["volumes"],
            json!([
                {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-3"}},
                {"name": "tmp", "emptyDir": {}},
            ])
        );
        let claims = claims(&set, "web-3");
        assert_eq!(claims[0]["metadata"]["name"], "data-web-3");
        assert_eq!(claims[0]["metadata"]["labels"], json!({"tier": "db", "app": "web"}));
        assert!(claims[0]["metadata"].get("ownerReferences").is_none());
    }
}
