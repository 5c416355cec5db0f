//! Deployments.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_deployment_is_seen_with_its_replica_sets_and_their_pods() {
    let mut objects = of_deployment(deployment());
    objects.push(("replicasets", set("web:v2", "new", 1, 6)));
    let labels = json!({"pod-template-hash": "new", "rollouts.kruise.io/rollout-id": "7",
        "rollouts.kruise.io/rollout-batch-id": "1", "controller-revision-hash": "kruise"});
    objects.push(("pods", pod("ReplicaSet", "web-new", "web-new-a", labels)));
    let (observed, body) = seen(objects).await;
    assert_eq!(body.workload.update_revision, "new");
    assert_eq!(body.stable_revision.as_deref(), Some("old"));
    assert!(body.also_called.contains(&"kruise".to_owned()), "as the original labelled its Pods");
    assert_eq!((body.control, body.max_unavailable), (Control::Free, Some(IntOrPercent::Int(0))));
    let Machinery::Deployment(deployment) = body.machinery else { panic!("a Deployment") };
    let facts = deployment.new.unwrap();
    assert_eq!((facts.size, facts.revision, facts.sized_for, facts.seen), (1, 6, 3, true));
    assert_eq!(deployment.stable.as_deref(), Some("web-old"));
    assert_eq!((deployment.rolling, deployment.saved), (Some(rolling()), None));
    assert_eq!(observed.world.pods.len(), 2);
    let marks = observed.world.marks.values().next().unwrap();
    assert_eq!((marks.rollout_id.as_str(), marks.batch), ("7", Some(1)));
}

#[tokio::test(start_paused = true)]
async fn a_template_that_only_writes_an_amount_otherwise_has_its_replica_set_already() {
    let resources = |cpu: &str| json!({"limits": {"cpu": cpu}});
    let mut live = deployment();
    live["spec"]["template"]["spec"]["containers"][0]["resources"] = resources("1000m");
    let mut same = set("web:v2", "new", 1, 6);
    same["spec"]["template"]["spec"]["containers"][0]["resources"] = resources("1");
    let mut objects = of_deployment(live);
    objects.push(("replicasets", same));
    let (_, body) = seen(objects).await;
    assert_eq!(body.workload.update_revision, "new");
}

#[tokio::test(start_paused = true)]
async fn a_deployment_is_taken_over_and_given_back_in_one_write_each() {
    let objects = of_deployment(deployment());
    let action = take(Some(Original::Rolling(rolling())), Held::Paused);
    let body = patched(objects, &action, DEPLOYMENT).await;
    assert_eq!(
        (&body["metadata"]["uid"], &body["metadata"]["resourceVersion"]),
        (&json!("uid-of-web"), &json!("50"))
    );
    let annotations = &body["metadata"]["annotations"];
    let control: Value = serde_json::from_str(annotations[CONTROL].as_str().unwrap()).unwrap();
    assert_eq!((&control["uid"], &control["kind"]), (&json!("uid-of-rel"), &json!("BatchRelease")));
    assert_eq!(annotations[STRATEGY], KEPT);
    assert_eq!(
        body["metadata"]["labels"],
        json!({
            "rollouts.kruise.io/controlled-by-advanced-deployment-controller": "true",
            "rollouts.kruise.io/stable-revision": "old",
        })
    );
    assert_eq!(
        body["spec"],
        json!({"paused": true, "strategy": {"type": "Recreate", "rollingUpdate": null}})
    );
    let mut taken = with(&deployment(), &body);
    taken["metadata"]["resourceVersion"] = json!("51");
    let (_, held) = seen(of_deployment(taken.clone())).await;
    assert_eq!(held.control, Control::Ours);
    let Machinery::Deployment(machinery) = held.machinery else { panic!("a Deployment") };
    assert!(machinery.paused && machinery.recreate);
    assert_eq!(
        (machinery.saved, held.max_unavailable),
        (Some(rolling()), Some(IntOrPercent::Int(0)))
    );
    let back = Action::Release { restore: Some(Original::Rolling(rolling())) };
    let back = patched(of_deployment(taken.clone()), &back, DEPLOYMENT).await;
    let mut given = with(&taken, &back);
    given["metadata"]["resourceVersion"] = json!("50");
    assert_eq!(given, deployment());
}

