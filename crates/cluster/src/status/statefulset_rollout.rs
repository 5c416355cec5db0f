//! Writes the status of a `StatefulsetRollout`.
//!
//! RBAC: `update` on `statefulsetrollouts/status`.

use api::bedrock::{self, StatefulsetRollout};
use engine::status::Status;

use super::{Target, put};
use crate::act::Hands;
use crate::caches::Caches;
use crate::error::Error;
use crate::observe::statefulset_rollout::Observed;

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
        spec: &seen.rollout.spec,
    };
    put::<StatefulsetRollout>(hands, caches, target, bedrock::status(status, &seen.rollout)).await
}
