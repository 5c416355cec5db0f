//! The two writes to a StatefulSet: the whole of what is asked for, and its update strategy alone.
//!
//! RBAC: `get`, `create` and `patch` on `statefulsets`.
//!
//! The whole is a server-side apply, forced: what the rollout asks for is ours, what others set
//! beside it stays, and what we no longer ask for goes. The UID of the set that was looked at goes
//! along, so that one that was deleted or made anew in between is not taken for it.

use api::bedrock::replicas::REPLICAS_MANAGER;
use api::bedrock::{self, Desired};
use engine::world::{ApplyRefused, Strategy, Uid};
use http::Method;
use kube::Client;
use serde_json::{Value, json};

use crate::error::Error;
use crate::observe::statefulset_rollout::Observed;
use crate::wire::{self, Answer, Ask, Content, FIELD_MANAGER};

/// What became of a write to the StatefulSet.
#[derive(Debug)]
pub(crate) enum Write {
    /// It is done.
    Done {
        /// UID of the StatefulSet.
        uid: Uid,
        /// The generation that came of it.
        generation: i64,
    },
    /// The server will not have it.
    Refused(ApplyRefused),
    /// Somebody was faster, or nobody knows: look again.
    Failed(Error),
}

/// Applies what the rollout asks for, with this strategy.
pub(crate) async fn apply(client: &Client, seen: &Observed, strategy: Strategy) -> Write {
    let desired = match &seen.desired {
        Ok(desired) => desired,
        Err(message) => return refused(seen, true, message.clone()),
    };
    let mut document = desired.apply(strategy);
    let query = format!("fieldManager={FIELD_MANAGER}&force=true");
    let Some(workload) = &seen.world.workload else {
        return patch(client, seen, "apply", &query, Content::Apply, &document).await;
    };
    document["metadata"]["uid"] = json!(workload.uid.0);
    if document["spec"]["replicas"].is_null()
        && let Some(stop) = give_up_replicas(client, seen, desired).await
    {
        return stop;
    }
    match patch(client, seen, "apply", &query, Content::Apply, &document).await {
        Write::Refused(refused) if refused.invalid => {
            Write::Refused(name_immutable(client, seen, desired, refused).await)
        }
        write => write,
    }
}

/// Makes sure that an apply that names no `replicas` does not take them away. What the caches hold
/// has no `managedFields`, and may be older than our own last apply: so the set is read, which is
/// rare. Says what came in between, if something did.
async fn give_up_replicas(client: &Client, seen: &Observed, desired: &Desired) -> Option<Write> {
    let live = match read(client, seen).await {
        Ok(live) => live,
        // The apply is for the set that was looked at, and will say so.
        Err(Error::Gone { .. }) => return None,
        Err(error) => return Some(Write::Failed(error)),
    };
    if !bedrock::owns_replicas(&live["metadata"]["managedFields"], FIELD_MANAGER) {
        return None;
    }
    let document = bedrock::hand_over_replicas(desired, &live)?;
    let query = format!("fieldManager={REPLICAS_MANAGER}&force=true");
    match patch(client, seen, "apply", &query, Content::Apply, &document).await {
        Write::Done { .. } => None,
        write => Some(write),
    }
}

/// The server says which fields may change; which one does is what its author has to know.
async fn name_immutable(
    client: &Client,
    seen: &Observed,
    desired: &Desired,
    mut refused: ApplyRefused,
) -> ApplyRefused {
    let Ok(live) = read(client, seen).await else { return refused };
    for finding in bedrock::immutable_changes(&live, desired.document()) {
        refused.message = format!("{}; {} {}", refused.message, finding.path, finding.message);
    }
    refused
}

async fn read(client: &Client, seen: &Observed) -> Result<Value, Error> {
    let (object, path) = address(seen);
    let (verb, method, content) = ("get", Method::GET, Content::Json);
    let ask = Ask { verb, object: &object, method, path, content, body: None };
    wire::ask(client, &ask).await
}

/// Words for errors, and the path.
fn address(seen: &Observed) -> (String, String) {
    let (namespace, name) = (&seen.key.namespace, &seen.world.rollout.workload_name);
    let path = format!("/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}");
    (format!("StatefulSet {namespace}/{name}"), path)
}

/// Changes the strategy and nothing else, if the set is still as it was looked at.
pub(crate) async fn set_strategy(client: &Client, seen: &Observed, strategy: Strategy) -> Write {
    let mut metadata = json!({ "resourceVersion": seen.workload_version });
    if let Some(workload) = &seen.world.workload {
        metadata["uid"] = json!(workload.uid.0);
    }
    let body = json!({ "metadata": metadata, "spec": { "updateStrategy": bedrock::update_strategy(strategy) } });
    let query = format!("fieldManager={FIELD_MANAGER}");
    patch(client, seen, "patch", &query, Content::MergePatch, &body).await
}

async fn patch(
    client: &Client,
    seen: &Observed,
    verb: &'static str,
    query: &str,
    content: Content,
    body: &Value,
) -> Write {
    let (object, path) = address(seen);
    let path = format!("{path}?{query}");
    let ask = Ask { verb, object: &object, method: Method::PATCH, path, content, body: Some(body) };
    let answer = match wire::send(client, &ask).await {
        Ok(answer) => answer,
        Err(error) => return Write::Failed(error),
    };
    if is_invalid(&answer) {
        return refused(seen, true, answer.message);
    }
    match answer.or_error(verb, &object) {
        Ok(body) => {
            let metadata = &body["metadata"];
            match (metadata["uid"].as_str(), metadata["generation"].as_i64()) {
                (Some(uid), Some(generation)) => Write::Done { uid: uid.into(), generation },
                _ => Write::Failed(Error::Unreadable {
                    object,
                    message: "it has no metadata.uid and metadata.generation".to_owned(),
                }),
            }
        }
        // Its namespace is not there; the set itself would be created.
        Err(Error::Gone { message, .. }) if verb == "apply" => refused(seen, false, message),
        Err(Error::Refused { message, .. }) => refused(seen, false, message),
        Err(error) => Write::Failed(error),
    }
}

/// Whether trying again cannot help until the rollout is changed.
fn is_invalid(answer: &Answer) -> bool {
    match answer.effective_code() {
        400 | 422 => true,
        // An apply with a field that the server does not know, or with two entries of one name, ends
        // in a 500 (Kubernetes 1.36).
        500 => ["field not declared in schema", "failed to create typed patch object"]
            .iter()
            .any(|words| answer.message.contains(words)),
        _ => false,
    }
}

fn refused(seen: &Observed, invalid: bool, message: String) -> Write {
    Write::Refused(ApplyRefused { hash: seen.world.rollout.desired_hash.clone(), invalid, message })
}
