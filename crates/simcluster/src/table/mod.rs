//! Tables, as `kubectl get` prints them: columns and cells of every kind.

use jiff::Timestamp;

use crate::json::{Value, json};
use crate::kind::Kind;
use crate::server::convert;

mod age;
mod custom;
mod node;
mod others;
mod pod;
mod rows;

pub use age::human_duration;
pub(crate) use age::since;

/// `columnDefinitions` of a kind.
pub fn columns(kind: &Kind) -> Vec<Value> {
    if let Some(custom) = &kind.custom {
        return custom::columns(&custom.columns);
    }
    known(kind).split(", ").map(column).collect()
}

fn column(text: &str) -> Value {
    let bare = text.trim_start_matches('+');
    let name = bare.trim_start_matches(['#', '?']);
    let of_type = match name {
        "Created At" => "date",
        _ if bare.starts_with('#') => "integer",
        _ if bare.starts_with('?') => "boolean",
        _ => "string",
    };
    let format = if name == "Name" && !text.starts_with('+') { "name" } else { "" };
    json!({"name": name, "type": of_type, "format": format, "description": "",
           "priority": i32::from(text.starts_with('+'))})
}

/// The cells of one object's row, one per column.
pub fn cells(kind: &Kind, object: &Value, now: Timestamp) -> Vec<Value> {
    match &kind.custom {
        Some(custom) => custom::cells(&custom.columns, object, now),
        // A row is made of what is stored, whatever version was asked for.
        None => match convert::in_version(kind, "autoscaling/v2", object) {
            Some(stored) => rows::cells(kind, &stored, now),
            None => rows::cells(kind, object, now),
        },
    }
}

/// The columns of a built-in kind: `+` for those that only `-o wide` shows, `#` for
/// integers, `?` for yes or no.
fn known(kind: &Kind) -> &'static str {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod") => {
            "Name, Ready, Status, Restarts, Age, +IP, +Node, +Nominated Node, +Readiness Gates"
        }
        ("apps", "StatefulSet") => "Name, Ready, Age, +Containers, +Images",
        ("apps", "Deployment") => {
            "Name, Ready, Up-to-date, Available, Age, +Containers, +Images, +Selector"
        }
        ("apps", "ReplicaSet") => {
            "Name, #Desired, #Current, #Ready, Age, +Containers, +Images, +Selector"
        }
        ("apps", "DaemonSet") => {
            "Name, #Desired, #Current, #Ready, #Up-to-date, #Available, Node Selector, Age, \
             +Containers, +Images, +Selector"
        }
        ("apps", "ControllerRevision") => "Name, Controller, #Revision, Age",
        ("policy", "PodDisruptionBudget") => {
            "Name, Min Available, Max Unavailable, #Allowed Disruptions, Age"
        }
        ("", "Node") => {
            "Name, Status, Roles, Age, Version, +Internal-IP, +External-IP, +OS-Image, \
             +Kernel-Version, +Container-Runtime"
        }
        ("", "Namespace") => "Name, Status, Age",
        ("", "ConfigMap") => "Name, Data, Age",
        ("", "Secret") => "Name, Type, Data, Age",
        ("", "Service") => "Name, Type, Cluster-IP, External-IP, Port(s), Age, +Selector",
        ("", "PersistentVolumeClaim") => {
            "Name, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, \
             Age, +VolumeMode"
        }
        (_, "Event") => {
            "Last Seen, Type, Reason, Object, +Subobject, +Source, Message, +First Seen, +#Count, \
             +Name"
        }
        (_, "Lease") => "Name, Holder, Age",
        (_, "CustomResourceDefinition" | "Role" | "ClusterRole") => "Name, Created At",
        (_, "RoleBinding" | "ClusterRoleBinding") => {
            "Name, Role, Age, +Users, +Groups, +ServiceAccounts"
        }
        (_, "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") => {
            "Name, #Webhooks, Age"
        }
        _ => others::known(kind).unwrap_or("Name, Age"),
    }
}

#[cfg(test)]
mod tests;
