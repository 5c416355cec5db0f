//! Kruise's workloads: a CloneSet, an Advanced StatefulSet, an Advanced DaemonSet.

use super::*;

const PATH: &str = "/apis/apps.kruise.io/v1beta1/namespaces/exch";

/// One of these kinds, by plural, with two revisions and a Pod of the old one.
fn of_kruise(plural: &'static str, strategy: &Value) -> Objects {
    let (kind, table) = match plural {
        "clonesets" => ("CloneSet", "clonesets.apps.kruise.io"),
        "statefulsets" => ("StatefulSet", "statefulsets.apps.kruise.io"),
        _ => ("DaemonSet", "daemonsets.apps.kruise.io"),
    };
    let mut release = release(kind);
    // Whatever version it says: it is one workload.
    release["spec"]["workloadRef"]["apiVersion"] = json!("apps.kruise.io/v1alpha1");
    let (mut spec, mut status) = (json!({"updateStrategy": strategy}), json!({}));
    if kind == "DaemonSet" {
        status = json!({"desiredNumberScheduled": 4, "daemonSetHash": "2"});
    } else {
        spec["replicas"] = json!(4);
        status["updateRevision"] = json!("web-2");
        status["currentRevision"] = json!("web-1");
    }
    let mut live = workload(50, spec, status);
    live["metadata"]["annotations"] = json!({});
    let of_kruise = |mut owned: Value| {
        owned["metadata"]["ownerReferences"][0]["apiVersion"] = json!("apps.kruise.io/v1beta1");
        owned
    };
    let revision = |image: &str, hash: &str, number: u32| {
        let labels = json!({"controller-revision-hash": hash});
        of_kruise(json!({
            "metadata": owned(kind, "web", &format!("web-{hash}"), 60, labels),
            "revision": number, "data": {"spec": {"template": template(image)}},
        }))
    };
    let hash = if kind == "DaemonSet" { "1" } else { "web-1" };
    let labels = json!({"controller-revision-hash": hash});
    vec![
        ("batchreleases", release),
        (table, live),
        ("controllerrevisions", revision("web:v1", "1", 1)),
        ("controllerrevisions", revision("web:v2", "2", 2)),
        ("pods", of_kruise(pod(kind, "web", "web-0", labels))),
    ]
}

/// What a workload goes through.
struct Course {
    plural: &'static str,
    nature: Nature,
    /// The user's own strategy, and the partition that it has in Pods.
    own: Value,
    pods: u32,
    /// How it stands while all is held, and then half.
    held: Value,
    half: Value,
}

