//! What is written.

use std::collections::VecDeque;

use cluster::act::history;
use cluster::act::rollout::{Report, act};
use cluster::status;
use cluster::{Error, GoOn};
use engine::front::rollout::{Action, Phase, Policy, ReleasePlan, StepState, decide};
use engine::quantity::IntOrPercent;
use engine::world::Uid;
use serde_json::{Value, json};

use super::*;
use crate::far::{Asked, Reply};

const ROLLOUT: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/exch/rollouts/web";
const RELEASES: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/exch/batchreleases";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/exch/deployments/web";
const CONTROL: &str = "batchrelease.rollouts.kruise.io/control-info";

/// What is asked, and what is reported, when the far side answers with these.
async fn acted(objects: Objects, action: &Action, replies: Vec<Reply>) -> (Vec<Asked>, Report) {
    let mut replies: VecDeque<Reply> = replies.into();
    let played = Played::start(objects, move |_| replies.pop_front().unwrap()).await;
    let observed = look(&played);
    let report = act(&played.hands, &observed, action, &|| GoOn::Yes).await;
    (played.far.take(), report)
}

fn done() -> Reply {
    Reply::ok(json!({"metadata": {"resourceVersion": "90"}}))
}

/// Line and body of the one write that an action is.
async fn written(objects: Objects, action: &Action) -> (String, Value) {
    let (mut asked, report) = acted(objects, action, vec![done()]).await;
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(report.failed.is_none() && report.waits.is_none());
    assert!(!report.unseen.is_empty(), "it waits until the caches show it");
    let asked = asked.remove(0);
    (asked.line, asked.body)
}

#[tokio::test(start_paused = true)]
async fn a_rollout_is_adopted_with_the_finalizers_that_it_has_under_the_version_that_was_read() {
    let mut objects = of_deployment(deployment());
    objects[0].1["metadata"]["finalizers"] = json!(["other/one"]);
    let (line, body) = written(objects, &Action::Adopt).await;
    assert_eq!(line, format!("PATCH {ROLLOUT}?fieldManager=sluice"));
    let metadata = &body["metadata"];
    assert_eq!(metadata["finalizers"], json!(["other/one", "rollouts.kruise.io/rollout"]));
    assert_eq!(
        (&metadata["uid"], &metadata["resourceVersion"]),
        (&json!("uid-of-web"), &json!("40"))
    );
    assert!(metadata["annotations"]["rollouts.kruise.io/hash"].is_string());
}

#[tokio::test(start_paused = true)]
async fn a_workload_is_labelled_held_and_given_back_in_one_write_each() {
    let (line, body) = written(of_deployment(deployment()), &Action::Label).await;
    assert_eq!(line, format!("PATCH {DEPLOYMENT}?fieldManager=sluice"));
    let expect = json!({"metadata": {
        "labels": {"rollouts.kruise.io/workload-type": "deployment"},
        "uid": "uid-of-workload", "resourceVersion": "50",
    }});
    assert_eq!(body, expect);

    let (_, body) = written(of_deployment(deployment()), &Action::Hold).await;
    assert_eq!(body["spec"], json!({"paused": true}));
    assert_eq!(body["metadata"]["annotations"][MARK], "{\"rolloutName\":\"web\"}");
    assert_eq!(body["metadata"]["labels"]["rollouts.kruise.io/stable-revision"], "old");

    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    let (_, body) = written(of_statefulset(statefulset(rolling)), &Action::Hold).await;
    assert_eq!(body["spec"]["updateStrategy"]["rollingUpdate"]["partition"], 3);

    let kept = r#"{"rollingStyle":"Partition","rollingUpdate":{"maxSurge":2,"maxUnavailable":0}}"#;
    let marks = json!({MARK: "{}", "rollouts.kruise.io/deployment-strategy": kept, CONTROL: "{}"});
    let mut held = with(deployment(), marks);
    held["spec"]["paused"] = json!(true);
    held["spec"]["strategy"] = json!({"type": "Recreate"});
    let (_, body) = written(of_deployment(held.clone()), &Action::Release { freeze: false }).await;
    let annotations = &body["metadata"]["annotations"];
    for gone in [MARK, CONTROL, "rollouts.kruise.io/deployment-strategy"] {
        assert!(annotations.as_object().unwrap().contains_key(gone) && annotations[gone].is_null());
    }
    assert_eq!(body["spec"]["paused"], Value::Null);
    let rolling = json!({"maxSurge": 2, "maxUnavailable": 0});
    assert_eq!(body["spec"]["strategy"]["rollingUpdate"], rolling);

    let (_, body) = written(of_deployment(held), &Action::Release { freeze: true }).await;
    assert_eq!(body.get("spec"), None, "what is held stays held");
    assert_eq!(body["metadata"]["annotations"], json!({MARK: null, CONTROL: null}));
}

