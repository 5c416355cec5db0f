//! Writes the status of a rollout, under the version that was read.
//!
//! RBAC: `update` on `statefulsetrollouts/status`.
//!
//! A PUT and no patch: a conflict is the answer that keeps a second leader from acting, and what is
//! no longer true has to go. Nothing but the status is sent: the API server takes nothing else.

use api::bedrock;
use engine::status::Status;
use http::Method;
use serde_json::json;

use crate::act::Hands;
use crate::caches::Caches;
use crate::error::Error;
use crate::observe::statefulset_rollout::Observed;
use crate::wire::{self, Ask, Content};

/// Writes `status` and remembers it until the watch shows it; answers with the version that came of
/// it. On a conflict throw the decision away and look again.
pub async fn write(
    hands: &Hands,
    caches: &Caches,
    seen: &Observed,
    status: &Status,
) -> Result<String, Error> {
    let (namespace, name) = (&seen.key.namespace, &seen.key.name);
    let object = format!("statefulsetrollout {namespace}/{name}");
    let status = bedrock::status(status, &seen.rollout);
    let body = json!({
        "apiVersion": "bedrock.operator.slack.com/v1",
        "kind": "StatefulsetRollout",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": seen.uid.0,
            "resourceVersion": seen.resource_version,
        },
        "spec": seen.rollout.spec,
        "status": status,
    });
    let ask = Ask {
        verb: "update the status of",
        object: &object,
        method: Method::PUT,
        path: format!(
            "/apis/bedrock.operator.slack.com/v1/namespaces/{namespace}/statefulsetrollouts/{name}\
             /status?fieldManager={}",
            wire::FIELD_MANAGER
        ),
        content: Content::Json,
        body: Some(&body),
    };
    let answer = wire::send(&hands.client, &ask).await?;
    let written = answer.or_error(ask.verb, &object)?;
    let version = written["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
    if version.is_empty() {
        let message = "it has no metadata.resourceVersion".to_owned();
        return Err(Error::Unreadable { object, message });
    }
    caches.wrote::<bedrock::StatefulsetRollout>(&seen.key, &seen.uid, &version, status);
    Ok(version)
}
