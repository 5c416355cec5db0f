//! Writes the status of a `BatchRelease`, under the version that was read.
//!
//! RBAC: `update` on `batchreleases/status`.
//!
//! A PUT and no patch: a conflict is the answer that keeps a second leader from acting.

use api::batches::{BatchRelease, release_status};
use engine::front::batch_release::Status;
use http::Method;
use serde_json::json;

use crate::act::Hands;
use crate::caches::Caches;
use crate::error::Error;
use crate::observe::batch_release::Observed;
use crate::subject::{Front, Subject};
use crate::wire::{self, Ask, Content};

/// Writes `status` and remembers it until the watch shows it; answers with the version that came of it. On a
/// conflict throw the decision away and look again.
///
/// # Errors
/// What the server said, or that it said nothing.
pub async fn write(
    hands: &Hands,
    caches: &Caches,
    seen: &Observed,
    status: &Status,
) -> Result<String, Error> {
    let front = Front::BatchRelease;
    let subject = Subject::new(front, seen.key.clone());
    let object = subject.to_string();
    let status = release_status(status, &seen.release);
    let body = json!({
        "apiVersion": front.api_version(),
        "kind": front.kind(),
        "metadata": {
            "name": seen.key.name,
            "namespace": seen.key.namespace,
            "uid": seen.uid.0,
            "resourceVersion": seen.resource_version,
        },
        "spec": seen.release.spec,
        "status": status,
    });
    let ask = Ask {
        verb: "update the status of",
        object: &object,
        method: Method::PUT,
        path: format!("{}/status?fieldManager={}", subject.path(), wire::FIELD_MANAGER),
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
    caches.wrote::<BatchRelease>(&seen.key, &seen.uid, &version, status);
    Ok(version)
}