fn plan() -> ReleasePlan {
    ReleasePlan {
        batches: vec![IntOrPercent::Int(1), IntOrPercent::ALL],
        partition: Some(0),
        rollout_id: "v2".to_owned(),
        failure_threshold: None,
        policy: None,
        rollback_in_batch: false,
        paused: false,
    }
}

fn released() -> Objects {
    let mut objects = of_deployment(deployment());
    objects.push(("batchreleases", release()));
    objects
}

#[tokio::test(start_paused = true)]
async fn a_release_is_created_changed_promoted_and_deleted_as_the_one_that_was_seen() {
    let (line, body) = written(of_deployment(deployment()), &Action::Create(plan())).await;
    assert_eq!(line, format!("POST {RELEASES}?fieldManager=sluice"));
    assert_eq!(body["metadata"]["ownerReferences"][0]["uid"], "uid-of-web");
    assert_eq!(
        body["spec"]["releasePlan"],
        json!({
            "batches": [{"canaryReplicas": 1}, {"canaryReplicas": "100%"}], "batchPartition": 0,
            "rolloutID": "v2", "rollingStyle": "Partition", "enableExtraWorkloadForCanary": false,
        })
    );
    let this = |body: &Value| {
        let metadata = &body["metadata"];
        assert_eq!(metadata["uid"], "uid-of-release");
        assert_eq!(metadata["resourceVersion"], "45");
    };
    let further = ReleasePlan { partition: Some(1), paused: true, ..plan() };
    let (line, body) = written(released(), &Action::Update(further)).await;
    assert_eq!(line, format!("PATCH {RELEASES}/web?fieldManager=sluice"));
    this(&body);
    assert_eq!(body["spec"]["releasePlan"]["batchPartition"], 1);
    assert_eq!(body["metadata"]["annotations"]["sluice.dev/paused"], "true");
    let (_, body) = written(released(), &Action::Promote(Policy::WaitResume)).await;
    this(&body);
    let promoted = json!({"batchPartition": null, "finalizingPolicy": "WaitResume"});
    assert_eq!(body["spec"]["releasePlan"], promoted);
    let (line, body) = written(released(), &Action::Delete(Uid("uid-of-release".into()))).await;
    assert_eq!(line, format!("DELETE {RELEASES}/web"));
    assert_eq!(body["preconditions"], json!({"uid": "uid-of-release"}));
}

