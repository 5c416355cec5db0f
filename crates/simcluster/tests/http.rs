//! What a client sees over the Router, beyond the recorded exchanges.

#[allow(dead_code, reason = "each test binary uses a part of it")]
mod client;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use base64::Engine as _;
use client::{call, cluster, raw, with_access};
use futures::FutureExt;
use http_body_util::BodyExt;
use simcluster::admission::WebhookCall;
use simcluster::http::access::{ADMIN, Access, Denial};
use simcluster::json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}})
}

async fn create(router: &Router, name: &str) -> Value {
    let (code, body) = call(router, "POST", MAPS, map(name)).await;
    assert_eq!(code, 201, "{body}");
    body
}

fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().expect("a resourceVersion")
}

/// The events of a watch, as (type, name).
async fn events(router: &Router, query: &str) -> Vec<(String, String)> {
    let response = raw(router, "GET", &format!("{MAPS}?watch=1&{query}"), &Value::Null).await;
    let bytes = response.into_body().collect().await.expect("no body fails").to_bytes();
    bytes
        .split(|&b| b == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| {
            let event: Value = serde_json::from_slice(line).expect("a line of JSON");
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let what = if event["type"] == "ERROR" {
                text(&event["object"]["reason"])
            } else {
                text(&event["object"]["metadata"]["name"])
            };
            (text(&event["type"]), what)
        })
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_version_that_is_gone_gets_one_error_event_and_ends() {
    let cluster = cluster(2);
    let router = cluster.router();
    let first = create(&router, "a").await;
    for name in ["b", "c", "d"] {
        create(&router, name).await;
    }
    let query = format!("resourceVersion={}&timeoutSeconds=1", version(&first));
    assert_eq!(events(&router, &query).await, pairs(&[("ERROR", "Expired")]));
}

#[tokio::test(start_paused = true)]
async fn a_busy_collection_does_not_age_the_watches_of_a_quiet_one() {
    let cluster = cluster(2);
    let router = cluster.router();
    let first = create(&router, "a").await;
    for name in ["a", "b", "c", "d"] {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
        call(&router, "POST", "/api/v1/namespaces/default/secrets", secret).await;
    }
    let query = format!("resourceVersion={}&timeoutSeconds=1", version(&first));
    assert_eq!(events(&router, &query).await, pairs(&[]));
}

#[tokio::test(start_paused = true)]
async fn a_live_watch_survives_a_compaction_and_sees_what_comes_after() {
    let cluster = cluster(100);
    let router = cluster.router();
    let first = create(&router, "a").await;
    let query = format!("resourceVersion={}&timeoutSeconds=5", version(&first));
    let watching = tokio::spawn({
        let router = router.clone();
        async move { events(&router, &query).await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    cluster.server().compact();
    create(&router, "b").await;
    assert_eq!(watching.await.expect("no panic"), pairs(&[("ADDED", "b")]));
}

#[tokio::test(start_paused = true)]
async fn a_quiet_watch_is_told_each_minute_how_far_it_is() {
    let cluster = cluster(100);
    let router = cluster.router();
    create(&router, "a").await;
    let found =
        events(&router, "resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=125").await;
    let expected = [("ADDED", "a"), ("BOOKMARK", ""), ("BOOKMARK", ""), ("BOOKMARK", "")];
    assert_eq!(found, pairs(&expected));
}

#[tokio::test(start_paused = true)]
async fn pages_show_the_collection_as_it_was_at_the_first_page() {
    let cluster = cluster(100);
    let router = cluster.router();
    for name in ["a", "b", "c"] {
        create(&router, name).await;
    }
    let (_, first) = call(&router, "GET", &format!("{MAPS}?limit=1"), Value::Null).await;
    assert_eq!(first["metadata"]["remainingItemCount"], 2);
    call(&router, "DELETE", &format!("{MAPS}/b"), Value::Null).await;
    create(&router, "bb").await;
    let token = first["metadata"]["continue"].as_str().expect("a token");
    let (_, rest) = call(&router, "GET", &format!("{MAPS}?continue={token}"), Value::Null).await;
    let names: Vec<&Value> = rest["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| &item["metadata"]["name"])
        .collect();
    assert_eq!(names, ["b", "c"]);
    assert_eq!(rest["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
}

#[tokio::test(start_paused = true)]
async fn a_terminating_pod_waits_for_its_grace_and_goes_at_once_when_told_so() {
    let cluster = cluster(100);
    let router = cluster.router();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"nodeName": "node-0", "containers": [{"name": "main", "image": "app:v1"}]},
    });
    let (code, body) = call(&router, "POST", pods, pod).await;
    assert_eq!(code, 201, "{body}");
    let (code, marked) = call(&router, "DELETE", &format!("{pods}/p"), Value::Null).await;
    assert_eq!(code, 200);
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 30);
    assert_eq!(marked["metadata"]["deletionTimestamp"], "2026-01-01T00:00:30Z");
    let options = json!({"gracePeriodSeconds": 0});
    call(&router, "DELETE", &format!("{pods}/p"), options).await;
    assert_eq!(call(&router, "GET", &format!("{pods}/p"), Value::Null).await.0, 404);
}

/// A cluster with one webhook for ConfigMaps that is answered by `answer`.
async fn with_webhook(
    kind: &str,
    answer: impl Fn(&Value) -> Result<Value, String> + Send + Sync + 'static,
) -> Router {
    let cluster = cluster(100);
    let router = cluster.router();
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "hook"},
        "webhooks": [{
            "name": "hook.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "timeoutSeconds": 5,
            "clientConfig": {"service": {"namespace": "default", "name": "s", "path": "/x"}},
            "rules": [{
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE", "UPDATE", "DELETE"],
                "resources": ["configmaps"],
            }],
        }],
    });
    let path = format!("/apis/admissionregistration.k8s.io/v1/{}s", kind.to_lowercase());
    let (code, body) = call(&router, "POST", &path, configuration).await;
    assert_eq!(code, 201, "{body}");
    let answer = Arc::new(answer);
    cluster.register_webhook_service(Arc::new(move |call: WebhookCall| {
        let answer = answer.clone();
        async move { answer(&call.review["request"]) }.boxed()
    }));
    router
}

