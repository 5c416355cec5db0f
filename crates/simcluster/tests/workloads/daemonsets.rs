use simcluster::json::{Value, json};
use simcluster::object::{self, CONTROLLER_REVISIONS, DAEMONSETS, Key, NODES, Object, PODS};

use crate::lab::{Lab, template};

fn web() -> Key {
    Key::new(DAEMONSETS, "default", "web")
}

fn with(edit: impl FnOnce(&mut Value)) -> Lab {
    let mut lab = Lab::new(1);
    let mut spec = template("app:v1");
    edit(&mut spec);
    lab.create(
        DAEMONSETS,
        json!({"metadata": {"name": "web", "namespace": "default"}, "spec": spec}),
    );
    lab.pass(30);
    lab
}

fn image(lab: &Lab, image: &str) {
    lab.edit(&web(), |set| {
        set["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
    });
}

fn status(lab: &Lab) -> Value {
    lab.get(&web()).unwrap()["status"].clone()
}

/// The node of each Pod, sorted.
fn nodes(lab: &Lab) -> Vec<String> {
    let node = |pod: &Object| pod["spec"]["nodeName"].as_str().unwrap_or("none").to_owned();
    let mut nodes: Vec<String> = lab.pods().iter().map(node).collect();
    nodes.sort();
    nodes
}

fn ready(lab: &Lab) -> usize {
    let is_ready = |pod: &&Object| {
        let all = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        all.iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
    };
    lab.pods().iter().filter(is_ready).count()
}

#[test]
fn each_node_gets_a_pod() {
    let lab = with(|_| {});
    assert_eq!(nodes(&lab), ["node-0", "node-1", "node-2"]);
    assert_eq!(
        status(&lab),
        json!({
            "currentNumberScheduled": 3, "desiredNumberScheduled": 3, "numberAvailable": 3,
            "numberMisscheduled": 0, "numberReady": 3, "observedGeneration": 1,
            "updatedNumberScheduled": 3,
        })
    );
    assert_eq!(lab.said("DaemonSet").len(), 3);
    assert!(
        lab.said("DaemonSet")
            .iter()
            .all(|one| one.starts_with("SuccessfulCreate: Created pod: web-"))
    );
    let revisions = lab.list(&CONTROLLER_REVISIONS);
    assert_eq!(revisions.len(), 1);
    let hash = object::label(&revisions[0], "controller-revision-hash");
    assert!(lab.pods().iter().all(|pod| object::label(pod, "controller-revision-hash") == hash));
    assert_eq!(object::label(&lab.pods()[0], "pod-template-generation"), Some("1"));
}

#[test]
fn a_new_template_is_rolled_one_node_at_a_time() {
    let mut lab = with(|_| {});
    image(&lab, "app:v2");
    for _ in 0..300 {
        lab.pass(1);
        assert!(ready(&lab) >= 2);
    }
    assert_eq!(lab.images(), ["app:v2"; 3]);
    assert_eq!(status(&lab)["updatedNumberScheduled"], 3);
    assert_eq!(object::label(&lab.pods()[0], "pod-template-generation"), Some("2"));
}

#[test]
fn with_surge_no_node_is_ever_without_a_ready_pod() {
    let mut lab = with(|spec| {
        spec["updateStrategy"] = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
    });
    image(&lab, "app:v2");
    for _ in 0..300 {
        lab.pass(1);
        assert!(ready(&lab) >= 3);
        assert!(lab.pods().len() <= 4);
    }
    assert_eq!(lab.images(), ["app:v2"; 3]);
}

#[test]
fn under_on_delete_only_a_deleted_pod_comes_back_new() {
    let mut lab = with(|spec| spec["updateStrategy"] = json!({"type": "OnDelete"}));
    image(&lab, "app:v2");
    lab.pass(60);
    assert_eq!(lab.images(), ["app:v1"; 3]);
    lab.delete(&Key::of(PODS, &lab.pods()[0]));
    lab.pass(60);
    assert_eq!(lab.images(), ["app:v1", "app:v1", "app:v2"]);
    assert_eq!(status(&lab)["updatedNumberScheduled"], 1);
}

#[test]
fn a_template_that_comes_back_raises_its_revision() {
    let mut lab = with(|spec| spec["revisionHistoryLimit"] = 1.into());
    for version in ["app:v2", "app:v1", "app:v3"] {
        image(&lab, version);
        lab.pass(120);
    }
    let mut numbers: Vec<Value> =
        lab.list(&CONTROLLER_REVISIONS).iter().map(|one| one["revision"].clone()).collect();
    numbers.sort_by_key(|number| number.as_i64());
    assert_eq!(numbers, [3, 4]);
}

#[test]
fn a_broken_template_stops_after_the_first_node() {
    let mut lab = with(|_| {});
    image(&lab, "broken:v2");
    lab.pass(120);
    assert_eq!(lab.images(), ["app:v1", "app:v1", "broken:v2"]);
    assert_eq!(status(&lab)["numberUnavailable"], 1);
    image(&lab, "app:v1");
    lab.pass(120);
    assert_eq!(lab.images(), ["app:v1"; 3]);
}

#[test]
fn nodes_come_and_go_and_are_chosen_by_their_labels() {
    let mut lab = with(|spec| spec["template"]["spec"]["nodeSelector"] = json!({"disk": "ssd"}));
    assert_eq!(nodes(&lab), [""; 0]);
    let label = |lab: &Lab, value: &str| {
        lab.edit(&lab.node(1), |node| node["metadata"]["labels"]["disk"] = value.into());
    };
    label(&lab, "ssd");
    lab.pass(30);
    assert_eq!(nodes(&lab), ["node-1"]);
    label(&lab, "tape");
    lab.pass(60);
    assert_eq!(nodes(&lab), [""; 0]);
    let labels = json!({"disk": "ssd"});
    lab.create(NODES, json!({"metadata": {"name": "node-9", "labels": labels}}));
    lab.pass(30);
    assert_eq!(nodes(&lab), ["node-9"]);
    assert_eq!(status(&lab)["desiredNumberScheduled"], 1);
}

#[test]
fn a_cordoned_node_keeps_its_daemon_and_gets_a_new_one() {
    let mut lab = with(|_| {});
    lab.edit(&lab.node(0), |node| node["spec"]["unschedulable"] = true.into());
    lab.pass(5);
    let on_it = lab.pods().into_iter().find(|pod| pod["spec"]["nodeName"] == "node-0").unwrap();
    lab.delete(&Key::of(PODS, &on_it));
    lab.pass(60);
    assert_eq!(nodes(&lab), ["node-0", "node-1", "node-2"]);
}

#[test]
fn a_failed_pod_is_replaced_and_spoken_of() {
    let mut lab = with(|_| {});
    let mut failed = Value::clone(&lab.pods()[0]);
    failed["status"]["phase"] = "Failed".into();
    lab.write_status(&Key::of(PODS, &failed), failed["status"].clone());
    lab.pass(60);
    assert_eq!(nodes(&lab), ["node-0", "node-1", "node-2"]);
    assert_eq!(ready(&lab), 3);
    let node = failed["spec"]["nodeName"].as_str().unwrap();
    let said = format!(
        "FailedDaemonPod: Found failed daemon pod default/{} on node {node}, will try to kill it",
        object::name(&failed)
    );
    assert!(lab.said("DaemonSet").contains(&said), "{:?}", lab.said("DaemonSet"));
}

#[test]
fn the_daemon_of_a_lost_node_stays_and_counts_as_astray_until_it_is_back() {
    let mut lab = with(|_| {});
    let lost = |lab: &Lab, value: Value| {
        lab.edit(&lab.node(1), |node| {
            node["metadata"]["annotations"] = json!({"simcluster.sluice.dev/lost": value});
        });
    };
    lost(&lab, "true".into());
    lab.pass(600);
    let counts = |lab: &Lab| {
        let status = status(lab);
        ["desiredNumberScheduled", "numberMisscheduled", "numberReady"]
            .map(|field| status[field].as_i64().unwrap_or(0))
    };
    assert_eq!(counts(&lab), [2, 1, 2]);
    assert_eq!(nodes(&lab), ["node-0", "node-1", "node-2"]);
    lab.edit(&lab.node(1), |node| {
        node["metadata"].as_object_mut().unwrap().remove("annotations");
    });
    lab.pass(60);
    assert_eq!(counts(&lab), [3, 0, 3]);
}
