use simcluster::json::{Value, json};
use simcluster::object::{self, Key, PODS, REPLICASETS};

use crate::lab::{Lab, template};

fn web() -> Key {
    Key::new(REPLICASETS, "default", "web")
}

fn with(replicas: i64, edit: impl FnOnce(&mut Value)) -> Lab {
    let mut lab = Lab::new(1);
    let mut spec = template("app:v1");
    spec["replicas"] = replicas.into();
    edit(&mut spec);
    lab.create(
        REPLICASETS,
        json!({"metadata": {"name": "web", "namespace": "default"}, "spec": spec}),
    );
    lab.pass(10);
    lab
}

fn status(lab: &Lab) -> Value {
    lab.get(&web()).unwrap()["status"].clone()
}

#[test]
fn a_set_has_as_many_pods_as_it_wants_and_says_so() {
    let lab = with(3, |_| {});
    assert_eq!(
        status(&lab),
        json!({
            "replicas": 3, "fullyLabeledReplicas": 3, "readyReplicas": 3, "availableReplicas": 3,
            "terminatingReplicas": 0, "observedGeneration": 1,
        })
    );
    let pods = lab.pods();
    let said: Vec<String> = pods
        .iter()
        .map(|pod| format!("SuccessfulCreate: Created pod: {}", object::name(pod)))
        .collect();
    let mut heard = lab.said("ReplicaSet");
    heard.sort();
    assert_eq!(heard, said);
    assert!(pods.iter().all(|pod| pod["metadata"]["generateName"] == "web-"));
}

#[test]
fn a_lost_pod_is_replaced_and_one_too_many_goes() {
    let mut lab = with(2, |spec| {
        let slow = json!({"simcluster.sluice.dev/terminate-after": "5s"});
        spec["template"]["metadata"]["annotations"] = slow;
    });
    lab.delete(&Key::of(PODS, &lab.pods()[0]));
    lab.pass(60);
    assert_eq!(status(&lab)["readyReplicas"], 2);
    lab.edit(&web(), |set| set["spec"]["replicas"] = 1.into());
    lab.pass(1);
    assert_eq!(status(&lab)["terminatingReplicas"], 1);
    lab.pass(60);
    assert_eq!(lab.pods().len(), 1);
    let status = status(&lab);
    assert_eq!((&status["replicas"], &status["terminatingReplicas"]), (&json!(1), &json!(0)));
}

#[test]
fn the_cheapest_pod_goes_first() {
    let mut lab = with(3, |_| {});
    let cheap = Key::of(PODS, &lab.pods()[1]);
    lab.edit(&cheap, |pod| {
        pod["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"] = "-5".into();
    });
    lab.edit(&web(), |set| set["spec"]["replicas"] = 2.into());
    lab.pass(60);
    assert!(lab.get(&cheap).is_none());
}

#[test]
fn a_stray_is_let_go_and_an_orphan_taken() {
    let mut lab = with(2, |_| {});
    let stray = Key::of(PODS, &lab.pods()[0]);
    lab.edit(&stray, |pod| pod["metadata"]["labels"]["app"] = "other".into());
    lab.pass(10);
    let pod = lab.get(&stray).unwrap();
    assert!(object::controller(&pod).is_none());
    assert_eq!(lab.pods().len(), 3);
    // Back again it is one too many, and the set owns all that are left.
    lab.edit(&stray, |pod| pod["metadata"]["labels"]["app"] = "web".into());
    lab.pass(60);
    assert_eq!(lab.pods().len(), 2);
    assert!(lab.pods().iter().all(|pod| object::controller(pod).is_some()));
}

#[test]
fn a_pod_counts_as_available_after_min_ready_seconds() {
    let mut lab = with(1, |spec| spec["minReadySeconds"] = 30.into());
    assert_eq!(status(&lab)["readyReplicas"], 1);
    assert_eq!(status(&lab)["availableReplicas"], Value::Null);
    lab.pass(30);
    assert_eq!(status(&lab)["availableReplicas"], 1);
}
