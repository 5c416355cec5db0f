//! Kinds whose versions differ in more than their name: a webhook turns one into the other.

#[allow(dead_code, reason = "each test binary uses a part of it")]
mod client;

use std::sync::{Arc, Mutex};

use axum::Router;
use client::{call, cluster, raw};
use futures::FutureExt;
use http_body_util::BodyExt;
use simcluster::admission::WebhookCall;
use simcluster::json::{Value, json};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const OLD: &str = "/apis/example.com/v1alpha1/namespaces/default/boats";
const NEW: &str = "/apis/example.com/v1/namespaces/default/boats";

/// `v1alpha1` has `spec.rowers`, `v1` has `spec.crew` and stores it.
fn version(name: &str, field: &str) -> Value {
    json!({
        "name": name,
        "served": true,
        "storage": name == "v1",
        "subresources": {"scale": {
            "specReplicasPath": format!(".spec.{field}"),
            "statusReplicasPath": ".status.crew",
        }},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": {field: {"type": "integer", "minimum": 1}}},
        }}},
    })
}

fn convert(object: &Value, version: &str) -> Value {
    let mut out = object.clone();
    let (from, to) = if version.ends_with("/v1") { ("rowers", "crew") } else { ("crew", "rowers") };
    out["apiVersion"] = json!(version);
    let spec = out["spec"].as_object_mut().expect("it has a spec");
    if let Some(number) = spec.remove(from) {
        spec.insert(to.to_owned(), number);
    }
    // Not to be touched, and to be noticed.
    out["metadata"]["generation"] = json!(99);
    out["metadata"]["labels"] = json!({"seen": "yes"});
    out
}

fn answer(call: &WebhookCall) -> Result<Value, String> {
    if call.path == "/down" {
        return Err("connection refused".to_owned());
    }
    let request = &call.review["request"];
    let version = request["desiredAPIVersion"].as_str().expect("it is asked for");
    let objects = request["objects"].as_array().expect("a list").iter();
    let converted: Vec<Value> = objects.map(|object| convert(object, version)).collect();
    Ok(json!({"response": {
        "uid": request["uid"],
        "result": {"status": "Success"},
        "convertedObjects": converted,
    }}))
}

async fn defined(path: &str) -> (Router, Arc<Mutex<usize>>) {
    let cluster = cluster(1_000);
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    cluster.register_webhook_service(Arc::new(move |call| {
        *count.lock().expect("no holder panics") += 1;
        async move { answer(&call) }.boxed()
    }));
    let router = cluster.router();
    tokio::spawn(cluster.drive());
    let service = json!({"namespace": "default", "name": "harbour", "path": path});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "boats.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "boats", "kind": "Boat"},
            "versions": [version("v1alpha1", "rowers"), version("v1", "crew")],
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": {"service": service},
                "conversionReviewVersions": ["v1"],
            }},
        },
    });
    let (code, body) = call(&router, "POST", CRDS, definition).await;
    assert_eq!(code, 201, "{body}");
    (router, asked)
}

fn boat(name: &str) -> Value {
    json!({"apiVersion": "example.com/v1alpha1", "kind": "Boat", "metadata": {"name": name},
           "spec": {"rowers": 2}})
}

#[tokio::test(start_paused = true)]
async fn an_object_is_seen_in_the_version_that_is_asked_for() {
    let (router, _) = defined("/convert").await;
    let (code, made) = call(&router, "POST", OLD, boat("swan")).await;
    assert_eq!((code, &made["spec"]), (201, &json!({"rowers": 2})), "{made}");
    let (_, new) = call(&router, "GET", &format!("{NEW}/swan"), Value::Null).await;
    assert_eq!((&new["apiVersion"], &new["spec"]), (&json!("example.com/v1"), &json!({"crew": 2})));
    assert_eq!(new["metadata"]["generation"], 1, "metadata is not the webhook's");
    assert_eq!(new["metadata"]["labels"], json!({"seen": "yes"}), "but for labels");
    let (_, old) = call(&router, "GET", &format!("{OLD}/swan"), Value::Null).await;
    assert_eq!(old["spec"], json!({"rowers": 2}));
}

