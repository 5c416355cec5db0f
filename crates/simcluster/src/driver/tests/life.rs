//! What becomes of things when their sets, namespaces and nodes go.

use super::*;

#[test]
fn claims_are_bound_and_outlive_pods_and_set() {
    let mut lab = Lab::with_set(8, 2, |spec| {
        spec["volumeClaimTemplates"] = json!([{
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }]);
    });
    let claim = Key::new(CLAIMS, "default", "data-web-1");
    let uid = lab.get(&claim).unwrap()["metadata"]["uid"].clone();
    assert_eq!(lab.get(&claim).unwrap()["status"]["phase"], "Bound");
    lab.delete(&pod_key(1), None);
    lab.pass(30);
    lab.delete(&set_key(), None);
    lab.pass(30);
    assert_eq!(lab.images().len(), 0);
    assert_eq!(lab.get(&claim).unwrap()["metadata"]["uid"], uid);
}

#[test]
fn claims_go_with_the_set_or_the_scaled_pod_when_the_policy_says_so() {
    let mut lab = Lab::with_set(21, 3, |spec| {
        spec["volumeClaimTemplates"] = json!([{
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }]);
        spec["persistentVolumeClaimRetentionPolicy"] =
            json!({"whenDeleted": "Delete", "whenScaled": "Delete"});
    });
    let claims = |lab: &Lab| lab.server.view().list(&CLAIMS, Some("default")).count();
    lab.delete(&pod_key(0), None);
    lab.pass(30);
    assert_eq!(claims(&lab), 3, "a Pod that is only replaced keeps its claim");
    lab.edit(&set_key(), None, |set| set["spec"]["replicas"] = 2.into());
    lab.pass(30);
    assert_eq!(claims(&lab), 2);
    lab.delete(&set_key(), None);
    lab.pass(30);
    assert_eq!(claims(&lab), 0);
}

#[test]
fn deleting_a_set_takes_its_pods_and_revisions_unless_they_are_orphaned() {
    let count = |lab: &Lab, collection| lab.server.view().list(&collection, None).count();
    for (propagation, pods, revisions) in
        [(None, 0, 0), (Some("Foreground"), 0, 0), (Some("Orphan"), 3, 1)]
    {
        let mut lab = Lab::with_set(9, 3, |_| ());
        lab.delete(&set_key(), propagation);
        lab.pass(60);
        assert!(lab.get(&set_key()).is_none(), "{propagation:?}");
        assert_eq!(count(&lab, PODS), pods, "{propagation:?}");
        assert_eq!(count(&lab, CONTROLLER_REVISIONS), revisions, "{propagation:?}");
    }
}

#[test]
fn deleting_a_namespace_takes_everything_in_it() {
    let mut lab = Lab::with_set(10, 3, |_| ());
    lab.create(BUDGETS, budget(&json!(1)));
    lab.pass(1);
    let key = Key::new(NAMESPACES, "", "default");
    lab.delete(&key, None);
    lab.pass(60);
    assert!(lab.get(&key).is_none(), "{}", lab.picture());
    assert_eq!(lab.images().len(), 0);
}

#[test]
fn pods_of_a_lost_node_stay_terminating_until_the_node_object_goes() {
    let mut lab = Lab::with_set(11, 3, |_| ());
    let node = lab.get(&pod_key(0)).unwrap()["spec"]["nodeName"].as_str().unwrap().to_owned();
    let node_key = Key::new(NODES, "", &node);
    lab.edit(&node_key, None, |node| node["metadata"]["annotations"][node::LOST] = "true".into());
    lab.pass(60);
    assert!(!pod::is_ready(&lab.get(&pod_key(0)).unwrap()));
    let uid = lab.get(&pod_key(0)).unwrap()["metadata"]["uid"].clone();
    lab.pass(3600);
    let stuck = lab.get(&pod_key(0)).unwrap();
    assert!(object::is_terminating(&stuck));
    assert_eq!(stuck["metadata"]["uid"], uid);
    lab.delete(&node_key, None);
    lab.pass(120);
    let back = lab.get(&pod_key(0)).unwrap();
    assert_ne!(back["metadata"]["uid"], uid);
    assert!(pod::is_ready(&back));
    assert_ne!(back["spec"]["nodeName"], node.as_str());
}

#[test]
fn a_pod_in_the_way_of_a_set_makes_creation_fail_aloud_until_it_is_gone() {
    let mut lab = Lab::with_set(18, 1, |_| ());
    lab.create(
        PODS,
        json!({
            "metadata": {"name": "web-1", "namespace": "default", "labels": {"app": "other"}},
            "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
        }),
    );
    lab.edit(&set_key(), None, |set| set["spec"]["replicas"] = 3.into());
    lab.pass(30);
    let events = Collection::known("", "events");
    let said = lab.server.view().list(&events, Some("default")).any(|event| {
        event["reason"] == "FailedCreate"
            && event.to_string().contains("Create Pod web-1 in StatefulSet web failed error: ")
    });
    assert!(said, "{}", lab.picture());
    lab.delete(&pod_key(1), None);
    lab.pass(120);
    assert_eq!(lab.status()["readyReplicas"], 3);
}

#[test]
fn pods_of_a_node_that_comes_back_in_time_are_ready_again() {
    let mut lab = Lab::with_set(12, 3, |_| ());
    let before = lab.get(&pod_key(0)).unwrap();
    let node_key = Key::new(NODES, "", before["spec"]["nodeName"].as_str().unwrap());
    lab.edit(&node_key, None, |node| node["metadata"]["annotations"][node::LOST] = "true".into());
    lab.pass(100);
    lab.edit(&node_key, None, |node| {
        node["metadata"]["annotations"].as_object_mut().unwrap().remove(node::LOST);
    });
    lab.pass(10);
    let after = lab.get(&pod_key(0)).unwrap();
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert!(pod::is_ready(&after));
}

#[test]
fn a_pod_without_a_node_to_go_to_waits_and_is_bound_when_one_is_uncordoned() {
    let mut lab = Lab::new(13);
    for i in 0..3 {
        let key = Key::new(NODES, "", &format!("node-{i}"));
        lab.edit(&key, None, |node| node["spec"]["unschedulable"] = true.into());
    }
    lab.create(
        PODS,
        json!({
            "metadata": {"name": "web-0", "namespace": "default"},
            "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
        }),
    );
    lab.pass(30);
    assert_eq!(lab.get(&pod_key(0)).unwrap()["status"]["phase"], "Pending");
    let key = Key::new(NODES, "", "node-1");
    lab.edit(&key, None, |node| node["spec"]["unschedulable"] = false.into());
    lab.pass(30);
    assert_eq!(lab.get(&pod_key(0)).unwrap()["spec"]["nodeName"], "node-1");
}
