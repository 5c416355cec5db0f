//! Writes statuses, one file per front, each under the version that was read.
//!
//! A PUT and no patch: a conflict is the answer that keeps a second leader from acting, and what is no
//! longer true has to go. Nothing but the status is sent: the API server takes nothing else.

pub mod batch_release;
pub mod rollout;
pub mod statefulset_rollout;

use engine::world::Uid;
use http::Method;
use serde::Serialize;
use serde_json::json;

use crate::act::Hands;
use crate::caches::Caches;
use crate::concern::Kept;
use crate::error::Error;
use crate::key::Key;
use crate::seen::{Resource, Served};
use crate::subject::Subject;
use crate::wire::{self, Ask, Content};

/// The object that a status is written to.
struct Target<'a, S> {
    key: &'a Key,
    uid: &'a Uid,
    /// The version that was read.
    resource_version: &'a str,
    /// As it was read: the server wants it whole, and leaves it alone.
    spec: &'a S,
}

/// Writes `status` and remembers it until the watch shows it; answers with the version that came of it.
async fn put<T: Served>(
    hands: &Hands,
    caches: &Caches,
    target: Target<'_, impl Serialize>,
    status: T::Status,
) -> Result<String, Error>
where
    Resource<T>: Kept<Shelf = ()>,
    T::Status: Serialize,
{
    let Target { key, uid, resource_version, spec } = target;
    let subject = Subject::new(T::FRONT, key.clone());
    let object = format!("{} {key}", T::FRONT.kind().to_lowercase());
    let body = json!({
        "apiVersion": T::FRONT.api_version(),
        "kind": T::FRONT.kind(),
        "metadata": {
            "name": key.name,
            "namespace": key.namespace,
            "uid": uid.0,
            "resourceVersion": resource_version,
        },
        "spec": spec,
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
    caches.wrote::<T>(key, uid, &version, status);
    Ok(version)
}
