//! Advanced StatefulSets: what was recorded, and what follows from the rules of the original.

use jiff::SignedDuration;
use simcluster::behaviour::kruise::ADVANCED_STATEFULSETS;
use simcluster::json::{Value, json};
use simcluster::object::{self, Key, Object, PODS};

use crate::lab::Lab;
use crate::replay::check;

#[test]
fn a_partition_keeps_the_lowest_ordinals_old() {
    check("asts-partition");
}

#[test]
fn as_many_go_at_once_as_may_be_unavailable() {
    check("asts-max-unavailable-2");
}

#[test]
fn without_order_any_ordinal_fills_the_partition() {
    check("asts-unordered");
}

#[test]
fn reserved_ordinals_are_left_out_and_counted_past() {
    check("asts-reserve-ordinals");
}

#[test]
fn scaling_under_a_partition_makes_new_ordinals_at_the_update_revision() {
    check("asts-scale-in-partition");
}

#[test]
fn a_pod_lost_below_the_partition_returns_at_the_old_revision() {
    check("asts-lost-pod-in-partition");
}

#[test]
fn a_broken_pod_is_mended_when_the_template_goes_back() {
    check("asts-broken-then-back");
}

#[test]
fn a_release_moves_no_more_pods_than_its_partition_says_whatever_becomes_of_it() {
    check("asts-release-continuous");
    check("asts-release-scaled-midway");
    check("asts-release-broken-then-back");
}

pub(crate) fn web() -> Key {
    Key::new(ADVANCED_STATEFULSETS, "default", "web")
}

/// A set of four that is at rest at `app:v1`; its Pods take five seconds to start.
pub(crate) fn with(edit: impl FnOnce(&mut Value)) -> Lab {
    let mut lab = Lab::of(3, |options| {
        options.kruise = true;
        options.start_up = SignedDuration::from_secs(5);
    });
    let mut set = json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 4, "serviceName": "web", "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": "web"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "terminationGracePeriodSeconds": 0,
                    "readinessGates": [{"conditionType": "InPlaceUpdateReady"}],
                    "containers": [{"name": "main", "image": "app:v1"}],
                },
            },
        },
    });
    edit(&mut set["spec"]);
    lab.create(ADVANCED_STATEFULSETS, set);
    lab.pass(60);
    assert_eq!(available(&lab), 4);
    lab
}

pub(crate) fn rolling(spec: &mut Value) -> &mut Value {
    &mut spec["updateStrategy"]["rollingUpdate"]
}

