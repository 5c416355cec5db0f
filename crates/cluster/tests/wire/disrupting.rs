//! Evictions and deletions: what is sent, and each answer that a server gives.

use cluster::disrupt::{Disruption, Way, disrupt};
use engine::decision::Victim;
use engine::world::{Refusal, Uid};
use serde_json::{Value, json};

use super::far::{Reply, failure, script};

const RECORDED: &str = include_str!("fixtures/evictions.json");

fn victim() -> Victim {
    Victim { name: "web-3".into(), uid: Uid::from("u-3"), resource_version: "42".into() }
}

fn recorded(title: &str) -> Reply {
    let all: Value = serde_json::from_str(RECORDED).unwrap();
    let answer = &all[title];
    Reply::Json(answer["code"].as_u64().unwrap().try_into().unwrap(), answer["body"].clone())
}

async fn evicted(reply: Reply) -> Disruption {
    disrupt(&script([reply]).0, "exch", &victim(), Way::Evict).await
}

async fn deleted(reply: Reply) -> Disruption {
    disrupt(&script([reply]).0, "exch", &victim(), Way::Delete).await
}

fn refused(refusal: Refusal) -> Disruption {
    Disruption::Refused { refusal, retry_after: None }
}

#[tokio::test(start_paused = true)]
async fn an_eviction_carries_the_uid_where_the_server_reads_it() {
    let (client, far) = script([recorded("accepted")]);
    disrupt(&client, "exch", &victim(), Way::Evict).await;
    let asked = far.take();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].line, "POST /api/v1/namespaces/exch/pods/web-3/eviction");
    assert_eq!(asked[0].content, "application/json");
    assert_eq!(
        asked[0].body,
        json!({
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": "web-3", "namespace": "exch"},
            "deleteOptions": {"preconditions": {"uid": "u-3"}},
        })
    );
}

#[tokio::test(start_paused = true)]
async fn the_recorded_answers_of_the_eviction_api_are_told_apart() {
    async fn check(title: &str, expect: Disruption) {
        assert_eq!(evicted(recorded(title)).await, expect, "{title}");
    }
    let budget = |words: &str| refused(Refusal::Budget(words.into()));
    check("accepted", Disruption::Accepted).await;
    check("no_room", budget("The disruption budget web needs 3 healthy pods and has 3 currently"))
        .await;
    check(
        "budget_of_zero",
        budget("The disruption budget web needs 4 healthy pods and has 4 currently"),
    )
    .await;
    check("gone", refused(Refusal::Gone)).await;
    check("another_uid", refused(Refusal::Gone)).await;
    check(
        "two_budgets",
        refused(Refusal::AmbiguousBudget(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does \
             not support."
                .into(),
        )),
    )
    .await;
    check(
        "name_mismatch",
        refused(Refusal::Policy("name in URL does not match name in Eviction object".into())),
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_is_not_yet_observed_is_a_budget_and_says_when_to_come_back() {
    let mut body =
        failure(429, "Cannot evict pod as it would violate the pod's disruption budget.");
    body["details"] = json!({
        "causes": [{
            "reason": "DisruptionBudget",
            "message": "The disruption budget web is still being processed by the server.",
        }],
        "retryAfterSeconds": 10,
    });
    let words = "The disruption budget web is still being processed by the server.";
    let expect =
        Disruption::Refused { refusal: Refusal::Budget(words.into()), retry_after: Some(10) };
    assert_eq!(evicted(Reply::Json(429, body)).await, expect);
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_is_no_budget() {
    let expect = Disruption::Refused { refusal: Refusal::Overloaded, retry_after: Some(7) };
    assert_eq!(evicted(Reply::Busy(7)).await, expect);
    assert_eq!(deleted(Reply::Busy(7)).await, expect);
}

#[tokio::test(start_paused = true)]
async fn a_failure_inside_a_success_is_a_failure() {
    let inside = failure(429, "Cannot evict pod");
    assert_eq!(evicted(Reply::Json(201, inside)).await, refused(Refusal::Overloaded));
    let without_code = json!({"kind": "Status", "status": "Failure", "message": "no"});
    let expect = Disruption::Unknown("no".into());
    assert_eq!(evicted(Reply::Json(201, without_code)).await, expect);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_or_a_missing_permission_is_told_in_the_servers_words() {
    let words = "admission webhook \"pub.kruise.io\" denied the request: unavailable budget is 0";
    let expect = refused(Refusal::Policy(words.into()));
    assert_eq!(evicted(Reply::failure(403, words)).await, expect);
    assert_eq!(deleted(Reply::failure(403, words)).await, expect);
}

#[tokio::test(start_paused = true)]
async fn nobody_knows_what_came_of_a_request_without_a_clear_answer() {
    for reply in [Reply::failure(500, "etcd"), Reply::failure(504, "Timeout"), Reply::Silence] {
        assert!(matches!(evicted(reply).await, Disruption::Unknown(_)));
    }
    let Disruption::Unknown(words) = evicted(Reply::Silence).await else { panic!("no answer") };
    assert_eq!(words, "cannot evict Pod exch/web-3 now: no answer within 10 s");
}

#[tokio::test(start_paused = true)]
async fn a_deletion_is_guarded_by_uid_and_resource_version() {
    let (client, far) = script([Reply::ok(json!({"kind": "Pod"}))]);
    let disruption = disrupt(&client, "exch", &victim(), Way::Delete).await;
    assert_eq!(disruption, Disruption::Accepted);
    let asked = far.take();
    assert_eq!(asked[0].line, "DELETE /api/v1/namespaces/exch/pods/web-3");
    assert_eq!(
        asked[0].body,
        json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": "u-3", "resourceVersion": "42"},
        })
    );
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_has_changed_since_is_left_alone() {
    for code in [404, 409] {
        assert_eq!(deleted(Reply::failure(code, "changed")).await, refused(Refusal::Gone));
    }
}
