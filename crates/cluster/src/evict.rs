//! One eviction, with the Pod's UID as precondition, and what the answer means.
//!
//! RBAC: `create` on `pods/eviction`. It asks the budget first and checks the precondition after,
//! so that a wrong UID uses up a slot of the budget until its controller counts again: evict only
//! what the cache has just shown.

use engine::decision::Victim;
use engine::world::Refusal;
use http::Method;
use kube::Client;
use serde_json::json;

use crate::wire::{self, Answer, Ask, Content};

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

/// Asks for the eviction of `victim`, once.
pub async fn evict(client: &Client, namespace: &str, victim: &Victim) -> Disruption {
    let Victim { name, uid, .. } = victim;
    let body = json!({
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": { "name": name, "namespace": namespace },
        "deleteOptions": { "preconditions": { "uid": uid.0 } },
    });
    let ask = Ask {
        verb: "evict",
        object: &format!("Pod {namespace}/{name}"),
        method: Method::POST,
        path: format!("/api/v1/namespaces/{namespace}/pods/{name}/eviction"),
        content: Content::Json,
        body: Some(&body),
    };
    match wire::send(client, &ask).await {
        Ok(answer) => read(&answer),
        Err(error) => Disruption::Unknown(error.to_string()),
    }
}

/// Tells the answers of the Eviction API apart, as Kubernetes 1.36 gives them.
fn read(answer: &Answer) -> Disruption {
    let message = answer.message.clone();
    let refusal = match answer.effective_code() {
        200..300 => return Disruption::Accepted,
        // A budget without room says so in a cause; a busy server (priority and fairness) has none.
        429 if answer.has_cause("DisruptionBudget") => Refusal::Budget(budget_words(answer)),
        429 => Refusal::Overloaded,
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