pub(crate) fn image(lab: &Lab, image: &str) {
    lab.edit(&web(), |set| {
        set["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
    });
}

pub(crate) fn status(lab: &Lab) -> Value {
    lab.get(&web()).unwrap()["status"].clone()
}

fn available(lab: &Lab) -> i64 {
    status(lab)["availableReplicas"].as_i64().unwrap()
}

/// The Pods that are not on their way out, by ordinal.
pub(crate) fn pods_by_ordinal(lab: &Lab) -> Vec<(i64, Object)> {
    let ordinal = |pod: &Object| object::name(pod).strip_prefix("web-").unwrap().parse().unwrap();
    let mut pods: Vec<(i64, Object)> =
        lab.pods().into_iter().map(|pod| (ordinal(&pod), pod)).collect();
    pods.sort_by_key(|(ordinal, _)| *ordinal);
    pods
}

/// Each Pod's image without `app:`, by ordinal.
pub(crate) fn images(lab: &Lab) -> String {
    let image = |(_, pod): &(i64, Object)| {
        let image = pod["spec"]["containers"][0]["image"].as_str().unwrap();
        image.trim_start_matches("app:").to_owned()
    };
    pods_by_ordinal(lab).iter().map(image).collect::<Vec<_>>().join(" ")
}

fn uids(lab: &Lab) -> Vec<String> {
    lab.pods().iter().map(|pod| object::uid(pod).to_owned()).collect()
}

/// Lets a rolling update come to its end, and says how few Pods were available on the way.
fn fewest(lab: &mut Lab) -> i64 {
    let mut fewest = i64::MAX;
    for _ in 0..60 {
        lab.pass(1);
        fewest = fewest.min(available(lab));
    }
    fewest
}

fn pod(ordinal: usize) -> Key {
    Key::new(PODS, "default", &format!("web-{ordinal}"))
}

#[test]
fn a_new_image_is_brought_in_place_within_the_bound() {
    for policy in ["Parallel", "OrderedReady"] {
        let mut lab = with(|spec| {
            spec["podManagementPolicy"] = policy.into();
            rolling(spec)["podUpdatePolicy"] = "InPlaceIfPossible".into();
        });
        let before = uids(&lab);
        image(&lab, "app:v2");
        assert_eq!(fewest(&mut lab), 3, "{policy}");
        assert_eq!((images(&lab).as_str(), available(&lab)), ("v2 v2 v2 v2", 4), "{policy}");
        assert_eq!(uids(&lab), before, "{policy}");
        let status = status(&lab);
        assert_eq!(status["currentRevision"], status["updateRevision"]);
        for pod in lab.pods() {
            assert_eq!(object::label(&pod, "lifecycle.apps.kruise.io/state"), Some("Normal"));
            let revision = object::label(&pod, "controller-revision-hash");
            assert_eq!(revision, status["updateRevision"].as_str());
        }
    }
}

#[test]
fn an_update_in_place_stops_at_the_partition_and_goes_back_the_same_way() {
    let mut lab = with(|spec| {
        *rolling(spec) = json!({"partition": 2, "podUpdatePolicy": "InPlaceIfPossible"});
    });
    let before = uids(&lab);
    image(&lab, "app:v2");
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v1 v2 v2");
    image(&lab, "app:v1");
    lab.pass(60);
    assert_eq!((images(&lab).as_str(), available(&lab)), ("v1 v1 v1 v1", 4));
    assert_eq!(uids(&lab), before);
}

#[test]
fn an_update_in_place_that_is_taken_back_at_once_leaves_every_pod_at_work() {
    for millis in [5, 20, 40, 80, 200] {
        let mut lab = with(|spec| {
            *rolling(spec) = json!({"maxUnavailable": 2, "podUpdatePolicy": "InPlaceIfPossible"});
        });
        image(&lab, "app:v2");
        lab.pass_millis(millis);
        image(&lab, "app:v1");
        lab.pass(60);
        assert_eq!((images(&lab).as_str(), available(&lab)), ("v1 v1 v1 v1", 4), "{millis}");
    }
}

#[test]
fn another_change_than_of_an_image_makes_pods_anew_or_is_not_made_at_all() {
    for (policy, moved) in [("InPlaceIfPossible", 4), ("InPlaceOnly", 0)] {
        let mut lab = with(|spec| rolling(spec)["podUpdatePolicy"] = policy.into());
        let before = uids(&lab);
        lab.edit(&web(), |set| {
            set["spec"]["template"]["spec"]["containers"][0]["command"] = json!(["run"]);
        });
        lab.pass(90);
        let new = uids(&lab).iter().filter(|uid| !before.contains(uid)).count();
        assert_eq!((new, available(&lab)), (moved, 4), "{policy}");
    }
}

#[test]
fn a_broken_image_in_place_holds_up_the_others_until_it_is_mended_in_place() {
    let mut lab = with(|spec| rolling(spec)["podUpdatePolicy"] = "InPlaceIfPossible".into());
    let before = uids(&lab);
    image(&lab, "app:broken");
    lab.pass(60);
    assert_eq!((images(&lab).as_str(), available(&lab)), ("v1 v1 v1 broken", 3));
    image(&lab, "app:v3");
    lab.pass(60);
    assert_eq!((images(&lab).as_str(), available(&lab)), ("v3 v3 v3 v3", 4));
    assert_eq!(uids(&lab), before);
}

#[test]
fn under_on_delete_only_a_lost_pod_is_updated() {
    let mut lab = with(|spec| spec["updateStrategy"] = json!({"type": "OnDelete"}));
    image(&lab, "app:v2");
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v1 v1 v1");
    lab.delete(&pod(0));
    lab.pass(60);
    assert_eq!(images(&lab), "v2 v1 v1 v1");
    let status = status(&lab);
    assert_ne!(status["currentRevision"], status["updateRevision"]);
    assert_eq!((&status["currentReplicas"], &status["updatedReplicas"]), (&3.into(), &1.into()));
}

#[test]
fn a_paused_set_updates_nothing_until_it_goes_on() {
    let mut lab = with(|spec| rolling(spec)["paused"] = true.into());
    image(&lab, "app:v2");
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v1 v1 v1");
    lab.edit(&web(), |set| rolling(&mut set["spec"])["paused"] = false.into());
    assert_eq!(fewest(&mut lab), 3);
    assert_eq!(images(&lab), "v2 v2 v2 v2");
}

#[test]
fn min_ready_seconds_hold_the_next_one_back() {
    let mut lab = with(|spec| rolling(spec)["minReadySeconds"] = 30.into());
    image(&lab, "app:v2");
    lab.pass(30);
    assert_eq!(images(&lab), "v1 v1 v1 v2");
    assert_eq!((&status(&lab)["readyReplicas"], available(&lab)), (&4.into(), 3));
    lab.pass(20);
    assert_eq!(images(&lab), "v1 v1 v2 v2");
}

#[test]
fn under_ordered_ready_a_broken_pod_holds_up_everything_until_somebody_deletes_it() {
    let mut lab = with(|spec| spec["podManagementPolicy"] = "OrderedReady".into());
    image(&lab, "app:broken");
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v1 v1 broken");
    image(&lab, "app:v3");
    lab.pass(60);
    // As with a native set, whoever wants it mended has to delete the broken Pod.
    assert_eq!(images(&lab), "v1 v1 v1 broken");
    lab.delete(&pod(3));
    lab.pass(90);
    assert_eq!(images(&lab), "v3 v3 v3 v3");
}

#[test]
fn a_marked_pod_is_replaced_at_the_revision_that_its_ordinal_has() {
    let mut lab = with(|spec| rolling(spec)["partition"] = 2.into());
    image(&lab, "app:v2");
    lab.pass(60);
    let before = uids(&lab);
    lab.edit(&pod(1), |pod| {
        pod["metadata"]["labels"]["apps.kruise.io/specified-delete"] = "true".into();
    });
    lab.pass(30);
    assert_eq!(images(&lab), "v1 v1 v2 v2");
    assert_eq!(uids(&lab).iter().filter(|uid| !before.contains(uid)).count(), 1);
}

#[test]
fn a_bound_on_scaling_makes_so_many_at_a_time() {
    let mut lab = with(|spec| spec["scaleStrategy"] = json!({"maxUnavailable": 2}));
    lab.edit(&web(), |set| set["spec"]["replicas"] = 8.into());
    let mut counts = Vec::new();
    for _ in 0..20 {
        lab.pass(1);
        counts.push(lab.pods().len());
    }
    counts.dedup();
    assert_eq!(counts, [6, 8]);
}

#[test]
fn without_order_lost_pods_return_so_that_the_partition_stays_filled() {
    let mut lab = with(|spec| {
        *rolling(spec) = json!({"partition": 2, "maxUnavailable": "100%", "unorderedUpdate": {}});
    });
    image(&lab, "app:v2");
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v1 v2 v2");
    for ordinal in [0, 3] {
        lab.delete(&pod(ordinal));
    }
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v1 v2 v2");
    // With one of the old ones held back, the first lost one takes its place.
    lab.edit(&web(), |set| rolling(&mut set["spec"])["partition"] = 1.into());
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v2 v2 v2");
    lab.edit(&web(), |set| rolling(&mut set["spec"])["partition"] = 2.into());
    lab.delete(&pod(2));
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v2 v1 v2");
}

#[test]
fn without_order_pods_of_more_weight_are_updated_first() {
    let strategy = json!({"weightPriority": [{"weight": 1, "matchSelector": {
        "matchLabels": {"statefulset.kubernetes.io/pod-name": "web-1"},
    }}]});
    let mut lab = with(|spec| {
        *rolling(spec) = json!({
            "partition": 2, "unorderedUpdate": {"priorityStrategy": strategy.clone()},
        });
    });
    image(&lab, "app:v2");
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v2 v1 v2");
}