fn allow() -> Value {
    json!({"response": {"allowed": true}})
}

#[tokio::test(start_paused = true)]
async fn a_denied_write_is_refused_with_the_webhooks_words() {
    let router = with_webhook("ValidatingWebhookConfiguration", |request| {
        Ok(if request["operation"] == "CREATE" {
            json!({"response": {"allowed": false, "status": {"code": 403, "message": "not so"}}})
        } else {
            allow()
        })
    })
    .await;
    let (code, body) = call(&router, "POST", MAPS, map("a")).await;
    assert_eq!(code, 403);
    let expected = "admission webhook \"hook.example.com\" denied the request: not so";
    assert_eq!(body["message"], expected);
    assert_eq!(call(&router, "GET", &format!("{MAPS}/a"), Value::Null).await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_mutating_webhook_changes_what_is_stored() {
    let router = with_webhook("MutatingWebhookConfiguration", |_| {
        let patch = json!([{"op": "add", "path": "/data/b", "value": "2"}]).to_string();
        let patch = base64::engine::general_purpose::STANDARD.encode(patch);
        Ok(json!({"response": {
            "allowed": true, "patchType": "JSONPatch", "patch": patch, "warnings": ["changed"],
        }}))
    })
    .await;
    let response = raw(&router, "POST", MAPS, &map("a")).await;
    assert_eq!(response.headers()["warning"], "299 - \"changed\"");
    let (_, stored) = call(&router, "GET", &format!("{MAPS}/a"), Value::Null).await;
    assert_eq!(stored["data"], json!({"a": "1", "b": "2"}));
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_cannot_be_reached_fails_the_write() {
    let router =
        with_webhook("ValidatingWebhookConfiguration", |_| Err("no route".to_owned())).await;
    let (code, body) = call(&router, "POST", MAPS, map("a")).await;
    assert_eq!(code, 500);
    assert_eq!(
        body["message"],
        "Internal error occurred: failed calling webhook \"hook.example.com\": failed to call \
         webhook: no route"
    );
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_bytes() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let cluster = cluster(100);
        let router = cluster.router();
        let generated =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "g-"}});
        for _ in 0..3 {
            call(&router, "POST", MAPS, generated.clone()).await;
        }
        runs.push(call(&router, "GET", MAPS, Value::Null).await);
    }
    assert_eq!(runs[0], runs[1]);
}

