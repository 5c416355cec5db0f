//! The kinds of workloads that are released, as facts: all that scenarios know of a kind stands here, and
//! nowhere is asked which one it is.

use serde_json::{Value, json};

use crate::env::{
    ADVANCED_DAEMONSETS, ADVANCED_SETS, CLONESETS, DAEMONSETS, DEPLOYMENTS, Kind, SETS,
};

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
    /// The part of a spec by which so many Pods may be unavailable, if it knows that.
    pub unavailable: Option<fn(usize) -> Value>,
    /// The part of a spec by which a Pod must have been ready for so many seconds.
    pub min_ready: fn(u32) -> Value,
    /// The part of a spec that leaves its Pods to others, if it knows that.
    pub on_delete: Option<fn() -> Value>,
    /// The part of a spec by which Pods change in their place, if it knows that.
    pub in_place: Option<fn() -> Value>,
    /// A patch that holds a change before a release takes it over, as somebody does it by hand.
    pub hold: fn() -> Value,
    /// Whether nothing moves by itself, as the object stands.
    pub is_held: fn(&Value) -> bool,
    /// A patch that lets go of what is held.
    pub lets_go: fn() -> Value,
    /// The annotation that its own strategy is put aside in.
    pub put_aside: &'static str,
    /// A patch by which its own controller stands still or goes on, if it knows that beside what holds it.
    pub pause: Option<fn(&Value) -> Value>,
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
pub static ALL: [&Facts; 6] =
    [&DEPLOYMENT, &STATEFULSET, &DAEMONSET, &CLONESET, &ADVANCED_STATEFULSET, &ADVANCED_DAEMONSET];

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

    /// `apps`.
    pub fn group(self) -> &'static str {
        self.api_version().split('/').next().unwrap_or_default()
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

/// A field as it is meant: one that says what would be so without it says nothing.
pub fn meant(field: &Value) -> Value {
    match field {
        Value::Bool(false) => Value::Null,
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(key, value)| *key != "partition" || **value != 0);
            let fields = fields.map(|(key, value)| (key.clone(), meant(value)));
            fields.filter(|(_, value)| !value.is_null()).collect()
        }
        other => other.clone(),
    }
}

fn rolling() -> Value {
    json!({"type": "RollingUpdate"})
}

/// As all but a Deployment and a CloneSet have it.
fn rolling_by(bounds: &Value) -> Value {
    json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": bounds}})
}

/// With nothing held back.
fn rolling_on() -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
}

fn rolling_by_unavailable(pods: usize) -> Value {
    rolling_by(&json!({ "maxUnavailable": pods }))
}

fn left_to_others() -> Value {
    json!({"updateStrategy": {"type": "OnDelete"}})
}

fn min_ready_of_spec(seconds: u32) -> Value {
    json!({ "minReadySeconds": seconds })
}

fn set_of_pods(name: &str) -> Value {
    json!({"serviceName": name, "podManagementPolicy": "Parallel"})
}

/// Above every number of Pods.
fn above_all() -> Value {
    json!({ "spec": rolling_by(&json!({"partition": 32767})) })
}

fn is_above_all(object: &Value) -> bool {
    object["spec"]["updateStrategy"]["rollingUpdate"]["partition"] == 32767
}

fn no_partition() -> Value {
    json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
}

fn pause_of_rolling(paused: &Value) -> Value {
    json!({"spec": {"updateStrategy": {"rollingUpdate": {"paused": paused}}}})
}

