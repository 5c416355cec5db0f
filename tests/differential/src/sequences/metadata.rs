//! What is in metadata and is refused there; who is noted as owner, and how all are forgotten.

use serde_json::{Value, json};

use super::{CONFIGMAPS, PODS, SETS, WEB, config_map, pod, web};
use crate::step::{Step, apply, delete, get, json_patch, merge, post, put, strategic};

const A: &str = "/api/v1/namespaces/$ns/configmaps/a";
const P: &str = "/api/v1/namespaces/$ns/pods/p";

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("managed fields are reset", reset()),
        ("metadata that is refused", refused()),
        ("owners that are refused", owners()),
        ("lists of an apply", lists()),
        ("lists that were twofold before an apply", twofold()),
        ("a status that is refused", statuses()),
        ("watches by their old path", watches()),
    ]
}

fn reset() -> Vec<Step> {
    let fields = |fields: Value| json!({"metadata": {"managedFields": fields}});
    let entry = json!([{
        "manager": "me", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:k": {}}},
    }]);
    let fresh = || {
        [
            delete(A),
            post(CONFIGMAPS, config_map("a", json!({"x": "1"}), json!({"k": "v"}))),
            strategic(format!("{A}?fieldManager=other"), json!({"data": {"l": "1"}})),
        ]
    };
    let mut out = Vec::new();
    for value in [
        json!([]),
        json!([{}]),
        Value::Null,
        json!([{}, {}]),
        json!([{"manager": "me"}]),
        entry.clone(),
        json!([{"manager": "me", "operation": "Update", "apiVersion": "v1", "fieldsType": "X"}]),
        json!([{"manager": "me", "operation": "Nonsense", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}]),
        json!([{"manager": "me", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"x": 1}}]),
        json!("text"),
        json!({}),
    ] {
        out.extend(fresh());
        out.push(merge(A, fields(value.clone())));
        out.push(merge(A, json!({"data": {"m": "1"}})));
        out.push(apply(
            A,
            "one",
            false,
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"n": "1"}}),
        ));
        out.extend(fresh());
        let mut body = config_map("a", json!({"x": "1"}), json!({"k": "w"}));
        body["metadata"]["managedFields"] = value.clone();
        out.push(put(A, body));
        out.extend(fresh());
        out.push(strategic(A, fields(value)));
    }
    for operations in [
        json!([{"op": "remove", "path": "/metadata/managedFields"}]),
        json!([{"op": "replace", "path": "/metadata/managedFields", "value": []}]),
        json!([{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]),
        json!([{"op": "remove", "path": "/metadata/managedFields/0"}]),
    ] {
        out.extend(fresh());
        out.push(json_patch(A, operations));
        out.push(merge(A, json!({"data": {"m": "1"}})));
    }
    let mut with = config_map("b", json!({}), json!({"k": "1"}));
    with["metadata"]["managedFields"] = entry;
    out.push(post(CONFIGMAPS, with));
    let mut with = config_map("c", json!({}), json!({"k": "1"}));
    with["metadata"]["managedFields"] = json!([{}]);
    out.push(post(CONFIGMAPS, with));
    out.extend([
        post(SETS, web(0, json!({"type": "OnDelete"}))),
        Step::Rest,
        merge(format!("{WEB}/status"), fields(json!([]))),
        merge(format!("{WEB}/status"), fields(json!([{}]))),
        merge(format!("{WEB}/scale"), fields(json!([]))),
        get(WEB),
    ]);
    out
}