#[tokio::test(start_paused = true)]
async fn a_release_that_is_gone_already_is_deleted() {
    for reply in [Reply::failure(404, "not found"), Reply::failure(409, "another uid")] {
        let delete = Action::Delete(Uid("uid-of-release".into()));
        let (_, report) = acted(released(), &delete, vec![reply]).await;
        assert!(report.failed.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_rollout_is_let_go_when_the_server_says_that_nothing_is_left() {
    async fn check(release: Reply, live: Reply, expect: &[&str], waits: Option<&str>) {
        let replies = vec![release, live, done()];
        let (asked, report) = acted(of_deployment(deployment()), &Action::Forget, replies).await;
        let verbs: Vec<&str> =
            asked.iter().map(|asked| asked.line.split(' ').next().unwrap()).collect();
        assert_eq!(verbs, expect);
        assert_eq!(report.waits.as_deref(), waits);
        if let Some(last) = asked.last().filter(|asked| asked.line.starts_with("PATCH")) {
            assert_eq!(last.body["metadata"]["finalizers"], json!(["other/one"]));
        }
    }
    let none = || Reply::failure(404, "not found");
    let free = || Reply::ok(deployment());
    let held = || Reply::ok(with(deployment(), json!({MARK: "{}"})));
    check(none(), free(), &["GET", "GET", "PATCH"], None).await;
    check(none(), none(), &["GET", "GET", "PATCH"], None).await;
    let waits = "Deployment exch/web is still held";
    check(none(), held(), &["GET", "GET"], Some(waits)).await;
    let waits = "BatchRelease exch/web is still there";
    check(Reply::ok(release()), free(), &["GET"], Some(waits)).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_once_the_lead_is_lost() {
    let played = Played::start(of_deployment(deployment()), nothing).await;
    let seen = look(&played);
    for action in [Action::Label, Action::Forget, Action::Adopt, Action::Create(plan())] {
        let report = act(&played.hands, &seen, &action, &|| GoOn::NotLeading).await;
        assert_eq!(report.stopped, Some(GoOn::NotLeading));
    }
    assert_eq!(played.far.lines(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_status_is_written_under_the_version_that_was_read_and_seen_from_then_on() {
    let mut objects = of_deployment(deployment());
    objects[0].1["metadata"]["annotations"] = json!({"rollouts.kruise.io/hash": "other"});
    objects[0].1["status"] = json!({"later": {"kept": true}});
    let played =
        Played::start(objects, |_| Reply::ok(json!({"metadata": {"resourceVersion": "41"}}))).await;
    let observed = look(&played);
    let decision = decide(&observed.world, played.hands.clock.now());
    let version =
        status::rollout(&played.hands, &played.caches, &observed, &decision.status).await.unwrap();
    assert_eq!(version, "41");
    let asked = played.far.take();
    assert_eq!(asked[0].line, format!("PUT {ROLLOUT}/status?fieldManager=sluice"));
    assert_eq!(asked[0].body["metadata"]["resourceVersion"], "40");
    assert_eq!(asked[0].body["status"]["phase"], "Healthy");
    assert_eq!(asked[0].body["status"]["later"], json!({"kept": true}));
    let again = look(&played);
    assert_eq!(again.resource_version, "41");
    assert_eq!(again.world.status.phase, Some(Phase::Healthy));
    // An approval that a user wrote meanwhile is newer.
    let mut approved = rollout("Deployment");
    approved["metadata"]["resourceVersion"] = json!("42");
    approved["status"] = json!({"canaryStatus": {"currentStepState": "StepReady"}});
    played.push("rollouts", "MODIFIED", approved).await;
    let canary = look(&played).world.status.canary.unwrap();
    assert_eq!(canary.state, StepState::StepReady);
}

#[tokio::test(start_paused = true)]
async fn an_approval_in_between_makes_the_write_a_conflict() {
    let played = Played::start(of_deployment(deployment()), |_| {
        Reply::failure(409, "the object has been modified")
    })
    .await;
    let observed = look(&played);
    let written =
        status::rollout(&played.hands, &played.caches, &observed, &observed.world.status).await;
    assert!(written.is_err_and(|error| error.is_conflict()));
    assert_eq!(look(&played).resource_version, "40");
}

#[tokio::test(start_paused = true)]
async fn a_history_is_made_once_and_completed_with_the_pods_of_each_step() {
    let pods = json!({"items": [
        {"metadata": {"name": "web-a", "labels": {"rollouts.kruise.io/rollout-batch-id": "1"}},
            "spec": {"nodeName": "n1"}, "status": {"podIP": "192.0.2.7"}},
        {"metadata": {"name": "web-b", "labels": {}}},
    ]});
    let mut replies: VecDeque<Reply> = [
        Reply::failure(409, "already exists"),
        Reply::ok(json!({"metadata": {}})),
        Reply::ok(pods),
        done(),
        Reply::ok(json!({"status": {"phase": "completed"}})),
        Reply::failure(404, "not found"),
    ]
    .into();
    let played =
        Played::start(of_deployment(deployment()), move |_| replies.pop_front().unwrap()).await;
    let observed = look(&played);
    history::begin(&played.hands, &observed, "v2").await.unwrap();
    for _ in 0..3 {
        history::complete(&played.hands, &observed, "v2").await.unwrap();
    }
    let asked = played.far.take();
    let first = &asked[0].body;
    let name = first["metadata"]["name"].as_str().unwrap();
    let (head, letters) = name.split_once('-').unwrap();
    assert_eq!((head, letters.len()), ("web", 6));
    assert!(letters.bytes().all(|letter| letter.is_ascii_lowercase()), "{name}");
    assert_eq!(first["metadata"]["labels"]["rollouts.kruise.io/rollout-id"], "v2");
    assert_eq!(first["spec"]["workload"]["data"]["replicas"], 4);
    assert_eq!(
        asked[2].line,
        "GET /api/v1/namespaces/exch/pods?labelSelector=rollouts.kruise.io%2Frollout-id%3Dv2"
    );
    assert_eq!(
        asked[3].body["status"],
        json!({"phase": "completed", "canarySteps": [{"canaryStepIndex": 1, "pods": [
            {"name": "web-a", "ip": "192.0.2.7", "nodeName": "n1"},
        ]}]})
    );
    assert_eq!(asked.len(), 6, "what is complete or not there is left alone");
}

#[tokio::test(start_paused = true)]
async fn a_write_that_fails_is_told_by_what_may_be_done_about_it() {
    let (_, report) = acted(
        of_deployment(deployment()),
        &Action::Label,
        vec![Reply::failure(409, "the object has been modified")],
    )
    .await;
    assert!(matches!(report.failed, Some(Error::Conflict { .. })) && report.unseen.is_empty());
    let (_, report) =
        acted(of_deployment(deployment()), &Action::Label, vec![Reply::Busy(30)]).await;
    assert!(matches!(report.failed, Some(Error::Unknown { retry_after: Some(30), .. })));
}
