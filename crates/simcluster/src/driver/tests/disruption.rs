//! Evictions, rolling updates and broken Pods, with every controller running.

use super::*;

#[test]
fn an_eviction_brings_the_pod_back_under_its_name_at_the_update_revision() {
    let mut lab = Lab::with_set(2, 4, |_| ());
    lab.create(BUDGETS, budget(&json!(1)));
    lab.set_image("app:v2");
    lab.pass(5);
    let before = lab.get(&pod_key(3)).unwrap();
    lab.evict(3).unwrap();
    assert_eq!(lab.evict(2).unwrap_err().code, 429);
    lab.pass(1);
    let after = lab.get(&pod_key(3)).unwrap();
    assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(lab.images(), ["app:v1", "app:v1", "app:v1", "app:v2"]);
    assert_eq!(lab.evict(2).unwrap_err().code, 429, "the newborn is not ready yet");
    lab.pass(10);
    assert_eq!(lab.evict(2), Ok(()));
}

#[test]
fn an_eviction_with_a_wrong_uid_costs_the_slot_for_two_minutes() {
    let mut lab = Lab::with_set(3, 4, |_| ());
    lab.create(BUDGETS, budget(&json!(1)));
    lab.pass(5);
    let options = DeleteOptions { uid: Some("other".to_owned()), ..DeleteOptions::default() };
    let body = json!({"metadata": {"name": "web-2"}});
    let now = lab.now;
    let wrong = lab.server.write(|inner| inner.evict(&pod_key(2), &body, &options, now));
    assert_eq!(wrong.unwrap_err().code, 409);
    lab.pass(110);
    assert_eq!(lab.evict(2).unwrap_err().code, 429);
    lab.pass(15);
    assert_eq!(lab.evict(2), Ok(()));
}

#[test]
fn a_broken_image_never_comes_up_and_its_pod_goes_without_costing_budget() {
    let mut lab = Lab::with_set(4, 4, |_| ());
    lab.create(BUDGETS, budget(&json!(1)));
    lab.set_image("app:broken");
    lab.pass(5);
    lab.evict(3).unwrap();
    lab.pass(60);
    let pod = lab.get(&pod_key(3)).unwrap();
    assert_eq!(pod["status"]["phase"], "Pending");
    assert_eq!(lab.evict(3), Ok(()), "a Pending Pod skips the budget");
    assert_eq!(lab.evict(2).unwrap_err().code, 429);
}

#[test]
fn native_rolling_updates_finish_from_the_highest_ordinal_down() {
    let mut lab = Lab::with_set(5, 3, |spec| {
        spec["updateStrategy"] =
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}});
    });
    lab.set_image("app:v2");
    lab.pass(60);
    assert_eq!(lab.images(), ["app:v1", "app:v2", "app:v2"]);
    lab.delete(&pod_key(0), None);
    lab.pass(60);
    assert_eq!(lab.images(), ["app:v1", "app:v2", "app:v2"]);
    lab.edit(&set_key(), None, |set| {
        set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 0.into();
    });
    lab.pass(60);
    assert_eq!(lab.images(), ["app:v2", "app:v2", "app:v2"]);
    assert_eq!(lab.status()["currentRevision"], lab.status()["updateRevision"]);
}

#[test]
fn ordered_ready_recreates_lost_pods_in_series() {
    let mut lab = Lab::with_set(6, 3, |spec| spec["podManagementPolicy"] = "OrderedReady".into());
    for ordinal in 0..3 {
        lab.delete(&pod_key(ordinal), None);
    }
    lab.pass(2);
    assert_eq!(lab.images().len(), 1);
    lab.pass(30);
    assert_eq!(lab.status()["readyReplicas"], 3);
}

#[test]
fn a_broken_template_under_ordered_ready_stays_stuck_after_the_template_is_mended() {
    let mut lab = Lab::with_set(7, 3, |spec| {
        spec["podManagementPolicy"] = "OrderedReady".into();
        spec["updateStrategy"] = json!({"type": "RollingUpdate"});
    });
    lab.set_image("app:broken");
    lab.pass(60);
    lab.set_image("app:v3");
    lab.pass(600);
    assert_eq!(lab.images(), ["app:v1", "app:v1", "app:broken"]);
    lab.delete(&pod_key(2), None);
    lab.pass(60);
    assert_eq!(lab.images(), ["app:v3", "app:v3", "app:v3"]);
}

#[test]
fn a_pod_that_is_back_within_a_second_counts_as_healthy_again_at_once() {
    let mut lab = Lab::with_set(19, 4, |spec| {
        spec["template"]["metadata"]["annotations"] =
            json!({"simcluster.sluice.dev/startup": "300ms"});
    });
    lab.create(BUDGETS, budget(&json!(1)));
    lab.pass(5);
    lab.evict(3).unwrap();
    lab.pass(2);
    let status = lab.get(&Key::new(BUDGETS, "default", "web")).unwrap()["status"].clone();
    assert_eq!(status["currentHealthy"], 4, "{status}");
    assert!(status.get("disruptedPods").is_none(), "{status}");
}

#[test]
fn a_budget_knows_nothing_of_min_ready_seconds() {
    let mut lab = Lab::with_set(23, 3, |_| ());
    lab.edit(&set_key(), None, |set| set["spec"]["minReadySeconds"] = 3600.into());
    lab.create(BUDGETS, budget(&json!(1)));
    lab.pass(5);
    lab.evict(2).unwrap();
    lab.pass(5);
    assert_eq!(lab.status()["readyReplicas"], 3);
    assert!(lab.status()["availableReplicas"].as_i64() < Some(3));
    assert_eq!(lab.evict(1), Ok(()));
}

#[test]
fn crash_looping_pods_are_locked_in_once_they_have_used_up_the_budget() {
    let mut lab = Lab::with_set(24, 10, |_| ());
    lab.create(BUDGETS, budget(&json!(2)));
    lab.set_image("app:crash");
    lab.pass(5);
    for ordinal in [9, 8] {
        lab.evict(ordinal).unwrap();
    }
    lab.pass(60);
    assert_eq!(lab.get(&pod_key(9)).unwrap()["status"]["phase"], "Running");
    assert_eq!(lab.evict(9), Ok(()), "8 healthy of 8 desired: it goes free");
    assert_eq!(lab.evict(1).unwrap_err().code, 429);
    lab.delete(&pod_key(7), None);
    lab.pass(60);
    assert_eq!(lab.evict(9).unwrap_err().code, 429, "7 healthy of 8 desired");
    lab.edit(&Key::new(BUDGETS, "default", "web"), None, |budget| {
        budget["spec"]["unhealthyPodEvictionPolicy"] = "AlwaysAllow".into();
    });
    lab.pass(1);
    assert_eq!(lab.evict(9), Ok(()));
    assert_eq!(lab.evict(1).unwrap_err().code, 429);
}

#[test]
fn a_pod_that_is_relabelled_is_no_longer_counted_though_its_name_stays_taken() {
    let mut lab = Lab::with_set(25, 2, |_| ());
    lab.edit(&pod_key(0), None, |pod| pod["metadata"]["labels"]["app"] = "stray".into());
    lab.pass(5);
    assert_eq!(lab.status()["replicas"], 1);
    assert_eq!(lab.status()["readyReplicas"], 1);
    assert!(lab.get(&pod_key(0)).unwrap()["metadata"].get("ownerReferences").is_none());
}
