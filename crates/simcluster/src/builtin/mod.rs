//! What the server knows about each built-in kind: defaults, validation, immutable fields.

use crate::error::Cause;
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::types::Shape;

pub(crate) mod autoscaler;
mod budget;
mod causes;
mod daemonset;
mod deployment;
pub(crate) mod limits;
mod meta;
pub mod names;
mod others;
mod plain;
mod pod;
mod quota;
mod rbac;
mod replicaset;
mod rolling;
mod statefulset;
mod status;
mod template;

use causes::Causes;
pub use causes::Causes as FieldErrors;
use pod::set as pod_set;

const RBAC: &str = "rbac.authorization.k8s.io";

/// Fills in the defaults of a built-in kind.
pub fn default(kind: &Kind, object: &mut Value) {
    // A struct of Go that holds it by value has one, said or not.
    if kind.custom.is_none()
        && object["spec"].is_null()
        && Shape::of(kind).child("spec").0.is_by_value()
    {
        object["spec"] = json!({});
    }
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod") => pod::default_pod(object),
        ("", "Service") => plain::default_service(object),
        ("", "PersistentVolumeClaim") => plain::default_claim(object),
        ("", "Secret") => plain::default_secret(object),
        ("apps", "StatefulSet") => statefulset::default(object),
        ("apps", "Deployment") => deployment::default(object),
        ("apps", "ReplicaSet") => replicaset::default(object),
        ("apps", "DaemonSet") => daemonset::default(object),
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler::default(kind, object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            crate::crd::default_definition(object);
        }
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration") => {
            plain::default_webhooks(object, false);
        }
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration") => {
            plain::default_webhooks(object, true);
        }
        (RBAC, "RoleBinding" | "ClusterRoleBinding") => rbac::default_binding(object),
        _ if kind.custom.is_none() => others::default(kind, object),
        _ => {}
    }
}

/// Takes out fields behind gates that are off, after their owners are noted.
pub fn drop_gated(kind: &Kind, before: Option<&Value>, object: &mut Value) {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("coordination.k8s.io", "Lease") => plain::drop_gated(object),
        ("apps", "StatefulSet") => statefulset::drop_gated(before, object),
        _ => {}
    }
}

/// What the server itself keeps count of in an object, after its owners are noted.
pub fn count(kind: &Kind, before: Option<&Value>, after: &mut Value) {
    if kind.kind == "DaemonSet" && kind.group == "apps" {
        daemonset::count_templates(before, after);
    }
}

/// Whether a change of annotations is a new generation: a Deployment's reach its ReplicaSet.
pub fn counts_annotations(kind: &Kind) -> bool {
    kind.kind == "Deployment" && kind.group == "apps"
}

/// What the server itself adds to a new object after its owners are noted: tolerations and priority
/// of a Pod, addresses of a Service. Nobody owns those fields.
pub fn admit(kind: &Kind, object: &mut Value) {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod") => pod::admit(object),
        ("", "Service") => plain::allocate(object),
        _ => {}
    }
}

/// What the writer of an object is warned of; `before` is `None` for a new one.
pub fn warnings(kind: &Kind, before: Option<&Value>, object: &Value) -> Vec<String> {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Secret") => plain::warning(object).into_iter().collect(),
        ("", "Pod") if before.is_none() => pod::warnings(&object["spec"], "spec"),
        ("apps", "StatefulSet" | "Deployment" | "ReplicaSet" | "DaemonSet") => {
            let changed =
                |before| crate::object::generation(before) != crate::object::generation(object);
            let mut out = Vec::new();
            if before.is_none_or(changed) {
                out = pod::warnings(&object["spec"]["template"]["spec"], "spec.template.spec");
            }
            if kind.kind == "StatefulSet" {
                out.extend(statefulset::warning(object));
            }
            out
        }
        _ => Vec::new(),
    }
}

/// What is wrong with a new object, in the server's order; empty when it may be created.
pub fn validate(kind: &Kind, object: &Value) -> Vec<Cause> {
    let mut out = Causes::default();
    meta::validate(kind, object, &mut out);
    spec(kind, object, &mut out);
    out.into_vec()
}

/// What is wrong with a change of an existing object.
pub fn validate_update(
    kind: &Kind,
    new: &Value,
    old: &Value,
    subresource: Option<&str>,
) -> Vec<Cause> {
    let mut out = Causes::default();
    meta::validate_update(kind, new, old, subresource, &mut out);
    if subresource == Some("status") {
        status::validate_update(kind, new, old, &mut out);
        return out.into_vec();
    }
    match (kind.group.as_str(), kind.kind.as_str(), subresource) {
        ("", "Pod", Some("ephemeralcontainers")) => {
            pod::validate_ephemeral(new, old, &mut out);
            return out.into_vec();
        }
        ("", "Pod", Some("resize")) => {
            // No kubelet here says that it can.
            out.forbidden("spec", "Pod running on node without support for resize");
            return out.into_vec();
        }
        _ => {}
    }
    if kind.kind == "DaemonSet" && kind.group == "apps" {
        // Said before all else, where the other kinds say it last.
        template::fixed_selector(new, old, &mut out);
    }
    if kind.kind == "Secret" && kind.group.is_empty() {
        plain::update_secret(new, old, &mut out);
        plain::update_data(new, old, &mut out);
    }
    match (kind.group.as_str(), kind.kind.as_str()) {
        // The spec of a Pod that exists was valid once, and hardly any of it can change.
        ("", "Pod") => pod::validate_update(new, old, &mut out),
        _ => spec(kind, new, &mut out),
    }
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("apps", "StatefulSet") => statefulset::validate_update(new, old, &mut out),
        ("apps", "Deployment" | "ReplicaSet") => {
            template::fixed_selector(new, old, &mut out);
        }
        ("", "ConfigMap") => plain::update_data(new, old, &mut out),
        (RBAC, "RoleBinding" | "ClusterRoleBinding") => rbac::fixed_role(new, old, &mut out),
        _ => {}
    }
    out.into_vec()
}

fn spec(kind: &Kind, object: &Value, out: &mut Causes) {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod") => pod::validate_spec(&object["spec"], "spec", &[], out),
        ("", "ConfigMap") => plain::validate_data(object, out),
        ("", "Secret") => plain::validate_secret(object, out),
        ("", "Service") => plain::validate_service(object, out),
        ("apps", "StatefulSet") => statefulset::validate(object, out),
        ("apps", "Deployment") => deployment::validate(object, out),
        ("apps", "ReplicaSet") => replicaset::validate(object, out),
        ("apps", "DaemonSet") => daemonset::validate(object, out),
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler::validate(kind, object, out),
        ("policy", "PodDisruptionBudget") => budget::validate(object, out),
        ("", "ResourceQuota") => quota::validate(object, out),
        ("batch", "Job") => others::validate_job(&object["spec"], "spec", out),
        ("batch", "CronJob") => others::validate_cron_job(object, out),
        ("scheduling.k8s.io", "PriorityClass") => others::validate_priority(object, out),
        ("", "Event") => plain::validate_core_event(object, out),
        ("events.k8s.io", "Event") => plain::validate_event(object, out),
        ("coordination.k8s.io", "Lease") => plain::validate_lease(object, out),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            out.extend(crate::crd::check(object));
        }
        (RBAC, "Role") => rbac::validate_role(object, true, out),
        (RBAC, "ClusterRole") => rbac::validate_role(object, false, out),
        (RBAC, "RoleBinding") => rbac::validate_binding(object, true, out),
        (RBAC, "ClusterRoleBinding") => rbac::validate_binding(object, false, out),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
