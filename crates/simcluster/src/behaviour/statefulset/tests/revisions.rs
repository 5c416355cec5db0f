//! Which revision each Pod has, and what becomes of the others.

use super::*;
use crate::json::Value;

#[test]
fn a_new_template_under_on_delete_moves_no_pod_and_leaves_the_status_as_recorded() {
    let recorded = recorded();
    let expect = &recorded["statefulset, status after a new template under OnDelete"];
    let mut lab = Lab::new(|_| ());
    lab.run();
    lab.edit(&key(), |set| {
        set["spec"] = expect["spec"].clone();
        set["metadata"]["generation"] = 3.into();
    });
    lab.run();
    assert_eq!(lab.status(), expect["status"]);
    assert_eq!(lab.images(), ["v1", "v1", "v1"]);
}

#[test]
fn under_on_delete_a_lost_pod_leaks_to_the_update_revision_and_so_does_a_scale_up() {
    let mut lab = Lab::new(|_| ());
    lab.run();
    lab.image("app:v2");
    lab.run();
    lab.lose(&[1]);
    lab.run();
    assert_eq!(lab.images(), ["v1", "v2", "v1"]);
    lab.spec(|spec| spec["replicas"] = 4.into());
    lab.run();
    assert_eq!(lab.images(), ["v1", "v2", "v1", "v2"]);
}

#[test]
fn under_on_delete_the_current_revision_never_advances() {
    let mut lab = Lab::new(|_| ());
    lab.run();
    let first = lab.status()["currentRevision"].clone();
    lab.image("app:v2");
    lab.run();
    lab.lose(&[0, 1, 2]);
    lab.run();
    let status = lab.status();
    assert_eq!(lab.images(), ["v2", "v2", "v2"]);
    assert_eq!(status["currentRevision"], first);
    assert_ne!(status["updateRevision"], first);
    assert_eq!(status["updatedReplicas"], 3);
    assert!(status.get("currentReplicas").is_none(), "{status}");
}

#[test]
fn a_complete_rolling_update_advances_the_current_revision() {
    let mut lab = Lab::new(|set| rolling(0)(&mut set["spec"]));
    lab.run();
    lab.image("app:v2");
    lab.run();
    let status = lab.status();
    assert_eq!(lab.images(), ["v2", "v2", "v2"]);
    assert_eq!(status["currentRevision"], status["updateRevision"]);
    assert_eq!(status["currentReplicas"], 3);
}

#[test]
fn a_partition_holds_the_lower_ordinals_also_when_they_are_lost() {
    let mut lab = Lab::new(|set| rolling(0)(&mut set["spec"]));
    lab.run();
    lab.spec(|spec| {
        rolling(2)(spec);
        spec["template"]["spec"]["containers"][0]["image"] = "app:v2".into();
    });
    lab.run();
    assert_eq!(lab.images(), ["v1", "v1", "v2"]);
    lab.lose(&[0, 2]);
    lab.run();
    assert_eq!(lab.images(), ["v1", "v1", "v2"]);
    let status = lab.status();
    assert_ne!(status["currentRevision"], status["updateRevision"]);
    assert_eq!((&status["currentReplicas"], &status["updatedReplicas"]), (&2.into(), &1.into()));
}

#[test]
fn a_scale_up_past_a_partition_makes_every_new_ordinal_at_the_update_revision() {
    // Recorded: 5 replicas with partition 4, scaled to 10, has 6 updated Pods at once.
    let mut lab = Lab::new(|set| {
        rolling(0)(&mut set["spec"]);
        set["spec"]["replicas"] = 5.into();
    });
    lab.run();
    lab.spec(|spec| {
        rolling(4)(spec);
        spec["template"]["spec"]["containers"][0]["image"] = "app:v2".into();
    });
    lab.run();
    assert_eq!(lab.status()["updatedReplicas"], 1);
    lab.spec(|spec| spec["replicas"] = 10.into());
    lab.run();
    assert_eq!(lab.status()["updatedReplicas"], 6);
}

