//! The kinds of workloads that are released, as facts: all that scenarios know of a kind stands here, and
//! nowhere is asked which one it is.

use serde_json::{Value, json};

use crate::env::{DAEMONSETS, DEPLOYMENTS, Kind, SETS};

/// What is to be known of a kind.
#[derive(Debug)]
pub struct Facts {
    /// Its path and its plural.
    pub kind: Kind,
    /// As manifests call it.
    pub name: &'static str,
    /// As `docs/release-rules.md` calls it.
    pub letter: &'static str,
    /// Whether it has `replicas`, and not a Pod for each Node.
    pub replicas: bool,
    /// Fields of its status: Pods wanted by a kind without `replicas`, ready ones, those of the newest template.
    pub wanted: &'static str,
    /// See [`wanted`](Self::wanted).
    pub ready: &'static str,
    /// See [`wanted`](Self::wanted).
    pub updated: &'static str,
    /// What the spec of a new one of this name must have beside selector and template.
    pub needs: fn(&str) -> Value,
    /// Where in its spec its own strategy stands, and a strategy of the usual kind written out.
    pub strategy: (&'static str, fn() -> Value),
    /// The part of a spec by which one Pod may be unavailable, if it knows that.
    pub one_unavailable: Option<fn() -> Value>,
    /// A patch that holds a change before a release takes it over, as somebody does it by hand.
    pub hold: fn() -> Value,
    /// Whether nothing moves by itself, as the object stands.
    pub is_held: fn(&Value) -> bool,
    /// A patch that lets go of what is held.
    pub lets_go: fn() -> Value,
    /// Whether what holds one template may let the next one go, so that a change on top has to hold again.
    pub opens: bool,
    /// Whether a Pod that is lost before it has moved comes back as it was.
    pub lost_stay_stable: bool,
    /// Whether it is rolled back in batches when asked to.
    pub back_in_batches: bool,
    /// Whether new Pods of one that grows get the newest template, before anybody could say no.
    pub grows_new: bool,
}

/// All kinds, the order in which scenarios go over them.
pub static ALL: [&Facts; 3] = [&DEPLOYMENT, &STATEFULSET, &DAEMONSET];

/// All kinds.
pub fn all() -> impl Iterator<Item = Kind> {
    ALL.into_iter().map(|facts| facts.kind)
}

/// Those of which something holds.
pub fn that(holds: fn(&Facts) -> bool) -> impl Iterator<Item = Kind> {
    ALL.into_iter().filter(move |facts| holds(facts)).map(|facts| facts.kind)
}

/// Those that can be scaled.
pub fn scaled() -> impl Iterator<Item = Kind> {
    that(|facts| facts.replicas)
}

impl Kind {
    /// The facts of a kind of workloads.
    pub fn facts(self) -> &'static Facts {
        let facts = ALL.into_iter().find(|facts| facts.kind == self);
        facts.expect("it is a kind of workloads")
    }

    /// A name for one where others stand beside it.
    pub fn own_name(self) -> String {
        format!("web-{}", self.facts().letter.to_lowercase())
    }

    /// Its collection in a namespace.
    pub fn path(self, namespace: &str) -> String {
        format!("{}/namespaces/{namespace}/{}", self.0, self.1)
    }

