//! Native DaemonSets.

use super::*;

fn of_daemonset(strategy: Value, annotations: Value) -> Objects {
    let status = json!({"desiredNumberScheduled": 3});
    let mut live = workload(50, json!({"updateStrategy": strategy}), status);
    live["metadata"]["annotations"] = annotations;
    let revision = |image: &str, hash: &str, number: u32| {
        let labels = json!({"controller-revision-hash": hash});
        let mut template = template(image);
        template["$patch"] = json!("replace");
        json!({
            "metadata": owned("DaemonSet", "web", &format!("web-{hash}"), 60, labels),
            "revision": number, "data": {"spec": {"template": template}},
        })
    };
    vec![
        ("batchreleases", release("DaemonSet")),
        ("daemonsets", live),
        ("controllerrevisions", revision("web:v1", "old", 1)),
        ("controllerrevisions", revision("web:v2", "new", 2)),
        ("pods", pod("DaemonSet", "web", "web-a", json!({"controller-revision-hash": "old"}))),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_daemonset_is_held_by_on_delete_and_given_back_whole() {
    let own =
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2, "maxSurge": 0}});
    let objects = of_daemonset(own.clone(), json!({}));
    let (_, body) = seen(objects.clone()).await;
    assert_eq!(
        (body.workload.update_revision.as_str(), body.stable_revision.as_deref()),
        ("new", Some("old"))
    );
    assert_eq!((body.workload.replicas, body.max_unavailable), (3, Some(IntOrPercent::Int(2))));
    assert_eq!(body.also_called, ["web-new"]);
    let keep = Some(Original::Strategy(partition(0)));
    let action = take(keep, Held::Strategy(Strategy::OnDelete));
    let patch = patched(objects.clone(), &action, DAEMONSET).await;
    let annotations = &patch["metadata"]["annotations"];
    assert_eq!(annotations[DAEMONS], "RollingUpdate");
    assert_eq!(patch["spec"]["updateStrategy"], json!({"type": "OnDelete"}));
    let taken = with(&objects[1].1, &patch);
    let mut objects = objects;
    objects[1].1 = taken.clone();
    let (_, held) = seen(objects.clone()).await;
    assert_eq!(
        held.machinery,
        Machinery::Pods { nature: Nature::DAEMON_SET, saved: Some(partition(0)) }
    );
    assert_eq!((held.control, held.max_unavailable), (Control::Ours, Some(IntOrPercent::Int(2))));
    assert_eq!(held.stable_revision.as_deref(), Some("old"), "it is written down");
    let back = Action::Release { restore: keep };
    let given = with(&taken, &patched(objects, &back, DAEMONSET).await);
    assert_eq!(given["spec"]["updateStrategy"], own);
    assert_eq!(given["metadata"]["annotations"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_daemonset_whose_revision_has_not_been_shown_is_not_seen_by_its_controller() {
    let mut objects = of_daemonset(json!({"type": "OnDelete"}), json!({}));
    objects.remove(3);
    let (_, body) = seen(objects).await;
    assert!(body.workload.observed_generation < body.workload.generation);
}
