//! What the operator may ask of the API server: one rule per resource, with its verbs and why.
//!
//! This is the one list of them. The roles in [`crate::manifests`] are made of it, and a test runs
//! the operator under exactly those roles: a request that no rule covers fails it, and so does a
//! rule that no request needs.
//!
//! Not listed is what every authenticated account may: `/version` and discovery, by which the
//! operator waits for the API server and for its custom resource.

use crate::{certificates, registration};
use api::batches::names::ORIGINAL_LEASE;
use cluster::elector;
use serde_json::{Value, json};

/// Verbs on one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// Plural, with the subresource: `pods/eviction`.
    pub resource: &'static str,
    /// As RBAC names them.
    pub verbs: &'static [&'static str],
    /// The one object that they are meant for; `None` for all. A `create` by POST can't be held to
    /// a name (the server does not know it yet); one by server-side apply can.
    pub name: Option<&'static str>,
    /// What the operator does with them.
    pub why: &'static str,
}

/// In every namespace that is served: the cluster, or one namespace with `--namespace`.
pub const SERVED: &[Rule] = &[
    Rule {
        group: "bedrock.operator.slack.com",
        resource: "statefulsetrollouts",
        verbs: &["list", "watch"],
        name: None,
        why: "what is wanted; nobody's spec is ever written",
    },
    Rule {
        group: "bedrock.operator.slack.com",
        resource: "statefulsetrollouts/status",
        verbs: &["update"],
        name: None,
        why: "where the rollout stands, written before each action",
    },
    Rule {
        group: "rollouts.kruise.io",
        resource: "rollouts",
        verbs: &["list", "watch", "patch"],
        name: None,
        why: "in which steps a change of a workload is released; its finalizer and the hash of its plan are ours",
    },
    Rule {
        group: "rollouts.kruise.io",
        resource: "rollouts/status",
        verbs: &["update"],
        name: None,
        why: "where its release stands",
    },
    Rule {
        group: "rollouts.kruise.io",
        resource: "rollouts/finalizers",
        verbs: &["update"],
        name: None,
        why: "a Rollout's BatchRelease blocks its deletion; asked for where \
              OwnerReferencesPermissionEnforcement is on, as on OpenShift",
    },
    Rule {
        group: "rollouts.kruise.io",
        resource: "batchreleases",
        verbs: &["get", "list", "watch", "create", "patch", "delete"],
        name: None,
        why: "how far a workload is to be; a Rollout's is made for each release; its finalizer is ours; read before a Rollout is let go",
    },
    Rule {
        group: "rollouts.kruise.io",
        resource: "batchreleases/status",
        verbs: &["update"],
        name: None,
        why: "where a release stands",
    },
    Rule {
        group: "rollouts.kruise.io",
        resource: "rollouthistories",
        verbs: &["get", "create"],
        name: None,
        why: "what a release was, with the gate `RolloutHistory`",
    },
    Rule {
        group: "rollouts.kruise.io",
        resource: "rollouthistories/status",
        verbs: &["patch"],
        name: None,
        why: "the Pods of each of its steps",
    },
    Rule {
        group: "apps",
        resource: "deployments",
        verbs: &["get", "list", "watch", "patch"],
        name: None,
        why: "released in batches: held meanwhile, and given back; read before a Rollout is let go",
    },
    Rule {
        group: "apps",
        resource: "deployments/finalizers",
        verbs: &["update"],
        name: None,
        why: "the same, of its ReplicaSets",
    },
    Rule {
        group: "apps",
        resource: "replicasets",
        verbs: &["list", "watch", "create", "patch"],
        name: None,
        why: "how far a Deployment is; sized batch by batch",
    },
    Rule {
        group: "apps",
        resource: "daemonsets",
        verbs: &["get", "list", "watch", "patch"],
        name: None,
        why: "released in batches: held meanwhile, and given back; read before a Rollout is let go",
    },
    Rule {
        group: "apps",
        resource: "controllerrevisions",
        verbs: &["list", "watch"],
        name: None,
        why: "the revisions of a DaemonSet, native or advanced, which its status does not name",
    },
    Rule {
        group: "apps",
        resource: "statefulsets",
        verbs: &["get", "list", "watch", "create", "patch"],
        name: None,
        why: "the StatefulSet of a rollout is applied from it; read to name a field that cannot \
              change, and before `replicas` is handed over",
    },
    Rule {
        group: "apps.kruise.io",
        resource: "clonesets",
        verbs: &["get", "list", "watch", "patch"],
        name: None,
        why: "released in batches: held meanwhile, and given back; read before a Rollout is let go",
    },
    Rule {
        group: "apps.kruise.io",
        resource: "statefulsets",
        verbs: &["get", "list", "watch", "patch"],
        name: None,
        why: "the same, of Advanced StatefulSets",
    },
    Rule {
        group: "apps.kruise.io",
        resource: "daemonsets",
        verbs: &["get", "list", "watch", "patch"],
        name: None,
        why: "the same, of Advanced DaemonSets",
    },
    Rule {
        group: "",
        resource: "pods",
        verbs: &["list", "watch", "patch", "delete"],
        name: None,
        why: "what runs, and is ready; labelled with its batch; deleted under `unhealthyPods: Replace` alone, if unready \
              and refused by the budget",
    },
    Rule {
        group: "",
        resource: "pods/eviction",
        verbs: &["create"],
        name: None,
        why: "moves a Pod to the new revision, as far as its budget allows",
    },
    Rule {
        group: "policy",
        resource: "poddisruptionbudgets",
        verbs: &["list", "watch"],
        name: None,
        why: "how many Pods may go at once",
    },
    Rule {
        group: "coordination.k8s.io",
        resource: "leases",
        verbs: &["list", "watch"],
        name: Some(ORIGINAL_LEASE),
        why: "whether the manager of OpenKruise Rollouts still runs, which would drive the same workloads",
    },
    Rule {
        group: "events.k8s.io",
        resource: "events",
        verbs: &["create", "patch"],
        name: None,
        why: "what `kubectl describe` shows; patched when the same is told again",
    },
];

