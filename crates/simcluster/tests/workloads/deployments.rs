use simcluster::json::{Value, json};
use simcluster::object::{self, DEPLOYMENTS, Key, Object, PODS, REPLICASETS};

use crate::lab::{Lab, condition, template};

fn web() -> Key {
    Key::new(DEPLOYMENTS, "default", "web")
}

fn with(replicas: i64, edit: impl FnOnce(&mut Value)) -> Lab {
    let mut lab = Lab::new(1);
    let mut spec = template("app:v1");
    spec["replicas"] = replicas.into();
    edit(&mut spec);
    lab.create(
        DEPLOYMENTS,
        json!({"metadata": {"name": "web", "namespace": "default"}, "spec": spec}),
    );
    lab.pass(30);
    lab
}

fn spec(lab: &Lab, edit: impl FnOnce(&mut Value)) {
    lab.edit(&web(), |deployment| edit(&mut deployment["spec"]));
}

fn image(lab: &Lab, image: &str) {
    spec(lab, |spec| spec["template"]["spec"]["containers"][0]["image"] = image.into());
}

fn deployment(lab: &Lab) -> Value {
    lab.get(&web()).unwrap()
}

/// The ReplicaSets by revision, as `revision: size/ready`.
fn sets(lab: &Lab) -> Vec<String> {
    let revision = |set: &Object| {
        object::annotation(set, "deployment.kubernetes.io/revision")
            .unwrap()
            .parse::<u32>()
            .unwrap()
    };
    let mut sets = lab.list(&REPLICASETS);
    sets.sort_by_key(|set| revision(set));
    let ready = |set: &Object| set["status"]["readyReplicas"].as_i64().unwrap_or(0);
    sets.iter()
        .map(|set| format!("{}: {}/{}", revision(set), set["spec"]["replicas"], ready(set)))
        .collect()
}

#[test]
fn a_new_one_comes_up_and_says_so() {
    let lab = with(3, |_| {});
    let it = deployment(&lab);
    let set = object::name(&lab.list(&REPLICASETS)[0]).to_owned();
    let mut status = it["status"].clone();
    status.as_object_mut().unwrap().remove("conditions");
    assert_eq!(
        status,
        json!({
            "observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3,
            "availableReplicas": 3, "terminatingReplicas": 0,
        })
    );
    assert_eq!(
        condition(&it, "Progressing"),
        format!("True NewReplicaSetAvailable: ReplicaSet \"{set}\" has successfully progressed.")
    );
    assert_eq!(
        condition(&it, "Available"),
        "True MinimumReplicasAvailable: Deployment has minimum availability."
    );
    assert_eq!(object::annotation(&it, "deployment.kubernetes.io/revision"), Some("1"));
    assert_eq!(
        lab.said("Deployment"),
        [format!("ScalingReplicaSet: Scaled up replica set {set} from 0 to 3")]
    );
}

#[test]
fn a_new_template_rolls_within_its_bounds() {
    let mut lab = with(4, |spec| {
        spec["strategy"] = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}});
    });
    image(&lab, "app:v2");
    for _ in 0..600 {
        lab.pass(1);
        let pods = lab.pods();
        let ready = pods.iter().filter(|pod| {
            let all = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
            all.iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
        });
        assert!(pods.len() <= 5, "{}", pods.len());
        assert!(ready.count() >= 3);
    }
    assert_eq!(lab.images(), ["app:v2"; 4]);
    assert_eq!(sets(&lab), ["1: 0/0", "2: 4/4"]);
}

#[test]
fn a_template_that_comes_back_brings_its_set_back_under_a_new_revision() {
    let mut lab = with(2, |_| {});
    image(&lab, "app:v2");
    lab.pass(120);
    image(&lab, "app:v1");
    lab.pass(120);
    assert_eq!(lab.images(), ["app:v1"; 2]);
    assert_eq!(sets(&lab), ["2: 0/0", "3: 2/2"]);
    let history = "deployment.kubernetes.io/revision-history";
    let set =
        lab.list(&REPLICASETS).into_iter().find(|set| object::annotation(set, history).is_some());
    assert_eq!(
        set.and_then(|set| object::annotation(&set, history).map(str::to_owned)),
        Some("1".to_owned())
    );
    assert_eq!(
        object::annotation(&deployment(&lab), "deployment.kubernetes.io/revision"),
        Some("3")
    );
}

