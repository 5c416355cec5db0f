//! The status: how it is written, and that no decision is taken on an older one.

use cluster::Error;
use cluster::status;
use engine::status::{Phase, Status};
use serde_json::{Value, json};

use super::far::{Asked, Reply};
use super::played::{Played, rollout, usual};

fn in_progress() -> Status {
    Status {
        phase: Some(Phase::InProgress),
        reason: "evicting 1 Pod".into(),
        replicas: 4,
        ..Status::default()
    }
}

fn stored(version: u32) -> impl FnMut(&Asked) -> Reply + Send + 'static {
    move |_| Reply::ok(rollout("web", version))
}

#[tokio::test(start_paused = true)]
async fn a_status_is_put_under_the_version_that_was_read() {
    let played = Played::start(usual(), stored(101)).await;
    let seen = played.look("web").unwrap();
    let version =
        status::statefulset_rollout(&played.hands, &played.caches, &seen, &in_progress()).await;
    assert_eq!(version.unwrap(), "101");
    let asked = played.far.take();
    assert_eq!(
        asked[0].line,
        "PUT /apis/bedrock.operator.slack.com/v1/namespaces/exch/statefulsetrollouts/web/status\
         ?fieldManager=sluice"
    );
    assert_eq!(
        asked[0].body["metadata"],
        json!({"name": "web", "namespace": "exch", "uid": "uid-of-web", "resourceVersion": "40"})
    );
    assert_eq!(asked[0].body["status"]["phase"], "RolloutInProgress");
    assert_eq!(asked[0].body["status"]["reason"], "evicting 1 Pod");
}

#[tokio::test(start_paused = true)]
async fn what_we_wrote_is_read_back_before_the_watch_shows_it() {
    let played = Played::start(usual(), stored(105)).await;
    let seen = played.look("web").unwrap();
    status::statefulset_rollout(&played.hands, &played.caches, &seen, &in_progress())
        .await
        .unwrap();
    let ours = |version: &str, phase| {
        let seen = played.look("web").unwrap();
        assert_eq!((seen.resource_version.as_str(), seen.world.status.phase), (version, phase));
    };
    ours("105", Some(Phase::InProgress));

    // Somebody's label, written before our status and shown after it.
    played.push("statefulsetrollouts", "MODIFIED", rollout("web", 103)).await;
    ours("105", Some(Phase::InProgress));

    let with_phase = |version: u32, phase: &str| -> Value {
        let mut object = rollout("web", version);
        object["status"] = json!({"phase": phase});
        object
    };
    let shown = with_phase(105, "RolloutInProgress");
    played.push("statefulsetrollouts", "MODIFIED", shown).await;
    ours("105", Some(Phase::InProgress));
    let later = with_phase(106, "RolloutPaused");
    played.push("statefulsetrollouts", "MODIFIED", later).await;
    ours("106", Some(Phase::Paused));
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_was_made_anew_does_not_inherit_what_we_wrote() {
    let played = Played::start(usual(), stored(105)).await;
    let seen = played.look("web").unwrap();
    status::statefulset_rollout(&played.hands, &played.caches, &seen, &in_progress())
        .await
        .unwrap();
    let mut anew = rollout("web", 104);
    anew["metadata"]["uid"] = json!("another");
    played.push("statefulsetrollouts", "MODIFIED", anew).await;
    let seen = played.look("web").unwrap();
    assert_eq!((seen.resource_version.as_str(), seen.world.status.phase), ("104", None));
}

#[tokio::test(start_paused = true)]
async fn a_conflict_and_a_rollout_that_is_gone_are_told_apart() {
    async fn written(reply: fn() -> Reply) -> Error {
        let played = Played::start(usual(), move |_| reply()).await;
        let seen = played.look("web").unwrap();
        status::statefulset_rollout(&played.hands, &played.caches, &seen, &in_progress())
            .await
            .unwrap_err()
    }
    let conflict = written(|| Reply::failure(409, "the object has been modified")).await;
    assert!(conflict.is_conflict() && conflict.may_pass());
    assert_eq!(
        conflict.to_string(),
        "statefulsetrollout exch/web has changed since it was read: the object has been modified"
    );
    assert!(written(|| Reply::failure(404, "not found")).await.is_gone());
    let forbidden = written(|| Reply::failure(403, "no")).await;
    assert!(!forbidden.may_pass());
    let lost = written(|| Reply::Silence).await;
    assert_eq!(
        lost.to_string(),
        "cannot update the status of statefulsetrollout exch/web now: no answer within 10 s"
    );
}
