//! Advanced DaemonSets: what was recorded, and what follows from the rules of the original.

use jiff::SignedDuration;
use simcluster::behaviour::View;
use simcluster::behaviour::kruise::ADVANCED_DAEMONSETS;
use simcluster::json::{Value, json};
use simcluster::object::{self, Key, NODES, Object};

use crate::lab::Lab;
use crate::replay::check;

#[test]
fn a_count_keeps_so_many_pods_old() {
    check("ads-partition");
}

#[test]
fn a_percentage_keeps_so_many_pods_old_rounded_down() {
    check("ads-partition-percent");
}

#[test]
fn a_pod_lost_under_a_partition_returns_at_the_new_revision() {
    check("ads-lost-pod-in-partition");
}

#[test]
fn a_paused_set_updates_no_pod() {
    check("ads-paused");
}

#[test]
fn under_on_delete_only_lost_pods_are_updated() {
    check("ads-on-delete");
}

#[test]
fn a_release_moves_no_more_pods_than_its_partition_says_whatever_becomes_of_it() {
    check("ads-release-continuous");
    check("ads-release-broken-then-back");
}

pub(crate) fn agent() -> Key {
    Key::new(ADVANCED_DAEMONSETS, "default", "agent")
}

/// One on four Nodes that is at rest at `app:v1`; its Pods take five seconds to start.
pub(crate) fn with(edit: impl FnOnce(&mut Value)) -> Lab {
    let mut lab = Lab::of(3, |options| {
        options.kruise = true;
        options.nodes = 4;
        options.start_up = SignedDuration::from_secs(5);
    });
    let mut set = json!({
        "metadata": {"name": "agent", "namespace": "default", "annotations": {}},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {}},
            "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {
                    "terminationGracePeriodSeconds": 0,
                    "containers": [{"name": "main", "image": "app:v1"}],
                },
            },
        },
    });
    edit(&mut set);
    lab.create(ADVANCED_DAEMONSETS, set);
    lab.pass(60);
    lab
}

pub(crate) fn rolling(set: &mut Value) -> &mut Value {
    &mut set["spec"]["updateStrategy"]["rollingUpdate"]
}