#[tokio::test(start_paused = true)]
async fn it_is_changed_in_the_version_of_the_request() {
    let (router, _) = defined("/convert").await;
    call(&router, "POST", OLD, boat("swan")).await;
    let old = format!("{OLD}/swan");
    let (code, patched) = call(&router, "PATCH", &old, json!({"spec": {"rowers": 4}})).await;
    assert_eq!((code, &patched["spec"]), (200, &json!({"rowers": 4})), "{patched}");
    assert_eq!(patched["metadata"]["generation"], 2);
    let (code, refused) = call(&router, "PATCH", &old, json!({"spec": {"rowers": 0}})).await;
    assert_eq!(code, 422);
    assert!(refused["message"].as_str().expect("a text").contains("spec.rowers"), "{refused}");
    let mut put = patched;
    put["spec"] = json!({"rowers": 5});
    let (code, put) = call(&router, "PUT", &old, put).await;
    assert_eq!((code, &put["spec"]), (200, &json!({"rowers": 5})), "{put}");
    let (code, scale) = call(&router, "GET", &format!("{old}/scale"), Value::Null).await;
    assert_eq!((code, &scale["spec"]["replicas"]), (200, &json!(5)), "{scale}");
    let (_, new) = call(&router, "GET", &format!("{NEW}/swan"), Value::Null).await;
    assert_eq!(new["spec"], json!({"crew": 5}));
}

#[tokio::test(start_paused = true)]
async fn a_list_is_one_question_and_a_watch_tells_in_its_version() {
    let (router, asked) = defined("/convert").await;
    let path = format!(
        "{OLD}?watch=true&timeoutSeconds=5&sendInitialEvents=true\
                        &resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    );
    for name in ["goose", "swan"] {
        call(&router, "POST", OLD, boat(name)).await;
    }
    let before = *asked.lock().expect("no holder panics");
    let (_, list) = call(&router, "GET", OLD, Value::Null).await;
    assert_eq!(*asked.lock().expect("no holder panics"), before + 1);
    let rowers: Vec<&Value> =
        list["items"].as_array().expect("a list").iter().map(|one| &one["spec"]).collect();
    assert_eq!(rowers, [&json!({"rowers": 2}), &json!({"rowers": 2})]);

    let watch = raw(&router, "GET", &path, &Value::Null).await;
    call(&router, "PATCH", &format!("{NEW}/swan"), json!({"spec": {"crew": 3}})).await;
    let bytes = watch.into_body().collect().await.expect("it ends").to_bytes();
    let events: Vec<Value> = bytes
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("an event is JSON"))
        .collect();
    let told: Vec<(&str, &Value)> = events
        .iter()
        .map(|event| (event["type"].as_str().expect("a text"), &event["object"]["spec"]["rowers"]))
        .take(4)
        .collect();
    assert_eq!(
        told,
        [
            ("ADDED", &json!(2)),
            ("ADDED", &json!(2)),
            ("BOOKMARK", &Value::Null),
            ("MODIFIED", &json!(3)),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn without_its_webhook_an_object_cannot_be_written_in_another_version() {
    let (router, _) = defined("/down").await;
    let (code, refused) = call(&router, "POST", OLD, boat("swan")).await;
    assert_eq!(code, 500);
    assert_eq!(
        refused["message"],
        "conversion webhook for example.com/v1alpha1, Kind=Boat failed: connection refused"
    );
    let stored = json!({"apiVersion": "example.com/v1", "kind": "Boat",
                        "metadata": {"name": "swan"}, "spec": {"crew": 2}});
    assert_eq!(call(&router, "POST", NEW, stored).await.0, 201, "the stored version needs none");
    assert_eq!(call(&router, "GET", OLD, Value::Null).await.0, 500);
}