#[tokio::test(start_paused = true)]
async fn what_is_denied_is_refused_and_a_review_says_so() {
    let denial = Denial {
        user: ADMIN.to_owned(),
        verb: "create".to_owned(),
        group: String::new(),
        resource: "pods/eviction".to_owned(),
    };
    let access = Access { denied: vec![denial], ..Access::default() };
    let router = with_access(100, access).router();
    let path = "/api/v1/namespaces/default/pods/p/eviction";
    let (code, body) = call(&router, "POST", path, json!({"metadata": {"name": "p"}})).await;
    assert_eq!(code, 403);
    assert_eq!(
        body["message"],
        "pods \"p\" is forbidden: User \"kubernetes-admin\" cannot create resource \
         \"pods/eviction\" in API group \"\" in the namespace \"default\""
    );
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    for (sub, allowed) in [("eviction", false), ("", true)] {
        let asked = json!({"verb": "create", "resource": "pods", "subresource": sub});
        let review = json!({"spec": {"resourceAttributes": asked}});
        let (_, body) = call(&router, "POST", path, review).await;
        assert_eq!(body["status"]["allowed"], allowed, "{sub}");
    }
}

#[tokio::test(start_paused = true)]
async fn cbor_is_refused_so_that_a_client_falls_back() {
    use axum::body::Body;
    use http::Request;
    use tower::ServiceExt;

    let router = cluster(100).router();
    let check = async |method: &str, header: &str, media: &str, expect: u16| {
        let request = Request::builder()
            .method(method)
            .uri(if method == "PATCH" { format!("{MAPS}/m") } else { MAPS.to_owned() })
            .header(header, media)
            .body(Body::from("\u{a0}"))
            .expect("a request");
        let response = router.clone().oneshot(request).await.expect("the router never fails");
        assert_eq!(response.status().as_u16(), expect, "{method} {header}: {media}");
    };
    check("GET", "accept", "application/cbor", 406).await;
    check("GET", "accept", "application/cbor,application/json;q=0.9", 200).await;
    check("GET", "accept", "application/cbor-seq", 406).await;
    check("POST", "content-type", "application/cbor", 415).await;
    check("PATCH", "content-type", "application/apply-patch+cbor", 415).await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_only_replaced_by_who_names_its_version() {
    let router = cluster(100).router();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let mut lease = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "l"},
        "spec": {"holderIdentity": "a"},
    });
    let (code, created) = call(&router, "POST", leases, lease.clone()).await;
    assert_eq!(code, 201, "{created}");
    let (code, refused) = call(&router, "PUT", &format!("{leases}/l"), lease.clone()).await;
    assert_eq!(code, 422);
    assert_eq!(refused["details"]["causes"][0]["field"], "metadata.resourceVersion");
    lease["metadata"]["resourceVersion"] = created["metadata"]["resourceVersion"].clone();
    lease["spec"]["holderIdentity"] = json!("b");
    assert_eq!(call(&router, "PUT", &format!("{leases}/l"), lease.clone()).await.0, 200);
    let (code, stale) = call(&router, "PUT", &format!("{leases}/l"), lease).await;
    assert_eq!((code, &stale["reason"]), (409, &json!("Conflict")));
}

/// Everything that a watch of Pods shows while a StatefulSet comes up and is rolled by hand.
async fn history(seed: u64) -> Vec<u8> {
    let cluster = client::seeded(seed);
    let router = cluster.router();
    let drive = tokio::spawn(cluster.drive());
    let set = json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 5,
            "serviceName": "web",
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
            },
        },
    });
    let pods = "/api/v1/namespaces/default/pods";
    let query = format!("{pods}?watch=1&resourceVersion=0&timeoutSeconds=90");
    let watch = raw(&router, "GET", &query, &Value::Null).await;
    let (code, body) =
        call(&router, "POST", "/apis/apps/v1/namespaces/default/statefulsets", set).await;
    assert_eq!(code, 201, "{body}");
    tokio::time::sleep(Duration::from_secs(30)).await;
    for name in ["web-0", "web-3"] {
        assert_eq!(call(&router, "DELETE", &format!("{pods}/{name}"), Value::Null).await.0, 200);
    }
    let seen = watch.into_body().collect().await.expect("no body fails").to_bytes();
    drive.abort();
    seen.to_vec()
}

#[tokio::test(start_paused = true)]
async fn a_cluster_at_work_repeats_itself_from_its_seed_and_from_no_other() {
    let first = history(1).await;
    assert!(first == history(1).await, "the same seed gave other bytes");
    assert!(first != history(2).await, "another seed gave the same bytes");
}
