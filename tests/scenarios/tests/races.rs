//! What a user says at the worst moment: when the operator has decided on a status, and not yet written it.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use controller::Settings;
use kube::Client;
use scenarios::env::Kind;
use scenarios::kinds;
use serde_json::{Value, json};
use simulation::{Harness, in_virtual_time, send, wait_for};

const ROLLOUT: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts/web";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// Steps that a user has answered.
type Answered = Arc<Mutex<BTreeSet<u64>>>;

/// The API server as the operator sees it: before each write of a status that waits, somebody answers.
fn raced(harness: &Harness, answer: &Value, answered: &Answered) -> Router {
    let (answer, answered) = (json!({"status": {"canaryStatus": answer}}), Arc::clone(answered));
    let user = harness.client();
    let status = format!("{ROLLOUT}/status");
    harness.router().layer(from_fn(move |request: Request, next: Next| {
        let (user, answer, answered) = (user.clone(), answer.clone(), Arc::clone(&answered));
        let writes = request.method() != "GET" && request.uri().path() == status;
        async move {
            if writes {
                let stands = send(&user, "GET", ROLLOUT, &Value::Null).await.unwrap_or_default();
                let stands = &stands["status"];
                let step = stands["currentStepIndex"].as_u64().unwrap_or(0);
                let waits = stands["currentStepState"] == "StepPaused";
                if waits && answered.lock().unwrap().insert(step) {
                    send(&user, "PATCH", &format!("{ROLLOUT}/status"), &answer).await.unwrap();
                }
            }
            next.run(request).await
        }
    }))
}

/// A workload of three Pods under a Rollout of these steps, at rest.
async fn at_rest(client: &Client, kind: Kind, steps: &Value) {
    let object = kind.manifest("web", 3);
    send(client, "POST", &kind.path("default"), &object).await.unwrap();
    until(client, PODS, "three Pods are ready", |it| {
        let pods = it["items"].as_array().unwrap();
        pods.len() == 3 && pods.iter().all(ready)
    })
    .await;
    let rollout = json!({
        "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout",
        "metadata": {"name": "web"},
        "spec": {
            "workloadRef": kind.named("web"),
            "strategy": {"canary": {"steps": steps}},
        },
    });
    send(client, "POST", ROLLOUT.trim_end_matches("/web"), &rollout).await.unwrap();
    until(client, ROLLOUT, "healthy", |it| it["status"]["phase"] == "Healthy").await;
}

fn ready(pod: &Value) -> bool {
    let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|it| it["type"] == "Ready" && it["status"] == "True")
}

async fn until(client: &Client, path: &str, claim: &str, what: impl Fn(&Value) -> bool) {
    let look =
        || async { what(&send(client, "GET", path, &Value::Null).await.unwrap_or_default()) };
    let came = wait_for(Duration::from_secs(300), look).await;
    let seen = send(client, "GET", path, &Value::Null).await.unwrap_or_default();
    assert!(came.is_ok(), "{claim}: {:#}", seen["status"]);
}

/// Has a Pod of the new image go: the status says so, which is a write.
async fn lose_a_new_pod(client: &Client) {
    let pods = send(client, "GET", PODS, &Value::Null).await.unwrap();
    let mut pods = pods["items"].as_array().unwrap().iter();
    let new = pods.find(|pod| pod["spec"]["containers"][0]["image"] == "app:v2").unwrap();
    let name = new["metadata"]["name"].as_str().unwrap();
    send(client, "DELETE", &format!("{PODS}/{name}"), &json!({})).await.unwrap();
}

/// A release in which each answer comes just before a write of the status; how many there were.
async fn raced_to_its_end(kind: Kind, steps: Value, answer: Value) -> usize {
    let harness = Harness::with_kruise(1).await;
    let client = harness.client();
    let answered = Answered::default();
    let router = raced(&harness, &answer, &answered);
    let operator = harness.operator(router, "one", Settings::default());
    harness.admit_by(operator.admission.clone()).await;
    at_rest(&client, kind, &steps).await;
    let image = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "main", "image": "app:v2"},
    ]}}}});
    send(&client, "PATCH", &format!("{}/web", kind.path("default")), &image).await.unwrap();
    let over = |it: &Value| {
        let conditions = it["status"]["conditions"].as_array().into_iter().flatten();
        let mut succeeded = conditions.filter(|it| it["type"] == "Succeeded");
        succeeded.any(|it| it["status"] == "True")
    };
    let mut last = 0;
    loop {
        until(&client, ROLLOUT, "the next step waits, or all is over", |it| {
            let status = &it["status"];
            let next = status["currentStepIndex"].as_u64() > Some(last);
            over(it) || (next && status["currentStepState"] == "StepPaused")
        })
        .await;
        let seen = send(&client, "GET", ROLLOUT, &Value::Null).await.unwrap();
        if over(&seen) {
            break;
        }
        last = seen["status"]["currentStepIndex"].as_u64().unwrap();
        if !answered.lock().unwrap().contains(&last) {
            lose_a_new_pod(&client).await;
        }
    }
    until(&client, PODS, "all Pods are new", |it| {
        let pods = it["items"].as_array().unwrap().iter();
        pods.clone().count() == 3
            && pods.clone().all(|pod| pod["spec"]["containers"][0]["image"] == "app:v2")
    })
    .await;
    operator.stop().await.unwrap();
    answered.lock().unwrap().len()
}

#[test]
fn an_approval_just_before_any_write_of_the_status_is_kept() {
    for kind in kinds::all() {
        let steps = json!([{"replicas": 1}, {"replicas": 2}, {"replicas": "100%"}]);
        let approval = json!({"currentStepState": "StepReady"});
        let answers = in_virtual_time(raced_to_its_end(kind, steps, approval));
        assert_eq!(answers, 2, "{kind:?}");
    }
}

#[test]
fn a_jump_just_before_a_write_of_the_status_is_kept() {
    for kind in kinds::all() {
        let steps =
            json!([{"replicas": 1}, {"replicas": 1}, {"replicas": 2}, {"replicas": "100%"}]);
        let jump = json!({"nextStepIndex": 4});
        let answers = in_virtual_time(raced_to_its_end(kind, steps, jump));
        assert_eq!(answers, 1, "{kind:?}");
    }
}
