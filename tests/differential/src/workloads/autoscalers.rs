//! HorizontalPodAutoscalers as they are kept, and the scale that one works through.

use serde_json::{Value, json};

use super::DEPLOYMENTS;
use super::act::Act;
use super::deployments::{deployment, scale};
use crate::step::{apply, delete, get, json_patch, merge, post, put, strategic};

const AUTOSCALERS: &str = "/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers";
const WEB: &str = "/apis/apps/v1/namespaces/$ns/deployments/web";

pub(super) fn all() -> Vec<(&'static str, Vec<Act>)> {
    vec![
        ("an autoscaler is kept or refused", kept()),
        ("a scale is called", called()),
        ("a scale is refused", not_called()),
    ]
}

/// One of a Deployment that isn't there, so that nobody scales by it.
fn autoscaler(name: &str, edit: impl FnOnce(&mut Value)) -> Act {
    let mut object = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nobody"},
            "maxReplicas": 5,
        },
    });
    edit(&mut object["spec"]);
    post(AUTOSCALERS, object).into()
}

fn kept() -> Vec<Act> {
    let metric = |name: &'static str, metric: Value| {
        autoscaler(name, |spec| spec["metrics"] = json!([metric]))
    };
    let cpu =
        |target: Value| json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
    let policy = |value: i32, seconds: i32| json!({"policies": [{"type": "Pods", "value": value, "periodSeconds": seconds}]});
    vec![
        autoscaler("plain", |_| {}),
        autoscaler("a", |spec| spec["minReplicas"] = 0.into()),
        autoscaler("b", |spec| spec["maxReplicas"] = 0.into()),
        autoscaler("c", |spec| spec["maxReplicas"] = (-1).into()),
        autoscaler("d", |spec| spec["minReplicas"] = 9.into()),
        autoscaler("e", |spec| spec["scaleTargetRef"] = json!({})),
        autoscaler("f", |spec| spec["scaleTargetRef"]["apiVersion"] = "v1".into()),
        autoscaler("g", |spec| spec["scaleTargetRef"]["apiVersion"] = "a/b/c".into()),
        metric("h", json!({"type": "Resource"})),
        metric("i", json!({"type": "Nonsense"})),
        metric("j", cpu(json!({"type": "Utilization"}))),
        metric("k", cpu(json!({"type": "Utilization", "averageUtilization": 0}))),
        metric("l", cpu(json!({"type": "AverageValue", "averageValue": "100m"}))),
        metric("m", cpu(json!({"type": "Often", "averageUtilization": 50}))),
        metric(
            "n",
            json!({"type": "Pods", "pods": {
            "metric": {"name": "hits"}, "target": {"type": "Value", "value": "5"}}}),
        ),
        metric(
            "o",
            json!({"type": "External", "external": {"metric": {}, "target": {
            "type": "Value", "value": "5", "averageValue": "2"}}}),
        ),
        autoscaler("p", |spec| spec["behavior"] = json!({})),
        autoscaler("q", |spec| spec["behavior"] = json!({"scaleDown": policy(2, 60)})),
        autoscaler("r", |spec| spec["behavior"] = json!({"scaleUp": policy(0, 1801)})),
        autoscaler("s", |spec| {
            let rules = json!({"stabilizationWindowSeconds": 3601, "selectPolicy": "Some"});
            spec["behavior"] = json!({"scaleDown": rules});
        }),
        autoscaler("t", |spec| spec["behavior"] = json!({"scaleDown": {"policies": []}})),
        autoscaler("u", |spec| spec["behavior"] = json!({"scaleUp": {"policies": []}})),
        autoscaler("v", |spec| {
            let rules = json!({"policies": [{"type": "Some", "value": 1, "periodSeconds": 0}]});
            spec["behavior"] = json!({"scaleUp": rules, "scaleDown": {"selectPolicy": "Disabled"}});
        }),
        autoscaler("w", |spec| {
            spec["behavior"] =
                json!({"scaleUp": {"tolerance": "-1"}, "scaleDown": {"tolerance": "0.1"}});
        }),
        merge(format!("{AUTOSCALERS}/plain"), json!({"spec": {"maxReplicas": 7}})).into(),
        merge(
            format!("{AUTOSCALERS}/plain"),
            json!({"spec": {"behavior": {"scaleUp": {"policies": []}}}}),
        )
        .into(),
        merge(
            format!("{AUTOSCALERS}/plain/status"),
            json!({"status": {"currentReplicas": -1, "desiredReplicas": -1}}),
        )
        .into(),
        get(format!("{AUTOSCALERS}/nobody")).into(),
    ]
}

