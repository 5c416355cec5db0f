//! What is left behind of a release: one `RolloutHistory` for each rollout id of a Rollout.
//!
//! RBAC: `create` and `get` on `rollouthistories`, `patch` on their status; `list` on `pods`.

use std::collections::BTreeMap;

use api::batches::names::{BATCH_ID, ROLLOUT_ID, ROLLOUT_NAME};
use api::canonical::fingerprint;
use http::Method;
use serde_json::{Value, json};

use super::Hands;
use super::work::managed;
use crate::error::Error;
use crate::observe::rollout::Observed;
use crate::wire::{self, Ask, Content};

const VERSION: &str = "rollouts.kruise.io/v1alpha1";
const LETTERS: usize = 6;

/// Writes down how Rollout and workload were when the release of this id began. Once for each id: doing it
/// again changes nothing.
///
/// # Errors
/// What the server said, or that it said nothing.
pub async fn begin(hands: &Hands, seen: &Observed, id: &str) -> Result<(), Error> {
    let named = &seen.rollout.spec.workload_ref;
    let name = name(seen, id);
    let body = json!({
        "apiVersion": VERSION,
        "kind": "RolloutHistory",
        "metadata": {
            "namespace": seen.key.namespace,
            "name": name,
            "labels": { ROLLOUT_ID: id, ROLLOUT_NAME: seen.key.name },
        },
        "spec": {
            "rollout": { "rolloutID": id, "name": seen.key.name, "data": seen.rollout.spec },
            "workload": {
                "apiVersion": named.api_version,
                "kind": named.kind,
                "name": named.name,
                "data": seen.live.as_ref().map(|live| &live.object["spec"]),
            },
        },
    });
    let path = managed(&collection(seen));
    match ask(hands, seen, "create", Method::POST, path, Some(&body)).await {
        // It is there already.
        Err(Error::Conflict { .. }) => Ok(()),
        other => other.map(drop),
    }
}

/// Adds which Pods each step has updated, once the release of this id is over.
///
/// # Errors
/// What the server said, or that it said nothing.
pub async fn complete(hands: &Hands, seen: &Observed, id: &str) -> Result<(), Error> {
    let path = format!("{}/{}", collection(seen), name(seen, id));
    let history = match ask(hands, seen, "get", Method::GET, path.clone(), None).await {
        Ok(history) => history,
        // The gate came later.
        Err(Error::Gone { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    if history["status"]["phase"] == "completed" {
        return Ok(());
    }
    let pods = format!(
        "/api/v1/namespaces/{}/pods?labelSelector={}",
        seen.key.namespace,
        format_args!("{}%3D{id}", ROLLOUT_ID.replace('/', "%2F")),
    );
    let pods = ask(hands, seen, "list the Pods of", Method::GET, pods, None).await?;
    let status = json!({ "status": { "phase": "completed", "canarySteps": steps(&pods) } });
    let path = managed(&format!("{path}/status"));
    ask(hands, seen, "patch", Method::PATCH, path, Some(&status)).await.map(drop)
}

/// The Pods by step.
fn steps(pods: &Value) -> Vec<Value> {
    let mut steps: BTreeMap<u32, Vec<Value>> = BTreeMap::new();
    for pod in pods["items"].as_array().into_iter().flatten() {
        let batch = pod["metadata"]["labels"][BATCH_ID].as_str().and_then(|it| it.parse().ok());
        let Some(batch) = batch else { continue };
        steps.entry(batch).or_default().push(json!({
            "name": pod["metadata"]["name"],
            "ip": pod["status"]["podIP"].as_str().unwrap_or_default(),
            "nodeName": pod["spec"]["nodeName"].as_str().unwrap_or_default(),
        }));
    }
    let step = |(step, pods)| json!({ "canaryStepIndex": step, "pods": pods });
    steps.into_iter().map(step).collect()
}

/// The Rollout's name and six letters, as the original has it; the same for the same release.
fn name(seen: &Observed, id: &str) -> String {
    let hash = fingerprint(&json!([seen.uid.0, id]));
    let letter =
        |digit: u8| char::from(b'a' + (digit - if digit > b'9' { b'a' - 10 } else { b'0' }));
    let letters: String = hash.bytes().take(LETTERS).map(letter).collect();
    // A name has at most 253 characters.
    let head: String = seen.key.name.chars().take(252 - LETTERS).collect();
    format!("{head}-{letters}")
}

fn collection(seen: &Observed) -> String {
    format!("/apis/{VERSION}/namespaces/{}/rollouthistories", seen.key.namespace)
}

async fn ask(
    hands: &Hands,
    seen: &Observed,
    verb: &'static str,
    method: Method,
    path: String,
    body: Option<&Value>,
) -> Result<Value, Error> {
    let object = format!("RolloutHistory of Rollout {}", seen.key);
    let content = match method {
        Method::PATCH => Content::MergePatch,
        _ => Content::Json,
    };
    let ask = Ask { verb, object: &object, method, path, content, body };
    wire::ask(&hands.client, &ask).await
}