#[test]
fn the_switch_trap_brings_back_the_first_revision() {
    let mut lab = Lab::new(|_| ());
    lab.run();
    lab.image("app:v2");
    lab.run();
    lab.lose(&[0, 1, 2]);
    lab.run();
    lab.spec(|spec| {
        rolling(3)(spec);
        spec["template"]["spec"]["containers"][0]["image"] = "app:v3".into();
    });
    lab.run();
    lab.lose(&[1]);
    lab.run();
    assert_eq!(lab.images(), ["v2", "v1", "v2"]);
}

#[test]
fn settling_at_partition_zero_cures_the_switch_trap_and_restarts_nothing() {
    let mut lab = Lab::new(|_| ());
    lab.run();
    lab.image("app:v2");
    lab.run();
    lab.lose(&[0, 1, 2]);
    lab.run();
    let uids = |lab: &Lab| -> Vec<Value> {
        lab.store.list(&PODS, None).map(|pod| pod["metadata"]["uid"].clone()).collect()
    };
    let before = uids(&lab);
    lab.spec(rolling(0));
    lab.run();
    assert_eq!(uids(&lab), before);
    assert_eq!(lab.status()["currentRevision"], lab.status()["updateRevision"]);
    lab.spec(|spec| {
        rolling(3)(spec);
        spec["template"]["spec"]["containers"][0]["image"] = "app:v3".into();
    });
    lab.run();
    lab.lose(&[0]);
    lab.run();
    assert_eq!(lab.images(), ["v2", "v2", "v2"]);
    lab.spec(rolling(1));
    lab.lose(&[1, 2]);
    let step = lab.once();
    let created = step.writes.iter().filter(|w| matches!(w, Write::Create { .. })).count();
    assert_eq!(created, 2, "both come back at once");
    lab.run();
    assert_eq!(lab.images(), ["v2", "v3", "v3"]);
}

#[test]
fn scaling_to_zero_forgets_the_held_revision() {
    let mut lab = Lab::new(|set| rolling(0)(&mut set["spec"]));
    lab.run();
    lab.spec(|spec| {
        rolling(3)(spec);
        spec["template"]["spec"]["containers"][0]["image"] = "app:v2".into();
    });
    lab.run();
    for replicas in [0, 3] {
        lab.spec(|spec| spec["replicas"] = replicas.into());
        lab.run();
    }
    assert_eq!(lab.images(), ["v2", "v2", "v2"]);
}

#[test]
fn a_rollback_re_uses_the_revision_so_pods_that_never_moved_match_already() {
    let mut lab = Lab::new(|set| on_delete(&mut set["spec"]));
    lab.run();
    lab.image("app:v2");
    lab.run();
    lab.lose(&[2]);
    lab.run();
    let first = lab.revisions();
    lab.image("app:v1");
    lab.run();
    assert_eq!(lab.revisions(), [(first[1].0.clone(), 2), (first[0].0.clone(), 3)]);
    assert_eq!(lab.status()["updateRevision"], first[0].0);
    assert_eq!(lab.status()["updatedReplicas"], 2);
}

#[test]
fn a_change_beside_the_template_makes_no_revision() {
    let mut lab = Lab::new(|_| ());
    lab.run();
    lab.spec(|spec| {
        spec["minReadySeconds"] = 3.into();
        spec["replicas"] = 2.into();
    });
    lab.run();
    assert_eq!(lab.revisions().len(), 1);
    assert_eq!(lab.status()["observedGeneration"], 2);
}

#[test]
fn the_history_limit_keeps_live_revisions_and_the_newest_dead_ones() {
    let mut lab = Lab::new(|set| {
        on_delete(&mut set["spec"]);
        set["spec"]["revisionHistoryLimit"] = 2.into();
    });
    lab.run();
    for image in ["app:v2", "app:v3", "app:v4", "app:v5", "app:v6"] {
        lab.image(image);
        lab.run();
    }
    let numbers: Vec<i64> = lab.revisions().iter().map(|(_, number)| *number).collect();
    assert_eq!(numbers, [1, 4, 5, 6]);
}
