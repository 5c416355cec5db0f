//! Writes statuses, each under the version that was read. On a conflict throw the decision away and look again:
//! what a user wrote in between is seen then.
//!
//! RBAC: `update` on `status` of `statefulsetrollouts`, `rollouts` and `batchreleases`.
//!
//! A PUT and no patch: a conflict is the answer that keeps a second leader from acting, and what is no
//! longer true has to go. Nothing but the status is sent: the API server takes nothing else.

use api::batches::engine::rollout::rollout_status;
use api::batches::{BatchRelease, Rollout, release_status};
use api::bedrock::{self, StatefulsetRollout};
use engine::front::{batch_release, rollout};
use engine::status as statefulset_rollout;
use engine::world::Uid;
use http::Method;
use serde::Serialize;
use serde_json::json;

use crate::act::Hands;
use crate::caches::Caches;
use crate::concern::Kept;
use crate::error::Error;
use crate::key::Key;
use crate::observe;
use crate::seen::{Resource, Served};
use crate::subject::Subject;
use crate::wire::{self, Ask, Content};

/// Writes the status of a `StatefulsetRollout` and remembers it until the watch shows it; answers with the
/// version that came of it.
///
/// # Errors
/// What the server said, or that it said nothing.
pub async fn statefulset_rollout(
    hands: &Hands,
    caches: &Caches,
    seen: &observe::statefulset_rollout::Observed,
    status: &statefulset_rollout::Status,
) -> Result<String, Error> {
    let target = Target {
        key: &seen.key,
        uid: &seen.uid,
        resource_version: &seen.resource_version,
        spec: &seen.rollout.spec,
    };
    put::<StatefulsetRollout>(hands, caches, target, bedrock::status(status, &seen.rollout)).await
}

/// The same for a `Rollout`.
///
/// # Errors
/// What the server said, or that it said nothing.
pub async fn rollout(
    hands: &Hands,
    caches: &Caches,
    seen: &observe::rollout::Observed,
    status: &rollout::Status,
) -> Result<String, Error> {
    let target = Target {
        key: &seen.key,
        uid: &seen.uid,
        resource_version: &seen.resource_version,
        spec: &seen.rollout.spec,
    };
    let status = rollout_status(status, seen.rollout.status.as_ref());
    put::<Rollout>(hands, caches, target, status).await
}

/// The same for a `BatchRelease`.
///
/// # Errors
/// What the server said, or that it said nothing.
pub async fn batch_release(
    hands: &Hands,
    caches: &Caches,
    seen: &observe::batch_release::Observed,
    status: &batch_release::Status,
) -> Result<String, Error> {
    let target = Target {
        key: &seen.key,
        uid: &seen.uid,
        resource_version: &seen.resource_version,
        spec: &seen.release.spec,
    };
    put::<BatchRelease>(hands, caches, target, release_status(status, &seen.release)).await
}

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
    let written = wire::ask(&hands.client, &ask).await?;
    let version = written["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
    if version.is_empty() {
        let message = "it has no metadata.resourceVersion".to_owned();
        return Err(Error::Unreadable { object, message });
    }
    caches.wrote::<T>(key, uid, &version, status);
    Ok(version)
}