pub(crate) fn image(lab: &Lab, image: &str) {
    lab.edit(&agent(), |set| {
        set["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
    });
}

pub(crate) fn number(lab: &Lab, field: &str) -> i64 {
    lab.get(&agent()).unwrap()["status"][field].as_i64().unwrap_or(0)
}

/// The image of each Node's Pods without `app:`, by Node; `-` for none.
pub(crate) fn images(lab: &Lab) -> String {
    let on = |node: &Object| {
        let pods = lab.pods();
        let of_node = pods.iter().filter(|pod| pod["spec"]["nodeName"] == *object::name(node));
        let image = |pod: &Object| {
            let image = pod["spec"]["containers"][0]["image"].as_str().unwrap();
            image.trim_start_matches("app:").to_owned()
        };
        let images = of_node.map(image).collect::<Vec<_>>().join("+");
        if images.is_empty() { "-".to_owned() } else { images }
    };
    let nodes: Vec<Object> = lab.cluster.server().view().list(&NODES, None).cloned().collect();
    nodes.iter().map(on).collect::<Vec<_>>().join(" ")
}

fn uids(lab: &Lab) -> Vec<String> {
    lab.pods().iter().map(|pod| object::uid(pod).to_owned()).collect()
}

/// Lets a rolling update come to its end, and says how few Pods were available on the way, and how
/// many there were at most.
fn span(lab: &mut Lab) -> (i64, usize) {
    let (mut fewest, mut most) = (i64::MAX, 0);
    for _ in 0..60 {
        lab.pass(1);
        fewest = fewest.min(number(lab, "numberAvailable"));
        most = most.max(lab.pods().len());
    }
    (fewest, most)
}

#[test]
fn without_a_word_one_node_at_a_time_is_without_a_pod() {
    let mut lab = with(|_| {});
    image(&lab, "app:v2");
    assert_eq!(span(&mut lab), (3, 4));
    assert_eq!(images(&lab), "v2 v2 v2 v2");
}

#[test]
fn the_last_nodes_go_first_under_a_partition() {
    let mut lab = with(|set| *rolling(set) = json!({"partition": 1, "maxUnavailable": 2}));
    image(&lab, "app:v2");
    assert_eq!(span(&mut lab), (2, 4));
    assert_eq!(images(&lab), "v1 v2 v2 v2");
    image(&lab, "app:v3");
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v3 v3 v3");
}

#[test]
fn a_new_image_is_brought_in_place_within_the_bound() {
    let mut lab = with(|set| rolling(set)["rollingUpdateType"] = "InPlaceIfPossible".into());
    let before = uids(&lab);
    image(&lab, "app:v2");
    assert_eq!(span(&mut lab), (3, 4));
    assert_eq!((images(&lab).as_str(), number(&lab, "numberAvailable")), ("v2 v2 v2 v2", 4));
    assert_eq!(uids(&lab), before);
    assert_eq!(number(&lab, "updatedNumberScheduled"), 4);
}

#[test]
fn pods_that_have_no_gate_or_need_more_than_an_image_are_made_anew() {
    let mut lab = with(|_| {});
    let old = uids(&lab);
    lab.edit(&agent(), |set| rolling(set)["rollingUpdateType"] = "InPlaceIfPossible".into());
    image(&lab, "app:v2");
    lab.pass(60);
    let new = uids(&lab);
    assert!(new.iter().all(|uid| !old.contains(uid)));
    lab.edit(&agent(), |set| {
        set["spec"]["template"]["spec"]["containers"][0]["command"] = json!(["run"]);
    });
    lab.pass(60);
    assert!(uids(&lab).iter().all(|uid| !new.contains(uid)));
    assert_eq!(number(&lab, "numberAvailable"), 4);
}

#[test]
fn an_update_in_place_that_is_taken_back_at_once_leaves_every_pod_at_work() {
    for millis in [5, 20, 40, 80, 200] {
        let mut lab = with(|set| {
            *rolling(set) = json!({"maxUnavailable": 2, "rollingUpdateType": "InPlaceIfPossible"});
        });
        let before = uids(&lab);
        image(&lab, "app:v2");
        lab.pass_millis(millis);
        image(&lab, "app:v1");
        lab.pass(60);
        assert_eq!(images(&lab), "v1 v1 v1 v1", "{millis}");
        assert_eq!((number(&lab, "numberAvailable"), uids(&lab)), (4, before), "{millis}");
    }
}

#[test]
fn with_surge_no_node_is_ever_without_a_pod() {
    for bounds in
        [json!({"maxSurge": 1, "maxUnavailable": 0}), json!({"rollingUpdateType": "Surging"})]
    {
        let mut lab = with(|set| *rolling(set) = bounds.clone());
        image(&lab, "app:v2");
        assert_eq!(span(&mut lab), (4, 5), "{bounds}");
        assert_eq!(images(&lab), "v2 v2 v2 v2", "{bounds}");
    }
}

#[test]
fn surge_stops_at_the_partition() {
    let mut lab = with(|set| *rolling(set) = json!({"maxSurge": 2, "partition": 2}));
    image(&lab, "app:v2");
    assert_eq!(span(&mut lab), (4, 6));
    assert_eq!(images(&lab), "v1 v1 v2 v2");
}

#[test]
fn a_selector_leaves_old_pods_on_other_nodes() {
    let mut lab = with(|set| {
        *rolling(set) = json!({"selector": {"matchLabels": {"kubernetes.io/hostname": "node-1"}}});
    });
    image(&lab, "app:v2");
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v2 v1 v1");
}

#[test]
fn a_node_that_joins_under_a_partition_gets_the_new_revision() {
    let mut lab = with(|set| rolling(set)["partition"] = 9.into());
    image(&lab, "app:v2");
    lab.pass(20);
    let mut node = lab.get(&lab.node(0)).unwrap();
    node["metadata"] = json!({"name": "node-9"});
    lab.create(NODES, node);
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v1 v1 v1 v2");
    assert_eq!(number(&lab, "updatedNumberScheduled"), 1);
}

#[test]
fn step_by_step_pods_are_made_as_the_partition_is_lowered() {
    let mut lab = with(|set| {
        set["metadata"]["annotations"]["daemonset.kruise.io/progressive-create-pod"] =
            "true".into();
        rolling(set)["partition"] = 3.into();
    });
    assert_eq!(images(&lab), "v1 - - -");
    lab.edit(&agent(), |set| rolling(set)["partition"] = "50%".into());
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v1 - -");
    lab.edit(&agent(), |set| rolling(set)["partition"] = 0.into());
    lab.pass(60);
    assert_eq!(images(&lab), "v1 v1 v1 v1");
}

#[test]
fn what_is_broken_goes_beyond_the_bound_and_takes_one_more_with_it() {
    let mut lab = with(|_| {});
    image(&lab, "app:broken");
    lab.pass(60);
    assert_eq!(images(&lab), "broken v1 v1 v1");
    image(&lab, "app:v3");
    let (fewest, _) = span(&mut lab);
    assert_eq!((images(&lab).as_str(), fewest), ("v3 v3 v3 v3", 2));
}
