//! One Pod is asked to go: by eviction, or, of one that is not ready, by deletion; and what the answer means.
//!
//! RBAC: `create` on `pods/eviction`, `delete` on `pods`.
//!
//! An eviction has the Pod's UID as precondition. The API asks the budget first and checks the precondition
//! after, so that a wrong UID uses up a slot of the budget until its controller counts again: evict only what
//! the cache has just shown. A deletion is guarded by the resourceVersion as well, so that a Pod that has
//! become ready since it was looked at is left alone. No grace period is sent: the Pod's own holds, and nothing
//! is forced.

use engine::decision::Victim;
use engine::world::Refusal;
use http::Method;
use kube::Client;
use serde_json::json;

use crate::wire::{self, Answer, Ask, Content};

/// How a Pod is asked to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Its disruption budgets are asked.
    Evict,
    /// Nobody is asked.
    Delete,
}

/// What became of one Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disruption {
    /// Its deletion is under way; it is not gone yet.
    Accepted,
    /// Nothing was done to it.
    Refused {
        /// Why.
        refusal: Refusal,
        /// How many seconds the server wants to be left alone, if it says so.
        retry_after: Option<u32>,
    },
    /// Nobody knows; the next look will show it. The words of the server or of the connection.
    Unknown(String),
}

/// Asks `victim` to go, once.
pub async fn disrupt(client: &Client, namespace: &str, victim: &Victim, way: Way) -> Disruption {
    let Victim { name, uid, resource_version } = victim;
    let pod = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    let (verb, method, path, body) = match way {
        Way::Evict => (
            "evict",
            Method::POST,
            format!("{pod}/eviction"),
            json!({
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": { "name": name, "namespace": namespace },
                "deleteOptions": { "preconditions": { "uid": uid.0 } },
            }),
        ),
        Way::Delete => (
            "delete",
            Method::DELETE,
            pod,
            json!({
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "preconditions": { "uid": uid.0, "resourceVersion": resource_version },
            }),
        ),
    };
    let object = format!("Pod {namespace}/{name}");
    let (content, body) = (Content::Json, Some(&body));
    match wire::send(client, &Ask { verb, object: &object, method, path, content, body }).await {
        Ok(answer) => read(&answer),
        Err(error) => Disruption::Unknown(error.to_string()),
    }
}

/// Tells the answers apart, as Kubernetes 1.36 gives them. Of budgets only the Eviction API speaks.
fn read(answer: &Answer) -> Disruption {
    let message = answer.message.clone();
    let refusal = match answer.effective_code() {
        200..300 => return Disruption::Accepted,
        // A budget without room says so in a cause; a busy server (priority and fairness) has none.
        429 if answer.has_cause("DisruptionBudget") => Refusal::Budget(budget_words(answer)),
        429 => Refusal::Overloaded,
        // Another Pod by now, gone, or changed since: the next look decides anew.
        404 | 409 => Refusal::Gone,
        // It has no reason and no cause; the words are all there is.
        500 if message.contains("more than one PodDisruptionBudget") => {
            Refusal::AmbiguousBudget(message)
        }
        500.. => return Disruption::Unknown(message),
        _ => Refusal::Policy(message),
    };
    Disruption::Refused { refusal, retry_after: answer.retry_after }
}

/// The causes name the budget and its numbers; the message itself never does.
fn budget_words(answer: &Answer) -> String {
    let words: Vec<&str> = answer
        .causes()
        .filter(|cause| cause["reason"] == "DisruptionBudget")
        .filter_map(|cause| cause["message"].as_str())
        .collect();
    if words.is_empty() { answer.message.clone() } else { words.join("; ") }
}