/// Scales that don't do, of each kind that has one.
fn not_called() -> Vec<Act> {
    let scale = |body: Value| -> Act { put(format!("{WEB}/scale"), body).into() };
    let whole = |edit: &dyn Fn(&mut Value)| {
        let mut body = json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"},
            "spec": {"replicas": 2},
        });
        edit(&mut body);
        scale(body)
    };
    let mut out = vec![
        get(format!("{WEB}/scale")).into(),
        whole(&|_| {}),
        post(DEPLOYMENTS, deployment(1, |_| {})).into(),
        Act::Rest,
        whole(&|body| body["apiVersion"] = "autoscaling/v2".into()),
        whole(&|body| body["apiVersion"] = "v1".into()),
        whole(&|body| body["kind"] = "Deployment".into()),
        whole(&|body| body["metadata"]["name"] = "other".into()),
        whole(&|body| body["metadata"]["namespace"] = "other".into()),
        whole(&|body| body["metadata"]["resourceVersion"] = "1".into()),
        whole(&|body| body["metadata"]["uid"] = "other".into()),
        whole(&|body| body["metadata"] = json!({})),
        whole(&|body| body["spec"] = json!({})),
        Act::Rest,
        whole(&|body| body["spec"]["replicas"] = (-1).into()),
        whole(&|body| body["spec"]["replicas"] = "2".into()),
        whole(&|body| body["status"] = json!({"replicas": 9, "selector": "x"})),
        Act::Rest,
        scale(json!({})),
        scale(json!([])),
        scale(json!({"spec": {"replicas": 1}})),
        merge(format!("{WEB}/scale?dryRun=All"), json!({"spec": {"replicas": 9}})).into(),
        merge(format!("{WEB}/scale?fieldValidation=Strict"), json!({"spec": {"replica": 9}}))
            .into(),
        merge(format!("{WEB}/scale"), json!({"metadata": {"labels": {"x": "y"}}})).into(),
        json_patch(
            format!("{WEB}/scale"),
            json!([{"op": "replace", "path": "/spec/replicas", "value": 2}]),
        )
        .into(),
        json_patch(
            format!("{WEB}/scale"),
            json!([{"op": "test", "path": "/spec/replicas", "value": 9}]),
        )
        .into(),
        strategic(format!("{WEB}/scale"), json!({"spec": {"replicas": 1}})).into(),
        Act::Rest,
        post(format!("{WEB}/scale"), json!({})).into(),
        delete(format!("{WEB}/scale")).into(),
        get(WEB).into(),
    ];
    for kind in ["statefulsets", "replicasets", "daemonsets", "deployments"] {
        let path = format!("/apis/apps/v1/namespaces/$ns/{kind}/nobody/scale");
        out.push(get(path.as_str()).into());
        out.push(merge(path, json!({"spec": {"replicas": 1}})).into());
    }
    out
}

fn called() -> Vec<Act> {
    let at = |path: &str| Act::from(get(path));
    let of = |replicas: Value| {
        let body = json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"},
            "spec": {"replicas": replicas},
        });
        Act::from(put(format!("{WEB}/scale"), body))
    };
    let by = |manager: &str, force: bool, replicas: u8| {
        let body = json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"},
            "spec": {"replicas": replicas},
        });
        Act::from(apply(&format!("{WEB}/scale"), manager, force, body))
    };
    vec![
        post(DEPLOYMENTS, deployment(1, |_| {})).into(),
        Act::Rest,
        at(&format!("{WEB}/scale")),
        scale(3),
        Act::Rest,
        at(&format!("{WEB}/scale")),
        of(json!(2)),
        Act::Rest,
        by("autoscaler", false, 4),
        by("autoscaler", true, 4),
        Act::Rest,
        by("autoscaler", true, 5),
        Act::Rest,
        at(WEB),
        merge(format!("{WEB}/scale"), json!({"spec": {"replicas": -1}})).into(),
        merge(format!("{WEB}/scale"), json!({"spec": {"replicas": null}})).into(),
        Act::Rest,
        at(WEB),
    ]
}