#[tokio::test(start_paused = true)]
async fn whose_own_strategy_is_recreate_gets_that_back() {
    let mut live = deployment();
    live["spec"]["strategy"] = json!({"type": "Recreate"});
    let keep = Some(Original::Rolling(Rolling::default()));
    let body = patched(of_deployment(live.clone()), &take(keep, Held::Paused), DEPLOYMENT).await;
    let taken = with(&live, &body);
    let back = Action::Release { restore: keep };
    let back = patched(of_deployment(taken.clone()), &back, DEPLOYMENT).await;
    assert_eq!(with(&taken, &back)["spec"], live["spec"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_let_go_as_it_is_loses_only_the_name_on_it() {
    let body = patched(of_deployment(deployment()), &Action::Release { restore: None }, DEPLOYMENT);
    let mut body = body.await;
    body["metadata"].as_object_mut().unwrap().retain(|key, _| key == "annotations");
    assert_eq!(body, json!({"metadata": {"annotations": {CONTROL: null}}}));
}

#[tokio::test(start_paused = true)]
async fn a_replica_set_is_sized_with_what_it_was_sized_for() {
    let action = Action::Size(Size::Size { name: "web-old".into(), size: 3 });
    let path = "/apis/apps/v1/namespaces/exch/replicasets/web-old";
    let body = patched(of_deployment(deployment()), &action, path).await;
    assert_eq!(
        body,
        json!({
            "metadata": {
                "uid": "uid-of-web-old", "resourceVersion": "60",
                "annotations": {
                    "deployment.kubernetes.io/desired-replicas": "4",
                    "deployment.kubernetes.io/max-replicas": "6",
                },
            },
            "spec": {"replicas": 3},
        })
    );
}

const CREATE: Action = Action::Size(Size::Create { size: 1 });

#[tokio::test(start_paused = true)]
async fn the_new_replica_set_is_made_as_its_own_controller_would_and_under_another_name_if_it_must()
{
    let none = || Reply::ok(json!({"items": []}));
    let taken = || Reply::failure(409, "replicasets.apps already exists");
    let replies = vec![none(), taken(), done(91)];
    let (asked, report) = acted(of_deployment(deployment()), &CREATE, replies).await;
    let sets = "/apis/apps/v1/namespaces/exch/replicasets";
    let lines: Vec<&str> = asked.iter().map(|asked| asked.line.as_str()).collect();
    let post = format!("POST {sets}?fieldManager=sluice");
    assert_eq!(lines, [&format!("GET {sets}?labelSelector=app=web"), &post, &post]);
    let (first, second) = (&asked[1].body, &asked[2].body);
    assert_ne!(first["metadata"]["name"], second["metadata"]["name"]);
    let hash = second["metadata"]["labels"]["pod-template-hash"].as_str().unwrap();
    assert_eq!(second["metadata"]["name"], format!("web-{hash}"));
    let labels = json!({"app": "web", "pod-template-hash": hash});
    assert_eq!(second["spec"]["selector"]["matchLabels"], labels);
    assert_eq!(second["spec"]["template"]["metadata"]["labels"], labels);
    assert_eq!(second["spec"]["replicas"], 1);
    assert_eq!(second["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "6");
    assert_eq!(second["metadata"]["annotations"]["team"], "a");
    assert_eq!(second["metadata"]["ownerReferences"][0]["uid"], "uid-of-web");
    assert_eq!((report.failed, report.requests), (None, 3));
    // Whichever name it got, it is the revision that the release began with.
    let (_, before) = seen(of_deployment(deployment())).await;
    let mut made = second.clone();
    made["metadata"]["uid"] = json!("uid-of-made");
    made["metadata"]["resourceVersion"] = json!("91");
    let mut objects = of_deployment(deployment());
    objects.push(("replicasets", made));
    let (_, after) = seen(objects).await;
    assert_eq!(after.workload.update_revision, hash);
    assert!(after.also_called.contains(&before.workload.update_revision));
}

#[tokio::test(start_paused = true)]
async fn a_replica_set_that_the_caches_have_not_shown_is_not_made_twice() {
    let twin = Reply::ok(json!({"items": [set("web:v2", "native", 0, 6)]}));
    let (asked, report) = acted(of_deployment(deployment()), &CREATE, vec![twin]).await;
    assert_eq!(asked.len(), 1);
    assert_eq!(report.error, Some("conflict"));
    assert!(report.failed.unwrap().contains("web-native"));
}

#[tokio::test(start_paused = true)]
async fn somebody_who_was_faster_is_looked_at_first() {
    let replies = vec![Reply::failure(409, "has been modified")];
    let action = take(None, Held::Paused);
    let (_, report) = acted(of_deployment(deployment()), &action, replies).await;
    assert_eq!(
        (report.error, report.apply_refused, report.apply_failed),
        (Some("conflict"), None, None)
    );
    assert!(report.failed.is_some() && report.unseen.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_refused_is_told_in_the_servers_words() {
    let forbidden = vec![Reply::failure(403, "admission webhook denied the request")];
    let action = take(None, Held::Paused);
    let (_, report) = acted(of_deployment(deployment()), &action, forbidden).await;
    assert!(report.apply_refused.unwrap().message.contains("denied the request"));
}