async fn check(course: Course) {
    let Course { plural, nature, own, pods, held, half } = course;
    let path = format!("{PATH}/{plural}/web");
    let mut objects = of_kruise(plural, &own);
    let (observed, body) = seen(objects.clone()).await;
    assert_eq!(observed.world.pods.len(), 1, "its Pods are told by group and kind");
    let update = if nature == Nature::ADVANCED_DAEMON_SET { "2" } else { "web-2" };
    assert_eq!(body.workload.update_revision, update);
    assert_eq!(body.stable_revision.unwrap(), update.replace('2', "1"));
    assert_eq!((body.workload.replicas, body.workload.strategy), (4, partition(pods)));
    assert_eq!(body.machinery, Machinery::Pods { nature, saved: None });

    let keep = Some(Original::Strategy(partition(pods)));
    let action = take(keep, Held::Strategy(partition(32767)));
    let patch = patched(objects.clone(), &action, &path).await;
    objects[1].1 = with(&objects[1].1, &patch);
    assert_eq!(objects[1].1["spec"]["updateStrategy"], held, "{plural} is held");
    let (_, body) = seen(objects.clone()).await;
    assert_eq!(body.machinery, Machinery::Pods { nature, saved: Some(partition(pods)) });
    assert_eq!(body.workload.strategy, partition(32767));

    let open =
        Action::Move(Motion::Open { partition: 2, percent: Some(50).filter(|_| nature.percent) });
    let patch = patched(objects.clone(), &open, &path).await;
    objects[1].1 = with(&objects[1].1, &patch);
    assert_eq!(objects[1].1["spec"]["updateStrategy"], half, "{plural} is half open");
    let (_, body) = seen(objects.clone()).await;
    assert_eq!(body.workload.strategy, partition(2));

    let back = patched(objects.clone(), &Action::Release { restore: keep }, &path).await;
    let given = with(&objects[1].1, &back);
    assert_eq!(given["spec"]["updateStrategy"], own, "{plural} is given back");
    assert_eq!(given["metadata"]["annotations"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_cloneset_is_held_by_all_of_it_and_given_back_whole() {
    let strategy = |partition: Value, paused: Value| {
        let mut strategy = json!({"type": "InPlaceIfPossible", "maxUnavailable": "20%"});
        strategy["partition"] = partition;
        strategy["paused"] = paused;
        strategy
    };
    check(Course {
        plural: "clonesets",
        nature: Nature::CLONE_SET,
        // A quarter and a little, of four: rounded up.
        own: strategy(json!("26%"), json!(true)),
        pods: 2,
        held: strategy(json!("100%"), json!(false)),
        half: strategy(json!("50%"), json!(false)),
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_advanced_statefulset_is_held_above_all_and_given_back_whole() {
    let strategy = |partition: u32, paused: bool| {
        let rolling = json!({
            "partition": partition, "paused": paused, "maxUnavailable": 2, "podUpdatePolicy": "ReCreate",
        });
        json!({"type": "RollingUpdate", "rollingUpdate": rolling})
    };
    check(Course {
        plural: "statefulsets",
        nature: Nature::ADVANCED_STATEFUL_SET,
        own: strategy(1, true),
        pods: 1,
        held: strategy(32767, false),
        half: strategy(2, false),
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_advanced_daemonset_is_held_above_all_and_given_back_whole() {
    let strategy = |partition: Value, paused: bool| {
        let rolling = json!({
            "partition": partition, "paused": paused, "rollingUpdateType": "Standard",
        });
        json!({"type": "RollingUpdate", "rollingUpdate": rolling})
    };
    check(Course {
        plural: "daemonsets",
        nature: Nature::ADVANCED_DAEMON_SET,
        // Three quarters less a little, of four: rounded down.
        own: strategy(json!("74%"), true),
        pods: 2,
        held: strategy(json!(32767), false),
        half: strategy(json!(2), false),
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn in_any_order_an_advanced_statefulset_is_of_another_nature() {
    let rolling = json!({"unorderedUpdate": {}, "minReadySeconds": 7});
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
    let mut objects = of_kruise("statefulsets", &strategy);
    objects[1].1["spec"]["reserveOrdinals"] = json!([1, "3-4"]);
    let (_, body) = seen(objects).await;
    let nature = Nature::UNORDERED_STATEFUL_SET;
    assert_eq!(body.machinery, Machinery::Pods { nature, saved: None });
    assert_eq!(body.workload.ordinals().collect::<Vec<_>>(), [0, 2, 5, 6]);
    assert_eq!(body.workload.min_ready.as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn under_on_delete_those_that_have_it_are_let_alone() {
    let own = json!({"type": "OnDelete"});
    for plural in ["statefulsets", "daemonsets"] {
        let path = format!("{PATH}/{plural}/web");
        let mut objects = of_kruise(plural, &own);
        let keep = Some(Original::Strategy(Strategy::OnDelete));
        let patch = patched(objects.clone(), &take(keep, Held::AsItIs), &path).await;
        assert_eq!(patch.get("spec"), None, "{plural}");
        objects[1].1 = with(&objects[1].1, &patch);
        let back = patched(objects.clone(), &Action::Release { restore: keep }, &path).await;
        assert_eq!(with(&objects[1].1, &back)["spec"]["updateStrategy"], own, "{plural}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cloneset_whose_pods_bear_short_hashes_is_told_by_them() {
    let mut objects = of_kruise("clonesets", &json!({"type": "ReCreate"}));
    objects[4].1["metadata"]["labels"]["controller-revision-hash"] = json!("1");
    let (_, body) = seen(objects).await;
    assert_eq!(
        (body.workload.update_revision.as_str(), body.stable_revision.unwrap()),
        ("2", "1".into())
    );
    assert_eq!(body.also_called, ["web-2"]);
}