/// In the operator's own namespace: the election.
pub const ELECTION: &[Rule] = &[
    Rule {
        group: "coordination.k8s.io",
        resource: "leases",
        verbs: &["create"],
        name: None,
        why: "the first replica makes the Lease",
    },
    Rule {
        group: "coordination.k8s.io",
        resource: "leases",
        verbs: &["get", "update"],
        name: Some(elector::NAME),
        why: "which replica acts",
    },
];

/// In the operator's own namespace: the authority of the webhook's certificates.
pub const AUTHORITY: &[Rule] = &[
    Rule {
        group: "",
        resource: "secrets",
        verbs: &["create"],
        name: None,
        why: "the first replica makes the webhook's certificate authority",
    },
    Rule {
        group: "",
        resource: "secrets",
        verbs: &["get", "update"],
        name: Some(certificates::SECRET),
        why: "all replicas share it, and replace it when its time comes",
    },
];

/// At the scope of the cluster: the webhook is told to the API server.
pub const REGISTRATION: &[Rule] = &[
    Rule {
        group: "admissionregistration.k8s.io",
        resource: "validatingwebhookconfigurations",
        verbs: &["create", "list", "patch", "watch"],
        name: Some(registration::NAME),
        why: "says where the webhook is and which authority it is trusted by; mended at once when somebody \
              alters it or takes it away",
    },
    Rule {
        group: "admissionregistration.k8s.io",
        resource: "mutatingwebhookconfigurations",
        verbs: &["create", "list", "patch", "watch"],
        name: Some(registration::NAME),
        why: "the same, for the workloads that are released in batches",
    },
    Rule {
        group: "apiextensions.k8s.io",
        resource: "customresourcedefinitions",
        verbs: &["list", "patch", "watch"],
        name: Some(registration::CONVERTED[0]),
        why: "waits for it where it is not there yet; says where its versions are converted and which \
              authority that is trusted by, and again when it is installed anew",
    },
    Rule {
        group: "apiextensions.k8s.io",
        resource: "customresourcedefinitions",
        verbs: &["list", "patch", "watch"],
        name: Some(registration::CONVERTED[1]),
        why: "the same",
    },
    Rule {
        group: "apiextensions.k8s.io",
        resource: "customresourcedefinitions",
        verbs: &["list", "watch"],
        name: Some("clonesets.apps.kruise.io"),
        why: "waits for Kruise where it is not there yet",
    },
    Rule {
        group: "apiextensions.k8s.io",
        resource: "customresourcedefinitions",
        verbs: &["list", "watch"],
        name: Some("statefulsets.apps.kruise.io"),
        why: "the same",
    },
    Rule {
        group: "apiextensions.k8s.io",
        resource: "customresourcedefinitions",
        verbs: &["list", "watch"],
        name: Some("daemonsets.apps.kruise.io"),
        why: "the same",
    },
];

impl Rule {
    /// An item of `rules` of a Role or ClusterRole.
    pub(crate) fn written(&self) -> Value {
        let mut rule = json!({
            "apiGroups": [self.group],
            "resources": [self.resource],
            "verbs": self.verbs,
        });
        if let Some(name) = self.name {
            rule["resourceNames"] = json!([name]);
        }
        rule
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_line_in_the_docs() {
        let docs = include_str!("../../../docs/install.md");
        for rule in [SERVED, ELECTION, AUTHORITY, REGISTRATION].concat() {
            let resource = match rule.group {
                "" => rule.resource.to_owned(),
                group => format!("{} ({group})", rule.resource),
            };
            let name = rule.name.map(|name| format!(" `{name}`")).unwrap_or_default();
            let row = format!("| {resource}{name} | {} | {} |", rule.verbs.join(", "), rule.why);
            assert!(docs.contains(&row), "docs/install.md has no line {row}");
        }
    }

    #[test]
    fn no_rule_holds_for_everything() {
        for rule in [SERVED, ELECTION, AUTHORITY, REGISTRATION].concat() {
            let all = |word: &str| word.contains('*');
            assert!(!all(rule.group) && !all(rule.resource), "{rule:?}");
            assert!(!rule.verbs.iter().any(|verb| all(verb)), "{rule:?}");
        }
    }
}
