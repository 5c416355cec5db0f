//! Whether an object is ours to check.

use api::batches::Version;
use api::batches::names::GROUP;
use serde_json::Value;

use crate::find::Front;

/// What an object is.
pub(super) enum Kind {
    /// A StatefulsetRollout.
    Percent,
    /// A Rollout or a BatchRelease, in either version.
    Batches,
    Other,
    /// Field and message: meant to be ours, and written wrongly.
    Wrong(&'static str, String),
}

const API_VERSION: &str = "bedrock.operator.slack.com/v1";
const KIND: &str = "StatefulsetRollout";

/// Looks at apiVersion and kind.
pub(super) fn kind(object: &Value) -> Kind {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    if version.split_once('/').is_some_and(|(group, _)| group == GROUP) {
        return batches(version, kind);
    }
    match (version == API_VERSION, kind == KIND) {
        (true, true) => Kind::Percent,
        (false, true) => {
            Kind::Wrong("apiVersion", format!("is {version:?}, but a {KIND} is of {API_VERSION:?}"))
        }
        (true, false) => {
            Kind::Wrong("kind", format!("is {kind:?}, but {API_VERSION} has {KIND} only"))
        }
        (false, false) if kind.is_empty() => {
            Kind::Wrong("kind", "is missing: this is no Kubernetes object".to_owned())
        }
        (false, false) => Kind::Other,
    }
}

fn batches(version: &str, kind: &str) -> Kind {
    match (Version::of(version), kind) {
        (Some(_), "Rollout" | "BatchRelease") => Kind::Batches,
        // Written by an operator alone, and of one version.
        (_, "RolloutHistory" | "TrafficRouting") => Kind::Other,
        (None, _) => Kind::Wrong(
            "apiVersion",
            format!("is {version:?}, but {GROUP} has v1beta1 and v1alpha1"),
        ),
        (Some(_), _) => Kind::Wrong(
            "kind",
            format!("is {kind:?}, but {GROUP} has Rollout, BatchRelease and RolloutHistory"),
        ),
    }
}

/// Which rollout an object is, if it is one.
pub(in crate::command) fn front(object: &Value) -> Option<Front> {
    match kind(object) {
        Kind::Percent => Some(Front::Percent),
        Kind::Batches if object["kind"] == "Rollout" => Some(Front::Steps),
        Kind::Batches => Some(Front::Release),
        _ => None,
    }
}
