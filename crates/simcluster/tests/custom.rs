//! Custom kinds: versions, scale, life and death of a definition.

#[allow(dead_code, reason = "each test binary uses a part of it")]
mod client;

use std::time::Duration;

use axum::Router;
use client::{call, cluster, with_access};
use http_body_util::BodyExt;
use simcluster::http::access::Access;
use simcluster::json::{Value, json};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const OLD: &str = "/apis/example.com/v1alpha1/namespaces/default/gadgets";
const NEW: &str = "/apis/example.com/v1/namespaces/default/gadgets";

fn version(name: &str, storage: bool) -> Value {
    json!({
        "name": name,
        "served": true,
        "storage": storage,
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
        },
        "schema": {"openAPIV3Schema": {
            "type": "object",
            "properties": {
                "spec": {"type": "object", "properties": {"replicas": {"type": "integer", "minimum": 0}}},
                "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
            },
        }},
    })
}

async fn define(router: &Router) {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [version("v1alpha1", false), version("v1", true)],
        },
    });
    let (code, body) = call(router, "POST", CRDS, definition).await;
    assert_eq!(code, 201, "{body}");
}

fn gadget(api_version: &str, name: &str) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": "Gadget",
        "metadata": {"name": name},
        "spec": {"replicas": 2},
    })
}

#[tokio::test(start_paused = true)]
async fn an_object_is_served_in_every_version_and_is_one_object() {
    let router = cluster(100).router();
    define(&router).await;
    let (code, body) = call(&router, "POST", OLD, gadget("example.com/v1alpha1", "a")).await;
    assert_eq!((code, &body["apiVersion"]), (201, &json!("example.com/v1alpha1")));
    let (_, new) = call(&router, "GET", &format!("{NEW}/a"), Value::Null).await;
    assert_eq!(new["apiVersion"], "example.com/v1");
    assert_eq!(new["metadata"]["uid"], body["metadata"]["uid"]);
    let patch = json!({"spec": {"replicas": 3}});
    call(&router, "PATCH", &format!("{NEW}/a"), patch).await;
    let (_, old) = call(&router, "GET", OLD, Value::Null).await;
    assert_eq!(old["items"][0]["spec"]["replicas"], 3);
    assert_eq!(old["items"][0]["apiVersion"], "example.com/v1alpha1");
    assert_eq!(old["items"][0]["metadata"]["generation"], 2);
}

#[tokio::test(start_paused = true)]
async fn scale_writes_the_spec_and_is_checked_by_the_schema() {
    let router = cluster(100).router();
    define(&router).await;
    call(&router, "POST", NEW, gadget("example.com/v1", "a")).await;
    let scale = format!("{NEW}/a/scale");
    let (code, body) = call(&router, "PATCH", &scale, json!({"spec": {"replicas": 5}})).await;
    assert_eq!((code, &body["spec"]["replicas"]), (200, &json!(5)));
    let (_, stored) = call(&router, "GET", &format!("{NEW}/a"), Value::Null).await;
    assert_eq!(
        (&stored["spec"]["replicas"], &stored["metadata"]["generation"]),
        (&json!(5), &json!(2))
    );
    let (code, _) = call(&router, "PATCH", &scale, json!({"spec": {"replicas": -1}})).await;
    assert_eq!(code, 422);
}

#[tokio::test(start_paused = true)]
async fn a_status_written_through_the_object_is_dropped_and_the_other_way_round() {
    let router = cluster(100).router();
    define(&router).await;
    call(&router, "POST", NEW, gadget("example.com/v1", "a")).await;
    let both = json!({"spec": {"replicas": 7}, "status": {"replicas": 9}});
    let (_, main) = call(&router, "PATCH", &format!("{NEW}/a"), both.clone()).await;
    assert_eq!((&main["spec"]["replicas"], &main["status"]), (&json!(7), &Value::Null));
    let both = json!({"spec": {"replicas": 8}, "status": {"replicas": 9}});
    let (_, status) = call(&router, "PATCH", &format!("{NEW}/a/status"), both).await;
    assert_eq!(
        (&status["spec"]["replicas"], &status["status"]["replicas"]),
        (&json!(7), &json!(9))
    );
}

#[tokio::test(start_paused = true)]
async fn a_definition_takes_its_objects_with_it() {
    let cluster = with_access(100, Access::default());
    let router = cluster.router();
    define(&router).await;
    call(&router, "POST", NEW, gadget("example.com/v1", "a")).await;
    tokio::spawn(cluster.drive());
    let (code, _) =
        call(&router, "DELETE", &format!("{CRDS}/gadgets.example.com"), Value::Null).await;
    assert_eq!(code, 200);
    let (code, body) = call(&router, "POST", NEW, gadget("example.com/v1", "late")).await;
    assert_eq!(code, 405, "{body}");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(call(&router, "GET", NEW, Value::Null).await.0, 404);
    assert_eq!(call(&router, "GET", CRDS, Value::Null).await.1["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_when_what_it_watches_is_not_served_any_more() {
    let cluster = with_access(100, Access::default());
    let router = cluster.router();
    define(&router).await;
    call(&router, "POST", NEW, gadget("example.com/v1", "a")).await;
    tokio::spawn(cluster.drive());
    let watch = |path: &str| {
        let (router, path) = (router.clone(), format!("{path}?watch=1&timeoutSeconds=900"));
        tokio::spawn(async move {
            let answer = client::raw(&router, "GET", &path, &Value::Null).await;
            let bytes = answer.into_body().collect().await.expect("it ends").to_bytes();
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let (old, new) = (watch(OLD), watch(NEW));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!old.is_finished() && !new.is_finished());
    let definition = format!("{CRDS}/gadgets.example.com");
    let mut without = version("v1alpha1", false);
    without["served"] = json!(false);
    let one = json!({"spec": {"versions": [without, version("v1", true)]}});
    assert_eq!(call(&router, "PATCH", &definition, one).await.0, 200);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(old.is_finished() && !new.is_finished());
    assert_eq!(call(&router, "DELETE", &definition, Value::Null).await.0, 200);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(new.is_finished());
    let told = new.await.expect("no panic");
    assert!(told.lines().last().is_some_and(|last| last.contains("DELETED")), "{told}");
}
