//! What holds for every verb: dry run, field validation, and who is noted in managedFields.

use serde_json::{Value, json};

use super::{
    BUDGETS, CONFIGMAPS, PODS, SETS, WIDGETS, budget, config_map, definition, pod, web, widget,
};
use crate::step::{
    Step, apply, delete, delete_with, evict, get, json_patch, merge, post, put, strategic,
};

pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    let custom = |steps: Vec<Step>| [definition(), steps].concat();
    vec![
        ("dry run of a ConfigMap", dry(CONFIGMAPS, &map())),
        ("dry run of a StatefulSet", rested(dry(SETS, &set()))),
        ("dry run of a custom resource", custom(dry(WIDGETS, &gadget()))),
        ("dry run of a Pod and its eviction", dry_pod()),
        ("field validation of a ConfigMap", validated(CONFIGMAPS, &map(), "/data")),
        (
            "field validation of a StatefulSet",
            rested(validated(SETS, &set(), "/spec/template/spec")),
        ),
        ("field validation of a custom resource", custom(validated(WIDGETS, &gadget(), "/spec"))),
        ("managers of a ConfigMap", managers(CONFIGMAPS, &map())),
        ("managers of a StatefulSet", set_managers()),
        ("managers of a custom resource", custom(managers(WIDGETS, &gadget()))),
        ("managers of a Pod", pod_managers()),
    ]
}

fn map() -> Value {
    config_map("a", json!({"x": "1"}), json!({"k": "v"}))
}

/// What controllers write meanwhile is a matter of time.
fn rested(steps: Vec<Step>) -> Vec<Step> {
    steps.into_iter().flat_map(|step| [step, Step::Rest]).collect()
}

/// Without Pods: there is nothing to wait for but the status.
fn set() -> Value {
    let mut set = web(0, json!({"type": "OnDelete"}));
    set["metadata"]["name"] = "a".into();
    set
}

fn gadget() -> Value {
    widget("a", json!({"size": 1, "parts": [{"name": "x"}]}))
}

/// With another label, as a PUT.
fn changed(object: &Value, path: &str) -> Value {
    let mut object = object.clone();
    object["metadata"]["resourceVersion"] = format!("$rv({path})").into();
    object["metadata"]["labels"] = json!({"x": "2"});
    object
}

fn dry(collection: &str, object: &Value) -> Vec<Step> {
    let one = format!("{collection}/a");
    let dry = format!("{one}?dryRun=All");
    let label = json!({"metadata": {"labels": {"dry": "run"}}});
    // The real collector looks for new custom kinds every half minute only.
    let policy = if collection == WIDGETS { "Background" } else { "Foreground" };
    let mut out = vec![
        post(format!("{collection}?dryRun=All"), object.clone()),
        get(one.clone()),
        Step::Call {
            method: "PATCH",
            path: format!("{dry}&fieldManager=one"),
            content_type: "application/apply-patch+yaml",
            body: object.clone(),
        },
        get(one.clone()),
        post(format!("{collection}?dryRun=Some"), object.clone()),
        post(format!("{collection}?dryRun=All&dryRun=All"), object.clone()),
        post(collection, object.clone()),
        post(format!("{collection}?dryRun=All"), object.clone()),
        Step::Rest,
        put(dry.clone(), changed(object, &one)),
        merge(dry.clone(), label.clone()),
        merge(format!("{one}?dryRun=None"), label.clone()),
        json_patch(
            dry.clone(),
            json!([{"op": "add", "path": "/metadata/annotations", "value": {"dry": "run"}}]),
        ),
        Step::Call {
            method: "PATCH",
            path: format!("{dry}&fieldManager=one&force=true"),
            content_type: "application/apply-patch+yaml",
            body: json!({
                "apiVersion": object["apiVersion"], "kind": object["kind"],
                "metadata": {"name": "a", "labels": {"dry": "run"}},
            }),
        },
        get(one.clone()),
        delete(dry.clone()),
        delete_with(one.clone(), json!({"dryRun": ["All"]})),
        delete_with(one.clone(), json!({"dryRun": ["Some"]})),
        // Who sends options says nothing by the query: this one goes.
        delete_with(dry, json!({"propagationPolicy": policy})),
        Step::Rest,
        post(collection, object.clone()),
        delete(format!("{collection}?dryRun=All")),
        delete_with(collection, json!({"dryRun": ["All"]})),
        get(one.clone()),
        delete(one),
        Step::Rest,
    ];
    if collection != WIDGETS {
        out.insert(12, strategic(format!("{collection}/a?dryRun=All"), label));
    }
    out
}