/// As kinds that a partition holds have it.
const PUT_ASIDE: &str = "sluice.dev/original-update-strategy";

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
    unavailable: Some(|pods| {
        let bound = json!({ "maxUnavailable": pods });
        json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": bound}})
    }),
    min_ready: min_ready_of_spec,
    on_delete: None,
    in_place: None,
    hold: || json!({"spec": {"paused": true}}),
    is_held: |it| it["spec"]["paused"] == true,
    lets_go: || {
        let bounds = json!({"maxSurge": 2, "maxUnavailable": 0});
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": bounds});
        json!({"spec": {"paused": false, "strategy": strategy}})
    },
    put_aside: "rollouts.kruise.io/deployment-strategy",
    pause: None,
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
    unavailable: None,
    min_ready: min_ready_of_spec,
    on_delete: Some(left_to_others),
    in_place: None,
    hold: above_all,
    is_held: is_above_all,
    lets_go: no_partition,
    put_aside: PUT_ASIDE,
    pause: None,
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
    unavailable: Some(rolling_by_unavailable),
    min_ready: min_ready_of_spec,
    // It is held by that.
    on_delete: None,
    in_place: None,
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
    put_aside: "rollouts.kruise.io/daemonset-original-update-strategy",
    pause: None,
    opens: false,
    lost_stay_stable: false,
    back_in_batches: false,
    grows_new: false,
};

static CLONESET: Facts = Facts {
    kind: CLONESETS,
    name: "CloneSet",
    letter: "C",
    replicas: true,
    wanted: "replicas",
    ready: "readyReplicas",
    updated: "updatedReplicas",
    needs: |_| json!({}),
    strategy: ("updateStrategy", || json!({"type": "ReCreate", "partition": 0})),
    unavailable: Some(|pods| json!({"updateStrategy": {"maxUnavailable": pods}})),
    min_ready: min_ready_of_spec,
    on_delete: None,
    in_place: Some(|| json!({"updateStrategy": {"type": "InPlaceIfPossible"}})),
    hold: || json!({"spec": {"updateStrategy": {"partition": "100%"}}}),
    is_held: |it| it["spec"]["updateStrategy"]["partition"] == "100%",
    lets_go: || json!({"spec": {"updateStrategy": {"partition": 0}}}),
    put_aside: PUT_ASIDE,
    pause: Some(|paused| json!({"spec": {"updateStrategy": {"paused": paused}}})),
    opens: true,
    lost_stay_stable: true,
    back_in_batches: true,
    grows_new: false,
};

static ADVANCED_STATEFULSET: Facts = Facts {
    kind: ADVANCED_SETS,
    name: "StatefulSet",
    letter: "AS",
    replicas: true,
    wanted: "replicas",
    ready: "readyReplicas",
    updated: "updatedReplicas",
    needs: set_of_pods,
    strategy: ("updateStrategy", rolling_on),
    unavailable: Some(rolling_by_unavailable),
    min_ready: |seconds| rolling_by(&json!({ "minReadySeconds": seconds })),
    on_delete: Some(left_to_others),
    in_place: Some(|| rolling_by(&json!({"podUpdatePolicy": "InPlaceIfPossible"}))),
    hold: above_all,
    is_held: is_above_all,
    lets_go: no_partition,
    put_aside: PUT_ASIDE,
    pause: Some(pause_of_rolling),
    opens: true,
    lost_stay_stable: true,
    back_in_batches: true,
    grows_new: true,
};

static ADVANCED_DAEMONSET: Facts = Facts {
    kind: ADVANCED_DAEMONSETS,
    name: "DaemonSet",
    letter: "AN",
    replicas: false,
    wanted: "desiredNumberScheduled",
    ready: "numberReady",
    updated: "updatedNumberScheduled",
    needs: |_| json!({}),
    strategy: ("updateStrategy", rolling_on),
    unavailable: Some(rolling_by_unavailable),
    min_ready: min_ready_of_spec,
    on_delete: Some(left_to_others),
    in_place: Some(|| rolling_by(&json!({"rollingUpdateType": "InPlaceIfPossible"}))),
    hold: above_all,
    is_held: is_above_all,
    lets_go: no_partition,
    put_aside: PUT_ASIDE,
    pause: Some(pause_of_rolling),
    opens: true,
    lost_stay_stable: false,
    back_in_batches: false,
    grows_new: false,
};
