//! HorizontalPodAutoscalers as they are kept, and the scale that one works through.

use serde_json::{Value, json};

use super::DEPLOYMENTS;
use super::act::Act;
use super::deployments::{deployment, scale};
use crate::step::{apply, get, merge, post, put};

const AUTOSCALERS: &str = "/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers";
const WEB: &str = "/apis/apps/v1/namespaces/$ns/deployments/web";

pub(super) fn all() -> Vec<(&'static str, Vec<Act>)> {
    vec![("an autoscaler is kept or refused", kept()), ("a scale is called", called())]
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
    ]
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
