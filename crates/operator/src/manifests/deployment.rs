//! The operator's Deployment and its own budget.

use super::{Install, NAME, labels, selector};
use serde_json::{Value, json};

/// One acts, one stands by with warm caches.
const REPLICAS: u32 = 2;
/// More than the 20 s of `--shutdown-timeout`, so that the Lease is given back.
const GRACE: u32 = 30;
/// The user of the image; any number but 0 does.
const USER: u32 = 65532;

/// A drain takes one replica at a time; one that is unready is in nobody's way.
pub(super) fn budget(install: &Install) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": install.metadata(NAME),
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": selector()},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    })
}

pub(super) fn deployment(install: &Install) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": install.metadata(NAME),
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": selector()},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
            },
            "template": {
                "metadata": {"labels": labels()},
                "spec": {
                    "serviceAccountName": NAME,
                    "automountServiceAccountToken": true,
                    "terminationGracePeriodSeconds": GRACE,
                    "securityContext": {
                        "runAsNonRoot": true,
                        "runAsUser": USER,
                        "runAsGroup": USER,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    // On two Nodes where there are two: a Node that is lost takes one replica.
                    "topologySpreadConstraints": [{
                        "maxSkew": 1,
                        "topologyKey": "kubernetes.io/hostname",
                        "whenUnsatisfiable": "ScheduleAnyway",
                        "labelSelector": {"matchLabels": selector()},
                    }],
                    "containers": [container(install)],
                },
            },
        },
    })
}

fn container(install: &Install) -> Value {
    let mut arguments = vec![
        "operator".to_owned(),
        "--metrics-bind-address=:8080".to_owned(),
        "--health-probe-bind-address=:8081".to_owned(),
    ];
    let mut ports = vec![port("metrics", 8080), port("health", 8081)];
    match &install.only {
        Some(only) => arguments.push(format!("--namespace={only}")),
        None => {
            arguments.push("--webhook-bind-address=:9443".to_owned());
            ports.push(port("webhook", 9443));
        }
    }
    json!({
        "name": "operator",
        "image": install.image,
        "args": arguments,
        "ports": ports,
        "livenessProbe": probe("/healthz"),
        "readinessProbe": probe("/readyz"),
        // No limit of CPU: an operator that is throttled renews its Lease too late. The memory is
        // for 10,000 rollouts and 100,000 Pods.
        "resources": {
            "requests": {"cpu": "50m", "memory": "64Mi"},
            "limits": {"memory": "512Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
        },
    })
}

fn port(name: &str, number: u16) -> Value {
    json!({"name": name, "containerPort": number, "protocol": "TCP"})
}

fn probe(path: &str) -> Value {
    json!({
        "httpGet": {"path": path, "port": "health"},
        "periodSeconds": 5,
        "timeoutSeconds": 3,
        "failureThreshold": 3,
    })
}
