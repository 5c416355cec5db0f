//! Writes the status of a `BatchRelease`.
//!
//! RBAC: `update` on `batchreleases/status`.

use api::batches::{BatchRelease, release_status};
use engine::front::batch_release::Status;

use super::{Target, put};
use crate::act::Hands;
use crate::caches::Caches;
use crate::error::Error;
use crate::observe::batch_release::Observed;

/// Writes `status` and remembers it until the watch shows it; answers with the version that came of it. On a
/// conflict throw the decision away and look again: what a user wrote in between is seen then.
///
/// # Errors
/// What the server said, or that it said nothing.
pub async fn write(
    hands: &Hands,
    caches: &Caches,
    seen: &Observed,
    status: &Status,
) -> Result<String, Error> {
    let target = Target {
        key: &seen.key,
        uid: &seen.uid,
        resource_version: &seen.resource_version,
        spec: &seen.release.spec,
    };
    put::<BatchRelease>(hands, caches, target, release_status(status, &seen.release)).await
}
