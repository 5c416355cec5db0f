//! Actions: which requests they make, where they stop, and what they report.

use std::collections::VecDeque;
use std::sync::Mutex;

use cluster::act::statefulset_rollout::act;
use cluster::{ActReport, GoOn};
use engine::decision::{Action, Victim};
use engine::world::{Applied, Outcome, Refusal, Strategy, Uid};
use serde_json::json;

use super::far::{Asked, Reply, failure};
use super::played::{Played, usual};

fn victims(ordinals: &[u32]) -> Vec<Victim> {
    let victim = |ordinal: &u32| Victim {
        name: format!("web-{ordinal}"),
        uid: Uid(format!("uid-of-{ordinal}")),
        resource_version: format!("{}", 50 + ordinal),
    };
    ordinals.iter().map(victim).collect()
}

fn evict(ordinals: &[u32]) -> Action {
    Action::Evict { pods: victims(ordinals) }
}

fn accepted() -> Reply {
    Reply::Json(201, json!({"kind": "Status", "status": "Success", "code": 201}))
}

fn no_room() -> Reply {
    let mut body = failure(429, "Cannot evict pod");
    body["details"] = json!({"causes": [{"reason": "DisruptionBudget", "message": "no room"}]});
    Reply::Json(429, body)
}

fn uid(ordinal: u32) -> Uid {
    Uid(format!("uid-of-{ordinal}"))
}

/// Acts while the far side answers with these; what was asked and what is reported.
async fn acted(action: &Action, replies: Vec<Reply>, stop_at: usize) -> (Vec<Asked>, ActReport) {
    let mut replies: VecDeque<Reply> = replies.into();
    let played =
        Played::start(usual(), move |_| replies.pop_front().unwrap_or(Reply::Silence)).await;
    let seen = played.look("web").unwrap();
    let asked = Mutex::new(0);
    let go_on = || {
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        if *asked > stop_at { GoOn::Changed } else { GoOn::Yes }
    };
    let report = act(&played.hands, &seen, action, &go_on).await;
    (played.far.take(), report)
}

async fn all(action: &Action, replies: Vec<Reply>) -> (Vec<Asked>, ActReport) {
    acted(action, replies, usize::MAX).await
}

