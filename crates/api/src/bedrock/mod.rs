//! The group `bedrock.operator.slack.com`: `StatefulsetRollout`.

pub mod convert;
pub mod desired;
pub mod matches;
mod quantity;
pub mod replicas;
mod schema;
pub mod spec;
pub mod statefulset;
pub mod status;
pub mod validate;
pub mod version;

pub use convert::{engine_rollout, engine_status, status};
pub use desired::{Desired, DesiredError, OWNER_ANNOTATION, desired, update_strategy};
pub use matches::{drift, matches};
pub use replicas::{hand_over_replicas, owns_replicas};
pub use spec::{
    Bapi, NotifyLevel, ServiceDiscovery, StatefulsetRollout, StatefulsetRolloutSpec, UnhealthyPods,
    VersionLeak,
};
pub use statefulset::RawStatefulSet;
pub use status::{
    BuildMetadata, Condition, Phase, Pod, SlackMessage, StatefulsetApplied,
    StatefulsetRolloutStatus,
};
pub use validate::{Capabilities, denies, immutable_changes, validate};
pub use version::{PodVersion, image_version, pod_version};

/// The schema of the only version, as JSON.
pub(crate) fn crd_schema() -> serde_json::Value {
    let crd = <StatefulsetRollout as kube::CustomResourceExt>::crd();
    let schema = crd.spec.versions.into_iter().next().and_then(|version| version.schema);
    schema
        .and_then(|schema| schema.open_api_v3_schema)
        .and_then(|schema| serde_json::to_value(schema).ok())
        .unwrap_or_default()
}