fn dry_pod() -> Vec<Step> {
    let one = format!("{PODS}/a");
    vec![
        post(format!("{PODS}?dryRun=All"), pod("a", "web", "app:v1")),
        get(one.clone()),
        post(PODS, pod("a", "web", "app:v1")),
        Step::Rest,
        delete(format!("{one}?dryRun=All")),
        delete(format!("{one}?dryRun=All&gracePeriodSeconds=0")),
        delete_with(one.clone(), json!({"dryRun": ["All"], "gracePeriodSeconds": 0})),
        evict("a", json!({"dryRun": ["All"]})),
        post(
            format!("{one}/eviction?dryRun=All"),
            json!({
                "apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"name": "a", "namespace": "$ns"},
            }),
        ),
        merge(format!("{one}/status?dryRun=All"), json!({"status": {"phase": "Failed"}})),
        delete(format!("{PODS}?dryRun=All")),
        get(one.clone()),
        budget("none", "web", json!({"maxUnavailable": 0})),
        Step::Rest,
        evict("a", json!({"dryRun": ["All"]})),
        Step::Rest,
        get(one.clone()),
        merge(format!("{BUDGETS}/none?dryRun=All"), json!({"spec": {"maxUnavailable": 1}})),
        delete(format!("{one}?gracePeriodSeconds=0")),
        Step::Rest,
    ]
}

/// The object with something that no schema knows, at the top and at a place below.
fn unknown(object: &Value, place: &str) -> Value {
    let mut object = object.clone();
    object["nonsense"] = json!(1);
    object["metadata"]["nonsense"] = json!({"a": 1});
    if place != "/data" {
        object.pointer_mut(place).expect("the place is there")["nonsense"] = json!([1]);
    }
    object
}

fn validated(collection: &str, object: &Value, place: &str) -> Vec<Step> {
    let one = format!("{collection}/a");
    let bad = unknown(object, place);
    let mut out = Vec::new();
    for how in ["Strict", "Warn", "Ignore", "Nonsense"] {
        let validation = format!("fieldValidation={how}");
        out.push(post(format!("{collection}?{validation}"), bad.clone()));
        out.push(delete(one.clone()));
        out.push(Step::Rest);
        out.push(post(collection, object.clone()));
        let changed = changed(&bad, &one);
        out.push(put(format!("{one}?{validation}"), changed.clone()));
        let mut patch = json!({
            "metadata": {"nonsense": 2, "labels": {"patched": "yes"}}, "nonsense": {"deep": 1},
        });
        out.push(merge(format!("{one}?{validation}"), patch.clone()));
        patch["metadata"]["labels"]["patched"] = "no".into();
        if collection != WIDGETS {
            out.push(strategic(format!("{one}?{validation}"), patch));
        }
        out.push(json_patch(
            format!("{one}?{validation}"),
            json!([
                {"op": "add", "path": "/metadata/annotations", "value": {"patched": how}},
                {"op": "add", "path": "/nonsense", "value": 1},
            ]),
        ));
        let force = format!("{one}?{validation}&fieldManager=one&force=true");
        out.push(Step::Call {
            method: "PATCH",
            path: force.clone(),
            content_type: "application/apply-patch+yaml",
            body: object.clone(),
        });
        // A single unknown field: the real server looks at several at once, and stops at any.
        let mut deep = object.clone();
        let place = if place == "/data" { "/metadata" } else { place };
        deep.pointer_mut(place).expect("the place is there")["nonsense"] = json!([1]);
        out.push(Step::Call {
            method: "PATCH",
            path: force,
            content_type: "application/apply-patch+yaml",
            body: deep,
        });
        out.push(get(one.clone()));
        out.push(delete(one.clone()));
        out.push(Step::Rest);
    }
    // Without saying anything, it is a warning.
    out.push(post(collection, bad.clone()));
    out.push(put(one.clone(), changed(&bad, &one)));
    out.push(delete(format!("{one}?fieldValidation=Strict")));
    out
}

fn managers(collection: &str, object: &Value) -> Vec<Step> {
    let one = format!("{collection}/a");
    let with = |manager: &str| format!("{one}?fieldManager={manager}");
    let label = |value: &str| json!({"metadata": {"labels": {"l": value}}});
    let applied = |value: &str| {
        json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"],
            "metadata": {"name": "a", "labels": {"l": value}},
        })
    };
    vec![
        post(format!("{collection}?fieldManager=maker"), object.clone()),
        put(with("putter"), changed(object, &one)),
        merge(with("merger"), label("1")),
        merge(with("merger"), label("1")),
        json_patch(
            with("patcher"),
            json!([{"op": "add", "path": "/metadata/labels/m", "value": "1"}]),
        ),
        apply(&one, "applier", false, applied("2")),
        apply(&one, "applier", true, applied("2")),
        merge(with("applier"), label("3")),
        merge(with("applier"), json!({"metadata": {"annotations": {"a": "1", "b": "2"}}})),
        merge(with("other"), json!({"metadata": {"annotations": {"a": null}}})),
        merge(with("other"), json!({"metadata": {"annotations": null}})),
        merge(with("other"), json!({"metadata": {"finalizers": ["example.com/x"]}})),
        merge(
            with("more"),
            json!({"metadata": {"finalizers": ["example.com/x", "example.com/y"]}}),
        ),
        apply(
            &one,
            "applier",
            true,
            json!({
                "apiVersion": object["apiVersion"], "kind": object["kind"],
                "metadata": {"name": "a", "finalizers": ["example.com/z"]},
            }),
        ),
        put(with("back"), changed(object, &one)),
        merge(
            with("x"),
            json!({"metadata": {"managedFields": [{
                "manager": "y", "operation": "Update", "apiVersion": object["apiVersion"],
                "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:metadata": {"f:labels": {"f:x": {}}}},
            }]}}),
        ),
        merge(with("x"), label("5")),
        merge(with("x"), json!({"metadata": {"managedFields": [{}]}})),
        merge(with("x"), label("6")),
        apply(&one, "applier", false, applied("7")),
        apply(&one, "applier", true, applied("7")),
        merge(with("a%20name%20with%20spaces"), label("8")),
        merge(format!("{one}?fieldManager={}", "m".repeat(129)), label("9")),
        merge(format!("{one}?fieldManager=%07"), label("9")),
        delete(one.clone()),
        apply(&one, "applier", false, {
            let mut all = object.clone();
            all["metadata"]["labels"] = json!({"l": "1"});
            all
        }),
        delete(one),
    ]
}

