//! CloneSets: what was recorded, and what was not.

use simcluster::behaviour::kruise::clone_set::MARK;
use simcluster::behaviour::kruise::in_place;
use simcluster::json::{Value, json};
use simcluster::object::{self, CONTROLLER_REVISIONS, Object};

use crate::cloned::Cloned;
use crate::replay::{check, check_on};

#[test]
fn a_count_keeps_so_many_pods_old() {
    check("cloneset-partition-int");
}

#[test]
fn a_percentage_keeps_so_many_pods_old_rounded_up() {
    check("cloneset-partition-percent");
}

#[test]
fn a_partition_that_is_raised_turns_no_pod_back() {
    check("cloneset-partition-raised");
}

#[test]
fn a_pod_that_is_updated_in_place_stays_itself() {
    check("cloneset-in-place");
}

#[test]
fn surge_makes_new_pods_first() {
    check("cloneset-max-surge");
}

#[test]
fn a_paused_set_updates_no_pod_but_scales() {
    check("cloneset-paused");
}

#[test]
fn scaling_keeps_the_share_of_old_pods() {
    // On which Node a Pod was has not been recorded, and it has a say in which go first. On one Node
    // the youngest go, as they did there.
    check_on(1, "cloneset-scale-in-partition");
}

#[test]
fn a_broken_pod_stays_when_the_template_goes_back_under_a_partition() {
    check("cloneset-broken-then-back");
}

#[test]
fn a_broken_pod_is_replaced_first_by_one_of_a_mended_template() {
    check("cloneset-broken-then-fixed");
}

fn image(pod: &Value) -> &str {
    pod["spec"]["containers"][0]["image"].as_str().unwrap()
}

fn restarts(pods: &[Object]) -> Vec<i64> {
    let count = |pod: &Object| pod["status"]["containerStatuses"][0]["restartCount"].as_i64();
    pods.iter().map(|pod| count(pod).unwrap()).collect()
}

/// Two of five Pods at `app:v2`, three at `app:v1`.
fn halfway(type_: &str) -> Cloned {
    let strategy = json!({"type": type_, "partition": 3, "maxUnavailable": "100%"});
    let mut cloned = Cloned::new(&strategy);
    cloned.image("app:v2");
    assert_eq!(cloned.images(), ["app:v1", "app:v1", "app:v1", "app:v2", "app:v2"]);
    cloned
}

#[test]
fn a_pod_is_named_and_labelled_by_its_five_letters_and_its_revision() {
    let cloned = Cloned::new(&json!({}));
    let update = &cloned.lab.get(&cloned.key).unwrap()["status"]["updateRevision"];
    let update = update.as_str().unwrap();
    let revisions = cloned.lab.list(&CONTROLLER_REVISIONS);
    assert_eq!(object::name(&revisions[0]), update);
    assert_eq!(revisions[0]["metadata"]["ownerReferences"][0]["kind"], "CloneSet");
    for pod in cloned.pods() {
        let id = object::label(&pod, "apps.kruise.io/cloneset-instance-id").unwrap();
        assert_eq!((id.len(), object::name(&pod)), (5, &*format!("web-{id}")));
        assert_eq!(object::label(&pod, "controller-revision-hash"), Some(update));
        let short = format!("web-{}", object::label(&pod, "pod-template-hash").unwrap());
        assert_eq!(short, update);
        let owner = &pod["metadata"]["ownerReferences"][0];
        assert_eq!(owner["apiVersion"].as_str().unwrap().split('/').next(), Some("apps.kruise.io"));
        assert_eq!((&owner["kind"], &owner["controller"]), (&json!("CloneSet"), &json!(true)));
        let gate = json!([{"conditionType": in_place::GATE}]);
        assert_eq!(pod["spec"]["readinessGates"], gate);
    }
}

#[test]
fn a_lost_pod_comes_back_at_the_revision_that_is_short_of_one() {
    for lost in ["app:v1", "app:v2"] {
        let mut cloned = halfway("ReCreate");
        let pods = cloned.pods();
        let pod = pods.iter().find(|pod| image(pod) == lost).unwrap();
        cloned.lose(object::name(pod));
        cloned.rest();
        assert_eq!(cloned.images(), ["app:v1", "app:v1", "app:v1", "app:v2", "app:v2"], "{lost}");
    }
}