    /// `apps/v1`.
    pub fn api_version(self) -> &'static str {
        self.0.trim_start_matches("/apis/")
    }

    /// The part of a spec that says how many Pods there are; empty where the Nodes say it.
    pub fn sized(self, pods: usize) -> Value {
        if self.facts().replicas { json!({ "replicas": pods }) } else { json!({}) }
    }

    /// A workload of Pods of `app:v1` that bear `app: NAME`.
    pub fn manifest(self, name: &str, pods: usize) -> Value {
        let mut spec = json!({
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
            },
        });
        for more in [self.sized(pods), (self.facts().needs)(name)] {
            put_over(&mut spec, &more);
        }
        json!({
            "apiVersion": self.api_version(), "kind": self.facts().name,
            "metadata": {"name": name}, "spec": spec,
        })
    }

    /// How many Pods an object wants.
    pub fn wanted(self, object: &Value) -> u64 {
        let facts = self.facts();
        if facts.replicas {
            return object["spec"][facts.wanted].as_u64().unwrap_or(1);
        }
        self.count(object, facts.wanted)
    }

    /// A number of the status of an object.
    pub fn count(self, object: &Value, field: &str) -> u64 {
        object["status"][field].as_u64().unwrap_or(0)
    }

    /// A `workloadRef`.
    pub fn named(self, name: &str) -> Value {
        json!({"apiVersion": self.api_version(), "kind": self.facts().name, "name": name})
    }
}

/// Puts the fields of an object over those of another.
pub fn put_over(object: &mut Value, fields: &Value) {
    for (key, value) in fields.as_object().into_iter().flatten() {
        object[key] = value.clone();
    }
}

fn rolling() -> Value {
    json!({"type": "RollingUpdate"})
}

fn rolling_by_one() -> Value {
    json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}})
}

fn set_of_pods(name: &str) -> Value {
    json!({"serviceName": name, "podManagementPolicy": "Parallel"})
}

static DEPLOYMENT: Facts = Facts {
    kind: DEPLOYMENTS,
    name: "Deployment",
    letter: "D",
    replicas: true,
    wanted: "replicas",
    ready: "readyReplicas",
    updated: "updatedReplicas",
    needs: |_| json!({}),
    strategy: ("strategy", rolling),
    one_unavailable: Some(|| {
        let bound = json!({"maxUnavailable": 1});
        json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": bound}})
    }),
    hold: || json!({"spec": {"paused": true}}),
    is_held: |it| it["spec"]["paused"] == true,
    lets_go: || {
        let bounds = json!({"maxSurge": 2, "maxUnavailable": 0});
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": bounds});
        json!({"spec": {"paused": false, "strategy": strategy}})
    },
    opens: false,
    lost_stay_stable: true,
    back_in_batches: false,
    grows_new: false,
};

static STATEFULSET: Facts = Facts {
    kind: SETS,
    name: "StatefulSet",
    letter: "S",
    replicas: true,
    wanted: "replicas",
    ready: "readyReplicas",
    updated: "updatedReplicas",
    needs: set_of_pods,
    strategy: ("updateStrategy", rolling),
    one_unavailable: None,
    hold: || {
        let above = json!({"partition": 32767});
        json!({"spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": above}}})
    },
    is_held: |it| it["spec"]["updateStrategy"]["rollingUpdate"]["partition"] == 32767,
    lets_go: || json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}}),
    opens: true,
    lost_stay_stable: true,
    back_in_batches: true,
    grows_new: true,
};

static DAEMONSET: Facts = Facts {
    kind: DAEMONSETS,
    name: "DaemonSet",
    letter: "N",
    replicas: false,
    wanted: "desiredNumberScheduled",
    ready: "numberReady",
    updated: "updatedNumberScheduled",
    needs: |_| json!({}),
    strategy: ("updateStrategy", rolling),
    one_unavailable: Some(rolling_by_one),
    // As the webhook would write it; without the annotation OnDelete is what the user wants.
    hold: || {
        let kept = "rollouts.kruise.io/daemonset-original-update-strategy";
        json!({
            "metadata": {"annotations": {kept: "RollingUpdate"}},
            "spec": {"updateStrategy": {"type": "OnDelete"}},
        })
    },
    is_held: |it| it["spec"]["updateStrategy"]["type"] == "OnDelete",
    lets_go: || json!({"spec": {"updateStrategy": {"type": "RollingUpdate"}}}),
    opens: false,
    lost_stay_stable: false,
    back_in_batches: false,
    grows_new: false,
};