fn set_managers() -> Vec<Step> {
    let one = format!("{SETS}/a");
    let mut out = rested(managers(SETS, &set()));
    let applied = |spec: Value| {
        json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"}, "spec": spec,
        })
    };
    let container = |image: &str| json!({"template": {"spec": {"containers": [{"name": "main", "image": image}]}}});
    out.extend([
        post(format!("{SETS}?fieldManager=maker"), set()),
        Step::Rest,
        strategic(format!("{one}?fieldManager=image"), json!({"spec": container("app:v2")})),
        Step::Rest,
        merge(format!("{one}/scale?fieldManager=scaler"), json!({"spec": {"replicas": 2}})),
        Step::Rest,
        apply(&one, "one", false, applied(container("app:v3"))),
        apply(&one, "one", true, applied(container("app:v3"))),
        Step::Rest,
        apply(&one, "one", false, applied(json!({"replicas": 3}))),
        apply(&one, "one", true, applied(json!({"replicas": 3}))),
        Step::Rest,
        apply(
            &format!("{one}/status"),
            "three",
            true,
            json!({
                "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"},
                "status": {"conditions": [{"type": "Mine", "status": "True"}], "replicas": 9},
            }),
        ),
        Step::Rest,
        merge(
            format!("{one}/status?fieldManager=four"),
            json!({"status": {"conditions": [{"type": "Mine", "status": "False"}]}}),
        ),
        Step::Rest,
        get(format!("{one}/status")),
        delete(one),
        Step::Rest,
    ]);
    out
}

fn pod_managers() -> Vec<Step> {
    let one = format!("{PODS}/a");
    let mut bound = pod("a", "web", "app:v1");
    bound["spec"]["nodeName"] = "no-such-node".into();
    vec![
        post(format!("{PODS}?fieldManager=maker"), bound),
        merge(
            format!("{one}/status?fieldManager=state"),
            json!({"status": {"conditions": [
                {"type": "Mine", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
            ]}}),
        ),
        strategic(
            format!("{one}/status?fieldManager=other"),
            json!({"status": {"conditions": [
                {"type": "Yours", "status": "True", "reason": "Because", "message": "of it"},
            ]}}),
        ),
        strategic(
            format!("{one}?fieldManager=image"),
            json!({"spec": {"containers": [{"name": "main", "image": "app:v2"}]}}),
        ),
        merge(
            format!("{one}?fieldManager=tolerant"),
            json!({"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}}),
        ),
        merge(format!("{one}?fieldManager=x"), json!({"spec": {"activeDeadlineSeconds": 100}})),
        merge(format!("{one}?fieldManager=x"), json!({"spec": {"nodeName": "another"}})),
        apply(
            &one,
            "one",
            false,
            json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
                "spec": {"containers": [{"name": "main", "image": "app:v2"}]},
            }),
        ),
        apply(
            &one,
            "one",
            false,
            json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
                "spec": {"containers": [
                    {"name": "main", "image": "app:v2", "ports": [{"containerPort": 80}]},
                ]},
            }),
        ),
        apply(
            &one,
            "one",
            false,
            json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
                "spec": {"nonsense": 1, "containers": [{"name": "main", "image": "app:v2"}]},
            }),
        ),
        apply(
            &one,
            "one",
            false,
            json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
                "spec": {"containers": [{"name": "main", "image": "app:v2", "nonsense": 1}]},
            }),
        ),
        apply(
            &format!("{one}/status"),
            "two",
            true,
            json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
                "status": {"conditions": [{"type": "Mine", "status": "False"}]},
            }),
        ),
        get(one.clone()),
        delete_with(one, json!({"gracePeriodSeconds": 0})),
    ]
}