#[test]
fn a_pod_that_is_marked_is_replaced_and_one_too_many_is_not() {
    let mut cloned = Cloned::new(&json!({}));
    let marked = cloned.names().remove(2);
    cloned.label(&marked, MARK, "true");
    cloned.rest();
    assert_eq!((cloned.names().len(), cloned.names().contains(&marked)), (5, false));
    let marked = cloned.names().remove(2);
    cloned.label(&marked, MARK, "true");
    cloned.patch(&json!({"replicas": 4}));
    assert_eq!((cloned.names().len(), cloned.names().contains(&marked)), (4, false));
}

#[test]
fn pods_on_the_list_are_deleted_and_struck_off() {
    let mut cloned = Cloned::new(&json!({}));
    let listed = cloned.names()[1..3].to_vec();
    let scale = json!({"podsToDelete": listed});
    cloned.patch(&json!({"replicas": 3, "scaleStrategy": scale}));
    let names = cloned.names();
    assert_eq!(names.len(), 3);
    assert!(!names.iter().any(|name| listed.contains(name)), "{names:?}");
    let set = cloned.lab.get(&cloned.key).unwrap();
    assert_eq!(set["spec"]["scaleStrategy"]["podsToDelete"], json!([]));
}

#[test]
fn marked_pods_go_no_faster_than_may_be_unavailable() {
    // A fifth of five is one.
    let mut cloned = Cloned::new(&json!({}));
    for pod in cloned.names() {
        cloned.label(&pod, MARK, "true");
    }
    let mut fewest = 5;
    for _ in 0..200 {
        cloned.lab.pass(1);
        fewest = fewest.min(cloned.status("availableReplicas"));
    }
    assert_eq!((fewest, cloned.status("availableReplicas")), (4, 5));
}

#[test]
fn a_pod_in_place_is_restarted_with_the_new_image_and_keeps_its_name_and_node() {
    let mut cloned = Cloned::new(&json!({"type": "InPlaceOnly", "maxUnavailable": 2}));
    let place = |cloned: &Cloned| -> Vec<(String, Value)> {
        let of = |pod: &Object| (object::uid(pod).to_owned(), pod["spec"]["nodeName"].clone());
        cloned.pods().iter().map(of).collect()
    };
    let before = place(&cloned);
    cloned.image("app:v2");
    assert_eq!(place(&cloned), before);
    assert_eq!(restarts(&cloned.pods()), [1, 1, 1, 1, 1]);
    assert!(cloned.pods().iter().all(|pod| image(pod) == "app:v2"));
    assert_eq!(cloned.status("updatedAvailableReplicas"), 5);
}

#[test]
fn a_template_that_differs_in_more_than_images_is_not_updated_in_place() {
    let grace = |template: &mut Value| template["spec"]["terminationGracePeriodSeconds"] = 7.into();
    let mut cloned = Cloned::new(&json!({"type": "InPlaceIfPossible", "maxUnavailable": "100%"}));
    let before = cloned.names();
    cloned.template(grace);
    assert!(!cloned.names().iter().any(|name| before.contains(name)));
    let mut cloned = Cloned::new(&json!({"type": "InPlaceOnly", "maxUnavailable": "100%"}));
    let before = cloned.names();
    cloned.template(grace);
    assert_eq!(cloned.names(), before);
    assert_eq!((cloned.status("updatedReplicas"), cloned.status("readyReplicas")), (0, 5));
}

#[test]
fn labels_and_annotations_change_in_place_without_a_restart() {
    let mut cloned = Cloned::new(&json!({"type": "InPlaceIfPossible"}));
    let before = cloned.names();
    cloned.template(|template| {
        template["metadata"]["labels"]["tier"] = "front".into();
        template["metadata"]["annotations"] = json!({"note": "new"});
    });
    assert_eq!(cloned.names(), before);
    assert_eq!(restarts(&cloned.pods()), [0, 0, 0, 0, 0]);
    for pod in cloned.pods() {
        assert_eq!(object::label(&pod, "tier"), Some("front"));
        assert_eq!(object::annotation(&pod, "note"), Some("new"));
    }
    assert_eq!(cloned.status("updatedAvailableReplicas"), 5);
}

#[test]
fn an_image_in_place_that_cannot_be_pulled_stops_the_update_until_it_is_mended() {
    let mut cloned = Cloned::new(&json!({"type": "InPlaceIfPossible", "maxUnavailable": 2}));
    let before = cloned.names();
    cloned.image("app:broken");
    assert_eq!((cloned.status("updatedReplicas"), cloned.status("availableReplicas")), (2, 3));
    let states: Vec<String> = cloned
        .pods()
        .iter()
        .filter(|pod| image(pod) == "app:broken")
        .map(|pod| object::label(pod, "lifecycle.apps.kruise.io/state").unwrap().to_owned())
        .collect();
    assert_eq!(states, ["Updating", "Updating"]);
    cloned.image("app:v3");
    assert_eq!(cloned.names(), before);
    assert_eq!(cloned.status("updatedAvailableReplicas"), 5);
}

