//! The StatefulSet that a rollout asks for, as the document that is applied to the API server.

use engine::world::Strategy;
use kube::ResourceExt;
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::spec::StatefulsetRollout;
use crate::canonical::fingerprint;

/// Annotation of a StatefulSet with the UID of the resource that rolls it out.
///
/// In place of an owner reference, so that deleting the resource leaves the StatefulSet alone.
pub const OWNER_ANNOTATION: &str = "sluice.dev/owned-by";

/// Why no StatefulSet can be made of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DesiredError {
    #[error(
        "statefulsetrollout {name}: it has no uid yet; only a stored object can own a StatefulSet"
    )]
    NoUid { name: String },
    #[error(
        "statefulsetrollout {name}: spec.statefulset.metadata.namespace is {asked:?}, but must be \
         the resource's own ({namespace:?}) or be left out"
    )]
    OtherNamespace { name: String, namespace: String, asked: String },
    #[error("statefulsetrollout {name}: spec.statefulset.spec is missing")]
    NoSpec { name: String },
}

/// The StatefulSet that is wanted, all but its strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct Desired {
    namespace: String,
    name: String,
    hash: String,
    document: Value,
}

impl Desired {
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Fingerprint of everything that is asked for but the strategy; 16 hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The document without a strategy: what [`matches`](super::matches::matches) is asked with.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// The whole document for a server-side apply.
    ///
    /// It cannot take away a partition that is not ours: over a live set that has one, OnDelete is
    /// invalid until [`update_strategy`] has been patched in.
    pub fn apply(&self, strategy: Strategy) -> Value {
        let mut document = self.document.clone();
        let mut wanted = update_strategy(strategy);
        drop_nulls(&mut wanted);
        document["spec"]["updateStrategy"] = wanted;
        document
    }
}

/// `spec.updateStrategy` for a merge patch.
///
/// The explicit null takes away a partition that somebody else set or the API server defaulted:
/// beside OnDelete it would make the object invalid. In an apply a null takes away nothing.
pub fn update_strategy(strategy: Strategy) -> Value {
    match strategy {
        Strategy::OnDelete => json!({"type": "OnDelete", "rollingUpdate": null}),
        Strategy::RollingUpdate { partition } => {
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}})
        }
    }
}

/// What a stored resource asks for.
///
/// Of the embedded metadata, name, namespace, labels and annotations count; nulls, `status` and
/// `creationTimestamp`, which Go clients write, do not. `replicas` is absent if the resource leaves
/// it out.
pub fn desired(rollout: &StatefulsetRollout) -> Result<Desired, DesiredError> {
    let rollout_name = rollout.name_any();
    let statefulset = &rollout.spec.statefulset;
    let namespace = rollout.namespace().unwrap_or_default();
    if let Some(asked) = statefulset.namespace().filter(|asked| *asked != namespace) {
        let asked = asked.to_owned();
        return Err(DesiredError::OtherNamespace { name: rollout_name, namespace, asked });
    }
    let Some(Value::Object(spec)) = statefulset.0.get("spec") else {
        return Err(DesiredError::NoSpec { name: rollout_name });
    };
    let Some(uid) = rollout.uid() else {
        return Err(DesiredError::NoUid { name: rollout_name });
    };

    let name = statefulset.name().unwrap_or(&rollout_name).to_owned();
    let mut metadata = Map::new();
    metadata.insert("name".into(), json!(name));
    metadata.insert("namespace".into(), json!(namespace));
    let given = |field: &str| {
        let given = statefulset.0.get("metadata").and_then(|metadata| metadata.get(field));
        given.and_then(Value::as_object).cloned().unwrap_or_default()
    };
    let labels = given("labels");
    if !labels.is_empty() {
        metadata.insert("labels".into(), Value::Object(labels));
    }
    let mut annotations = given("annotations");
    annotations.insert(OWNER_ANNOTATION.into(), json!(uid));
    metadata.insert("annotations".into(), Value::Object(annotations));

    let mut spec = spec.clone();
    spec.remove("updateStrategy");
    forget_stamp(spec.get_mut("template"));
    if let Some(claims) = spec.get_mut("volumeClaimTemplates").and_then(Value::as_array_mut) {
        for claim in claims {
            forget_stamp(Some(claim));
            if let Some(claim) = claim.as_object_mut() {
                claim.remove("status");
            }
        }
    }
    let mut document = json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata,
        "spec": spec,
    });
    drop_nulls(&mut document);
    Ok(Desired { namespace, name, hash: fingerprint(&document), document })
}

