use http_body_util::Full;
use serde_json::json;
use tower::ServiceExt;

use super::fixture::admission;
use super::*;

async fn post(path: &str, body: &str) -> (StatusCode, Value) {
    let request = Request::post(path).body(Full::new(Bytes::from(body.to_owned()))).unwrap();
    let response = admission().oneshot(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_no_review_is_answered_and_not_judged() {
    for (path, body, code) in [
        ("/", "{}", 404),
        (STATEFULSET_ROLLOUTS, "no JSON", 400),
        (ROLLOUTS, "{}", 400),
        (WORKLOADS, "[]", 400),
        (CONVERT_PATH, "{\"request\": {}}", 400),
    ] {
        assert_eq!(post(path, body).await.0, code, "{path} {body}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_is_converted() {
    let rollout = json!({
        "apiVersion": "rollouts.kruise.io/v1alpha1",
        "kind": "Rollout",
        "metadata": {"name": "web", "annotations": {"rollouts.kruise.io/rolling-style": "partition"}},
        "spec": {
            "objectRef": {"workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
            "strategy": {"canary": {"steps": [{"replicas": "20%"}]}},
        },
    });
    let request = json!({
        "uid": "1",
        "desiredAPIVersion": "rollouts.kruise.io/v1beta1",
        "objects": [rollout],
    });
    let (status, answer) = post(CONVERT_PATH, &json!({"request": request}).to_string()).await;
    assert_eq!(
        (status, &answer["response"]["result"]["status"]),
        (StatusCode::OK, &json!("Success"))
    );
    let made = &answer["response"]["convertedObjects"][0];
    assert_eq!(made["spec"]["workloadRef"]["name"], "web");
}

fn answer(path: &str, request: &Value) -> Value {
    let mut request = request.clone();
    request["uid"] = json!("1");
    admission().answer(path, &json!({"request": request})).unwrap()["response"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_rollout_is_refused_with_the_originals_words_and_let_in_without_caches() {
    let rollout = |steps: Value| {
        json!({
            "apiVersion": "rollouts.kruise.io/v1beta1",
            "kind": "Rollout",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {
                "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "strategy": {"canary": {"steps": steps}},
            },
        })
    };
    let refused = answer(ROLLOUTS, &json!({"operation": "CREATE", "object": rollout(json!([]))}));
    assert_eq!((&refused["allowed"], &refused["status"]["code"]), (&json!(false), &json!(422)));
    let message = refused["status"]["message"].as_str().unwrap();
    assert!(message.starts_with("Rollout web is invalid: "), "{message}");
    assert!(message.contains("The number of Canary.Steps cannot be empty"), "{message}");

    let good = rollout(json!([{"replicas": 1}]));
    let allowed = answer(ROLLOUTS, &json!({"operation": "CREATE", "object": good}));
    assert_eq!(allowed["allowed"], true);
    assert!(allowed["warnings"].to_string().contains("only the Rollout itself was checked"));

    let mut deleting = rollout(json!([]));
    deleting["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let allowed = answer(ROLLOUTS, &json!({"operation": "UPDATE", "object": deleting}));
    assert_eq!(allowed["allowed"], true, "a finalizer can always go");
}

/// A Deployment in release.
fn deployment(image: &str) -> Value {
    json!({
        "metadata": {"name": "web", "namespace": "shop", "annotations": {
            "rollouts.kruise.io/in-progressing": "{}",
            "batchrelease.rollouts.kruise.io/control-info": "{}",
            "rollouts.kruise.io/deployment-strategy": "{}",
        }},
        "spec": {
            "replicas": 3, "paused": true, "strategy": {"type": "Recreate"},
            "template": {"spec": {"containers": [{"image": image}]}},
        },
    })
}

fn update(old: &Value, new: &Value) -> Value {
    json!({
        "operation": "UPDATE",
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "namespace": "shop", "name": "web",
        "object": new, "oldObject": old,
    })
}

/// What the API server makes of the answer.
fn patched(request: &Value) -> Value {
    let response = answer(WORKLOADS, request);
    assert_eq!(response["allowed"], true, "{response}");
    let mut object = request["object"].clone();
    if response["patch"].is_string() {
        assert_eq!(response["patchType"], "JSONPatch");
        let patch: k8s_openapi::ByteString =
            serde_json::from_value(response["patch"].clone()).unwrap();
        let patch: json_patch::Patch = serde_json::from_slice(&patch.0).unwrap();
        json_patch::patch(&mut object, &patch).unwrap();
    }
    object
}

#[tokio::test(start_paused = true)]
async fn whoever_lets_go_of_a_workload_in_release_is_told_that_it_stays_held() {
    let check = |mark: &str, change: fn(&mut Value), expect: &str| {
        let mut old = deployment("web:v2");
        old["metadata"]["annotations"]["rollouts.kruise.io/in-progressing"] = json!(mark);
        let mut new = old.clone();
        change(&mut new);
        let warnings = answer(WORKLOADS, &update(&old, &new))["warnings"].to_string();
        assert!(warnings.contains(expect), "{warnings}");
    };
    let resume = |it: &mut Value| it["spec"]["paused"] = json!(false);
    check(r#"{"rolloutName":"steps"}"#, resume, "goes on by an approval of Rollout steps, and");
    check("{}", resume, "is released in batches by a BatchRelease and stays held");
    let image = |it: &mut Value| {
        it["spec"]["template"]["spec"]["containers"][0]["image"] = json!("web:v3");
    };
    check("{}", image, "null");
}

#[tokio::test(start_paused = true)]
async fn without_caches_a_workload_in_release_stays_held_by_what_stands_on_it() {
    let old = deployment("app:v1");
    let mut new = old.clone();
    new["spec"]["paused"] = json!(false);
    assert_eq!(patched(&update(&old, &new)), old);
    let mut given_back = new.clone();
    let annotations = given_back["metadata"]["annotations"].as_object_mut().unwrap();
    annotations.remove("batchrelease.rollouts.kruise.io/control-info");
    assert_eq!(patched(&update(&old, &given_back)), given_back);
}

#[tokio::test(start_paused = true)]
async fn without_caches_a_first_change_has_to_wait_and_everything_else_has_not() {
    let bare = |image: &str, replicas: u32| {
        let mut deployment = deployment(image);
        deployment["metadata"]["annotations"] = json!({});
        deployment["spec"]["replicas"] = json!(replicas);
        deployment
    };
    let refused = answer(WORKLOADS, &update(&bare("app:v1", 3), &bare("app:v2", 3)));
    assert_eq!((&refused["allowed"], &refused["status"]["code"]), (&json!(false), &json!(503)));
    assert!(refused["status"]["message"].to_string().contains("try again"), "{refused}");
    let scaled = update(&bare("app:v1", 3), &bare("app:v1", 5));
    assert_eq!(patched(&scaled), scaled["object"]);
    for (field, value) in [("subResource", json!("scale")), ("operation", json!("CREATE"))] {
        let mut other = update(&bare("app:v1", 3), &bare("app:v2", 3));
        other[field] = value;
        assert_eq!(patched(&other), other["object"], "{field}");
    }
}

/// The webhook's answer to the change of a workload of Kruise in release, which stands like this.
fn kruise(kind: &str, version: &str, strategy: &Value, change: &Value) -> Value {
    let stamp = if kind == "CloneSet" { "100%" } else { "32767" };
    let old = json!({
        "metadata": {"name": "web", "namespace": "shop", "annotations": {
            "rollouts.kruise.io/in-progressing": r#"{"rolloutName":"steps"}"#,
            "batchrelease.rollouts.kruise.io/control-info": "{}",
            "sluice.dev/held-partition": stamp, "sluice.dev/original-update-strategy": "{}",
        }},
        "spec": {"replicas": 5, "updateStrategy": strategy},
    });
    let mut new = old.clone();
    new["spec"]["updateStrategy"] = change.clone();
    let mut request = update(&old, &new);
    request["kind"] = json!({"group": "apps.kruise.io", "version": version, "kind": kind});
    let found = patched(&request);
    let warned = answer(WORKLOADS, &request)["warnings"].to_string();
    json!([found["spec"]["updateStrategy"], warned.contains("stays held")])
}

#[tokio::test(start_paused = true)]
async fn workloads_of_kruise_stay_held_in_whichever_version_they_are_written() {
    fn check(kind: &str, strategy: &Value, change: &Value) {
        for version in ["v1alpha1", "v1beta1"] {
            let found = kruise(kind, version, strategy, change);
            assert_eq!(found, json!([strategy, true]), "{kind} {version}");
        }
    }
    let whole = json!({"partition": "100%"});
    check("CloneSet", &whole, &json!({"partition": "60%"}));
    check("CloneSet", &whole, &json!({"partition": 0}));
    let rolling = |partition: u32| json!({"rollingUpdate": {"partition": partition}});
    check("StatefulSet", &rolling(32767), &rolling(2));
    check("DaemonSet", &rolling(32767), &rolling(0));
}