#[test]
fn a_broken_pod_in_place_stays_when_the_template_goes_back() {
    let strategy = json!({"type": "InPlaceIfPossible", "partition": 4});
    let mut cloned = Cloned::new(&strategy);
    cloned.image("app:broken");
    cloned.image("app:v1");
    assert_eq!(cloned.images(), ["app:broken", "app:v1", "app:v1", "app:v1", "app:v1"]);
    assert_eq!((cloned.status("updatedReplicas"), cloned.status("availableReplicas")), (4, 4));
}

#[test]
fn an_update_in_place_that_is_held_again_before_it_began_lets_the_pod_serve() {
    let strategy = json!({"type": "InPlaceIfPossible", "partition": 5});
    let mut cloned = Cloned::new(&strategy);
    cloned.image("app:v2");
    // In the moment between the closing of the gate and the new image.
    cloned.lab.edit(&cloned.key, |set| set["spec"]["updateStrategy"]["partition"] = 4.into());
    let closed = |cloned: &Cloned| cloned.pods().iter().any(|pod| in_place::is_begun(pod));
    while !closed(&cloned) {
        cloned.lab.step();
    }
    cloned.patch(&json!({"updateStrategy": {"partition": 5}}));
    assert_eq!((cloned.status("updatedReplicas"), cloned.status("availableReplicas")), (0, 5));
}

#[test]
fn a_pod_counts_as_available_only_when_it_has_been_ready_long_enough() {
    let mut cloned = Cloned::new(&json!({"maxUnavailable": "100%"}));
    cloned.lab.edit(&cloned.key, |set| set["spec"]["minReadySeconds"] = 30.into());
    cloned.image("app:v2");
    let counts = |cloned: &Cloned| {
        ["updatedReadyReplicas", "updatedAvailableReplicas"].map(|field| cloned.status(field))
    };
    assert_eq!(counts(&cloned), [5, 0]);
    cloned.lab.pass(30);
    assert_eq!(counts(&cloned), [5, 5]);
}

#[test]
fn old_revisions_are_forgotten_beyond_the_limit() {
    let mut cloned = Cloned::new(&json!({"maxUnavailable": "100%"}));
    cloned.patch(&json!({"revisionHistoryLimit": 1}));
    for image in ["app:v2", "app:v3", "app:v4"] {
        cloned.image(image);
    }
    assert_eq!(cloned.lab.list(&CONTROLLER_REVISIONS).len(), 2);
}

#[test]
fn a_pod_that_the_selector_no_longer_selects_is_let_go_and_replaced() {
    let mut cloned = Cloned::new(&json!({}));
    let stray = cloned.names().remove(0);
    cloned.label(&stray, "app", "other");
    cloned.rest();
    assert_eq!((cloned.names().len(), cloned.status("replicas")), (6, 5));
    let pods = cloned.pods();
    let stray = pods.iter().find(|pod| object::name(pod) == stray).unwrap();
    assert!(stray["metadata"]["ownerReferences"].is_null());
}

#[test]
fn a_set_that_is_deleted_takes_its_pods_along() {
    let mut cloned = Cloned::new(&json!({}));
    cloned.lab.delete(&cloned.key);
    cloned.lab.pass(60);
    assert!(cloned.pods().is_empty());
    assert!(cloned.lab.list(&CONTROLLER_REVISIONS).is_empty());
}

#[test]
fn pods_of_the_highest_priority_are_updated_first() {
    let term = json!({"weight": 50, "matchSelector": {"matchLabels": {"first": "yes"}}});
    for type_ in ["ReCreate", "InPlaceIfPossible"] {
        let strategy = json!({
            "type": type_, "partition": 3, "priorityStrategy": {"weightPriority": [term]},
        });
        let mut cloned = Cloned::new(&strategy);
        let first = [cloned.names().remove(1), cloned.names().remove(3)];
        for pod in &first {
            cloned.label(pod, "first", "yes");
        }
        cloned.image("app:v2");
        cloned.rest();
        let old = |pod: &&Object| image(pod) == "app:v1";
        let pods = cloned.pods();
        let left: Vec<&str> = pods.iter().filter(old).map(|pod| object::name(pod)).collect();
        assert_eq!(left.len(), 3, "{type_}");
        assert!(!first.iter().any(|pod| left.contains(&&**pod)), "{type_}: {left:?}");
    }
}