#[tokio::test(start_paused = true)]
async fn evictions_go_one_after_another_and_stop_at_the_first_want_of_budget() {
    let (asked, report) = all(&evict(&[3, 2, 1]), vec![accepted(), no_room()]).await;
    let lines: Vec<&str> = asked.iter().map(|asked| asked.line.as_str()).collect();
    assert_eq!(
        lines,
        [
            "POST /api/v1/namespaces/exch/pods/web-3/eviction",
            "POST /api/v1/namespaces/exch/pods/web-2/eviction",
        ]
    );
    assert_eq!(report.accepted, [uid(3)].into());
    let refused = [(uid(2), Refusal::Budget("no room".into())), (uid(1), Refusal::NotTried)];
    assert_eq!(report.refused, refused.into());
    assert_eq!((report.requests, report.failed), (2, None));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_gone_does_not_stop_the_others() {
    let replies = vec![Reply::failure(409, "another uid"), accepted()];
    let (_, report) = all(&evict(&[3, 2]), replies).await;
    assert_eq!(report.accepted, [uid(2)].into());
    assert_eq!(report.refused, [(uid(3), Refusal::Gone)].into());
}

#[tokio::test(start_paused = true)]
async fn a_pause_between_two_evictions_stops_the_second() {
    let (asked, report) = acted(&evict(&[3, 2]), vec![accepted(), accepted()], 1).await;
    assert_eq!(asked.len(), 1);
    assert_eq!(report.stopped, Some(GoOn::Changed));
    assert_eq!(report.accepted, [uid(3)].into());
    assert_eq!(report.refused, [(uid(2), Refusal::NotTried)].into());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_of_anybody_when_the_lead_is_lost_before() {
    let (asked, report) = acted(&evict(&[3]), vec![], 0).await;
    assert_eq!(asked, []);
    assert_eq!((report.acted_at, report.requests), (None, 0));
}

#[tokio::test(start_paused = true)]
async fn an_eviction_of_which_nobody_knows_ends_the_batch_and_is_neither_accepted_nor_refused() {
    for reply in [Reply::Silence, Reply::failure(503, "down")] {
        let (asked, report) = all(&evict(&[3, 2]), vec![reply]).await;
        assert_eq!(asked.len(), 1);
        assert!(report.failed.is_some() && report.accepted.is_empty());
        assert_eq!(report.refused, [(uid(2), Refusal::NotTried)].into());
    }
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_is_left_alone_for_as_long_as_it_asks() {
    let (_, report) = all(&evict(&[3]), vec![Reply::Busy(30)]).await;
    assert_eq!(report.refused, [(uid(3), Refusal::Overloaded)].into());
    let acted_at = report.acted_at.unwrap();
    assert_eq!(report.hold_until.unwrap().duration_since(acted_at).as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn a_partition_is_lowered_alone_and_only_on_the_set_that_was_seen() {
    let done = Reply::ok(json!({"metadata": {"uid": "uid-of-set", "generation": 4}}));
    let (asked, report) = all(&Action::Open { partition: 3, percent: None }, vec![done]).await;
    assert_eq!(asked.len(), 1);
    assert_eq!(
        asked[0].line,
        "PATCH /apis/apps/v1/namespaces/exch/statefulsets/web?fieldManager=sluice"
    );
    assert_eq!(asked[0].content, "application/merge-patch+json");
    assert_eq!(
        asked[0].body,
        json!({
            "metadata": {"resourceVersion": "50", "uid": "uid-of-set"},
            "spec": {"updateStrategy": {
                "type": "RollingUpdate", "rollingUpdate": {"partition": 3},
            }},
        })
    );
    assert_eq!(report.accepted, [].into());
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_for_is_applied_whole_by_force_and_to_the_set_that_was_seen() {
    let action = Action::Apply { strategy: Strategy::RollingUpdate { partition: 4 } };
    let (asked, report) =
        all(&action, vec![Reply::ok(json!({"metadata": {"uid": "uid-of-set", "generation": 9}}))])
            .await;
    assert_eq!(
        asked[0].line,
        "PATCH /apis/apps/v1/namespaces/exch/statefulsets/web?fieldManager=sluice&force=true"
    );
    assert_eq!(asked[0].content, "application/apply-patch+yaml");
    let body = &asked[0].body;
    assert_eq!(
        body["metadata"],
        json!({
            "name": "web", "namespace": "exch", "uid": "uid-of-set",
            "annotations": {"sluice.dev/owned-by": "uid-of-web"},
        })
    );
    assert_eq!(body["spec"]["updateStrategy"]["rollingUpdate"]["partition"], 4);
    assert_eq!(body["spec"]["template"]["spec"]["containers"][0]["image"], "repo/web:v2");
    assert_eq!(body.get("status"), None);
    assert_eq!(report.applied.unwrap().generation, 9);
}

#[tokio::test(start_paused = true)]
async fn a_strategy_alone_leaves_standing_what_was_applied_but_covers_no_foreign_change() {
    /// `image` is what the set runs; the rollout asks for `repo/web:v2`.
    async fn check(image: &str, applied_at: Option<i64>, expect: Option<i64>) {
        let mut objects = usual();
        objects[1].1["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image);
        let mut done = Some(Reply::ok(json!({"metadata": {"uid": "uid-of-set", "generation": 4}})));
        let played = Played::start(objects, move |_| done.take().unwrap_or(Reply::Silence)).await;
        let mut seen = played.look("web").unwrap();
        let applied =
            |generation| Applied { uid: "uid-of-set".into(), hash: "h".into(), generation };
        seen.world.status.applied = applied_at.map(applied);
        let action = Action::SetStrategy { strategy: Strategy::OnDelete };
        let report = act(&played.hands, &seen, &action, &|| GoOn::Yes).await;
        assert_eq!(
            played.far.take()[0].body["spec"],
            json!({"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}})
        );
        assert_eq!(report.applied, expect.map(applied), "{image} {applied_at:?}");
    }
    check("repo/web:v2", None, None).await;
    check("repo/web:v2", Some(2), Some(4)).await;
    check("repo/web:v1", Some(3), Some(4)).await;
    check("repo/web:v1", Some(2), None).await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_write_says_whether_the_rollout_has_to_change() {
    async fn check(reply: Reply, invalid: bool, words: &str) {
        let action = Action::Apply { strategy: Strategy::OnDelete };
        let (_, report) = all(&action, vec![reply]).await;
        let refused = report.apply_refused.unwrap();
        assert_eq!(refused.invalid, invalid);
        assert!(refused.message.contains(words), "{}", refused.message);
    }
    let immutable = "StatefulSet.apps \"web\" is invalid: spec: Forbidden: updates to statefulset";
    check(Reply::failure(422, immutable), true, immutable).await;
    let undeclared = "failed to create typed patch object: .spec.x: field not declared in schema";
    check(Reply::failure(500, undeclared), true, undeclared).await;
    let twice = "failed to create typed patch object (shop/web; apps/v1, Kind=StatefulSet): \
                 .spec.template.spec.containers[name=\"c\"].env: duplicate entries for key [name=\"A\"]";
    check(Reply::failure(500, twice), true, twice).await;
    let forbidden = "statefulsets.apps \"web\" is forbidden: User \"x\" cannot patch resource";
    check(Reply::failure(403, forbidden), false, "`sluice install`").await;
    check(Reply::failure(404, "namespaces \"exch\" not found"), false, "namespaces").await;
}

#[tokio::test(start_paused = true)]
async fn a_write_that_the_server_could_not_do_is_reported_in_its_words_and_refuses_nothing() {
    let action = Action::Apply { strategy: Strategy::OnDelete };
    let words = "failed calling webhook \"x.example\": connection refused";
    let (_, report) = all(&action, vec![Reply::failure(500, words)]).await;
    assert_eq!(report.apply_failed.unwrap().message, words);
    assert_eq!(report.apply_refused, None);
    let (_, report) = all(&action, vec![Reply::failure(409, "has been modified")]).await;
    assert_eq!(report.apply_failed, None, "somebody was faster, which passes");
}

#[tokio::test(start_paused = true)]
async fn an_immutable_change_is_named_when_the_server_does_not() {
    let live = json!({"metadata": {"name": "web"}, "spec": {"serviceName": "other"}});
    let refusal = Reply::failure(422, "updates to statefulset spec for other fields are forbidden");
    let mut objects = usual();
    objects[0].1["spec"]["statefulset"]["spec"]["serviceName"] = json!("web");
    let mut replies: VecDeque<Reply> = [refusal, Reply::ok(live)].into();
    let played =
        Played::start(objects, move |_| replies.pop_front().unwrap_or(Reply::Silence)).await;
    let seen = played.look("web").unwrap();
    let action = Action::Apply { strategy: Strategy::OnDelete };
    let report = act(&played.hands, &seen, &action, &|| GoOn::Yes).await;
    let message = report.apply_refused.unwrap().message;
    assert!(message.contains("spec.statefulset.spec.serviceName differs"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn replicas_that_are_no_longer_asked_for_are_handed_over_before_the_apply() {
    /// What is asked of the server when the manager of `replicas` is this one.
    async fn check(manager: &str, expect: &[&str]) {
        let live = json!({
            "metadata": {"name": "web", "uid": "uid-of-set", "resourceVersion": "40",
                "managedFields": [{"manager": manager, "operation": "Apply",
                    "fieldsV1": {"f:spec": {"f:replicas": {}}}}]},
            "spec": {"replicas": 7},
        });
        let mut objects = usual();
        let asked = objects[0].1["spec"]["statefulset"]["spec"].as_object_mut().unwrap();
        asked.remove("replicas");
        let played = Played::start(objects, move |asked| match asked.line.starts_with("GET ") {
            true => Reply::ok(live.clone()),
            false => Reply::ok(json!({"metadata": {"uid": "uid-of-set", "generation": 9}})),
        })
        .await;
        let seen = played.look("web").unwrap();
        let action = Action::Apply { strategy: Strategy::OnDelete };
        let report = act(&played.hands, &seen, &action, &|| GoOn::Yes).await;
        assert_eq!(report.applied.unwrap().generation, 9);
        let asked = played.far.take();
        let path = "/apis/apps/v1/namespaces/exch/statefulsets/web";
        let lines: Vec<String> = asked.iter().map(|asked| asked.line.replace(path, "")).collect();
        assert_eq!(lines, expect);
        for handed in asked.iter().filter(|asked| asked.line.contains("sluice-replicas")) {
            assert_eq!(handed.body["spec"], json!({"replicas": 7}));
            assert_eq!(handed.body["metadata"]["resourceVersion"], "40");
        }
    }
    let apply = "PATCH ?fieldManager=sluice&force=true";
    let hand_over = "PATCH ?fieldManager=sluice-replicas&force=true";
    check("sluice", &["GET ", hand_over, apply]).await;
    check("autoscaler", &["GET ", apply]).await;
}

#[tokio::test(start_paused = true)]
async fn a_write_of_which_nobody_knows_is_no_refusal() {
    for reply in [Reply::failure(409, "uid mismatch"), Reply::failure(500, "etcd"), Reply::Silence]
    {
        let action = Action::Apply { strategy: Strategy::OnDelete };
        let (_, report) = all(&action, vec![reply]).await;
        assert_eq!((report.apply_refused, report.applied), (None, None));
        assert!(report.failed.is_some());
    }
}

#[test]
fn a_report_replaces_refusals_and_adds_to_what_was_accepted() {
    let applied = Applied { uid: "uid-of-set".into(), hash: "h".into(), generation: 1 };
    let mut outcome = Outcome {
        accepted: [uid(1)].into(),
        refused: [(uid(2), Refusal::Overloaded)].into(),
        applied: Some(applied.clone()),
        ..Outcome::default()
    };
    let nothing = ActReport { stopped: Some(GoOn::NotLeading), ..ActReport::default() };
    let before = outcome.clone();
    nothing.add_to(&mut outcome);
    assert_eq!(outcome, before);
    let report = ActReport { accepted: [uid(2)].into(), requests: 1, ..ActReport::default() };
    report.add_to(&mut outcome);
    assert_eq!(outcome.accepted, [uid(1), uid(2)].into());
    assert_eq!(outcome.refused, [].into());
    assert_eq!(outcome.applied, Some(applied));
}