#[test]
fn under_recreate_the_old_pods_are_gone_before_new_ones_come() {
    let mut lab = with(2, |spec| spec["strategy"] = json!({"type": "Recreate"}));
    image(&lab, "app:v2");
    for _ in 0..600 {
        lab.pass(1);
        let images =
            lab.list(&PODS).into_iter().map(|pod| pod["spec"]["containers"][0]["image"].clone());
        let images: Vec<Value> = images.collect();
        assert!(images.windows(2).all(|two| two[0] == two[1]), "{images:?}");
    }
    assert_eq!(lab.images(), ["app:v2"; 2]);
}

#[test]
fn while_paused_nothing_rolls_but_sizes_follow() {
    let mut lab = with(2, |_| {});
    spec(&lab, |spec| spec["paused"] = true.into());
    image(&lab, "app:v2");
    spec(&lab, |spec| spec["replicas"] = 3.into());
    lab.pass(60);
    assert_eq!(lab.images(), ["app:v1"; 3]);
    assert_eq!(
        condition(&deployment(&lab), "Progressing"),
        "Unknown DeploymentPaused: Deployment is paused"
    );
    spec(&lab, |spec| spec["paused"] = false.into());
    lab.pass(120);
    assert_eq!(lab.images(), ["app:v2"; 3]);
}

#[test]
fn a_rollout_that_is_stuck_fails_after_its_deadline_and_a_rollback_mends_it() {
    let mut lab = with(4, |spec| spec["progressDeadlineSeconds"] = 60.into());
    image(&lab, "broken:v2");
    lab.pass(50);
    assert!(condition(&deployment(&lab), "Progressing").starts_with("True ReplicaSetUpdated"));
    lab.pass(60);
    let it = deployment(&lab);
    assert!(condition(&it, "Progressing").starts_with("False ProgressDeadlineExceeded"), "{it}");
    assert_eq!(it["status"]["availableReplicas"], 3);
    assert_eq!(it["status"]["unavailableReplicas"], 2);
    image(&lab, "app:v1");
    lab.pass(120);
    assert!(condition(&deployment(&lab), "Progressing").starts_with("True NewReplicaSetAvailable"));
    assert_eq!(lab.images(), ["app:v1"; 4]);
}

#[test]
fn scaling_in_the_midst_of_a_rollout_is_shared_out() {
    let mut lab = with(10, |spec| {
        spec["strategy"] = json!({"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}});
    });
    image(&lab, "broken:v2");
    lab.pass(60);
    assert_eq!(sets(&lab), ["1: 8/8", "2: 5/0"]);
    spec(&lab, |spec| spec["replicas"] = 15.into());
    lab.pass(60);
    assert_eq!(sets(&lab), ["1: 11/11", "2: 7/0"]);
}

#[test]
fn old_sets_above_the_limit_go() {
    let mut lab = with(1, |spec| spec["revisionHistoryLimit"] = 1.into());
    for version in 2..5 {
        image(&lab, &format!("app:v{version}"));
        lab.pass(120);
    }
    assert_eq!(sets(&lab), ["3: 0/0", "4: 1/1"]);
}

#[test]
fn the_deployments_annotations_reach_its_set() {
    let mut lab = with(1, |_| {});
    lab.edit(&web(), |it| {
        it["metadata"]["annotations"]["kubernetes.io/change-cause"] = "first".into();
    });
    lab.pass(10);
    let set = &lab.list(&REPLICASETS)[0];
    assert_eq!(object::annotation(set, "kubernetes.io/change-cause"), Some("first"));
}

#[test]
fn a_set_of_its_own_name_that_is_not_its_own_makes_it_choose_another() {
    let mut lab = with(1, |_| {});
    let first = lab.list(&REPLICASETS).remove(0);
    lab.delete(&web());
    lab.pass(60);
    assert!(lab.list(&REPLICASETS).is_empty());
    let mut spec = template("app:v9");
    spec["replicas"] = 0.into();
    spec["selector"] = json!({"matchLabels": {"app": "other"}});
    spec["template"]["metadata"]["labels"] = json!({"app": "other"});
    let meta = json!({"name": object::name(&first), "namespace": "default"});
    lab.create(REPLICASETS, json!({"metadata": meta, "spec": spec}));
    let mut spec = template("app:v1");
    spec["replicas"] = 1.into();
    lab.create(
        DEPLOYMENTS,
        json!({"metadata": {"name": "web", "namespace": "default"}, "spec": spec}),
    );
    lab.pass(60);
    let it = deployment(&lab);
    assert_eq!(it["status"]["collisionCount"], 1);
    assert_eq!(it["status"]["availableReplicas"], 1);
}