fn refused() -> Vec<Step> {
    let with = |meta: Value| {
        let mut body = json!({"metadata": {"name": "b"}});
        for (key, value) in meta.as_object().into_iter().flatten() {
            body["metadata"][key] = value.clone();
        }
        body
    };
    let mut out = vec![post(CONFIGMAPS, config_map("a", json!({}), json!({})))];
    for meta in [
        json!({"labels": {"a b": "c d"}}),
        json!({"labels": {"x/y/z": "1"}}),
        json!({"labels": {"/x": "1"}}),
        json!({"labels": {"x/": "1"}}),
        json!({"labels": {"X_Y/a": "1"}}),
        json!({"labels": {"": "1"}}),
        json!({"labels": {"a".repeat(64): "b".repeat(64)}}),
        json!({"annotations": {"a b": "c d", "X/UPPER": ""}}),
        json!({"annotations": {"big": "x".repeat(256 * 1024)}}),
        json!({"finalizers": ["a b"]}),
        json!({"finalizers": ["", "orphan", "x/y"]}),
        json!({"finalizers": ["orphan", "foregroundDeletion"]}),
        json!({"generateName": "Bad_"}),
        json!({"generation": -1, "selfLink": "/x"}),
        json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 5}),
        json!({"creationTimestamp": "2020-01-01T00:00:00Z", "uid": "mine"}),
        json!({"name": "x".repeat(254)}),
        json!({"name": ""}),
        json!({"name": "a/b"}),
        json!({"name": ".."}),
        json!({"name": "a%b"}),
    ] {
        out.push(post(CONFIGMAPS, with(meta.clone())));
        out.push(delete(format!("{CONFIGMAPS}/b")));
        if meta.get("name").is_none() && meta.get("generateName").is_none() {
            out.push(merge(A, json!({"metadata": meta})));
        }
    }
    out.push(post(PODS, pod("p", "app", "app:v1")));
    for labels in [json!({"a b": "c d"}), json!({"app": "not a value!"})] {
        out.push(merge(P, json!({"metadata": {"labels": labels}})));
    }
    out.push(post(SETS, web(0, json!({"type": "OnDelete"}))));
    for labels in [json!({"a b": "c d"}), json!({"app": "not a value!"})] {
        out.push(merge(WEB, json!({"metadata": {"labels": labels}})));
        out.push(merge(WEB, json!({"spec": {"template": {"metadata": {"labels": labels}}}})));
        out.push(merge(format!("{WEB}/status"), json!({"metadata": {"labels": labels}})));
    }
    let node = "/api/v1/nodes/node-0";
    out.push(merge(node, json!({"metadata": {"labels": {"a b": "c d"}}})));
    out.push(merge("/api/v1/namespaces/$ns", json!({"metadata": {"labels": {"a b": "c d"}}})));
    out
}

fn owners() -> Vec<Step> {
    let uid = "11111111-1111-1111-1111-111111111111";
    let good = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": uid});
    let edited = |edit: &dyn Fn(&mut Value)| {
        let mut owner = good.clone();
        edit(&mut owner);
        owner
    };
    let without = |field: &str| {
        edited(&|owner| {
            owner.as_object_mut().expect("an owner is a map").remove(field);
        })
    };
    let with = |field: &str, value: Value| edited(&|owner| owner[field] = value.clone());
    let controller = |name: &str| {
        edited(&|owner| {
            owner["name"] = name.into();
            owner["uid"] = format!("{uid}-{name}").into();
            owner["controller"] = true.into();
        })
    };
    let mut out = vec![post(CONFIGMAPS, config_map("a", json!({}), json!({})))];
    for owners in [
        json!([without("uid")]),
        json!([without("name")]),
        json!([without("kind")]),
        json!([without("apiVersion")]),
        json!([{}]),
        json!([with("apiVersion", json!("a/b/c"))]),
        json!([with("apiVersion", json!("/v1"))]),
        json!([with("apiVersion", json!("apps/"))]),
        json!([with("kind", json!("not a kind"))]),
        json!([with("name", json!("Not A Name"))]),
        json!([with("uid", json!("not a uid"))]),
        json!([with("apiVersion", json!("v1")), with("apiVersion", json!("v1"))]),
        json!([{"apiVersion": "v1", "kind": "Event", "name": "e", "uid": uid}]),
        json!([{"apiVersion": "events.k8s.io/v1", "kind": "Event", "name": "e", "uid": uid}]),
        json!([controller("x"), controller("y")]),
        json!([controller("x"), controller("y"), controller("z")]),
        json!([with("blockOwnerDeletion", json!("yes"))]),
        json!([with("controller", json!(1))]),
        json!({}),
    ] {
        let body = json!({"metadata": {"name": "b", "ownerReferences": owners}});
        out.push(post(format!("{CONFIGMAPS}?dryRun=All"), body));
        let body = json!({"metadata": {"ownerReferences": owners}});
        out.push(merge(format!("{A}?dryRun=All"), body));
    }
    out
}