fn forget_stamp(object: Option<&mut Value>) {
    let metadata = object.and_then(|object| object.get_mut("metadata"));
    if let Some(metadata) = metadata.and_then(Value::as_object_mut) {
        metadata.remove("creationTimestamp");
    }
}

/// A null field means the same as none, but would be owned by us if it were applied.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rollout(statefulset: &Value) -> StatefulsetRollout {
        serde_json::from_value(json!({
            "apiVersion": "bedrock.operator.slack.com/v1",
            "kind": "StatefulsetRollout",
            "metadata": {"name": "tester", "namespace": "default", "uid": "u-1"},
            "spec": {"statefulset": statefulset},
        }))
        .unwrap()
    }

    fn hash(statefulset: &Value) -> String {
        desired(&rollout(statefulset)).unwrap().hash().to_owned()
    }

    #[test]
    fn name_and_namespace_default_to_the_resource() {
        let desired = desired(&rollout(&json!({"spec": {}}))).unwrap();
        assert_eq!(
            desired.document(),
            &json!({
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {
                    "name": "tester",
                    "namespace": "default",
                    "annotations": {"sluice.dev/owned-by": "u-1"},
                },
                "spec": {},
            })
        );
        assert_eq!((desired.namespace(), desired.name()), ("default", "tester"));
    }

    #[test]
    fn what_go_clients_write_beside_is_left_out() {
        let desired = desired(&rollout(&json!({
            "metadata": {"name": "own", "namespace": "default", "creationTimestamp": null,
                "labels": {"app": "a"}, "annotations": {"b": "c"}},
            "spec": {
                "replicas": null,
                "template": {
                    "metadata": {"creationTimestamp": null, "labels": {"app": "a"}},
                    "spec": {"containers": [{"name": "a", "resources": null, "newField": 7}]},
                },
                "volumeClaimTemplates": [
                    {"metadata": {"name": "v", "creationTimestamp": null}, "spec": {}, "status": {}},
                ],
                "updateStrategy": {"type": "RollingUpdate"},
            },
            "status": {"replicas": 0},
        })))
        .unwrap();
        assert_eq!(
            desired.document(),
            &json!({
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {
                    "name": "own", "namespace": "default", "labels": {"app": "a"},
                    "annotations": {"b": "c", "sluice.dev/owned-by": "u-1"},
                },
                "spec": {
                    "template": {
                        "metadata": {"labels": {"app": "a"}},
                        "spec": {"containers": [{"name": "a", "newField": 7}]},
                    },
                    "volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": {}}],
                },
            })
        );
    }

    #[test]
    fn the_strategy_is_the_callers_alone() {
        let desired =
            desired(&rollout(&json!({"spec": {"updateStrategy": {"type": "RollingUpdate"}}})))
                .unwrap();
        assert_eq!(
            desired.apply(Strategy::OnDelete)["spec"]["updateStrategy"],
            json!({"type": "OnDelete"})
        );
        assert_eq!(
            update_strategy(Strategy::OnDelete),
            json!({"type": "OnDelete", "rollingUpdate": null})
        );
        assert_eq!(
            desired.apply(Strategy::RollingUpdate { partition: 3 })["spec"]["updateStrategy"],
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}})
        );
    }

    #[test]
    fn the_hash_speaks_of_everything_but_the_strategy() {
        let plain = json!({"spec": {"replicas": 2}});
        assert_eq!(hash(&plain), hash(&json!({"spec": {"replicas": 2, "updateStrategy": {}}})));
        assert_eq!(hash(&plain), hash(&json!({"spec": {"replicas": 2, "ordinals": null}})));
        assert_ne!(hash(&plain), hash(&json!({"spec": {"replicas": 3}})));
        assert_ne!(
            hash(&plain),
            hash(&json!({"metadata": {"labels": {"a": "b"}}, "spec": {"replicas": 2}}))
        );
    }

    #[test]
    fn another_namespace_or_a_missing_uid_is_refused() {
        let other = rollout(&json!({"metadata": {"namespace": "kube-system"}, "spec": {}}));
        let error = desired(&other).unwrap_err().to_string();
        assert!(error.contains("\"kube-system\"") && error.contains("tester"), "{error}");
        assert!(matches!(desired(&rollout(&json!({}))), Err(DesiredError::NoSpec { .. })));
        let mut unborn = rollout(&json!({"spec": {}}));
        unborn.metadata.uid = None;
        assert!(matches!(desired(&unborn), Err(DesiredError::NoUid { .. })));
    }
}
