//! StatefulSets.

use super::*;

fn of_statefulset(strategy: Value, annotations: Value) -> Objects {
    let status = json!({"updateRevision": "web-2", "currentRevision": "web-1"});
    let mut live = workload(50, json!({"replicas": 4, "updateStrategy": strategy}), status);
    live["metadata"]["annotations"] = annotations;
    let labels = json!({"controller-revision-hash": "web-1"});
    vec![
        ("batchreleases", release("StatefulSet")),
        ("statefulsets", live),
        ("pods", pod("StatefulSet", "web", "web-0", labels)),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_statefulset_is_held_by_its_partition_and_given_back_whole() {
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1, "maxUnavailable": "50%"}});
    let objects = of_statefulset(own.clone(), json!({}));
    let (_, body) = seen(objects.clone()).await;
    assert_eq!(
        (body.workload.update_revision.as_str(), body.stable_revision.as_deref()),
        ("web-2", Some("web-1"))
    );
    assert_eq!(body.max_unavailable, Some(IntOrPercent::Percent(50)));
    let keep = Some(Original::Strategy(partition(1)));
    let action = take(keep, Held::Strategy(partition(32767)));
    let patch = patched(objects.clone(), &action, STATEFULSET).await;
    let annotations = &patch["metadata"]["annotations"];
    assert_eq!(annotations[HELD], "32767");
    let kept: Value = serde_json::from_str(annotations[ORIGINAL].as_str().unwrap()).unwrap();
    assert_eq!(kept, own);
    let taken = with(&objects[1].1, &patch);
    assert_eq!(taken["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"], "50%");
    let objects = vec![objects[0].clone(), ("statefulsets", taken.clone())];
    let (_, held) = seen(objects.clone()).await;
    assert_eq!(
        held.machinery,
        Machinery::Pods { nature: Nature::STATEFUL_SET, saved: Some(partition(1)) }
    );
    let open = Action::Move(Motion::Open { partition: 3, percent: None });
    let opened = patched(objects.clone(), &open, STATEFULSET).await;
    assert_eq!(opened["metadata"]["annotations"], json!({HELD: "3"}));
    assert_eq!(
        opened["spec"]["updateStrategy"],
        json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}})
    );
    let back = Action::Release { restore: keep };
    let given = with(&taken, &patched(objects, &back, STATEFULSET).await);
    assert_eq!(given["spec"]["updateStrategy"], own);
    assert_eq!(given["metadata"]["annotations"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_partition_that_a_release_left_above_all_is_not_the_users_own() {
    let left = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 32767}});
    let keep = Some(Original::Strategy(partition(0)));
    let action = take(keep, Held::AsItIs);
    let patch = patched(of_statefulset(left, json!({})), &action, STATEFULSET).await;
    let annotations = &patch["metadata"]["annotations"];
    let kept: Value = serde_json::from_str(annotations[ORIGINAL].as_str().unwrap()).unwrap();
    assert_eq!(kept["rollingUpdate"]["partition"], 0);
    assert_eq!(annotations[HELD], "32767");
}

#[tokio::test(start_paused = true)]
async fn a_statefulset_under_on_delete_is_let_alone() {
    let own = json!({"type": "OnDelete"});
    let objects = of_statefulset(own.clone(), json!({}));
    let keep = Some(Original::Strategy(Strategy::OnDelete));
    let patch = patched(objects.clone(), &take(keep, Held::AsItIs), STATEFULSET).await;
    assert_eq!(patch.get("spec"), None);
    let taken = with(&objects[1].1, &patch);
    let objects = vec![objects[0].clone(), ("statefulsets", taken.clone())];
    let back = patched(objects, &Action::Release { restore: keep }, STATEFULSET).await;
    assert_eq!(with(&taken, &back)["spec"]["updateStrategy"], own);
}

#[tokio::test(start_paused = true)]
async fn a_set_of_a_statefulset_rollout_belongs_to_that() {
    let annotations = json!({"sluice.dev/owned-by": "uid-of-web"});
    let mut objects = of_statefulset(json!({"type": "OnDelete"}), annotations);
    objects.push(("statefulsetrollouts", crate::played::rollout("web", 41)));
    let (_, body) = seen(objects).await;
    assert_eq!(body.control, Control::Other { owner: "StatefulsetRollout/web".into() });
}
