//! Answers that were once other than the real server's, found by the differential tests.

#[allow(dead_code, reason = "each test binary uses a part of it")]
mod client;

use client::{call, cluster};
use simcluster::json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases/a";

#[track_caller]
fn check((code, body): (u16, Value), expect: u16, words: &str) {
    assert_eq!(code, expect, "{body}");
    assert!(body.to_string().contains(words), "{words:?} is not in {body}");
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_made_by_a_put_and_released_with_an_empty_holder() {
    let router = cluster(100).router();
    let lease =
        |holder: &str| json!({"metadata": {"name": "a"}, "spec": {"holderIdentity": holder}});
    check(call(&router, "PUT", LEASE, lease("one")).await, 201, "one");
    let why = "leases.coordination.k8s.io \\\"a\\\" is invalid: metadata.resourceVersion";
    check(call(&router, "PUT", LEASE, lease("two")).await, 422, why);
    let released = json!({"spec": {"holderIdentity": "", "preferredHolder": "x"}});
    let (code, body) = call(&router, "PATCH", LEASE, released).await;
    assert_eq!((code, &body["spec"]), (200, &json!({"holderIdentity": ""})));
    let short = json!({"spec": {"renewTime": "2026-01-01T00:00:00Z"}});
    check(call(&router, "PATCH", LEASE, short).await, 422, "cannot parse");
}

#[tokio::test(start_paused = true)]
async fn finalizers_have_a_domain_and_a_name_in_deletion_is_taken() {
    let router = cluster(100).router();
    let map = |finalizer: &str| json!({"metadata": {"name": "a", "finalizers": [finalizer]}});
    check(call(&router, "POST", MAPS, map("hold")).await, 422, "fully qualified");
    check(call(&router, "POST", MAPS, map("example.com/hold")).await, 201, "");
    let path = format!("{MAPS}/a");
    let options = json!({"propagationPolicy": "Nonsense"});
    check(call(&router, "DELETE", &path, options).await, 422, "Unsupported value");
    let options = json!({"propagationPolicy": "Orphan", "orphanDependents": true});
    check(call(&router, "DELETE", &path, options).await, 422, "cannot be both set");
    check(call(&router, "DELETE", &path, Value::Null).await, 200, "deletionTimestamp");
    let again = call(&router, "POST", MAPS, map("example.com/hold")).await;
    check(again, 409, "object is being deleted: ");
}

#[tokio::test(start_paused = true)]
async fn a_page_goes_on_though_nothing_more_may_match() {
    let router = cluster(100).router();
    for (name, label) in [("a", "1"), ("b", "2")] {
        let map = json!({"metadata": {"name": name, "labels": {"l": label}}});
        check(call(&router, "POST", MAPS, map).await, 201, "");
    }
    let page = |label: &str| format!("{MAPS}?labelSelector=l%3D{label}&limit=1");
    check(call(&router, "GET", &page("1"), Value::Null).await, 200, "\"continue\"");
    let (_, last) = call(&router, "GET", &page("2"), Value::Null).await;
    assert!(last["metadata"].get("continue").is_none(), "{last}");
    let exact = format!("{MAPS}?resourceVersionMatch=Exact");
    check(call(&router, "GET", &exact, Value::Null).await, 422, "forbidden unless");
}

#[tokio::test(start_paused = true)]
async fn a_strategy_that_names_its_type_alone_gets_no_partition() {
    let router = cluster(100).router();
    let sets = "/apis/apps/v1/namespaces/default/statefulsets";
    let set = |name: &str, strategy: Value| {
        json!({"metadata": {"name": name}, "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "updateStrategy": strategy,
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
            },
        }})
    };
    for (name, given, expect) in [
        ("a", json!({"type": "RollingUpdate"}), json!({"type": "RollingUpdate"})),
        ("b", json!({}), json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})),
    ] {
        let (_, made) = call(&router, "POST", sets, set(name, given)).await;
        assert_eq!(made["spec"]["updateStrategy"], expect);
    }
}
