//! One deletion of an unready Pod, guarded by UID and resourceVersion, so that a Pod that has become
//! ready since it was looked at is left alone.
//!
//! RBAC: `delete` on `pods`. No grace period is sent: the Pod's own holds, and nothing is forced.

use engine::decision::Victim;
use engine::world::Refusal;
use http::Method;
use kube::Client;
use serde_json::json;

use crate::evict::Disruption;
use crate::wire::{self, Answer, Ask, Content};

/// Asks for the deletion of `victim`, once.
pub async fn delete(client: &Client, namespace: &str, victim: &Victim) -> Disruption {
    let Victim { name, uid, resource_version } = victim;
    let body = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": { "uid": uid.0, "resourceVersion": resource_version },
    });
    let ask = Ask {
        verb: "delete",
        object: &format!("Pod {namespace}/{name}"),
        method: Method::DELETE,
        path: format!("/api/v1/namespaces/{namespace}/pods/{name}"),
        content: Content::Json,
        body: Some(&body),
    };
    match wire::send(client, &ask).await {
        Ok(answer) => read(&answer),
        Err(error) => Disruption::Unknown(error.to_string()),
    }
}

fn read(answer: &Answer) -> Disruption {
    let refusal = match answer.effective_code() {
        200..300 => return Disruption::Accepted,
        429 => Refusal::Overloaded,
        // Another Pod by now, gone, or changed since: the next look decides anew.
        404 | 409 => Refusal::Gone,
        500.. => return Disruption::Unknown(answer.message.clone()),
        _ => Refusal::Policy(answer.message.clone()),
    };
    Disruption::Refused { refusal, retry_after: answer.retry_after }
}
