//! What is the same on workloads of all kinds.

use super::*;

#[tokio::test(start_paused = true)]
async fn pods_are_labelled_one_patch_each_in_order_and_one_that_is_gone_stops_nobody() {
    let label = |name: &str| Label {
        name: name.into(),
        uid: Uid(format!("uid-of-{name}")),
        mark: Mark::Batch { rollout_id: "7".into(), batch: 1 },
    };
    let pods = (0..10).map(|number| label(&format!("web-{number}"))).collect();
    let mut replies: Vec<Reply> = (0..9).map(|number| done(80 + number)).collect();
    replies.insert(3, Reply::failure(409, "another uid"));
    let (asked, report) =
        acted(of_deployment(deployment()), &Action::Label { pods }, replies).await;
    assert_eq!((asked.len(), report.requests, report.failed), (10, 10, None));
    for (number, asked) in asked.iter().enumerate() {
        let path = format!("/api/v1/namespaces/exch/pods/web-{number}");
        assert_eq!(asked.line, format!("PATCH {path}?fieldManager=sluice"));
    }
    assert_eq!(
        asked[0].body,
        json!({"metadata": {"uid": "uid-of-web-0", "labels": {
            "rollouts.kruise.io/rollout-id": "7", "rollouts.kruise.io/rollout-batch-id": "1",
        }}})
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_ends_the_labelling() {
    let label = |number: u32| Label {
        name: format!("web-{number}"),
        uid: "u".into(),
        mark: Mark::NoNeedUpdate { rollout_id: "7".into() },
    };
    let pods = (0..20).map(label).collect();
    let replies = (0..8).map(|_| Reply::failure(503, "down")).collect();
    let (asked, report) =
        acted(of_deployment(deployment()), &Action::Label { pods }, replies).await;
    assert_eq!((asked.len(), report.error), (8, Some("unknown")));
}

#[tokio::test(start_paused = true)]
async fn a_write_is_unseen_until_the_watch_of_its_kind_has_come_to_it() {
    let played = Played::start(of_deployment(deployment()), |_| done(190)).await;
    let observed = look(&played);
    let action = Action::Size(Size::Size { name: "web-old".into(), size: 3 });
    let mut report = act(&played.hands, &observed, &action, &|| GoOn::Yes).await;
    let unseen = &mut report.unseen;
    let key = Key::new("exch", "rel");
    let sees = |unseen: &mut Unseen| {
        let terms = Terms { settings: &Settings::default(), keep_paused: false };
        !observe(&played.caches, &key, terms, Outcome::default(), unseen).unwrap().world.unseen
    };
    assert!(!sees(unseen));
    let mut sized = set("web:v1", "old", 3, 5);
    sized["metadata"]["resourceVersion"] = json!("190");
    played.push("replicasets", "MODIFIED", sized).await;
    assert!(sees(unseen));
}

#[tokio::test(start_paused = true)]
async fn a_pause_by_annotation_is_another_wish() {
    let played = Played::start(of_deployment(deployment()), nothing).await;
    let observed = look(&played);
    let subject = Subject::new(Front::BatchRelease, Key::new("exch", "rel"));
    let asks = || played.caches.still_asks_as(&subject, &observed.meta);
    assert!(asks());
    let mut same = release("Deployment");
    same["metadata"]["resourceVersion"] = json!("191");
    played.push("batchreleases", "MODIFIED", same.clone()).await;
    assert!(asks(), "a status is no wish");
    same["metadata"]["annotations"] = json!({"sluice.dev/paused": "true"});
    played.push("batchreleases", "MODIFIED", same).await;
    assert!(!asks());
    assert!(look(&played).world.release.paused);
}

#[tokio::test(start_paused = true)]
async fn the_finalizers_of_others_stay() {
    let path = "/apis/rollouts.kruise.io/v1beta1/namespaces/exch/batchreleases/rel";
    let body = patched(of_deployment(deployment()), &Action::AddFinalizer, path).await;
    let ours = "rollouts.kruise.io/batch-release-finalizer";
    assert_eq!(
        body["metadata"],
        json!({"uid": "uid-of-rel", "resourceVersion": "40", "finalizers": ["other/one", ours]})
    );
    let body = patched(of_deployment(deployment()), &Action::RemoveFinalizer, path).await;
    assert_eq!(body["metadata"]["finalizers"], json!(["other/one"]));
}

#[tokio::test(start_paused = true)]
async fn a_workload_of_another_living_release_is_theirs_and_of_one_that_is_gone_free() {
    let control = json!({"kind": "BatchRelease", "name": "other", "uid": "uid-of-other"});
    let mut live = deployment();
    live["metadata"]["annotations"][CONTROL] = json!(control.to_string());
    let mut objects = of_deployment(live);
    let (_, body) = seen(objects.clone()).await;
    assert_eq!(body.control, Control::Free);
    let mut other = release("Deployment");
    other["metadata"]["name"] = json!("other");
    other["metadata"]["uid"] = json!("uid-of-other");
    objects.push(("batchreleases", other));
    let (_, body) = seen(objects).await;
    assert_eq!(body.control, Control::Other { owner: "BatchRelease/other".into() });
}
