//! The parts of an object that requests may write: a status goes one way, the rest another.

use crate::json::{Text, Value};
use crate::kind::Kind;

/// Which part of an object a request writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Everything but the status.
    Main,
    /// The status alone.
    Status,
    /// `spec.finalizers` of a namespace.
    Finalize,
    /// `spec.nodeName` of a Pod, and the condition that says so.
    Binding,
    /// The number of replicas, through `/scale`.
    Scale,
    /// `spec.ephemeralContainers` of a Pod.
    Ephemeral,
    /// What the containers of a Pod ask for.
    Resize,
    /// The conditions of a request for a certificate.
    Approval,
}

impl Part {
    /// From the last segment of a URL; empty for the object itself.
    pub fn parse(subresource: &str) -> Option<Self> {
        Some(match subresource {
            "" => Self::Main,
            "status" => Self::Status,
            "finalize" => Self::Finalize,
            "binding" => Self::Binding,
            "scale" => Self::Scale,
            "ephemeralcontainers" => Self::Ephemeral,
            "resize" => Self::Resize,
            "approval" => Self::Approval,
            _ => return None,
        })
    }

    /// As in a URL and in managedFields; empty for the object itself.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Status => "status",
            Self::Finalize => "finalize",
            Self::Binding => "binding",
            Self::Scale => "scale",
            Self::Ephemeral => "ephemeralcontainers",
            Self::Resize => "resize",
            Self::Approval => "approval",
        }
    }
}

/// Leaves only the part that the request may write; the rest is as stored.
pub(super) fn only_part(kind: &Kind, part: Part, before: &Value, after: &mut Value) {
    let from_before = |after: &mut Value, field: &str| match before.get(field) {
        Some(value) => after[field] = value.clone(),
        None => {
            after.as_object_mut().expect("an object is a map").remove(field);
        }
    };
    match part {
        Part::Main | Part::Scale => {
            if kind.has_status {
                from_before(after, "status");
            }
            if kind.plural == "namespaces" {
                from_before(after, "spec");
            }
        }
        Part::Status => {
            let fields: Vec<Text> = before
                .as_object()
                .into_iter()
                .chain(after.as_object())
                .flat_map(|fields| fields.keys().cloned())
                .filter(|field| !matches!(field.as_str(), "status" | "metadata"))
                .collect();
            for field in fields {
                from_before(after, &field);
            }
            if kind.custom.is_some() {
                let managed = after["metadata"]["managedFields"].take();
                after["metadata"] = before["metadata"].clone();
                if managed.is_array() {
                    after["metadata"]["managedFields"] = managed;
                }
            } else if let Some(owners) = before["metadata"].get("ownerReferences") {
                after["metadata"]["ownerReferences"] = owners.clone();
            }
            if kind.group == "apps" && kind.kind == "Deployment" {
                after["metadata"]["labels"] = before["metadata"]["labels"].clone();
            }
        }
        Part::Binding => {
            let node = after["spec"]["nodeName"].take();
            let status = after["status"].take();
            *after = before.clone();
            after["spec"]["nodeName"] = node;
            after["status"] = status;
        }
        Part::Ephemeral => {
            let containers = after["spec"]["ephemeralContainers"].take();
            *after = before.clone();
            if !containers.is_null() {
                after["spec"]["ephemeralContainers"] = containers;
            }
        }
        // Refused as it stands, later.
        Part::Resize => from_before(after, "status"),
        Part::Approval => {
            let conditions = after["status"]["conditions"].take();
            *after = before.clone();
            if !conditions.is_null() {
                after["status"]["conditions"] = conditions;
            }
        }
        Part::Finalize => {
            let finalizers = after["spec"]["finalizers"].take();
            *after = before.clone();
            after["spec"]["finalizers"] = finalizers;
        }
    }
}
