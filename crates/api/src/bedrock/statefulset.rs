//! The embedded StatefulSet: raw JSON from end to end, under a structural schema written by hand.
//!
//! Raw, because a typed Pod template would drop every field newer than our types. The schema knows
//! each field of an `apps/v1` StatefulSet and what Go clients write beside it (`status`, null
//! `creationTimestamp`); unknown fields live on in the Pod template's `spec` alone.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// An `apps/v1` StatefulSet as it was written, never interpreted on its way through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawStatefulSet(pub Value);

impl RawStatefulSet {
    /// `metadata.name`, if it is given and not empty.
    pub fn name(&self) -> Option<&str> {
        self.text("/metadata/name")
    }

    /// `metadata.namespace`, if it is given and not empty.
    pub fn namespace(&self) -> Option<&str> {
        self.text("/metadata/namespace")
    }

    /// `spec.replicas`; absent means that Sluice never writes it.
    pub fn replicas(&self) -> Option<i64> {
        self.0.pointer("/spec/replicas").and_then(Value::as_i64)
    }

    /// `spec.template`.
    pub fn template(&self) -> Option<&Value> {
        self.0.pointer("/spec/template")
    }

    fn text(&self, pointer: &str) -> Option<&str> {
        self.0.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty())
    }
}

pub(super) fn statefulset_schema(_: &mut SchemaGenerator) -> Schema {
    let value = object(
        "The StatefulSet that is wanted.",
        &["spec"],
        [
            (
                "apiVersion",
                json!({"type": "string", "enum": ["apps/v1"], "description": "apps/v1."}),
            ),
            (
                "kind",
                json!({"type": "string", "enum": ["StatefulSet"], "description": "StatefulSet."}),
            ),
            ("metadata", metadata("Name and namespace default to the resource's own.")),
            ("spec", spec()),
            ("status", status()),
        ],
    );
    Schema::try_from(value).unwrap_or_else(|_| json_schema!({ "type": "object" }))
}

fn spec() -> Value {
    let mut spec = object(
        "Spec of the StatefulSet.",
        &["selector", "template"],
        [
            ("replicas", replicas()),
            ("selector", label_selector("Selects the Pods; must match the template's labels.")),
            ("serviceName", text("Headless Service that names the Pods.", 253)),
            (
                "podManagementPolicy",
                choice(
                    "OrderedReady goes Pod by Pod; Parallel all at once.",
                    &["OrderedReady", "Parallel"],
                ),
            ),
            ("updateStrategy", update_strategy()),
            ("revisionHistoryLimit", count("Old revisions that are kept.")),
            ("minReadySeconds", count("Seconds that a Pod must be ready to be available.")),
            (
                "ordinals",
                object("Numbering of the Pods.", &[], [("start", count("First ordinal."))]),
            ),
            (
                "persistentVolumeClaimRetentionPolicy",
                object(
                    "What becomes of the claims.",
                    &[],
                    [
                        ("whenDeleted", choice("When the set is deleted.", &["Retain", "Delete"])),
                        (
                            "whenScaled",
                            choice("When the set is scaled down.", &["Retain", "Delete"]),
                        ),
                    ],
                ),
            ),
            (
                "volumeClaimTemplates",
                json!({
                    "type": "array", "maxItems": 64,
                    "description": "Claims that each Pod gets.",
                    "items": claim(),
                }),
            ),
            ("template", template()),
        ],
    );
    spec["x-kubernetes-validations"] = json!([
        {
            "rule": "!has(self.selector.matchLabels) || (has(self.template.metadata) && has(self.template.metadata.labels) && self.selector.matchLabels.all(k, k in self.template.metadata.labels && self.template.metadata.labels[k] == self.selector.matchLabels[k]))",
            "message": "selector.matchLabels must match template.metadata.labels: each label of the selector has to stand in the template with the same value",
        },
        {
            "rule": "(has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0) || (has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0)",
            "message": "selector must name at least one label: an empty selector would match every Pod",
        },
    ]);
    spec
}

fn template() -> Value {
    object(
        "The Pods that are created.",
        &[],
        [
            ("metadata", metadata("Labels and annotations of the Pods.")),
            (
                "spec",
                json!({
                    "type": "object",
                    "description": "Spec of the Pods; fields that this schema does not know are kept.",
                    "x-kubernetes-preserve-unknown-fields": true,
                    "properties": {
                        "containers": containers("The containers, as a list, at least one."),
                        "initContainers": containers("Containers that run before the others, as a list."),
                    },
                }),
            ),
        ],
    )
}

fn containers(description: &str) -> Value {
    let mut list = json!({
        "type": "array",
        "description": description,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {
            "type": "object",
            "description": "A container; fields that this schema does not know are kept.",
            "required": ["name"],
            "x-kubernetes-preserve-unknown-fields": true,
            "properties": {
                "name": {"type": "string", "minLength": 1, "description": "Name of the container."},
                "image": {"type": "string", "description": "Image to run."},
            },
        },
    });
    if description.contains("at least one") {
        list["minItems"] = json!(1);
    }
    list
}