fn lists() -> Vec<Step> {
    let set = |spec: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec});
    let held = json!([{"name": "example.com/wait"}]);
    let container = |rest: Value| {
        let mut one = json!({"name": "main", "image": "app:v1"});
        for (key, value) in rest.as_object().into_iter().flatten() {
            one[key] = value.clone();
        }
        one
    };
    let mut out = Vec::new();
    for spec in [
        json!({"containers": [{"image": "app:v1"}]}),
        json!({"containers": [container(json!({})), container(json!({}))]}),
        json!({"containers": [container(json!({"ports": [{"protocol": "TCP"}]}))]}),
        json!({"containers": [container(json!({"ports": [{"containerPort": 80}, {"containerPort": 80}]}))]}),
        json!({"containers": [container(json!({"ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]}))]}),
        json!({"containers": [container(json!({"ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]}))]}),
        json!({"containers": [container(json!({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}))]}),
        json!({"containers": [container(json!({"env": [{"value": "1"}]}))]}),
        json!({"containers": [container(json!({"volumeMounts": [{"name": "v"}]}))]}),
        json!({"containers": [container(json!({"volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "w", "mountPath": "/a"}]}))], "volumes": [{"name": "v"}, {"name": "w"}]}),
        json!({"containers": [container(json!({}))], "volumes": [{"name": "v"}, {"name": "v"}]}),
        json!({"containers": [container(json!({}))], "tolerations": [{"key": "a"}, {"key": "a"}]}),
        json!({"containers": [container(json!({}))], "imagePullSecrets": [{}, {"name": "x"}]}),
        json!({"containers": [container(json!({}))], "hostAliases": [{"hostnames": ["a"]}]}),
        json!({"containers": [container(json!({}))], "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
            {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]}),
        json!({"containers": [null]}),
        json!({"containers": ["x"]}),
        json!({"containers": null}),
        json!({"containers": []}),
        json!({"containers": {}}),
    ] {
        let mut spec = spec;
        spec["schedulingGates"] = held.clone();
        out.push(apply(P, "one", false, set(spec)));
        out.push(Step::Quiet(Box::new(delete(format!("{P}?gracePeriodSeconds=0")))));
    }
    let finalizers = |all: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": all}});
    out.push(apply(A, "one", false, finalizers(json!(["x.com/y", "x.com/y"]))));
    out.push(apply(A, "one", false, finalizers(json!([1]))));
    out.push(apply(A, "one", false, finalizers(json!([null]))));
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"});
    let owners = |all: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "ownerReferences": all}});
    out.push(apply(A, "one", false, owners(json!([owner, owner]))));
    out.push(apply(A, "one", false, owners(json!([{"name": "x"}]))));
    out
}

/// What a plain write may bring in, and an apply then finds.
fn twofold() -> Vec<Step> {
    let held = json!([{"name": "example.com/wait"}]);
    let env = |env: Value| {
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
            "spec": {
                "schedulingGates": held,
                "containers": [{"name": "main", "image": "app:v1", "env": env}],
            },
        })
    };
    let mut twice = env(json!([
        {"name": "A", "value": "1"}, {"name": "B", "value": "1"}, {"name": "A", "value": "2"},
    ]));
    twice["spec"]["containers"][0]["ports"] =
        json!([{"containerPort": 80, "name": "a"}, {"containerPort": 80, "name": "b"}]);
    let mut out = Vec::new();
    for applied in [
        json!([{"name": "B", "value": "1"}]),
        json!([{"name": "C", "value": "1"}]),
        json!([{"name": "A", "value": "1"}]),
    ] {
        out.push(post(PODS, twice.clone()));
        out.push(apply(P, "one", true, env(applied)));
        out.push(apply(P, "one", true, env(json!([]))));
        let label = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"x": "1"}}});
        out.push(apply(P, "two", true, label));
        out.push(merge(P, json!({"metadata": {"labels": {"y": "1"}}})));
        out.push(Step::Quiet(Box::new(delete(format!("{P}?gracePeriodSeconds=0")))));
    }
    out
}

fn statuses() -> Vec<Step> {
    let mut out = vec![post(SETS, web(0, json!({"type": "OnDelete"}))), Step::Rest];
    let status = format!("{WEB}/status");
    for body in [
        json!({"replicas": -1}),
        json!({"readyReplicas": -1}),
        json!({"currentReplicas": -1, "updatedReplicas": -2}),
        json!({"replicas": 1, "readyReplicas": 2}),
        json!({"replicas": 1, "currentReplicas": 2}),
        json!({"replicas": 1, "updatedReplicas": 2}),
        json!({"replicas": 1, "availableReplicas": 2}),
        json!({"replicas": 2, "readyReplicas": 1, "availableReplicas": 2}),
        json!({"observedGeneration": -1}),
        json!({"collisionCount": -1}),
        json!({"conditions": [{"type": "", "status": "Maybe"}]}),
    ] {
        out.push(merge(format!("{status}?dryRun=All"), json!({"status": body})));
    }
    let deployments = "/apis/apps/v1/namespaces/$ns/deployments";
    let sets = "/apis/apps/v1/namespaces/$ns/replicasets";
    let daemons = "/apis/apps/v1/namespaces/$ns/daemonsets";
    let spec = json!({
        "replicas": 0, "selector": {"matchLabels": {"app": "other"}},
        "template": {
            "metadata": {"labels": {"app": "other"}},
            "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
        },
    });
    let mut daemon = spec.clone();
    daemon.as_object_mut().expect("a spec is a map").remove("replicas");
    daemon["template"]["spec"]["nodeSelector"] = json!({"nowhere": "yes"});
    out.extend([
        post(deployments, json!({"metadata": {"name": "d"}, "spec": spec})),
        post(daemons, json!({"metadata": {"name": "d"}, "spec": daemon})),
    ]);
    let mut spec = spec;
    spec["selector"]["matchLabels"]["app"] = "third".into();
    spec["template"]["metadata"]["labels"]["app"] = "third".into();
    out.push(post(sets, json!({"metadata": {"name": "r"}, "spec": spec})));
    out.push(Step::Rest);
    for path in [format!("{deployments}/d"), format!("{sets}/r")] {
        for body in [
            json!({"replicas": -1, "readyReplicas": -1, "availableReplicas": -1}),
            json!({"replicas": 1, "readyReplicas": 2}),
            json!({"replicas": 1, "availableReplicas": 2}),
            json!({"replicas": 2, "readyReplicas": 1, "availableReplicas": 2}),
            json!({"replicas": 1, "updatedReplicas": 2, "fullyLabeledReplicas": 2}),
            json!({"unavailableReplicas": -1, "terminatingReplicas": -1}),
            json!({"observedGeneration": -1}),
            json!({"collisionCount": -1}),
        ] {
            out.push(merge(format!("{path}/status?dryRun=All"), json!({"status": body})));
        }
    }
    for body in [
        json!({"currentNumberScheduled": -1, "numberMisscheduled": -1}),
        json!({"desiredNumberScheduled": -1, "numberReady": -1, "updatedNumberScheduled": -1}),
        json!({"numberAvailable": -1, "numberUnavailable": -1, "observedGeneration": -1}),
        json!({"collisionCount": -1}),
    ] {
        out.push(merge(format!("{daemons}/d/status?dryRun=All"), json!({"status": body})));
    }
    let budgets = "/apis/policy/v1/namespaces/$ns/poddisruptionbudgets";
    out.push(super::budget("b", "nobody", json!({"maxUnavailable": 1})));
    out.push(Step::Rest);
    for body in [
        json!({"disruptionsAllowed": -1, "currentHealthy": -1, "desiredHealthy": -1, "expectedPods": -1}),
        json!({"conditions": [{"type": "x", "status": "Maybe", "reason": "", "message": "", "lastTransitionTime": null}]}),
        json!({"observedGeneration": -1}),
    ] {
        out.push(merge(format!("{budgets}/b/status?dryRun=All"), json!({"status": body})));
    }
    out
}

fn watches() -> Vec<Step> {
    let query = "timeoutSeconds=1&resourceVersion=$mark";
    vec![
        Step::Mark(CONFIGMAPS.to_owned()),
        post(CONFIGMAPS, config_map("a", json!({"x": "1"}), json!({}))),
        post(CONFIGMAPS, config_map("b", json!({"x": "2"}), json!({}))),
        delete(A),
        get(format!("/api/v1/watch/namespaces/$ns/configmaps?watch=1&{query}")),
        get(format!("/api/v1/watch/namespaces/$ns/configmaps/a?watch=1&{query}")),
        get(format!("/api/v1/watch/namespaces/$ns/configmaps?watch=1&{query}&labelSelector=x%3D2")),
        get(format!("/apis/apps/v1/watch/namespaces/$ns/statefulsets?watch=1&{query}")),
        get(format!(
            "/api/v1/watch/configmaps?watch=1&{query}&fieldSelector=metadata.namespace%3D$ns"
        )),
        get(format!("/api/v1/watch/namespaces/$ns?watch=1&{query}")),
        get("/api/v1/watch/namespaces/$ns/nonsense?watch=1"),
        get("/api/v1/watch/namespaces/$ns/configmaps/a/status?watch=1"),
        post("/api/v1/watch/namespaces/$ns/configmaps", json!({})),
        delete("/api/v1/watch/namespaces/$ns/configmaps"),
        delete("/api/v1/watch/namespaces/$ns/configmaps/a"),
    ]
}