fn update_strategy() -> Value {
    let mut strategy = object(
        "Kept for the record: Sluice decides the strategy.",
        &[],
        [
            ("type", choice("OnDelete or RollingUpdate.", &["OnDelete", "RollingUpdate"])),
            (
                "rollingUpdate",
                object(
                    "Only with RollingUpdate.",
                    &[],
                    [
                        ("partition", count("Ordinals below it are held back.")),
                        (
                            "maxUnavailable",
                            json!({
                                "x-kubernetes-int-or-string": true,
                                "description": "Pods that may be unavailable, as a number or percent.",
                            }),
                        ),
                    ],
                ),
            ),
        ],
    );
    strategy["x-kubernetes-validations"] = json!([{
        "rule": "!has(self.rollingUpdate) || !has(self.type) || self.type == 'RollingUpdate'",
        "message": "updateStrategy.rollingUpdate goes with type RollingUpdate only",
    }]);
    strategy
}

fn claim() -> Value {
    let reference = |description: &str, namespaced: bool| {
        let mut fields = vec![
            ("apiGroup", text("API group of the source.", 253)),
            ("kind", text("Kind of the source.", 253)),
            ("name", text("Name of the source.", 253)),
        ];
        if namespaced {
            fields.push(("namespace", text("Namespace of the source.", 253)));
        }
        object(description, &["kind", "name"], fields)
    };
    let quantities = |description: &str| {
        json!({
            "type": "object", "description": description,
            "additionalProperties": {"x-kubernetes-int-or-string": true},
        })
    };
    object(
        "A claim.",
        &[],
        [
            ("apiVersion", text("v1.", 64)),
            ("kind", text("PersistentVolumeClaim.", 64)),
            ("metadata", metadata("Name, labels and annotations of the claim.")),
            (
                "spec",
                object(
                    "Spec of the claim.",
                    &[],
                    [
                        (
                            "accessModes",
                            json!({
                                "type": "array", "description": "Ways to mount the volume.",
                                "items": {"type": "string"},
                            }),
                        ),
                        ("selector", label_selector("Selects volumes.")),
                        (
                            "resources",
                            object(
                                "Size of the volume.",
                                &[],
                                [
                                    ("limits", quantities("Most that is given.")),
                                    ("requests", quantities("Least that is asked for.")),
                                ],
                            ),
                        ),
                        ("volumeName", text("A volume by name.", 253)),
                        ("storageClassName", text("Class of the storage.", 253)),
                        ("volumeMode", choice("Filesystem or Block.", &["Filesystem", "Block"])),
                        ("dataSource", reference("Source of the data.", false)),
                        ("dataSourceRef", reference("Source of the data, in any namespace.", true)),
                        (
                            "volumeAttributesClassName",
                            text("Class of the volume's attributes.", 253),
                        ),
                    ],
                ),
            ),
            (
                "status",
                json!({
                    "type": "object", "nullable": true,
                    "description": "Written empty by Go clients; ignored.",
                }),
            ),
        ],
    )
}

fn metadata(description: &str) -> Value {
    let labels = |description: &str, longest: Option<u32>| {
        let mut value = json!({"type": "string"});
        if let Some(longest) = longest {
            value["maxLength"] = json!(longest);
        }
        json!({"type": "object", "description": description, "additionalProperties": value})
    };
    object(
        description,
        &[],
        [
            ("name", text("Name.", 253)),
            ("namespace", text("Namespace.", 63)),
            ("labels", labels("Labels.", Some(63))),
            ("annotations", labels("Annotations.", None)),
            (
                "creationTimestamp",
                json!({
                    "type": "string", "format": "date-time", "nullable": true,
                    "description": "Written as null by Go clients; ignored.",
                }),
            ),
        ],
    )
}

fn status() -> Value {
    object(
        "Written empty by Go clients; ignored.",
        &[],
        [("replicas", count("Ignored.")), ("availableReplicas", count("Ignored."))],
    )
}

fn label_selector(description: &str) -> Value {
    object(
        description,
        &[],
        [
            (
                "matchLabels",
                json!({
                    "type": "object", "maxProperties": 64,
                    "description": "Labels with their values.",
                    "additionalProperties": {"type": "string", "maxLength": 63},
                }),
            ),
            (
                "matchExpressions",
                json!({
                    "type": "array", "maxItems": 64,
                    "description": "Requirements, all of which must hold.",
                    "items": object("A requirement.", &["key", "operator"], [
                        ("key", text("Label.", 317)),
                        ("operator", choice("How the label is compared.", &[
                            "In", "NotIn", "Exists", "DoesNotExist",
                        ])),
                        ("values", json!({
                            "type": "array", "description": "Values for In and NotIn.",
                            "items": {"type": "string"},
                        })),
                    ]),
                }),
            ),
        ],
    )
}

fn object<'a>(
    description: &str,
    required: &[&str],
    properties: impl IntoIterator<Item = (&'a str, Value)>,
) -> Value {
    let properties: Map<String, Value> =
        properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let mut schema =
        json!({"type": "object", "description": description, "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn text(description: &str, longest: u32) -> Value {
    json!({"type": "string", "maxLength": longest, "description": description})
}

/// Every Pod has a place in the account of a rollout: a digit too many must not fill the memory of
/// the operator that serves all others.
fn replicas() -> Value {
    let mut replicas = count("Number of Pods; absent leaves it to an autoscaler.");
    replicas["maximum"] = json!(100_000);
    replicas
}

fn count(description: &str) -> Value {
    json!({"type": "integer", "format": "int32", "minimum": 0, "description": description})
}

fn choice(description: &str, values: &[&str]) -> Value {
    json!({"type": "string", "enum": values, "description": description})
}
